"""The page of results, and Figure (a) on it (checklist 32)."""

import struct
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from muppet.errors import ConfigError
from muppet.evaluate.answers import Scores
from muppet.evaluate.chains import CUTOFFS, RetrievalScores
from muppet.evaluate.page import write_page
from muppet.evaluate.report import Report

DETAILS = {"command": "muppet evaluate kb dev.json > out", "commit": "abc123"}


class Words(HTMLParser):
    """The text of a page, and its tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def rising(level: float) -> RetrievalScores:
    perfect = {cutoff: level * place / 15 for place, cutoff in enumerate(CUTOFFS)}
    any_gold = {cutoff: (1 + score) / 2 for cutoff, score in perfect.items()}
    return RetrievalScores(perfect=perfect, at_least_one=any_gold, hits=perfect)


def report(level: float, *kinds: str) -> Report:
    parts = {kind: report(level / 2) for kind in kinds}
    scores = Scores(em=level / 3, f1=level / 2, precision=level, recall=level)
    return Report(60, answer=scores, retrieval=rising(level), by_type=parts)


HOTPOT = {
    "TF-IDF <b>&": report(0.5, "bridge", "comparison"),
    "_cost: $\\5 or $7": report(0.9, "bridge", "comparison"),
}


def test_the_page_holds_every_number_and_how_it_was_made(tmp_path: Path) -> None:
    path = write_page(tmp_path / "new" / "results", "HotpotQA", HOTPOT, DETAILS)
    assert path == tmp_path / "new" / "results" / "index.html"
    words = Words(path.read_text(encoding="utf-8")).text
    for expected in ("overall, 60 questions: answers", "16.7", "25.0", "precision", "at least one"):
        assert expected in words
    for kind in ("bridge", "comparison"):
        assert f"{kind}, 60 questions: retrieval at k" in words
    assert words.index("commit") > words.index("comparison, 60 questions: retrieval at k")
    assert words[words.index("commit") + 1] == "abc123"


def test_all_text_on_the_page_is_escaped(tmp_path: Path) -> None:
    reports = {"<script>1</script>": report(0.5, "<i>kind</i>")}
    details = {"<u>name": "<u>value & more"}
    page = write_page(tmp_path, "<b>title</b>", reports, details).read_text(encoding="utf-8")
    assert "&lt;script&gt;1&lt;/script&gt;" in page
    assert {tag for tag, _ in Words(page).tags}.isdisjoint({"script", "i", "u", "b"})
    assert "<u>value & more" in Words(page).text


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    page = write_page(tmp_path, "HotpotQA", HOTPOT, DETAILS).read_text(encoding="utf-8")
    tags = Words(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"script", "link", "img", "iframe"})
    links = [value for _, named in tags for name, value in named.items() if name.endswith("href")]
    outside = [value for value in links if value and not value.startswith("#")]
    assert outside == ["retrieval.png", "retrieval.svg"]
    assert "@import" not in page
    assert "url(http" not in page


def test_the_page_suits_a_phone_and_a_dark_room(tmp_path: Path) -> None:
    page = write_page(tmp_path, "HotpotQA", HOTPOT, DETAILS).read_text(encoding="utf-8")
    assert ("meta", "width=device-width, initial-scale=1") in [
        (tag, named.get("content")) for tag, named in Words(page).tags
    ]
    assert "prefers-color-scheme: dark" in page


def test_the_figure_has_a_panel_overall_and_for_each_type_checklist_32(tmp_path: Path) -> None:
    write_page(tmp_path, "HotpotQA", HOTPOT, DETAILS)
    drawing = ElementTree.parse(tmp_path / "retrieval.svg")
    names = [element.get("id") or "" for element in drawing.iter()]
    panels = [name for name in names if name.startswith("axes_")]
    assert len(panels) == 3
    png = (tmp_path / "retrieval.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 2 * height > 800


def test_the_figure_draws_both_curves_of_every_system_checklist_32(tmp_path: Path) -> None:
    write_page(tmp_path, "HotpotQA", {"one": report(0.5), "two": report(0.9)}, DETAILS)
    drawing = (tmp_path / "retrieval.svg").read_text(encoding="utf-8")
    for text in ("at least one@k", "(potentially) perfect@k", "questions (%)", "one", "two"):
        assert f"<!-- {text} -->" in drawing
    for colour in ("#0072b2", "#d55e00"):
        lines = [line for line in drawing.splitlines() if f"stroke: {colour}" in line.lower()]
        dashed = [line for line in lines if "stroke-dasharray" in line]
        assert dashed
        assert len(dashed) < len(lines)


def test_a_name_is_never_read_as_a_formula_checklist_32(tmp_path: Path) -> None:
    write_page(tmp_path, "HotpotQA", HOTPOT, DETAILS)
    assert "<!-- _cost: $\\5 or $7 -->" in (tmp_path / "retrieval.svg").read_text(encoding="utf-8")


def test_many_types_and_systems_fit_into_rows_of_panels_checklist_32(tmp_path: Path) -> None:
    reports = {f"system number {place}": report(0.5, *"abcdef") for place in range(9)}
    write_page(tmp_path, "MuSiQue", reports, DETAILS)
    width, height = struct.unpack(">II", (tmp_path / "retrieval.png").read_bytes()[16:24])
    assert width < 2 * height


def test_the_same_reports_give_the_same_page(tmp_path: Path) -> None:
    first = write_page(tmp_path / "1", "HotpotQA", HOTPOT, DETAILS).read_bytes()
    assert write_page(tmp_path / "2", "HotpotQA", HOTPOT, DETAILS).read_bytes() == first


def test_without_retrieval_there_is_a_page_without_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answers = {"reader": Report(3, answer=Scores(0.5, 0.5, 0.5, 0.5))}
    page = write_page(tmp_path, "SQuAD", answers, DETAILS).read_text(encoding="utf-8")
    assert "<figure" not in page
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_missing_matplotlib_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"needs matplotlib, .*'\.\[evaluate\]'"):
        write_page(tmp_path, "HotpotQA", HOTPOT, DETAILS)


def test_a_directory_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"Cannot write the page into .*file"):
        write_page(tmp_path / "file", "HotpotQA", HOTPOT, DETAILS)
