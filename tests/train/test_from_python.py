"""Training from a program: the same run as the command's."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import muppet
from muppet.config import load_settings, to_toml
from muppet.errors import ConfigError
from muppet.train.recipe import EncoderRecipe

RECIPES = Path(__file__).parent.parent.parent / "recipes"


def test_a_run_is_told_of_and_leaves_the_model_and_its_recipe(tiny_world: Path) -> None:
    recipe = load_settings(EncoderRecipe, RECIPES / "tiny.toml")
    short = replace(recipe, run=replace(recipe.run, epochs=1))
    (tiny_world / "short.toml").write_text(to_toml(short))
    stages: list[str] = []

    def watch(stage: str, _done: int, _total: int | None, _note: str = "") -> None:
        stages.append(stage)

    best = muppet.train_encoder("short.toml", out="run", progress=watch)
    assert best
    assert stages
    assert load_settings(EncoderRecipe, Path("run/recipe.toml")) == short
    assert Path("run/best/weights.safetensors").is_file()


@pytest.mark.parametrize("name", ["train_encoder", "train_reader"])
def test_a_recipe_with_a_wrong_key_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "typo.toml").write_text("[rum]\nsteps = 3\n")
    with pytest.raises(ConfigError, match="Did you mean run"):
        getattr(muppet, name)(tmp_path / "typo.toml", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["train_encoder", "train_reader"])
def test_without_torch_training_says_what_to_install(name: str) -> None:
    program = (
        "import sys, muppet\n"
        "sys.modules['torch'] = None\n"
        "try:\n"
        f"    muppet.{name}('recipe.toml', out='run')\n"
        "except muppet.MuppetError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "Training needs torch, which is not installed: "
        "in the directory of Muppet's source, pip install --editable '.[train]'.\n"
    )
