"""The command that trains on somebody's own questions: train own."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import NamedPath, require_utf8

if TYPE_CHECKING:
    from muppet.facade.own import OwnTraining

FEW = 50
"""Fewer held-out questions than that, and it is said what one of them counts."""


@click.command()
@click.argument("kb", type=NamedPath())
@click.argument("questions", type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="Where it all goes.")
@click.option("--what", type=click.Choice(["reader", "encoder", "both"]), default="reader",
              show_default=True, help="Which network is trained.")  # fmt: skip
@click.option("--model", type=NamedPath(),
              help="The encoder to ask and begin with [default: the KB's last].")  # fmt: skip
@click.option("--reader", type=NamedPath(),
              help="The reader to ask and begin with [default: ours].")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, 100),
              help="How often each question is met [default: up to 8].")  # fmt: skip
@click.option("--held-out", default=0.2, show_default=True, type=click.FloatRange(0.1, 0.5),
              help="The share that is only measured on.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0),
              help="Which ones are held out.")  # fmt: skip
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1, 256))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def own(
    kb: Path,
    questions: Path,
    out: Path,
    what: str,
    model: Path | None,
    reader: Path | None,
    rounds: int | None,
    held_out: float,
    seed: int,
    threads: int,
    as_json: bool,
) -> None:
    """Train further on your own QUESTIONS about the documents of KB.

    A line of QUESTIONS is {"question": "…", "answer": "…"}; the answer may be a list, and
    "paragraphs": [title or id, …] may say what it rests on. Where it does not, the best chain
    that holds the answer is looked for. Some questions are held out, and asked before and after.

    OUT gets reader/ and encoder/, as far as they were trained, questions/ (what became of each)
    and report.json. The same command goes on where a stopped one was.
    """
    from muppet.facade.own import train_own

    require_utf8(out)
    progress = ProgressLine()
    result = train_own(
        kb,
        questions,
        out=out,
        what=what,
        model=model,
        reader=reader,
        rounds=rounds,
        held_out=held_out,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    progress.close()
    for note in result.notes:
        click.echo(note, err=True)
    if as_json:
        click.echo(json.dumps(result.to_json()))
        return
    _show(kb, result)


def _show(kb: Path, result: "OwnTraining") -> None:
    lost = sum(result.left_out.values())
    click.echo(
        f"Learned from {result.learned:,} questions; {result.held_out:,} were held out, and "
        f"{lost:,} left out{':' if lost else '.'}"
    )
    for why, count in result.left_out.items():
        click.echo(f"{count:6,}  {why}")
    click.echo("\nheld out     EM     F1")
    for name, scores in (("before", result.before), ("after", result.after)):
        click.echo(f"{name:8} {100 * scores.em:6.1f} {100 * scores.f1:6.1f}")
    click.echo(_verdict(result))
    if result.reader:
        click.echo(f"\nmuppet ask {kb} QUESTION --reader {result.reader}")
        click.echo(
            "Its probabilities are understood as before; `muppet train calibrate` fits them."
        )
    if result.encoder:
        click.echo(f"\nmuppet encode {kb} --model {result.encoder}")


def _verdict(result: "OwnTraining") -> str:
    better = sum(one.f1_after > one.f1_before for one in result.answers)
    worse = sum(one.f1_after < one.f1_before for one in result.answers)
    changed = f"{better} of the answers got better, {worse} worse"
    if result.held_out < FEW:
        changed += f"; one question counts {100 / result.held_out:.1f} points"
    if result.after.f1 < result.before.f1:
        return f"It got worse: {changed}. What you had is as it was: go on asking with that."
    if result.after.f1 == result.before.f1:
        return f"It made no difference: {changed}."
    return f"It got better: {changed}."
