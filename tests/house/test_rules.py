"""Rules about the code itself (see docs/decisions and CONTRIBUTING)."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "muppet"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted({path.parent for path in MODULES} - {SOURCE})
JUNK = {
    "base",
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "base_classes",
    "misc",
    "manager",
    "handler",
}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_has_one_idea_in_at_most_400_lines(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= 400
    assert module.stem not in JUNK


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_has_two_modules_an_empty_init_and_no_stutter(package: Path) -> None:
    names = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert len(names) >= 2
    assert (package / "__init__.py").read_text() == ""
    assert package.name not in names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_pickled_and_nothing_is_left_to_do(module: Path) -> None:
    text = module.read_text()
    assert not re.search(r"\bimport pickle|allow_pickle=True|\bTODO\b|\bFIXME\b", text)


def test_the_readme_lists_every_module_and_no_other() -> None:
    listed = set(re.findall(r"^[├└│]──? ?(\S+\.py)", (ROOT / "README.md").read_text(), re.M))
    on_disk = {str(path.relative_to(SOURCE)) for path in MODULES if path.stem != "__init__"}
    assert listed == on_disk


def test_the_version_is_the_newest_of_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest
    assert newest.group(1) == project["version"]
    assert f'"{project["version"]}"' in (SOURCE / "__init__.py").read_text()


def test_every_dependency_is_justified_and_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    names = [re.split(r"[<>=~\[]", line)[0] for line in sum(extras, project["dependencies"])]
    decisions = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text()
    locked = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    assert [name for name in names if f"**{name}**" not in decisions] == []
    assert [name for name in names if f"\n{name}==" not in f"\n{locked}"] == []


def test_tests_do_not_need_the_shared_folder() -> None:
    """They may use it where it is, and must skip with a reason where it is not."""
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text()
        if '"shared"' in text and path.name != "test_rules.py":
            assert "skip" in text, path


def test_no_file_of_the_repo_is_large_or_from_the_shared_folder() -> None:
    shared = ROOT.parent / "shared"
    if not shared.exists():
        pytest.skip("../shared is not here to compare with")
    ours = {path.stat().st_size: path for path in (ROOT / "src").rglob("*") if path.is_file()}
    for path in shared.rglob("*"):
        if path.is_file() and (twin := ours.get(path.stat().st_size)):
            assert twin.read_bytes() != path.read_bytes(), twin
