"""Training on somebody's own questions, for programs: a file of them in, a trained reader out.

OUT/questions/   train.json and dev.json, as HotpotQA has them; held-out.jsonl; questions.jsonl
OUT/run/         the runs, each with its recipe and checkpoint, and the weights they began with
OUT/reader/      the reader, for `muppet ask --reader`
OUT/encoder/     the encoder, where it was wanted, for `muppet encode --model`
OUT/report.json  the numbers, and every held-out answer before and after
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from muppet.artifact import write_json
from muppet.bounds import require_at_least
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Progress, silent
from muppet.encode.encoder import TextEncoder
from muppet.encode.graphs import checksum_of
from muppet.errors import ConfigError, needing
from muppet.evaluate.answers import NOTHING, Scores, mean_scores
from muppet.evaluate.asking import answered, ask_all, predictions_of
from muppet.evaluate.report import score_questions
from muppet.index.build import encode_paragraphs
from muppet.index.vectors import Vectors
from muppet.knowledge.encode import open_all, shipped_encoder
from muppet.pipeline import Muppet, open_muppet, shipped_reader
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import Retriever
from muppet.train.own_gold import prepare_questions, read_left_out
from muppet.train.own_questions import read_own_questions
from muppet.train.own_recipe import OwnRun, default_rounds

AnyPath = str | PathLike[str]

NETWORKS = {"reader": ("reader",), "encoder": ("encoder",), "both": ("encoder", "reader")}
"""What can be trained, and which networks that means."""
SHARES = (0.1, 0.5)
"""At least, and at most, of the questions are held out."""


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """What was answered to a held-out question before and after, and how well: 0 to 1."""

    question: str
    right: tuple[str, ...]
    before: str
    after: str
    f1_before: float
    f1_after: float


@dataclass(frozen=True, slots=True)
class OwnTraining:
    """What came of training on own questions.

    `learned` of them were trained on, `held_out` ones only asked, before and after; the rest was
    `left_out`, by reason. `notes` say what of the files training could not take.
    """

    learned: int
    held_out: int
    left_out: Mapping[str, int]
    before: Scores
    after: Scores
    answers: tuple[OwnAnswer, ...]
    reader: Path | None
    encoder: Path | None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """All of it, in JSON's types."""
        paths = {"reader": self.reader, "encoder": self.encoder}
        return asdict(self) | {name: path and str(path) for name, path in paths.items()}


def train_own(
    kb: AnyPath,
    questions: AnyPath,
    *,
    out: AnyPath,
    what: str = "reader",
    model: AnyPath | None = None,
    reader: AnyPath | None = None,
    rounds: int | None = None,
    held_out: float = 0.2,
    seed: int = 1,
    threads: int = 2,
    progress: Progress = silent,
) -> OwnTraining:
    """Train the reader, the encoder or both further, on a JSONL file of {"question", "answer"}.

    They begin as those that `kb` is asked with. A share of the questions is `held_out`, and asked
    before and after; each of the others is met `rounds` times, by default as often as takes a
    laptop minutes. The same call goes on where a stopped one was.
    """
    with needing("Training", "train"):
        from muppet.train.own_run import prepare_start, train_further
    _require(what, held_out, seed)
    asked, place = read_own_questions(Path(questions)), Path(out).resolve()
    files, runs = place / "questions", place / "run"
    with open_muppet(
        Path(kb), model=_path(model), reader=_path(reader), threads=threads, progress=progress
    ) as muppet:
        begin = {
            name: _path(reader) or shipped_reader()
            if name == "reader"
            else _path(model) or _shipped_encoder(muppet)
            for name in NETWORKS[what]
        }
        lengths = [prepare_start(path, runs / f"{name}-start") for name, path in begin.items()]
        prepare_questions(
            files,
            asked,
            muppet.retriever,
            source=str(questions),
            max_tokens=min(lengths),
            share=held_out,
            seed=seed,
            progress=progress,
        )
        held = read_questions(files / "held-out.jsonl")
        before = _ask(muppet, held, "before", progress)
        learned = read_questions(files / "train.json")
        notes: list[str] = []
        for name, path in begin.items():
            settings = OwnRun(
                files,
                runs / f"{name}-start",
                rounds or default_rounds(len(learned)),
                threads,
                seed,
            )
            notes += train_further(path, settings, runs / name, place / name, progress)
        trained = _trained(muppet, place, begin, threads, progress)
        after = _ask(trained, held, "after", progress)
    result = OwnTraining(
        learned=len(learned),
        held_out=len(held),
        left_out=read_left_out(files),
        before=mean_scores([scores for _, scores in before]),
        after=mean_scores([scores for _, scores in after]),
        answers=tuple(_compare(held, before, after)),
        reader=Path(out) / "reader" if "reader" in begin else None,
        encoder=Path(out) / "encoder" if "encoder" in begin else None,
        notes=tuple(dict.fromkeys(notes)),
    )
    write_json(place / "report.json", result.to_json())
    return result


