"""`muppet train` from the command line: hard negatives, and recipes that cannot run."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from muppet.train.data import load_training_data
from muppet.train.negatives import read_mined, with_mined

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
