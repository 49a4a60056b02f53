"""The contextual input: a transformer or ELMo in one slot (checklist 10)."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch, tensors
from muppet.nn.contextual import Contextual, make_contextual, make_pieces
from muppet.nn.elmo import Elmo
from muppet.nn.model import new_model
from muppet.nn.transformer import (
    ROUNDED,
    Transformer,
    bfloat16_products,
    mean_of_pieces,
    transformer_directory,
)
from muppet.text.batch import make_batch
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon
from tiny_bert import write_bert
from tiny_elmo import tiny_options, tiny_weights, write_elmo

FIXTURE = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "elmo-fixture"
TEXT = "The stations was."


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(10)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert"))


def settings(path: Path, layers: int = 2, tuned: int = 0) -> ContextualConfig:
    return ContextualConfig(
        kind="transformer", path=str(path), layers=layers, tuned=tuned, dropout=0.0
    )


def contextual(config: ContextualConfig) -> Contextual:
    made = make_contextual(config)
    assert made is not None
    return made.eval()


def preparer(config: ContextualConfig) -> Preparer:
    lexicon = Lexicon(Alphabet("abc"), lambda _word: -1)
    return Preparer(lexicon, make_pieces(config), max_tokens=600, with_title=False)


def batch_of(config: ContextualConfig, *texts: str) -> TensorBatch:
    ready = preparer(config)
    return tensors(make_batch([ready.question(text) for text in texts], ready.lexicon))


def hidden_states(made: Contextual, ids: list[int]) -> tuple[Tensor, ...]:
    """What the pretrained model says of these pieces alone, layer by layer: L x (P, 32)"""
    assert isinstance(made.source, Transformer)
    out = made.source.model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    return tuple(layer[0].detach() for layer in out.hidden_states)


def test_a_token_is_the_mean_of_its_pieces_in_each_layer_checklist_10(bert: Path) -> None:
    made = contextual(settings(bert, layers=2))
    found = made.source.layers(batch_of(settings(bert), TEXT))
    assert found.shape == (1, 4, 2, 32)
    ids = [2, 4, 5, 6, 7, 8, 10, 3]  # [CLS] the sta ##tion ##s was . [SEP]
    _, lower, upper = hidden_states(made, ids)
    for place, layer in enumerate([lower, upper]):
        expected = [layer[1], (layer[2] + layer[3] + layer[4]) / 3, layer[5], layer[6]]
        for token in range(4):
            torch.testing.assert_close(found[0, token, place], expected[token])


def test_what_fills_texts_up_in_bfloat16_changes_nothing_checklist_10(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight and nine pieces are read as sixteen."""
    made = contextual(settings(bert, layers=2))
    batch = batch_of(settings(bert), TEXT, f"{TEXT} The")
    assert batch.pieces.shape[1] % ROUNDED
    with bfloat16_products(made, enabled=True):
        filled = made.source.layers(batch)
        monkeypatch.setattr("muppet.nn.transformer.ROUNDED", 1)
        bare = made.source.layers(batch)
    assert filled.dtype == torch.float32
    torch.testing.assert_close(filled, bare, atol=0.02, rtol=0.02)


def test_accents_change_no_alignment_checklist_10(bert: Path) -> None:
    made = contextual(settings(bert))
    plain = made(batch_of(settings(bert), "The cafe was."))
    for spelling in ("Café", "cafe\u0301"):
        torch.testing.assert_close(made(batch_of(settings(bert), f"The {spelling} was.")), plain)


def test_the_mix_is_learned_over_the_last_layers_checklist_10(bert: Path) -> None:
    made = contextual(settings(bert, layers=3))
    with torch.no_grad():
        made.mix.logits.copy_(torch.tensor([0.1, -0.7, 0.4]))
        made.mix.gamma.fill_(1.7)
    found = made(batch_of(settings(bert), "was"))[0, 0]
    powers = np.exp([0.1, -0.7, 0.4])
    layers = [layer[1] for layer in hidden_states(made, [2, 8, 3])]
    expected = sum(
        1.7 * float(power / powers.sum()) * layer
        for power, layer in zip(powers, layers, strict=True)
    )
    torch.testing.assert_close(found, expected)


def test_batch_mates_never_change_a_contextual_token_checklist_10(bert: Path) -> None:
    made, texts = contextual(settings(bert)), [TEXT, "was", "", "the the cafe station . was was"]
    together = made(batch_of(settings(bert), *texts))
    for row, text in enumerate(texts):
        alone = made(batch_of(settings(bert), text))[0]
        length = len(preparer(settings(bert)).question(text).types)
        torch.testing.assert_close(together[row, :length], alone[:length], atol=1e-5, rtol=1e-5)


