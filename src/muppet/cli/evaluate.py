"""Commands that measure: score, evaluate."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from muppet.artifact import require_file
from muppet.cli.progress import ProgressLine
from muppet.cli.shared import NamedPath, config_option, kb_argument, reader_option
from muppet.config import Config, RetrieveConfig, load_config
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Result
from muppet.errors import ConfigError, QuestionError
from muppet.evaluate.answers import read_predictions, write_predictions
from muppet.evaluate.asking import answered, ask_all, evaluate_results, predictions_of
from muppet.evaluate.mistakes import find_mistakes, second_hop
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
from muppet.pipeline import open_muppet
from muppet.retrieve.retriever import open_retriever
from muppet.text.questions import question_from

LEXICAL = ("tfidf", "bm25")


@click.command()
@click.argument("predictions", type=NamedPath())
@click.argument("gold", type=NamedPath())
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
@kb_argument
@click.argument("questions", type=NamedPath())
@click.option("--lexical", is_flag=True, help="Lexical narrowing alone (the paper's Figure a).")
@click.option("--retrieval", is_flag=True, help="Chains, beside the baselines without training.")
@click.option("--retriever", type=click.Choice(LEXICAL), help="Only this lexical one.")
@click.option("--model", type=NamedPath(), help="Which model [default: the KB's].")
@reader_option
@click.option("--predictions", "predictions_in", type=NamedPath(),
              help="Write the answers there, in the benchmark's format.")  # fmt: skip
@click.option("--pretrained", type=NamedPath(),
              help="An untrained exported model, as a further baseline.")  # fmt: skip
@config_option
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave so many questions out.")
@click.option("--count", type=click.IntRange(1), help="Then take so many [default: all].")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as one JSON object.")
@click.option("--report", "report_in", type=NamedPath(), help="Write a page there.")
def evaluate(
    kb: Path,
    questions: Path,
    lexical: bool,
    retrieval: bool,
    retriever: str | None,
    model: Path | None,
    reader: Path | None,
    predictions_in: Path | None,
    pretrained: Path | None,
    config_file: Path | None,
    skip: int,
    count: int | None,
    as_json: bool,
    report_in: Path | None,
) -> None:
    """Measure on a benchmark's QUESTIONS how well KB answers them.

    Answers, support and chains are scored as the benchmarks do it; --retrieval measures how well
    chains are found, beside what needs no training, and --lexical the first stage alone.
    """
    asked = read_questions(questions)[skip : skip + count if count else None]
    if not asked:
        raise ConfigError(f"{questions} has no question behind the first {skip}.")
    _require_askable(questions, asked)
    finds = lexical or retrieval or retriever is not None
    if lexical and retrieval:
        raise ConfigError("Choose --lexical or --retrieval, not both.")
    if finds and (predictions_in or reader):
        raise ConfigError("--predictions and --reader are for answers: leave them out here.")
    _require_places(predictions_in, report_in)
    if not finds:
        config = load_config(config_file) if config_file else None
        _evaluate_answers(
            kb, questions, asked, config, model, reader, predictions_in, report_in, as_json
        )
        return
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
        _tell_of_missing(knowledge, asked)
        click.echo(_to_json(reports) if as_json else format_table(reports))
        if report_in:
            title = "Multi-hop retrieval" if retrieval else "Lexical narrowing"
            page = write_page(report_in, title, reports, _details(knowledge, questions))
            click.echo(f"Wrote {page}", err=True)


def _evaluate_answers(
    kb: Path,
    questions: Path,
    asked: Sequence[BenchmarkQuestion],
    config: Config | None,
    model: Path | None,
    reader: Path | None,
    predictions_in: Path | None,
    report_in: Path | None,
    as_json: bool,
) -> None:
    """The whole system, end to end."""
    progress = ProgressLine()
    with open_muppet(kb, config=config, model=model, reader=reader, progress=progress) as muppet:
        results = ask_all(lambda some: muppet.ask_many(some, progress), asked)
        progress.close()
        report = evaluate_results(muppet.knowledge, asked, results)
        _tell_of_missing(muppet.knowledge, asked)
        click.echo(_to_json({"muppet": report}) if as_json else format_table({"muppet": report}))
        if predictions_in:
            write_predictions(predictions_in, predictions_of(answered(asked, results)))
            click.echo(f"Wrote {predictions_in}", err=True)
        if report_in:
            best = {id_: _best_titles(muppet.knowledge, one) for id_, one in results.items()}
            page = write_page(
                report_in,
                "Questions answered",
                {"muppet": report},
                _details(muppet.knowledge, questions),
                find_mistakes(asked, results),
                second_hop(asked, results, best),
            )
            click.echo(f"Wrote {page}", err=True)


def _require_places(predictions_in: Path | None, report_in: Path | None) -> None:
    """What cannot be written is said before the first question is asked."""
    if predictions_in:
        require_file(predictions_in)
    if report_in:
        report_in.mkdir(parents=True, exist_ok=True)


def _require_askable(file: Path, questions: Sequence[BenchmarkQuestion]) -> None:
    for one in questions:
        try:
            question_from(one.question.text)
        except QuestionError as error:
            raise QuestionError(f"{file}, question {one.question.id}: {error}") from error


def _tell_of_missing(knowledge: KnowledgeBase, asked: Sequence[BenchmarkQuestion]) -> None:
    missing = count_missing(knowledge.store, asked)
    if missing:
        click.echo(
            f"{missing} gold paragraphs are not in {knowledge.directory}, by their titles and "
            "texts: they count as not found.",
            err=True,
        )


def _best_titles(knowledge: KnowledgeBase, result: Result, count: int = 4) -> list[str]:
    """The titles of the best paragraphs for the plain question, in order."""
    best = sorted(result.ranks, key=lambda number: result.ranks[number])[:count]
    paragraphs = knowledge.store.paragraphs(best)
    return [paragraphs[number].title for number in best]


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
        alone = replace(  # its cosine
            settings,
            lexical_weight=0.0,
            title_weights=(0.0,),
            coverage_weight=0.0,
            judge_weights=(0.0,),
        )
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
    details = {
        "command": " ".join(["muppet", *sys.argv[1:]]),
        "knowledge base": f"{knowledge.directory}, {paragraphs:,} paragraphs",
        "questions": str(questions),
        "version": version("muppet"),
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return {name: _printable(fact) for name, fact in details.items()}


def _printable(text: str) -> str:
    """A name of a file may be no text: what of it is none is told by its number."""
    return text.encode("utf-8", "backslashreplace").decode()
