"""A reader with fewer units in its feed-forward layers, which says nearly the same."""

from pathlib import Path

import numpy as np
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, ReaderConfig
from muppet.domain import Paragraph, silent
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.arrays import tensors
from muppet.nn.model import trained_weights
from muppet.nn.narrow import fewer_units, write_narrow
from muppet.nn.reader import Reader
from muppet.nn.reader_model import ReaderModel, load_reader, new_reader, save_reader
from muppet.text.batch import make_batch
from muppet.text.layout import reading_joined
from muppet.train.run import begin_with
from tiny_bert import write_bert

UNITS = 48
LAYER = "embedding.contextual.source.model.encoder.layer.{}."
CHAIN = (
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station.")),
    Paragraph("b", "Cafe", ("The cafe.", " Was the station the cafe of the station.")),
)


@pytest.fixture(params=[1, 2])
def directory(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A random reader in whose last layer every third unit is the double of the one before it; of
    its two layers one or both are tuned."""
    path, tuned = str(write_bert(tmp_path / "bert")), request.param
    bert = ContextualConfig("transformer", path, layers=1, tuned=tuned)
    config = ReaderConfig(
        network="transformer", dim=32, hidden=6, word_vectors=False,
        characters=CharacterConfig(filters=0), contextual=bert,
    )  # fmt: skip
    torch.manual_seed(1)
    model = new_reader(config, [], None)
    weights = trained_weights(model.reader)
    with torch.no_grad():
        for part in ("weight", "bias"):
            first = weights[f"{LAYER.format(1)}intermediate.dense.{part}"]
            first[2::3] = first[1::3]
    save_reader(tmp_path / "reader", model, weights, {})
    return tmp_path / "reader"


@torch.no_grad()
def read(model: ReaderModel, reader: Reader) -> list[np.ndarray]:
    ready = model.preparer
    asked = ready.question("Was the cafe the station?")
    reading = reading_joined(ready, asked, [ready.paragraph(one) for one in CHAIN])
    assert reading.joined is not None
    batch = tensors(make_batch([reading.joined], ready.lexicon))
    logits = reader.read_joined(batch, torch.from_numpy(reading.layout.titles[None]))
    return [part.numpy() for part in logits]


def narrowed(directory: Path, inner: int) -> ReaderModel:
    out = directory.with_name(f"narrow-{inner}")
    model = load_reader(directory)
    wide = load_reader(directory)
    write_narrow(wide, directory, out, inner, lambda reader: [read(model, reader), None][1], silent)
    return load_reader(out)


def error(directory: Path, inner: int) -> float:
    model, narrow = load_reader(directory), narrowed(directory, inner)
    both = read(model, model.reader), read(narrow, narrow.reader)
    start, again = (parts[0] for parts in both)
    return float(np.linalg.norm(again - start) / np.linalg.norm(start - start.mean()))


def test_a_unit_that_says_what_another_says_is_not_missed() -> None:
    torch.manual_seed(2)
    units = torch.randn(200, 5, dtype=torch.float64)
    units[:, 3] = 2 * units[:, 1] - units[:, 0]
    weight = torch.randn(4, 5, dtype=torch.float64)
    kept, after = fewer_units(units.T @ units, weight, keep=4)
    assert kept.tolist().count(2) == kept.tolist().count(4) == 1  # nothing says what these say
    torch.testing.assert_close(units[:, kept] @ after.T, units @ weight.T, rtol=0.0, atol=0.1)


def test_others_take_over_what_a_lost_unit_did() -> None:
    torch.manual_seed(3)
    common = torch.randn(300, 1)
    units = torch.randn(300, 12) * 0.1 + common
    weight = torch.randn(6, 12)
    kept, after = fewer_units(units.T @ units, weight, keep=6)
    fitted = (units[:, kept] @ after.T - units @ weight.T).norm()
    cut = (units[:, kept] @ weight[:, kept].T - units @ weight.T).norm()
    assert fitted < 0.5 * cut


def test_a_reader_says_nearly_the_same_with_fewer_units(directory: Path) -> None:
    assert error(directory, UNITS - 1) < error(directory, UNITS // 2) + 0.02
    assert error(directory, UNITS // 2) < 0.5


def test_it_is_narrower_and_can_be_trained_on(directory: Path) -> None:
    narrow = narrowed(directory, 20)
    shapes = {name: tuple(one.shape) for name, one in narrow.reader.named_parameters()}
    assert shapes[f"{LAYER.format(1)}intermediate.dense.weight"] == (20, 32)
    assert shapes[f"{LAYER.format(1)}output.dense.weight"] == (32, 20)
    again = new_reader(narrow.config, [], None)
    assert not np.allclose(read(narrow, again.reader)[0], read(narrow, narrow.reader)[0])
    begin_with(again.reader, str(directory.with_name("narrow-20")))
    again.reader.eval()
    np.testing.assert_allclose(read(narrow, again.reader)[0], read(narrow, narrow.reader)[0])


def test_what_is_no_transformer_of_ours_is_not_written_over(directory: Path) -> None:
    beside = directory.with_name("narrow-20-transformer")
    beside.mkdir()
    (beside / "diary.txt").write_text("Dear diary")
    with pytest.raises(ArtifactError, match="would be lost"):
        narrowed(directory, 20)
    assert [one.name for one in beside.iterdir()] == ["diary.txt"]
    assert not directory.with_name("narrow-20").exists()
    with pytest.raises(ArtifactError, match="would be lost"):
        write_narrow(load_reader(directory), directory, Path(), 20, lambda _: None, silent)


@pytest.mark.parametrize("inner", [0, UNITS, UNITS + 1])
def test_as_many_units_as_there_are_is_refused(directory: Path, inner: int) -> None:
    with pytest.raises(ConfigError, match=f"1 to {UNITS - 1} can stay"):
        narrowed(directory, inner)


def test_a_reader_without_a_transformer_is_refused(tmp_path: Path) -> None:
    config = ReaderConfig(dim=8, word_vectors=False, characters=CharacterConfig(dim=4, filters=4))
    model = new_reader(config, ["owl"] * 60, None)
    save_reader(tmp_path / "gru", model, trained_weights(model.reader), {})
    with pytest.raises(ConfigError, match="cannot be made narrower"):
        narrowed(tmp_path / "gru", 4)
