"""The command that answers: ask."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import from_stdin
from muppet.cli.show import show_answer
from muppet.config import Config, load_config
from muppet.corpus.files import decode, open_file
from muppet.domain import Result
from muppet.errors import QuestionError
from muppet.knowledge.encode import has_model
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import AT_ONCE, Muppet, open_muppet
from muppet.text.questions import question_from
from muppet.wire import result_to_json

_NOT_ENCODED = (
    "{kb} has no sentence vectors yet, so it can be searched by words alone. Make it ready with "
    "`muppet encode {kb}`, then ask again."
)


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.argument("question", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path),
              help="Questions, one a line, or JSONL with a question in each line.")  # fmt: skip
@click.option(
    "--hops",
    type=click.Choice(["auto", "1", "2", "3", "4"]),
    help="How many paragraphs a chain has.",
)
@click.option("--chains", type=click.IntRange(1, 1000), help="How many chains are read.")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="An exported encoder [default: the KB's last, else ours].",
)
@click.option("--reader", type=click.Path(path_type=Path), help="An exported reader.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings, as TOML.")
@click.option("--top", default=3, show_default=True, type=click.IntRange(1, 100),
              help="How many answers are shown.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each question.")
def ask(
    kb: Path,
    question: str | None,
    file: Path | None,
    hops: str | None,
    chains: int | None,
    model: Path | None,
    reader: Path | None,
    config_file: Path | None,
    top: int,
    as_json: bool,
) -> None:
    """Answer QUESTION from the documents of KB, with the chain of evidence.

    Without a QUESTION, questions are read from --file, or, one a line, from standard input.
    """
    questions = _questions(question, file)
    config = config_for(kb, config_file, hops, chains, top)
    progress = ProgressLine()
    with open_muppet(kb, config=config, model=model, reader=reader, progress=progress) as muppet:
        progress.close()
        for place, every in enumerate(_results(muppet, questions, progress)):
            result = replace(every, answers=every.answers[:top])
            if as_json:
                ranks = muppet.retriever.ranks(result.question)
                click.echo(json.dumps(result_to_json(result, ranks)))
                continue
            if len(questions) > 1:
                click.echo(("\n" if place else "") + click.style(result.question, bold=True))
            show_answer(result, muppet.retriever.ranks(result.question))


def _results(muppet: Muppet, questions: Sequence[str], progress: ProgressLine) -> Iterator[Result]:
    for first in range(0, len(questions), AT_ONCE):
        yield from muppet.ask_many(questions[first : first + AT_ONCE])
        if len(questions) > AT_ONCE:
            progress("asking", min(first + AT_ONCE, len(questions)), len(questions))
    progress.close()


def _questions(question: str | None, file: Path | None) -> list[str]:
    if question is not None and file is not None:
        raise QuestionError("Give a question or --file, not both.")
    if question is not None and question != "-":
        return [question_from(question).text]
    if file is None:
        text, source = from_stdin(), "standard input"
    else:
        with open_file(file) as stream:
            text, source = decode(stream.read(), str(file)), str(file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise QuestionError(f"There is no question in {source}. Give one a line.")
    return [_question_in(line, f"{source}:{number}") for number, line in lines]


def _question_in(line: str, where: str) -> str:
    """A line that begins like a JSON object must be one, with a question in it."""
    text = line
    if line.lstrip().startswith("{"):
        try:
            text = json.loads(line)["question"]
        except (ValueError, KeyError, TypeError) as error:
            raise QuestionError(
                f'{where} is no JSON object like {{"question": "…"}} ({error}).'
            ) from error
    try:
        return question_from(str(text)).text
    except QuestionError as error:
        raise QuestionError(f"{where}: {error}") from error


def config_for(
    kb: Path, file: Path | None, hops: str | None, chains: int | None, top: int
) -> Config:
    """The settings named, else those of the knowledge base, with what the options change."""
    with KnowledgeBase(kb) as knowledge:
        config = load_config(file) if file else knowledge.config
    if not has_model(kb):
        raise QuestionError(_NOT_ENCODED.format(kb=kb))
    retrieve, read = config.retrieve, config.read
    if hops is not None:
        retrieve = replace(retrieve, hops=hops if hops == "auto" else int(hops))
    if chains is not None:
        read = replace(read, chains=chains)
        retrieve = replace(retrieve, keep=max(chains, retrieve.keep))
    return replace(config, retrieve=retrieve, read=replace(read, answers=max(top, read.answers)))