def test_pieces_are_averaged_and_a_token_without_any_is_zero_checklist_10() -> None:
    states = torch.tensor([[[9.0], [1.0], [2.0], [6.0], [9.0]]])
    found = mean_of_pieces(states, torch.tensor([[-1, 0, 2, 2, -1]]), 4)
    assert found.flatten().tolist() == [1.0, 0.0, 4.0, 0.0]


def test_a_text_longer_than_512_positions_is_read_as_far_as_they_go_checklist_10(
    bert: Path,
) -> None:
    made = contextual(settings(bert))
    found = made(batch_of(settings(bert), "the was " * 300))[0]
    assert found.shape == (600, 32)
    assert (found[:510].abs().sum(dim=1) > 0).all()  # [CLS] and [SEP] take two places
    assert not found[510:].any()


def test_a_text_longer_than_a_small_model_s_positions_is_no_crash_checklist_10(
    tmp_path: Path,
) -> None:
    config = settings(write_bert(tmp_path, positions=16))
    found = contextual(config)(batch_of(config, "the was " * 20))[0]
    assert found.shape == (40, 32)
    assert (found[:14].abs().sum(dim=1) > 0).all()
    assert not found[14:].any()


def trained_names(made: Contextual) -> set[str]:
    return {name for name, weights in made.named_parameters() if weights.requires_grad}


def test_a_transformer_is_frozen_by_default_and_only_the_mix_learns_checklist_10(
    bert: Path,
) -> None:
    assert ContextualConfig().tuned == 0
    made = contextual(settings(bert))
    assert trained_names(made) == {"mix.logits", "mix.gamma"}
    made(batch_of(settings(bert), TEXT)).square().sum().backward()
    assert made.mix.logits.grad is not None
    assert made.mix.logits.grad.any()
    assert all(weights.grad is None for weights in made.source.parameters())


def test_the_topmost_layers_are_tuned_and_those_below_are_not_checklist_10(bert: Path) -> None:
    made = contextual(settings(bert, tuned=1))
    made(batch_of(settings(bert), TEXT)).square().sum().backward()
    assert isinstance(made.source, Transformer)
    lower, upper = made.source.model.encoder.layer
    assert all(weights.grad is None for weights in lower.parameters())
    assert all(weights.grad is None for weights in made.source.model.embeddings.parameters())
    touched = [
        weights.grad is not None and bool(weights.grad.any()) for weights in upper.parameters()
    ]
    assert sum(touched) >= len(touched) - 1  # a bias of all keys changes no softmax
    assert any(name.startswith("source.model.encoder.layer.1.") for name in trained_names(made))


def test_as_many_layers_are_tuned_as_the_setting_says_checklist_10(bert: Path) -> None:
    for tuned in (0, 1, 2):
        names = trained_names(contextual(settings(bert, tuned=tuned)))
        blocks = {name.split(".")[4] for name in names if ".encoder.layer." in name}
        assert blocks == {str(number) for number in range(2 - tuned, 2)}


@pytest.mark.parametrize(("layers", "tuned"), [(4, 0), (0, 0), (2, 3), (2, -1)])
def test_more_layers_than_the_transformer_has_are_refused_checklist_10(
    bert: Path, layers: int, tuned: int
) -> None:
    """It has two, and its input, which makes three to mix."""
    with pytest.raises(ConfigError, match=r"contextual\.(layers|tuned)"):
        make_contextual(settings(bert, layers=layers, tuned=tuned))


def test_layers_computed_beforehand_give_the_same_result_checklist_10(bert: Path) -> None:
    config = settings(bert)
    made, ready = contextual(config), preparer(config)
    texts = [ready.question(text) for text in (TEXT, "was", "the cafe was the station.")]
    lexicon = ready.lexicon
    computed = made(tensors(make_batch(texts, lexicon)))
    before = []
    for text in texts:
        layers = made.source.layers(tensors(make_batch([text], lexicon)))[0]
        before.append(replace(text, frozen=layers.detach().numpy().astype(np.float16)))
    batch = tensors(make_batch(before, lexicon))
    looked_up = made(batch._replace(pieces=torch.zeros_like(batch.pieces)))  # they are not read
    mask = batch.mask
    torch.testing.assert_close(looked_up[mask], computed[mask], atol=4e-3, rtol=1e-3)


def test_a_frozen_transformer_has_no_noise_of_its_own_in_training_checklist_10(
    bert: Path,
) -> None:
    """Else layers computed beforehand would not be those that training computes."""
    made = contextual(settings(bert))
    quiet = made(batch_of(settings(bert), TEXT))
    made.train()
    torch.testing.assert_close(made(batch_of(settings(bert), TEXT)), quiet)


