"""`muppet train` from the command line: hard negatives, and what cannot run."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from muppet.train.data import load_training_data
from muppet.train.negatives import read_mined, with_mined

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from muppet.cli.main import run
run()
"""
DEMO = Path(str(files("muppet") / "demo"))


def muppet(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "muppet", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_mined_negatives_are_hard_and_never_gold(tmp_path: Path, demo_questions: Path) -> None:
    questions = demo_questions
    assert (
        muppet("index", str(DEMO / "paragraphs.jsonl"), "--into", "kb", cwd=tmp_path).returncode
        == 0
    )
    done = muppet(
        "train", "mine", "kb", str(questions), "--out", "mined", "--keep", "5", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "35 questions" in done.stdout
    data = load_training_data([questions])
    more = with_mined(data, read_mined(tmp_path / "mined"))
    for before, after in zip(data.questions, more.questions, strict=True):
        gold = {more.paragraphs[row].title for row in after.gold}
        negatives = {more.paragraphs[row].title for row in after.distractors}
        assert len(after.distractors) > len(before.distractors)
        assert not gold & negatives


def test_a_recipe_with_a_wrong_key_or_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "typo.toml").write_text("[encoder]\ndimension = 64\n")
    done = muppet("train", "encoder", "typo.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "muppet: Unknown setting encoder.dimension. Did you mean dim?\n"
    (tmp_path / "lost.toml").write_text('[data]\ntrain = ["nowhere.json"]\ndev = "x"\n')
    done = muppet("train", "encoder", "lost.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere.json" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["encoder", "recipe.toml"],
        ["reader", "recipe.toml"],
        ["mine", "kb", "questions.json", "--model", "model", "--out", "mined"],
        ["elmo", "kb", "elmo"],
        ["export", "run/best", "--out", "exported"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_torch_a_command_that_needs_it_says_so_in_one_line(
    tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "recipe.toml").touch()
    command = [sys.executable, "-c", WITHOUT_TORCH, "train", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == (
        "muppet: Training needs torch, which is not installed: "
        "in the directory of Muppet's source, pip install --editable '.[train]'.\n"
    )
    assert done.returncode == 2


def test_questions_that_are_left_out_are_told_at_the_start(tiny_world: Path) -> None:
    for name in ("train.json", "dev.json"):
        questions = json.loads((tiny_world / name).read_text())
        questions[0]["supporting_facts"] = []
        (tiny_world / name).write_text(json.dumps(questions))
    recipe = Path(__file__).parent.parent.parent / "recipes" / "tiny-reader.toml"
    done = muppet("train", "reader", str(recipe), "--dry-run", "--json", cwd=tiny_world)
    assert done.stderr.splitlines() == [
        "data.train, hotpotqa: 1 of 200 questions left out (without gold 1).",
        "data.dev, hotpotqa: 1 of 60 questions left out (without gold 1).",
    ]
    plan = json.loads(done.stdout)
    assert plan["questions"] == 199
    parts = [plan[f"seconds_{part}"] for part in ("for_inputs", "per_step", "per_evaluation")]
    assert parts[0] == 0  # this recipe has no contextual input
    steps = [1, plan["steps"], plan["steps"] / plan["steps_per_epoch"]]
    total = sum(seconds * times for seconds, times in zip(parts, steps, strict=True))
    assert plan["minutes"] * 60 == pytest.approx(total)
