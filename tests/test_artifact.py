"""A directory of ours is whole or not there, and is refused when it does not fit."""

import json
import os
from pathlib import Path

import pytest

from muppet.artifact import (
    MANIFEST,
    Manifest,
    checksum_file,
    kind_of,
    new_artifact,
    read_manifest,
    require_file,
    require_made_from,
    restore_artifact,
    write_json,
)
from muppet.errors import ArtifactError

MODEL = Manifest("model", 3, {"size": 7}, {"paragraphs": "12"})


def make(directory: Path, content: str = "weights") -> Path:
    with new_artifact(directory, MODEL) as partial:
        (partial / "weights").write_text(content)
    return directory


def read(directory: Path, kind: str = "model", format_number: int = 3) -> Manifest:
    return read_manifest(directory, kind, format_number, remake="muppet train")


def test_an_artifact_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = make(tmp_path / "deep" / "model")
    assert read(directory) == MODEL
    assert sorted(path.name for path in directory.iterdir()) == [MANIFEST, "weights"]
    assert [path.name for path in directory.parent.iterdir()] == ["model"]


def test_nothing_stands_there_until_all_is_written(tmp_path: Path) -> None:
    directory = tmp_path / "model"
    with new_artifact(directory, MODEL) as partial:
        assert partial.is_dir()
        assert not directory.exists()
    assert directory.is_dir()
    assert not partial.exists()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), new_artifact(tmp_path / "model", MODEL) as partial:
        (partial / "weights").write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_artifact_that_was_there(tmp_path: Path) -> None:
    make(tmp_path / "model", "old")
    with pytest.raises(ValueError, match="no"), new_artifact(tmp_path / "model", MODEL):
        raise ValueError("no")
    assert (tmp_path / "model" / "weights").read_text() == "old"
    make(tmp_path / "model", "new")
    assert (tmp_path / "model" / "weights").read_text() == "new"


def test_what_a_killed_run_left_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "model.muppet-new").mkdir()
    (tmp_path / "model.muppet-new" / "stale").touch()
    assert not (make(tmp_path / "model") / "stale").exists()


def test_what_is_no_artifact_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"not a directory. Make one with `muppet train`"):
        read(tmp_path / "nowhere")
    with pytest.raises(ArtifactError, match=r"holds no manifest\.json"):
        read(tmp_path)


def test_another_kind_or_format_is_refused(tmp_path: Path) -> None:
    directory = make(tmp_path / "model")
    with pytest.raises(ArtifactError, match="is a model, not a reader"):
        read(directory, kind="reader")
    with pytest.raises(
        ArtifactError, match=r"format 3, .* reads format 4. Build it again with `mup"
    ):
        read(directory, format_number=4)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "model"}', '{"new": 1}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (make(tmp_path / "model") / MANIFEST).write_text(text)
    words = r"is damaged .* Delete .*model, and build it again: `muppet train`"
    with pytest.raises(ArtifactError, match=words):
        read(tmp_path / "model")


def test_a_file_in_no_directory_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"x.json cannot be written: .*nowhere is no directory"):
        require_file(tmp_path / "nowhere" / "x.json")


def test_an_artifact_made_from_something_else_is_refused(tmp_path: Path) -> None:
    require_made_from(tmp_path, MODEL, {"paragraphs": "12"}, remake="muppet train")
    with pytest.raises(ArtifactError, match=r"another paragraphs than .* with `muppet train`"):
        require_made_from(tmp_path, MODEL, {"paragraphs": "13"}, remake="muppet train")
    with pytest.raises(ArtifactError, match="another vocabulary"):
        require_made_from(tmp_path, MODEL, {"vocabulary": "1"}, remake="muppet train")


def test_a_checksum_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert checksum_file(tmp_path / "abc").startswith("ba7816bf8f01cfea414140de5dae2223")


def test_json_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    write_json(path, {"name": "Zoë"})
    held = os.open(path, os.O_RDONLY)  # somebody is reading it
    write_json(path, {"name": "Ada"})
    with os.fdopen(held, encoding="utf-8") as stream:
        assert json.load(stream) == {"name": "Zoë"}
    with pytest.raises(TypeError):
        write_json(path, {"name": "Eve", "what": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "Ada"}


def test_a_crash_in_the_middle_of_replacing_an_artifact_loses_neither(tmp_path: Path) -> None:
    """Between the two renames only the old one is there, aside; it is put back."""
    with new_artifact(tmp_path / "x", Manifest("thing", 1)) as partial:
        (partial / "content").write_text("old")
    (tmp_path / "x").rename(tmp_path / "x.muppet-old")  # where a kill would leave it
    assert restore_artifact(tmp_path / "x")
    assert (tmp_path / "x" / "content").read_text() == "old"
    with new_artifact(tmp_path / "x", Manifest("thing", 1)) as partial:
        (partial / "content").write_text("new")
    assert (tmp_path / "x" / "content").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x"]


def test_what_an_artifact_is_can_be_asked_of_anything(tmp_path: Path) -> None:
    assert kind_of(make(tmp_path / "model")) == "model"
    assert kind_of(tmp_path) == kind_of(tmp_path / "nowhere") == ""
    (tmp_path / MANIFEST).write_text("[torn")
    assert kind_of(tmp_path) == ""
