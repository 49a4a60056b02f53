"""The Python that our pages show is run as it stands, by networks that nobody has trained."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

import muppet
from muppet import pipeline
from muppet.facade import knowledge as facade
from muppet.knowledge import encode as knowledge
from random_model import Demo

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(import muppet\b.*?)^```$", re.M | re.S)


def snippets() -> list[tuple[str, str]]:
    """Each block that begins with `import muppet`, and the page and line it stands at."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start(1)) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", block.group(1)))
    return found


@pytest.fixture
def here(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with what the pages speak of: my_docs, the demo corpus, and the networks."""
    (tmp_path / "my_docs").mkdir()
    (tmp_path / "my_docs" / "larsen.md").write_text("# Larsen\n\nLarsen founded Grytviken.\n")
    (tmp_path / "my_docs" / "grave.txt").write_text("Shackleton is buried at Grytviken.\n")
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(knowledge, "shipped_encoder", lambda: demo.encoder)
    for module in (pipeline, facade):
        monkeypatch.setattr(module, "shipped_reader", lambda: demo.reader)
    return tmp_path


def run(code: str, name: str) -> None:
    exec(compile(code, name, "exec"), {"__name__": "__main__"})


NONE = pytest.param("", "", marks=pytest.mark.skip("no page has Python of ours to run yet"))


@pytest.mark.parametrize(("place", "code"), snippets() or [NONE])
def test_the_python_of_our_pages_runs(
    here: Path, place: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "muppet.index(" not in code:
        muppet.index(here / "my_docs", into=here / "kb")
        muppet.encode(here / "kb")
    run(code, place)
    assert "print(" not in code or capsys.readouterr().out


def test_the_python_in_the_package_s_own_documentation_runs(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert here.is_dir()
    documentation = dedent((muppet.__doc__ or "").split("\n\n", 1)[1].rsplit("\n\n", 1)[0])
    assert documentation.startswith("import muppet")
    run(documentation.replace("of two hops", "about Grytviken"), "muppet.__doc__")
    assert capsys.readouterr().out
