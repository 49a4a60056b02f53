"""Commands that measure: score, evaluate."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.config import RetrieveConfig, load_config
from muppet.corpus.benchmarks import read_questions
from muppet.errors import ConfigError
from muppet.evaluate.answers import read_predictions
from muppet.evaluate.narrowing import count_missing, evaluate_narrowing
from muppet.evaluate.page import write_page
from muppet.evaluate.report import Report, format_table, score_predictions, unknown_ids
from muppet.evaluate.retrieval import (
    System,
    evaluate_systems,
    lexical_pairs,
    lexical_requery,
    model_chains,
    one_shot_pairs,
)
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import open_retriever

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
@click.option("--retrieval", is_flag=True, help="Chains, beside the baselines without training.")
@click.option("--retriever", type=click.Choice(LEXICAL), help="Only this lexical one.")
@click.option("--model", type=click.Path(path_type=Path), help="Which model [default: the KB's].")
@click.option("--pretrained", type=click.Path(path_type=Path),
              help="An untrained exported model, as a further baseline.")  # fmt: skip
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings, as TOML.")
@click.option("--first", type=click.IntRange(0), default=0, help="Leave so many questions out.")
@click.option("--count", type=click.IntRange(1), help="Then take so many [default: all].")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
@click.option("--report", "report_in", type=click.Path(path_type=Path), help="Write a page there.")
def evaluate(
    kb: Path,
    questions: Path,
    lexical: bool,
    retrieval: bool,
    retriever: str | None,
    model: Path | None,
    pretrained: Path | None,
    config_file: Path | None,
    first: int,
    count: int | None,
    as_json: bool,
    report_in: Path | None,
) -> None:
    """Measure on a benchmark's QUESTIONS how well KB finds their gold paragraphs."""
    if not (lexical or retrieval or retriever):
        raise ConfigError(
            "This version has no reader yet: add --retrieval for chains, or --lexical for "
            "narrowing alone."
        )
    asked = read_questions(questions)[first : first + count if count else None]
    with KnowledgeBase(kb) as knowledge:
        progress = ProgressLine()
        if retrieval:
            settings = load_config(config_file).retrieve if config_file else None
            systems = _systems(knowledge, model, pretrained, settings, progress)
            reports = evaluate_systems(knowledge, systems, asked, progress)
        else:
            reports = {}
            for engine in (retriever,) if retriever else LEXICAL:
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
            title = "Multi-hop retrieval" if retrieval else "Lexical narrowing"
            page = write_page(report_in, title, reports, _details(knowledge, questions))
            click.echo(f"Wrote {page}", err=True)


def _systems(
    knowledge: KnowledgeBase,
    model: Path | None,
    pretrained: Path | None,
    settings: RetrieveConfig | None,
    progress: ProgressLine,
) -> dict[str, System]:
    """The baselines, and last the model."""
    for engine in LEXICAL:
        knowledge.narrower(engine, progress)
    systems = {
        "tfidf pairs": lexical_pairs(knowledge, "tfidf"),
        "bm25 pairs": lexical_pairs(knowledge, "bm25"),
        "bm25 requery": lexical_requery(knowledge),
    }
    settings = settings or knowledge.config.retrieve
    if pretrained:
        alone = replace(settings, lexical_weight=0.0)  # its cosine by itself
        once = replace(alone, hops=1, narrow=(max(settings.narrow),), keep=10)
        systems["pretrained one-shot"] = one_shot_pairs(
            open_retriever(knowledge, pretrained, once, progress)
        )
        systems["pretrained two-hop"] = model_chains(
            open_retriever(knowledge, pretrained, alone, progress)
        )
    systems["model"] = model_chains(open_retriever(knowledge, model, settings, progress))
    return systems


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
