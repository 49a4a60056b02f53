"""`muppet train own`, as a user runs it: a small transformer, the demo and its questions."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from command_line import Outcome, assert_refused, muppet, write_rows

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig, ReaderConfig
from muppet.domain import silent
from muppet.facade import own as facade
from muppet.nn.export import export_model
from muppet.nn.export_reader import export_reader
from muppet.nn.model import new_model
from muppet.nn.reader_model import new_reader
from muppet.read.calibrate import Calibration
from muppet.read.reader import read_calibration, write_calibration
from tiny_bert import write_bert

DEMO = Path(str(files("muppet") / "demo"))


@dataclass(frozen=True, slots=True)
class World:
    """A knowledge base, the networks to ask it with, and questions about it."""

    kb: Path
    encoder: Path
    reader: Path
    questions: Path


@dataclass(frozen=True, slots=True)
class Trained:
    """What a command printed, and where it put what it made."""

    outcome: Outcome
    out: Path

    @property
    def report(self) -> Mapping[str, object]:
        content: dict[str, object] = json.loads((self.out / "report.json").read_text())
        return content


def networks(directory: Path) -> tuple[Path, Path]:
    """An encoder and a reader of a transformer that nobody has trained."""
    torch.manual_seed(4)
    bert = ContextualConfig("transformer", str(write_bert(directory / "bert")), 1, 1, 0.0)
    letters = CharacterConfig(filters=0)
    encoder = EncoderConfig(network="transformer", dim=32, word_vectors=False,
                            characters=letters, contextual=bert, max_tokens=150)  # fmt: skip
    reader = ReaderConfig(network="transformer", dim=32, hidden=4, word_vectors=False,
                          characters=letters, contextual=bert, max_tokens=150)  # fmt: skip
    export_model(directory / "encoder", new_model(encoder, [], None), {}, int8=True)
    export_reader(directory / "reader", new_reader(reader, [], None), {}, int8=True)
    write_calibration(directory / "reader", Calibration(2.0, -0.5, 0.25))
    return directory / "encoder", directory / "reader"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    directory = tmp_path_factory.mktemp("own")
    encoder, reader = networks(directory)
    kb = directory / "kb"
    assert muppet("index", DEMO / "paragraphs.jsonl", "--into", kb).code == 0
    assert muppet("encode", kb, "--model", encoder).code == 0
    rows: list[dict[str, object]] = []
    for place, one in enumerate(json.loads((DEMO / "questions.json").read_text())):
        row = {"question": one["question"], "answer": one["answer"]}
        if place % 3:  # so many that enough have evidence, whatever the random encoder finds
            row["paragraphs"] = list(dict.fromkeys(title for title, _ in one["supporting_facts"]))
        rows.append(row)
    rows.append({"question": "Which parrot buried its captain?", "answer": "Captain Flint's"})
    return World(kb, encoder, reader, write_rows(directory / "own.jsonl", rows))


@pytest.fixture(scope="module")
def trained(world: World, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    out = tmp_path_factory.mktemp("out") / "own"
    command = ("train", "own", world.kb, world.questions, "--reader", world.reader)
    return Trained(muppet(*command, "--out", out, "--rounds", "1"), out)


def test_it_says_what_it_learned_from_and_how_good_it_was_before_and_after(
    trained: Trained, world: World
) -> None:
    assert trained.outcome.code == 0, trained.outcome.err
    report, lines = trained.report, trained.outcome.out.splitlines()
    learned, held, left = (report[name] for name in ("learned", "held_out", "left_out"))
    assert isinstance(left, dict)
    lost = sum(left.values())
    assert learned + held + lost == 36  # type: ignore[operator]
    assert lines[0].startswith(
        f"Learned from {learned} questions; {held} were held out, and {lost}"
    )
    table = [line.split() for line in lines if line.startswith(("before", "after"))]
    for name, em, f1 in table:
        scores = report[name]
        assert isinstance(scores, dict)
        assert (em, f1) == (f"{100 * scores['em']:.1f}", f"{100 * scores['f1']:.1f}")
    assert f"muppet ask {world.kb} QUESTION --reader {trained.out / 'reader'}" in lines


def test_the_numbers_are_those_of_evaluate(trained: Trained, world: World) -> None:
    held = trained.out / "questions" / "held-out.jsonl"
    for name, reader in (("before", world.reader), ("after", trained.out / "reader")):
        again = muppet("evaluate", world.kb, held, "--reader", reader, "--json").json
        assert again["answer"] == trained.report[name]
        assert again["questions"] == trained.report["held_out"]


def test_nothing_that_is_held_out_is_learned_from(trained: Trained) -> None:
    files = trained.out / "questions"
    learned = {one["question"] for one in json.loads((files / "train.json").read_text())}
    held = {
        json.loads(line)["question"] for line in (files / "held-out.jsonl").read_text().splitlines()
    }
    assert learned and held
    assert not learned & held


def test_the_trained_reader_answers_and_its_probabilities_are_understood_as_before(
    trained: Trained, world: World
) -> None:
    assert read_calibration(trained.out / "reader") == read_calibration(world.reader)
    asked = muppet("ask", world.kb, "Who founded Grytviken?", "--reader", trained.out / "reader")
    assert asked.code == 0
    graphs = [(path / "read.onnx").read_bytes() for path in (world.reader, trained.out / "reader")]
    assert graphs[0] != graphs[1]


def test_the_same_command_does_nothing_twice_and_another_file_is_refused(
    trained: Trained, world: World, tmp_path: Path
) -> None:
    metrics = (trained.out / "run" / "reader" / "metrics.jsonl").read_text()
    command = ("train", "own", world.kb, world.questions, "--reader", world.reader)
    again = muppet(*command, "--out", trained.out, "--rounds", "1", "--json")
    assert again.json == trained.report | {
        "reader": str(trained.out / "reader"),
    }
    assert (trained.out / "run" / "reader" / "metrics.jsonl").read_text() == metrics
    fewer = tmp_path / "fewer.jsonl"
    fewer.write_text("".join(world.questions.read_text().splitlines(keepends=True)[:-1]))
    other = ("train", "own", world.kb, fewer, "--reader", world.reader, "--out", trained.out)
    assert_refused(muppet(*other), "another file of questions", "with another --out")


def test_a_stopped_run_goes_on_where_it_was(trained: Trained, world: World, tmp_path: Path) -> None:
    class StoppedError(Exception):
        """Somebody pulls the plug."""

    def stop(stage: str, done: int, total: int | None, note: str = "") -> None:  # noqa: ARG001
        if stage == "training" and done == 4:
            raise StoppedError

    settings = {"out": tmp_path / "own", "reader": world.reader, "rounds": 1}
    with pytest.raises(StoppedError):
        facade.train_own(world.kb, world.questions, **settings, progress=stop)  # type: ignore[arg-type]
    stages: list[str] = []

    def watch(stage: str, done: int, total: int | None, note: str = "") -> None:  # noqa: ARG001
        stages.append(stage)

    result = facade.train_own(world.kb, world.questions, **settings, progress=watch)  # type: ignore[arg-type]
    assert "finding evidence" not in stages
    assert result.to_json()["after"] == trained.report["after"]


def test_an_encoder_is_trained_beside_the_knowledge_base_which_stays_as_it_is(
    world: World, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in world.kb.rglob("*.json")}
    names = sorted(path.name for path in world.kb.iterdir())
    result = facade.train_own(
        world.kb,
        world.questions,
        out=tmp_path / "own",
        what="both",
        model=world.encoder,
        reader=world.reader,
        rounds=1,
        progress=silent,
    )
    assert result.encoder == tmp_path / "own" / "encoder"
    assert result.reader == tmp_path / "own" / "reader"
    assert {path: path.read_bytes() for path in world.kb.rglob("*.json")} == before
    assert sorted(path.name for path in world.kb.iterdir()) == names
    assert muppet("encode", world.kb, "--model", tmp_path / "own" / "encoder").code == 0
    assert muppet("encode", world.kb, "--model", world.encoder).code == 0  # as it was


def test_what_cannot_be_trained_on_is_refused_in_one_line(world: World, tmp_path: Path) -> None:
    def refused(rows: list[dict[str, object]], *parts: str) -> None:
        file = write_rows(tmp_path / "wrong.jsonl", rows)
        command = ("train", "own", world.kb, file, "--reader", world.reader)
        assert_refused(muppet(*command, "--out", tmp_path / "own"), *parts)

    refused([{"question": "Who founded Grytviken?", "answer": ""}], "wrong.jsonl:1: ", "is empty")
    unknown = {"question": "Who founded it, Larsen?", "answer": "Larsen", "paragraphs": ["Nix"]}
    refused([unknown], "wrong.jsonl:1: ", "no paragraph 'Nix'")
    few = [{"question": f"Who founded Grytviken {n}?", "answer": "Larsen"} for n in range(5)]
    refused(few, "of 5 questions can be learned from, and at least 20 are needed")
    assert not (tmp_path / "own" / "questions").exists()


def test_without_torch_it_says_what_to_install(world: World, tmp_path: Path) -> None:
    program = "import sys; sys.modules['torch'] = None; from muppet.cli.main import run; run()"
    command = ["train", "own", str(world.kb), str(world.questions), "--out", str(tmp_path / "own")]
    done = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "muppet: Training needs torch, which is not installed: "
        "in the directory of Muppet's source, pip install --editable '.[train]'.\n"
    )
    assert not (tmp_path / "own").exists()


def test_an_encoder_that_is_not_ours_has_to_be_named(world: World, tmp_path: Path) -> None:
    command = ("train", "own", world.kb, world.questions, "--out", tmp_path, "--what", "encoder")
    assert_refused(muppet(*command, "--reader", world.reader), "another encoder", "--model")
