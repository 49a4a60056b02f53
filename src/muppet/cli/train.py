"""Commands that train: encoder, reader, mine, elmo, export, calibrate; three more stand apart."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import NamedPath, require_utf8
from muppet.cli.train_made import bridges, chains, comparisons, compositions
from muppet.cli.train_own import own
from muppet.config import load_settings
from muppet.domain import Progress
from muppet.errors import ConfigError, needing
from muppet.train.recipe import EncoderRecipe

if TYPE_CHECKING:
    from muppet.train.run import Run

Started = TypeVar("Started", bound="Run[Any]")


@click.group()
def train() -> None:
    """Train the networks (needs the extra `train`, as `make test` installs it)."""


def _recipe_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option(
            "--dry-run", is_flag=True, help="Print sizes and the expected time, and stop."
        ),
        click.option("--out", type=NamedPath(), help="The run [default: runs/RECIPE]."),
        click.argument("recipe", type=NamedPath()),
    ):
        command = option(command)
    return command


@train.command()
@_recipe_options
def encoder(recipe: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Train the encoder as RECIPE says: a TOML file with all settings of a run.

    The run's directory gets checkpoint/, best/ (the model) and metrics.jsonl. The same command
    goes on where a stopped run was.
    """
    settings = load_settings(EncoderRecipe, recipe)
    with needing("Training", "train"):
        from muppet.train.train_encoder import EncoderRun, train_encoder
    run = EncoderRun(settings, out or Path("runs") / recipe.stem)
    _train(run, settings, train_encoder, dry_run=dry_run, as_json=as_json)