def test_dropout_of_one_half_is_on_the_mixed_layers_in_training_only_checklist_10(
    bert: Path,
) -> None:
    assert ContextualConfig().dropout == 0.5
    made = contextual(replace(settings(bert), dropout=0.5))
    batch = batch_of(settings(bert), TEXT)._replace(frozen=torch.ones(1, 4, 2, 32))
    assert (made(batch) == 1.0).all()
    assert set(made.train()(batch).flatten().tolist()) == {0.0, 2.0}


def test_the_contextual_input_stands_behind_the_characters_checklist_10(bert: Path) -> None:
    """The whole network with a transformer in the slot."""
    letters = CharacterConfig(dim=3, filters=5, width=2, at_least=1)
    config = EncoderConfig(
        dim=8, word_vectors=False, characters=letters, contextual=settings(bert), title=False
    )
    model = new_model(config, ["station"], None)
    embedding = model.encoder.eval().embedding
    assert embedding.size == 5 + 32
    text = model.preparer.paragraph(Paragraph("p", "T", ("The stations.", " It was.")))
    batch = tensors(make_batch([text], model.preparer.lexicon))
    assert embedding.contextual is not None
    torch.testing.assert_close(embedding(batch)[:, :, 5:], embedding.contextual(batch))
    vectors, present = model.encoder.sentences(model.encoder.read(batch), batch)
    assert vectors.shape == (1, 2, 8)
    assert present.all()


def test_no_contextual_input_is_a_filling_too_checklist_10() -> None:
    assert make_contextual(ContextualConfig()) is None
    assert make_pieces(ContextualConfig()) is None


def test_what_is_no_contextual_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none, elmo, transformer"):
        make_contextual(ContextualConfig(kind="glove"))
    with pytest.raises(ConfigError, match=r"config\.json"):
        make_contextual(settings(tmp_path))
    with pytest.raises(ConfigError, match="not installed"):
        transformer_directory("package:no_such_package_at_all")


def elmo_in(directory: Path) -> str:
    write_elmo(directory, tiny_options(), tiny_weights())
    return str(directory)


def test_elmo_fills_the_slot_with_three_layers_of_every_word_checklist_10(tmp_path: Path) -> None:
    config = ContextualConfig(kind="elmo", path=elmo_in(tmp_path), dropout=0.0)
    made = contextual(config)
    assert make_pieces(config) is None
    assert (made.source.depth, made.source.size) == (3, 6)
    texts = ["Zqx was the Grytviken", "was"]
    found = made(batch_of(config, *texts))
    elmo = Elmo.from_files(tmp_path / "options.json", tmp_path / "weights.hdf5")
    for row, text in enumerate(texts):
        words = text.split()
        mask = torch.ones(1, len(words), dtype=torch.bool)
        layers = elmo.layers(elmo.token_vectors(words)[None], mask)[0]
        for token in range(len(words)):
            even = (layers[token, 0] + layers[token, 1] + layers[token, 2]) / 3
            torch.testing.assert_close(found[row, token], even, atol=1e-5, rtol=1e-4)


def test_elmo_is_frozen_and_its_mix_learns_checklist_10(tmp_path: Path) -> None:
    config = ContextualConfig(kind="elmo", path=elmo_in(tmp_path))
    made = contextual(config)
    assert trained_names(made) == {"mix.logits", "mix.gamma"}
    made(batch_of(config, "the was")).sum().backward()
    assert made.mix.logits.grad is not None
    assert all(weights.grad is None for weights in made.source.parameters())


def test_an_unknown_word_does_not_shorten_what_elmo_reads_checklist_10(tmp_path: Path) -> None:
    """The released code gave unknown words the padding id: a bug not to be repeated."""
    config = ContextualConfig(kind="elmo", path=elmo_in(tmp_path), dropout=0.0)
    made = contextual(config)
    found = made(batch_of(config, "the zzzz was"))[0]
    assert found.shape == (3, 6)
    assert (found.abs().sum(dim=1) > 0).all()


@pytest.mark.skipif(
    not FIXTURE.is_dir(), reason="the published tiny ELMo is not in ../shared/data/elmo-fixture"
)
def test_the_published_tiny_elmo_opens_in_the_slot_checklist_10() -> None:
    config = ContextualConfig(kind="elmo", path=str(FIXTURE), dropout=0.0)
    made = contextual(config)
    found = made(batch_of(config, "The station was old .", "was"))
    assert found.shape == (2, 5, made.source.size)
    torch.testing.assert_close(found[1, 0], made(batch_of(config, "was"))[0, 0])
    assert not torch.allclose(found[1, 0], found[0, 2])  # context matters
