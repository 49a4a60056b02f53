"""Reports → a web page that stands by itself, with the paper's Figure (a) (checklist 32)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muppet.errors import ConfigError, needing
from muppet.evaluate.chains import RetrievalScores
from muppet.evaluate.mistakes import Mistake, SecondHop
from muppet.evaluate.report import Report, Table, make_tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow: told apart by colour-blind eyes, seen on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_AT_LEAST_ONE = "at least one@k"
_PERFECT = "(potentially) perfect@k"
_LINES = {_AT_LEAST_ONE: "-", _PERFECT: "--"}
_TICKS = [2**power for power in range(10)]  # 1 to 512
_PANELS_IN_A_ROW = 3
_FIGURE_SETTINGS: Any = {  # Any: matplotlib lists the names of its settings as types
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.w_pad": 0.1,
    "font.size": 10,
    "svg.hashsalt": "muppet",  # the same numbers give the same file
    "text.parse_math": False,  # a system may have dollars in its name
}
_ALT = "At-least-one@k and potentially-perfect@k against k; the tables below hold the numbers."

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --quiet: #5b6570; --line: #d8dde2;
  --paper: #ffffff; --stripe: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --quiet: #a4adb6;
  --line: #3a4149; --paper: #16191d; --stripe: #1f242a; } }
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
figure { margin: 1rem 0; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .5rem; }
.wide { overflow-x: auto; }
.chart { background: #ffffff; border-radius: .5rem; padding: .5rem; }
.chart svg { display: block; height: auto; min-width: 40rem; width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right;
  white-space: nowrap; }
th[scope=row] { font-weight: normal; text-align: left; }
tbody tr:nth-child(odd) { background: var(--stripe); }
dl { display: grid; gap: .2rem 1rem; grid-template-columns: max-content 1fr; }
dt { color: var(--quiet); }
dd { font-family: ui-monospace, monospace; font-size: .9rem; margin: 0; overflow-wrap: anywhere; }
@media (max-width: 32rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
"""


@dataclass(frozen=True, slots=True)
class Pen:
    """How the lines of one system are drawn."""

    colour: str
    marker: str