Answers = list[tuple[str, Scores]]
"""What was answered to each of some questions, and what that scores."""


def _ask(
    muppet: Muppet, questions: Sequence[BenchmarkQuestion], when: str, progress: Progress
) -> Answers:
    """The way of `muppet evaluate`."""

    def tell(stage: str, done: int, total: int | None, note: str = "") -> None:
        progress(f"{stage} {when}", done, total, note)

    results = ask_all(lambda some: muppet.ask_many(some, tell), questions)
    predicted = predictions_of(answered(questions, results))
    return [
        (predicted.answers.get(one.id, ""), one.answer or NOTHING)
        for one in score_questions(predicted, questions)
    ]


def _compare(
    questions: Sequence[BenchmarkQuestion], before: Answers, after: Answers
) -> Iterator[OwnAnswer]:
    for asked, (first, worth), (second, worth_now) in zip(questions, before, after, strict=True):
        yield OwnAnswer(
            asked.question.text, asked.gold.answers, first, second, worth.f1, worth_now.f1
        )


def _trained(
    muppet: Muppet, place: Path, networks: Container[str], threads: int, progress: Progress
) -> Muppet:
    """The same knowledge base, asked with what was trained. Its vectors by a new encoder are put
    beside the run: the knowledge base stays as it is."""
    reader, retriever = muppet.reader, muppet.retriever
    if "reader" in networks:
        reader = ChainReader(place / "reader", threads)
    if "encoder" in networks:
        encoder = TextEncoder(place / "encoder", threads)
        where = place / "run" / f"vectors-{encoder.checksum[:12]}"
        encode_paragraphs(
            where,
            muppet.knowledge.store,
            encoder.sentences,
            dtype="int8",
            dim=encoder.dim,
            granularity=encoder.granularity,
            encoder_checksum=encoder.checksum,
            threads=threads,
            progress=progress,
        )
        vectors, config = Vectors(where), retriever.config
        whole = open_all(muppet.knowledge, vectors, progress) if "all" in config.pools else None
        retriever = Retriever(muppet.knowledge, encoder, vectors, config, whole)
    return Muppet(retriever, reader, muppet.config)


def _shipped_encoder(muppet: Muppet) -> Path:
    """Ours, if it is the one that the knowledge base is asked with."""
    if checksum_of(shipped_encoder()) != muppet.retriever.encoder.checksum:
        raise ConfigError(
            f"{muppet.knowledge.directory} was last encoded with another encoder than ours. Name "
            "it with --model, and it is trained further."
        )
    return shipped_encoder()


def _require(what: str, held_out: float, seed: int) -> None:
    if what not in NETWORKS:
        raise ConfigError(f"What is trained is one of {', '.join(NETWORKS)}, not {what!r}.")
    least, most = SHARES
    if not least <= held_out <= most:
        raise ConfigError(f"A share of {least} to {most} can be held out, not {held_out}.")
    require_at_least("seed", seed, 0)


def _path(given: AnyPath | None) -> Path | None:
    return None if given is None else Path(given)
