"""Commands that measure: score, evaluate."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.corpus.benchmarks import read_questions
from muppet.errors import ConfigError
from muppet.evaluate.answers import read_predictions
from muppet.evaluate.narrowing import count_missing, evaluate_narrowing
from muppet.evaluate.page import write_page
from muppet.evaluate.report import Report, format_table, score_predictions, unknown_ids
from muppet.knowledge.open import KnowledgeBase

LEXICAL = ("tfidf", "bm25")


@click.command()
@click.argument("predictions", type=click.Path(path_type=Path))
@click.argument("gold", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
def score(predictions: Path, gold: Path, as_json: bool) -> None:
    """Score PREDICTIONS against GOLD exactly as the benchmark does.

    Predictions are {"answer": {id: text}, "sp": {id: [[title, n], ...]}} as for HotpotQA, or
    {id: text} as for SQuAD; both files may be compressed (.xz .gz .bz2 .zst).
    """
    questions = read_questions(gold)
    predicted = read_predictions(predictions)
    unknown = unknown_ids(predicted, questions)
    if unknown:
        click.echo(f"{len(unknown)} predictions are for no question of {gold}.", err=True)
    report = score_predictions(predicted, questions)
    click.echo(json.dumps(report.to_json()) if as_json else format_table({"predictions": report}))


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--lexical", is_flag=True, help="Lexical narrowing alone (the paper's Figure a).")
@click.option("--retriever", type=click.Choice(LEXICAL), help="Only this one.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
@click.option("--report", "report_in", type=click.Path(path_type=Path), help="Write a page there.")
def evaluate(
    kb: Path,
    questions: Path,
    lexical: bool,
    retriever: str | None,
    as_json: bool,
    report_in: Path | None,
) -> None:
    """Measure on a benchmark's QUESTIONS how well KB finds their gold paragraphs."""
    if not lexical and retriever is None:
        raise ConfigError(
            "This version has no trained model yet, so only lexical retrieval can be "
            "evaluated: add --lexical."
        )
    asked = read_questions(questions)
    with KnowledgeBase(kb) as knowledge:
        progress = ProgressLine()
        engines = (retriever,) if retriever else LEXICAL
        reports: dict[str, Report] = {}
        for engine in engines:
            knowledge.narrower(engine, progress)
            reports[engine] = evaluate_narrowing(knowledge, engine, asked, progress)
        progress.close()
        missing = count_missing(knowledge.store, asked)
        if missing:
            click.echo(
                f"{missing} gold paragraphs are not in {kb}: they count as not found.", err=True
            )
        click.echo(_to_json(reports) if as_json else format_table(reports))
        if report_in:
            page = write_page(
                report_in, "Lexical narrowing", reports, _details(knowledge, questions)
            )
            click.echo(f"Wrote {page}", err=True)


def _to_json(reports: Mapping[str, Report]) -> str:
    """The last engine's report in the usual shape; of several, each by its name as well."""
    content = list(reports.values())[-1].to_json()
    if len(reports) > 1:
        content["retrievers"] = {name: report.to_json() for name, report in reports.items()}
    return json.dumps(content)


def _details(knowledge: KnowledgeBase, questions: Path) -> dict[str, str]:
    paragraphs = knowledge.store.count_paragraphs()
    return {
        "command": " ".join(["muppet", *sys.argv[1:]]),
        "knowledge base": f"{knowledge.directory}, {paragraphs:,} paragraphs",
        "questions": str(questions),
        "version": version("muppet"),
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
