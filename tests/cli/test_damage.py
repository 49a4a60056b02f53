"""Files of ours that somebody edited, cut off or emptied, and settings that no network can have.

The promise is that of `test_bad_input`: one clear line, exit code 2.
"""

import json
import os
import shutil
from pathlib import Path

import pytest
from command_line import assert_refused, make_zoo, muppet, write_rows
from nasty import HOTPOT

from muppet.config import EncoderConfig
from muppet.nn.model import new_model, save_model, trained_weights
from muppet.read.calibrate import Calibration
from muppet.read.reader import write_calibration
from random_model import LETTERS, WORDS, Demo

QUESTION = "Who founded Grytviken?"


def spoil(manifest: Path, *path: str, value: object) -> None:
    """Change one value of a JSON file; None leaves it out."""
    content = json.loads(manifest.read_text())
    table = content
    for key in path[:-1]:
        table = table[key]
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    manifest.write_text(json.dumps(content))


@pytest.mark.parametrize("key", ["encoder", "int8", "positions"])
@pytest.mark.parametrize("value", [None, "x", []])
def test_an_encoder_with_another_manifest_is_damaged(
    demo: Demo, tmp_path: Path, key: str, value: object
) -> None:
    model = Path(shutil.copytree(demo.encoder, tmp_path / "model"))
    spoil(model / "manifest.json", "config", key, value=value)
    outcome = muppet("search", demo.kb, QUESTION, "--model", model)
    assert_refused(outcome, "manifest.json is damaged", f"config.{key}")


def test_a_graph_that_does_not_fit_its_manifest_is_named(demo: Demo, tmp_path: Path) -> None:
    reader = Path(shutil.copytree(demo.reader, tmp_path / "reader"))
    spoil(reader / "manifest.json", "config", "reader", "characters", "filters", value=0)
    spoil(reader / "manifest.json", "config", "reader", "contextual", "kind", value="elmo")
    assert_refused(muppet("ask", demo.kb, QUESTION, "--reader", reader), "reads characters")


@pytest.mark.parametrize("wrong", [{"bias": "x"}, {"threshold": []}, {"temperature": 0}, [1]])
def test_a_damaged_calibration_is_named(demo: Demo, tmp_path: Path, wrong: object) -> None:
    reader = Path(shutil.copytree(demo.reader, tmp_path / "reader"))
    write_calibration(reader, Calibration())
    (reader / "calibration.json").write_text(json.dumps(wrong))
    outcome = muppet("ask", demo.kb, QUESTION, "--reader", reader)
    assert_refused(outcome, "calibration.json is damaged")


@pytest.mark.parametrize("key", ["rows", "first", "numbers", "paragraphs", "number"])
@pytest.mark.parametrize("value", [-1, "x", 2**70])
def test_vectors_with_another_manifest_are_damaged(
    demo: Demo, tmp_path: Path, key: str, value: object
) -> None:
    kb = Path(shutil.copytree(demo.kb, tmp_path / "kb"))
    (manifest,) = kb.glob("vectors-*/manifest.json")
    spoil(manifest, "config", "commit", key, value=value)
    assert_refused(muppet("info", kb), "manifest.json is damaged")


@pytest.mark.parametrize("content", [b"", b"\0" * 300])
def test_a_damaged_tfidf_says_how_to_mend_it(tmp_path: Path, content: bytes) -> None:
    zoo = make_zoo(tmp_path)
    command = ("search", zoo, "zebra", "--retriever", "tfidf")
    assert muppet(*command).code == 0
    (file,) = zoo.glob("tfidf-*/counts.npy")
    file.write_bytes(content)
    assert_refused(muppet(*command), "counts.npy is damaged", f"Delete {file.parent}")
    shutil.rmtree(file.parent)
    assert muppet(*command).code == 0


@pytest.mark.parametrize("name", ["weights.safetensors", "alphabet.txt"])
def test_a_damaged_network_is_not_exported(tmp_path: Path, name: str) -> None:
    config = EncoderConfig(dim=4, word_vectors=False, characters=LETTERS)
    model = new_model(config, WORDS, None)
    save_model(tmp_path / "best", model, trained_weights(model.encoder), {})
    (tmp_path / "best" / name).write_bytes(b"\xff\xfe\xfd")
    outcome = muppet("train", "export", tmp_path / "best", "--out", tmp_path / "model")
    assert_refused(outcome, name, "is damaged")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("encoder.dropout = 2.0", "encoder.dropout must be from 0"),
        ("encoder.network = 'lstm'", "encoder.network must be one of recurrent, transformer"),
        ("encoder.granularity = 'word'", "encoder.granularity must be one of sentence, paragraph"),
        ("encoder.characters.longest = -1", "characters.longest must be at least"),
        ("encoder.characters.filters = 0", "would read nothing"),
        ("encoder.contextual.layers = 0", "contextual.layers must be at least 1"),
        ("data.wrong_chains = 2147483647", "data.wrong_chains must be from 0 to 1,000"),
        ("optimiser.rho = 2.0", "optimiser.rho must be from 0 to 1"),
        ("optimiser.rate = nan", "optimiser.rate must be at least 0"),
        ("run.threads = 0", "run.threads must be from 1"),
        ("run.seed = -1", "run.seed must be at least 0"),
    ],
)
def test_a_setting_that_no_network_can_have_is_refused(
    tmp_path: Path, setting: str, part: str
) -> None:
    recipe = tmp_path / "my.toml"
    recipe.write_text(f"encoder.word_vectors = false\n{setting}\n")
    assert_refused(muppet("train", "encoder", recipe, "--out", tmp_path / "run"), part)


def test_predictions_take_the_place_of_a_file_alone(demo: Demo, tmp_path: Path) -> None:
    """As the administrator, somebody would have had no /dev/null any more."""
    questions = write_rows(tmp_path / "q.jsonl", [HOTPOT])
    os.mkfifo(tmp_path / "pipe")
    command = ("evaluate", demo.kb, questions, "--reader", demo.reader, "--predictions")
    for place in (tmp_path / "pipe", tmp_path):
        assert_refused(muppet(*command, place), "a directory or a device")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "q.jsonl"]
    assert not tmp_path.with_name(tmp_path.name + ".muppet-new").exists()
