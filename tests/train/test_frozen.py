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
from muppet.train import frozen
from muppet.train.frozen import FrozenInputs, StandIns, compute_frozen, seconds_to_compute


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


class StoppedError(Exception):
    """Somebody pulls the plug."""


class Counting(WordLengths):
    """Stops when it has read enough."""

    def __init__(self, until: int = 10_000) -> None:
        self.until = until
        self.read: list[int] = []

    def layers(self, batch: TensorBatch) -> Tensor:
        if len(self.read) >= self.until:
            raise StoppedError
        self.read += batch.mask.sum(dim=1).tolist()
        return super().layers(batch)


@pytest.mark.parametrize("until", [3, 12, 15])
def test_a_stopped_computation_goes_on_where_it_was_and_is_never_trusted_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: int
) -> None:
    monkeypatch.setattr(frozen, "AT_ONCE", 3)
    monkeypatch.setattr(frozen, "SAFE_AFTER", 2)
    prepare = preparer()
    texts = [prepare.question("word " * number) for number in range(1, 20)]
    made_from = {"settings": "one"}

    def compute(place: Path, source: WordLengths) -> None:
        compute_frozen(
            place,
            texts,
            source,
            prepare.lexicon,
            made_from=made_from,
            progress=silent,
        )

    with pytest.raises(StoppedError):
        compute(tmp_path / "f", Counting(until))
    with pytest.raises(ArtifactError, match="is no frozen inputs"):
        FrozenInputs(tmp_path / "f", made_from)
    again = Counting()
    compute(tmp_path / "f", again)
    assert len(again.read) == len(texts) - until // 6 * 6  # what was safe is not read again
    compute(tmp_path / "unbroken", Counting())
    for name in ("layers.npy", "starts.npy"):
        paths = [tmp_path / place / name for place in ("f", "unbroken")]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not (tmp_path / "f.unfinished").exists()


def test_what_was_begun_with_other_settings_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frozen, "AT_ONCE", 1)
    monkeypatch.setattr(frozen, "SAFE_AFTER", 1)
    prepare = preparer()
    texts = [prepare.question("a"), prepare.question("b c")]
    with pytest.raises(StoppedError):
        compute_frozen(
            tmp_path / "f",
            texts,
            Counting(1),
            prepare.lexicon,
            made_from={"settings": "one"},
            progress=silent,
        )
    again = Counting()
    compute_frozen(
        tmp_path / "f",
        texts,
        again,
        prepare.lexicon,
        made_from={"settings": "two"},
        progress=silent,
    )
    assert again.read == [2, 1]


def test_stand_ins_have_the_shape_of_what_they_stand_for() -> None:
    prepare = preparer()
    texts = [prepare.question("a bbb cc"), prepare.question("")]
    filled = StandIns(WordLengths()).fill(texts)
    assert [text.frozen.shape for text in filled if text.frozen is not None] == [
        (3, 2, 1),
        (0, 2, 1),
    ]
    assert make_batch(filled, prepare.lexicon).frozen is not None


def test_the_time_of_all_is_told_from_a_few() -> None:
    prepare = preparer()
    texts = [prepare.question("word " * 5)] * 100
    source = Counting()
    assert seconds_to_compute(texts, source, prepare.lexicon) > 0
    assert len(source.read) == 32