def write_page(
    directory: Path,
    title: str,
    reports: Mapping[str, Report],
    details: Mapping[str, str],
    mistakes: Sequence[Mistake] = (),
    helped: SecondHop | None = None,
) -> Path:
    """Write `index.html` and, where retrieval was scored, `retrieval.svg` and `retrieval.png`.

    The page needs no other file: the figure stands inside it. `details` say how the numbers
    were made; they end the page.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        chart = ""
        if any(report.retrieval for report in reports.values()):
            chart = _write_figure(directory, _draw(reports))
        page = directory / "index.html"
        tables = "".join(map(_table, make_tables(reports)))
        parts = f"{chart}{tables}{_second_hop(helped)}{_mistakes(mistakes)}"
        page.write_text(_page(title, parts, details), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"Cannot write the page into {directory}: {error.strerror}. Name a directory that "
            "you may write to."
        ) from error
    return page


def _page(title: str, parts: str, details: Mapping[str, str]) -> str:
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in details.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{parts}"
        f"<h2>How these numbers were made</h2>\n<dl>\n{facts}</dl>\n</body>\n</html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row.metric)}</th><th scope="row">{escape(row.system)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row.cells)
        + "</tr>\n"
        for row in table.rows
    )
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="wide"><table>\n'
        f"<thead><tr><td></td><td></td>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n"
        "</table></div>\n"
    )


def _second_hop(helped: SecondHop | None) -> str:
    if helped is None:
        return ""
    return (
        "<h2>Did the second hop help?</h2>\n"
        f"<p>Of {helped.questions} questions with several gold paragraphs, the plain question "
        f"finds all of them first in {helped.by_question:.1%}; the first chain is right in "
        f"{helped.by_chain:.1%}; {helped.only_by_chain:.1%} are found by hops alone.</p>\n"
    )


def _mistakes(mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return ""
    items = "".join(_mistake(one) for one in mistakes)
    return f"<h2>The surest mistakes</h2>\n{items}"


def _mistake(one: Mistake) -> str:
    support = "".join(f"<li>{escape(sentence)}</li>" for sentence in one.support)
    facts = {
        "said": f"{one.said} ({one.probability:.0%})",
        "right": " / ".join(one.right),
        "chain": " → ".join(one.chain),
        "gold": " + ".join(one.gold),
        "failed": one.stage,
    }
    told = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return (
        f"<details><summary>{escape(one.question)}</summary>\n<dl>{told}</dl>\n"
        f"<ul>{support}</ul></details>\n"
    )


def _write_figure(directory: Path, figure: "Figure") -> str:
    """Save the figure beside the page, and give back the part of the page that shows it."""
    import matplotlib

    drawing = directory / "retrieval.svg"
    with matplotlib.rc_context(_FIGURE_SETTINGS):
        figure.savefig(directory / "retrieval.png", dpi=150)
        figure.savefig(drawing, metadata={"Date": None})
    svg = drawing.read_text(encoding="utf-8")
    return (
        f'<figure>\n<div class="wide chart" role="img" aria-label="{_ALT}">\n'
        f"{svg[svg.index('<svg') :]}</div>\n<figcaption>Share of the questions with at least one "
        "gold paragraph, and with all of them, among the first k results. Also as "
        '<a href="retrieval.png">PNG</a> and <a href="retrieval.svg">SVG</a>.</figcaption>\n'
        "</figure>\n"
    )


def _draw(reports: Mapping[str, Report]) -> "Figure":
    """A panel overall and one for each type, with two lines for each system."""
    with needing("The page's figure", "evaluate"):
        import matplotlib
        from matplotlib.figure import Figure
    panels = _panels(reports)
    pens = _pens(panels["overall"])
    columns = min(len(panels), _PANELS_IN_A_ROW)
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(_FIGURE_SETTINGS):
        width, height = 1.0 + 3.6 * max(columns, 2), 1.2 + 3.0 * rows
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, (title, systems) in zip(grid.flat, panels.items(), strict=False):
            _frame(axes, title)
            for system, retrieval in systems.items():
                _plot(axes, retrieval, pens[system])
        for axes in grid[:, 0]:
            axes.set_ylabel("questions (%)")
        _add_legends(figure, pens)
    return figure


def _panels(reports: Mapping[str, Report]) -> dict[str, dict[str, RetrievalScores]]:
    """Retrieval scores by slice of the questions, then by system."""
    panels: dict[str, dict[str, RetrievalScores]] = {}
    for system, report in reports.items():
        for name, part in {"overall": report, **report.by_type}.items():
            if part.retrieval:
                panels.setdefault(name, {})[system] = part.retrieval
    return panels


def _pens(systems: Iterable[str]) -> dict[str, Pen]:
    return {
        system: Pen(colour, marker)
        for system, colour, marker in zip(systems, cycle(_COLOURS), cycle(_MARKERS), strict=False)
    }


def _frame(axes: "Axes", title: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("k")
    axes.set_xscale("log", base=2)
    axes.set_xticks(_TICKS, [str(tick) for tick in _TICKS])
    axes.set_xticks([], minor=True)
    axes.set_ylim(0, 102)  # a line at 100 % keeps its whole width
    axes.set_yticks(range(0, 101, 20))
    axes.grid(color="#d0d0d0", linewidth=0.6)
    axes.set_axisbelow(True)


def _plot(axes: "Axes", retrieval: RetrievalScores, pen: Pen) -> None:
    curves = {_AT_LEAST_ONE: retrieval.at_least_one, _PERFECT: retrieval.perfect}
    for curve, scores in curves.items():
        percent = [100 * score for score in scores.values()]
        axes.plot(
            list(scores), percent, pen.marker, color=pen.colour, ls=_LINES[curve], markersize=4
        )


def _add_legends(figure: "Figure", pens: Mapping[str, Pen]) -> None:
    """Above, what the two kinds of line mean; below, which system has which colour."""
    from matplotlib.lines import Line2D

    curves = [Line2D([], [], color="#404040", ls=line) for line in _LINES.values()]
    figure.legend(curves, list(_LINES), loc="outside upper center", ncols=2, frameon=False)
    systems = [Line2D([], [], color=pen.colour, marker=pen.marker) for pen in pens.values()]
    letters_in_a_row = 10 * figure.get_figwidth()
    columns = max(1, int(letters_in_a_row // (8 + max(map(len, pens)))))
    figure.legend(systems, list(pens), loc="outside lower center", ncols=columns, frameon=False)
