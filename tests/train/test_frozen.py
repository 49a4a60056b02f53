"""Frozen contextual inputs are computed once and give every text its own rows (checklist 10)."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from muppet.domain import Paragraph, silent
from muppet.errors import ArtifactError
from muppet.nn.arrays import TensorBatch
from muppet.text.batch import make_batch
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon
from muppet.train.frozen import FrozenInputs, compute_frozen


class WordLengths:
    """A source of two layers: the length of each word, and its place in the text."""

    depth = 2
    size = 1

    def layers(self, batch: TensorBatch) -> Tensor:
        lengths = torch.tensor([float(len(word)) for word in batch.spellings])[batch.words]
        places = torch.arange(batch.words.shape[1]).expand_as(lengths).float()
        return torch.stack([lengths, places], dim=2)[:, :, :, None]


def preparer() -> Preparer:
    return Preparer(Lexicon(Alphabet("ab"), lambda _: -1), None, max_tokens=99, with_title=True)


def test_every_text_gets_the_layers_of_its_own_words_in_order(tmp_path: Path) -> None:
    prepare = preparer()
    texts = [
        prepare.question("a bbb cc"),
        prepare.paragraph(Paragraph("p", "Title", ("One word. ", "Another.") * 9)),
        prepare.question(""),
        prepare.question("dddd"),
    ]
    compute_frozen(
        tmp_path / "f", texts, WordLengths(), prepare.lexicon, made_from={}, progress=silent
    )
    filled = FrozenInputs(tmp_path / "f", {}).fill(texts)
    for text in filled:
        assert text.frozen is not None
        expected = [[len(word), place] for place, word in enumerate(text.tokens.words())]
        assert text.frozen[:, :, 0].tolist() == expected
    batch = make_batch(filled, prepare.lexicon)
    assert batch.frozen is not None
    assert batch.frozen.shape == (4, len(texts[1].types), 2, 1)
    assert not batch.frozen[~batch.mask].any()  # padding is zero
    assert np.array_equal(batch.frozen[0, :3, 0, 0], [1, 3, 2])


def test_inputs_of_other_settings_are_refused(tmp_path: Path) -> None:
    prepare = preparer()
    compute_frozen(
        tmp_path / "f",
        [prepare.question("a")],
        WordLengths(),
        prepare.lexicon,
        made_from={"settings": "one"},
        progress=silent,
    )
    with pytest.raises(ArtifactError, match="another settings"):
        FrozenInputs(tmp_path / "f", {"settings": "two"})