@train.command()
@_recipe_options
def reader(recipe: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Train the reader as RECIPE says: a TOML file with all settings of a run.

    The run's directory gets checkpoint/, best/ (the model) and metrics.jsonl. The same command
    goes on where a stopped run was.
    """
    from muppet.train.reader_recipe import ReaderRecipe

    settings = load_settings(ReaderRecipe, recipe)
    with needing("Training", "train"):
        from muppet.train.train_reader import ReaderRun, train_reader
    run = ReaderRun(settings, out or Path("runs") / recipe.stem)
    _train(run, settings, train_reader, dry_run=dry_run, as_json=as_json)


def _train(
    run: Started,
    settings: object,
    train_it: Callable[[Started, Progress], Mapping[str, float]],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    from muppet.train.run import begin_run, expected_time

    _tell(run.left_out)
    if dry_run:
        _show_plan(asdict(run.plan()) | expected_time(run), as_json)
        return
    begin_run(run.directory, settings)
    progress = ProgressLine()
    best = train_it(run, progress)
    progress.close()
    model = run.directory / "best"
    click.echo(json.dumps(best) if as_json else f"Best on dev: {best}. Model: {model}")


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line, err=True)


@train.command()
@click.argument("kb", type=NamedPath())
@click.argument("questions", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="Where they go.")
@click.option("--keep", default=10, show_default=True, type=click.IntRange(1, 1000))
@click.option(
    "--retriever", type=click.Choice(["bm25", "tfidf"]), default="bm25", show_default=True
)
@click.option("--model", type=NamedPath(), help="An encoder, to choose by it.")
@click.option("--pool", default=50, show_default=True, type=click.IntRange(1, 1000),
              help="With --model: how many found by words it chooses from.")  # fmt: skip
def mine(
    kb: Path,
    questions: tuple[Path, ...],
    out: Path,
    keep: int,
    retriever: str,
    model: Path | None,
    pool: int,
) -> None:
    """Find hard negatives for training QUESTIONS in all of KB.

    For each question the best paragraphs that are not gold, and for each of its gold paragraphs
    the best ones for question and paragraph together: by their words, or, of those, the ones
    that a trained encoder believes most. A recipe uses them by data.mined = OUT. Stopped, the
    same command goes on where it was.
    """
    from muppet.knowledge.open import KnowledgeBase
    from muppet.train.data import read_training_data
    from muppet.train.negatives import mine_lexical

    if model:
        with needing("Training", "train"):
            from muppet.nn.model import load_model
            from muppet.train.mine_model import most_believed, write_mined
    loaded = read_training_data(questions)
    _tell(loaded.left_out())
    data, progress = loaded.data, ProgressLine()
    by_words = out.with_name(out.name + ".pool") if model else out
    with KnowledgeBase(kb) as knowledge:
        knowledge.narrower(retriever, progress)
        mined = mine_lexical(
            data,
            knowledge,
            by_words,
            keep=pool if model else keep,
            engine=retriever,
            progress=progress,
        )
    if model:
        mined = most_believed(data, mined, load_model(model), keep=keep, progress=progress)
        write_mined(out, mined, {"model": str(model)})
    progress.close()
    found, asked = len(mined.paragraphs), len(mined.questions)
    click.echo(f"{out}: {found:,} paragraphs for {asked:,} questions.")


def _show_plan(plan: Mapping[str, float], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(plan))
        return
    for name, value in plan.items():
        click.echo(f"{name:23} {round(value, 3):,}")


@train.command()
@click.argument("kb", type=NamedPath())
@click.argument("directory", metavar="ELMO", type=NamedPath())
@click.option("--at-least", default=5, show_default=True, type=click.IntRange(1),
              help="A word that is in no title must come so often.")  # fmt: skip
def elmo(kb: Path, directory: Path, at_least: int) -> None:
    """Compute ELMo's vectors of the frequent words of KB once, into its directory ELMO.

    From then on networks with this ELMo know these words alone, and all others share one vector,
    as in the paper. Without this they spell out every word.
    """
    from muppet.knowledge.open import KnowledgeBase

    with needing("Training", "train"):
        from muppet.nn.contextual import TOKEN_CACHE, open_elmo
        from muppet.nn.elmo_cache import TokenCache, frequent_words
    network = open_elmo(directory)
    with KnowledgeBase(kb) as knowledge:
        pairs = ((title, text) for _, title, text in knowledge.store.texts())
        cache = TokenCache.build(network, frequent_words(pairs, at_least))
    cache.save(directory / TOKEN_CACHE)
    click.echo(f"{directory / TOKEN_CACHE}: {len(cache.words):,} words.")


@train.command()
@click.argument("models", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="Where it goes.")
def average(models: tuple[Path, ...], out: Path) -> None:
    """Make one encoder or reader with the mean weights of trained MODELS (runs' best/).

    They should have been trained on from one another (`run.start`).
    """
    with needing("Training", "train"):
        from muppet.nn.average import average_networks
    require_utf8(out)
    average_networks(models, out)
    click.echo(f"{out}: the mean of {len(models)}. Next: `muppet train export {out}`.")


@train.command()
@click.argument("model", type=NamedPath())
@click.argument("questions", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="Where it goes.")
@click.option("--count", default=1000, show_default=True, type=click.IntRange(1),
              help="So many questions of each file.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Which questions.")
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1, 256))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def stop(
    model: Path,
    questions: tuple[Path, ...],
    out: Path,
    count: int,
    seed: int,
    threads: int,
    as_json: bool,
) -> None:
    """Fit the stop head of an exported encoder MODEL, for `--hops auto`, to QUESTIONS.

    QUESTIONS are benchmark files of one hop (SQuAD) and of several, so that it learns when the
    evidence is complete. All else stays as it is: an index that MODEL has encoded stays right. How
    often the head is right is told for a fifth of the questions, which are not fitted.
    """
    with needing("Training", "train"):
        from muppet.train.stop_head import fit_to
    require_utf8(out)
    progress = ProgressLine()
    table = fit_to(
        model, questions, out, count=count, seed=seed, threads=threads, progress=progress
    )
    progress.close()
    if as_json:
        click.echo(json.dumps({"out": str(out), "right": table}))
        return
    for source, by_length in table.items():
        shares = ", ".join(f"{hops}: {100 * share:.0f} %" for hops, share in by_length.items())
        click.echo(f"{source}, right after so many paragraphs: {shares}")
    click.echo(f"{out}: next, `muppet encode KB --model {out}`; what {model} has encoded stays.")


@train.command()
@click.argument("model", type=NamedPath(), required=False)
@click.option("--out", required=True, type=NamedPath(), help="Where it goes.")
@click.option("--int8", is_flag=True,
              help="Weights as int8: a quarter of the size, faster, a little worse.")  # fmt: skip
@click.option("--half", is_flag=True, help="Weights as float16: half of the size, as good.")
@click.option("--untrained", type=NamedPath(),
              help="Instead of MODEL: a recipe, its network as it begins.")  # fmt: skip
def export(model: Path | None, out: Path, int8: bool, half: bool, untrained: Path | None) -> None:
    """Turn a trained MODEL (a run's best/) into graphs that need no torch.

    Of an encoder for `muppet encode` and `muppet search`, or of a reader.
    """
    if (model is None) == (untrained is None):
        raise ConfigError("Name either a trained MODEL or, with --untrained, a recipe.")
    if int8 and half:
        raise ConfigError("Weights are either --int8 or --half.")
    require_utf8(out)
    from muppet.artifact import checksum_file, kind_of

    with needing("Training", "train"):
        from muppet.nn import reader_model
        from muppet.nn.export import export_model
        from muppet.nn.export_reader import export_reader
        from muppet.nn.model import load_model, new_model
    if model is not None and kind_of(model) == reader_model.KIND:
        sums = {"weights": checksum_file(model / "weights.safetensors")}
        export_reader(out, reader_model.load_reader(model), sums, int8=int8, half=half)
        click.echo(f"{out}: {_megabytes(out):.1f} MB.")
        return
    if model is not None:
        loaded = load_model(model)
        made_from = {"weights": checksum_file(model / "weights.safetensors")}
    else:
        assert untrained is not None
        loaded = new_model(load_settings(EncoderRecipe, untrained).encoder, [], None)
        made_from = {"recipe": checksum_file(untrained)}
    export_model(out, loaded, made_from, int8=int8, half=half)
    click.echo(f"{out}: {_megabytes(out):.1f} MB. Next: `muppet encode KB --model {out}`.")


@train.command()
@click.argument("kb", type=NamedPath())
@click.argument("questions", type=NamedPath())
@click.option("--reader", required=True, type=NamedPath(),
              help="The exported reader; what is found is written into it.")  # fmt: skip
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave so many questions out.")
@click.option("--count", type=click.IntRange(1), help="Then take so many [default: all].")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def calibrate(
    kb: Path, questions: Path, reader: Path, skip: int, count: int | None, as_json: bool
) -> None:
    """Fit a reader's probabilities on held-out QUESTIONS asked of KB.

    Each is asked twice, as it is and with its gold paragraphs hidden: so the reader learns how
    likely its answers are right, and below which probability an answer is a guess.
    """
    from muppet.corpus.benchmarks import read_questions
    from muppet.evaluate.calibration import calibrate as fit
    from muppet.evaluate.calibration import judge
    from muppet.pipeline import open_muppet
    from muppet.read.reader import write_calibration

    asked = read_questions(questions)[skip : skip + count if count else None]
    progress = ProgressLine()
    with open_muppet(kb, reader=reader, progress=progress) as muppet:
        muppet.reader.calibration = None  # what is fitted are the reader's own shares
        judged = judge(
            lambda some, hidden: muppet.ask_many(some, progress, hidden),
            muppet.knowledge,
            asked,
        )
    progress.close()
    found = fit(judged)
    write_calibration(reader, found)
    facts = asdict(found) | {"questions": len(judged.right)}
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name:12} {value:.4g}")


def _megabytes(directory: Path) -> float:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


train.add_command(chains)
train.add_command(comparisons)
train.add_command(bridges)
train.add_command(compositions)
train.add_command(own)
