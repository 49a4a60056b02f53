"""The documentation as a site: it builds without a warning, and asks nobody for anything."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import DOCS, PAGES, ROOT, name_of

MISSING = (
    "NO MKDOCS HERE, SO THE SITE IS NOT BUILT. Get it with `pip install -e '.[docs]'`, or "
    "`make test`, which does."
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*>")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("material") is None:
        pytest.skip(MISSING)
    directory = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(directory)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr + built.stdout
    return directory


def test_every_page_is_in_it_and_no_code_of_ours(site: Path) -> None:
    pages = {page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}
    built = {page.relative_to(site) for page in site.rglob("*.html")}
    assert built == pages | {Path("404.html")}
    assert list(site.rglob("*.py")) == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert LOADED.findall(page.read_text(encoding="utf-8")) == [], page


def test_a_list_right_behind_a_line_is_a_list_as_on_github(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not re.search(r"<p>[^<]*\n- ", page.read_text(encoding="utf-8")), page
    assert "<li>" in (site / "decisions" / "0005-reader.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_work_where_the_pages_are_read_as_files(page: Path) -> None:
    """As on GitHub. The site's own are checked by its build, which a page may not link out of."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target = link.partition("#")[0]
        if target and "://" not in target:
            assert (page.parent / target).exists(), link
            assert page.parent == ROOT or (page.parent / target).resolve().is_relative_to(DOCS)
