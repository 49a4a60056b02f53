"""The command that answers: ask."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import (
    Hops,
    NamedPath,
    chains_option,
    config_option,
    from_stdin,
    hops_option,
    kb_argument,
    model_option,
    opened,
    reader_option,
    top_option,
)
from muppet.cli.show import show_answer
from muppet.corpus.files import decode, open_file
from muppet.domain import Result
from muppet.errors import QuestionError
from muppet.pipeline import AT_ONCE, Muppet
from muppet.text.questions import question_from
from muppet.wire import result_to_json

Asked = tuple[object, str]
"""The id that a file gives a question, if any, to find its answer again by; and the question."""


@click.command()
@kb_argument
@click.argument("question", required=False)
@click.option("--file", "file", type=NamedPath(),
              help="Questions, one a line, or JSONL with a question and maybe an id.")  # fmt: skip
@hops_option
@chains_option
@model_option
@reader_option
@config_option
@top_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each question.")
def ask(
    kb: Path,
    question: str | None,
    file: Path | None,
    hops: Hops | None,
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
    asked = _questions(question, file)
    questions = [text for _, text in asked]
    with opened(
        kb,
        config_file=config_file,
        hops=hops,
        model=model,
        reader=reader,
        chains=chains,
        top=top,
    ) as muppet:
        for place, every in enumerate(_results(muppet, questions)):
            result = replace(every, answers=every.answers[:top])
            if as_json:
                given, _ = asked[place]
                click.echo(
                    json.dumps(({} if given is None else {"id": given}) | result_to_json(result))
                )
                continue
            if len(questions) > 1:
                click.echo(("\n" if place else "") + click.style(result.question, bold=True))
            show_answer(result)


def _results(muppet: Muppet, questions: Sequence[str]) -> Iterator[Result]:
    progress = ProgressLine()
    for first in range(0, len(questions), AT_ONCE):
        yield from muppet.ask_many(questions[first : first + AT_ONCE])
        if len(questions) > AT_ONCE:
            progress("asking", min(first + AT_ONCE, len(questions)), len(questions))
    progress.close()


def _questions(question: str | None, file: Path | None) -> list[Asked]:
    if question is not None and file is not None:
        raise QuestionError("Give a question or --file, not both.")
    if question is not None and question != "-":
        return [(None, question_from(question).text)]
    if file is None:
        text, source = from_stdin(), "standard input"
    else:
        with open_file(file) as stream:
            text, source = decode(stream.read(), str(file)), str(file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise QuestionError(f"There is no question in {source}. Give one a line.")
    return [_question_in(line, f"{source}:{number}") for number, line in lines]


def _question_in(line: str, where: str) -> Asked:
    """A line that begins like a JSON object must be one, with a question in it, and perhaps an
    id."""
    text, id_ = line, None
    if line.lstrip().startswith("{"):
        try:
            row = json.loads(line)
            text, id_ = row["question"], row.get("id", row.get("_id"))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise QuestionError(
                f'{where} is no JSON object like {{"question": "…"}} ({error}).'
            ) from error
    try:
        return id_, question_from(text).text
    except QuestionError as error:
        raise QuestionError(f"{where}: {error}") from error
