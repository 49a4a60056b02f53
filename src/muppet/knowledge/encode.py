"""The sentence vectors of a knowledge base: made by one encoder, kept in step with paragraphs.

KB/vectors-XXXXXXXXXXXX/   by the encoder with this checksum: a knowledge base may have several
KB/model.json              the model that was used last, which is the default
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from muppet.artifact import MANIFEST, write_json
from muppet.domain import Progress, silent
from muppet.encode.encoder import TextEncoder
from muppet.errors import ArtifactError
from muppet.index.build import EncodeSummary, encode_paragraphs
from muppet.index.compact import CompactSummary, compact
from muppet.index.vectors import Vectors
from muppet.index.whole import Whole, has_whole, open_whole
from muppet.knowledge.lock import full_disk_is_an_error, write_lock
from muppet.knowledge.open import MODEL, KnowledgeBase, has_model

CHECKED, TOP = 50, 45
"""`muppet info --check`: so many questions, and so many paragraphs for each."""
HALF_DONE = "The paragraphs encoded so far are kept: make room, and the same command goes on."


@dataclass(frozen=True, slots=True)
class Encoded:
    """A knowledge base's vectors with the encoder that made them."""

    encoder: TextEncoder
    vectors: Vectors


def encode_knowledge(
    directory: Path,
    model: Path | None = None,
    *,
    dtype: str = "int8",
    threads: int = 2,
    again: bool = False,
    progress: Progress = silent,
) -> EncodeSummary:
    """Encode all paragraphs that have no vectors yet; stopped, the same call goes on."""
    path = _model(directory, model)
    encoder = TextEncoder(path)
    with (
        KnowledgeBase(directory) as knowledge,
        write_lock(directory),
        full_disk_is_an_error(directory, HALF_DONE),
    ):
        summary = encode_paragraphs(
            _vectors_in(directory, encoder),
            knowledge.store,
            encoder.sentences,
            dtype=dtype,
            dim=encoder.dim,
            granularity=encoder.granularity,
            encoder_checksum=encoder.checksum,
            threads=threads,
            again=again,
            progress=progress,
        )
        _remember(directory, path)
    return summary


def open_encoded(directory: Path, model: Path | None = None, *, threads: int = 2) -> Encoded:
    """The vectors that a model made; without one named, the model that was used last."""
    encoder = TextEncoder(_model(directory, model), threads)
    where = _vectors_in(directory, encoder)
    if not where.exists():
        raise ArtifactError(
            f"{directory} has no vectors of this model yet. Make them with "
            f"`muppet encode {directory} --model MODEL`, or search by words alone with "
            f"`muppet search {directory} QUESTION --lexical`."
        )
    return Encoded(encoder, Vectors(where, {"encoder": encoder.checksum}))


def open_so_far(
    directory: Path, model: Path | None = None, *, threads: int = 2
) -> tuple[TextEncoder, Vectors | None]:
    """A model, ours if the knowledge base has none, and the vectors it has made, if any."""
    encoder = TextEncoder(_model(directory, model), threads)
    where = _vectors_in(directory, encoder)
    is_made = (where / MANIFEST).is_file()
    return encoder, Vectors(where, {"encoder": encoder.checksum}) if is_made else None


def open_all(knowledge: KnowledgeBase, vectors: Vectors, progress: Progress = silent) -> Whole:
    """The search over all vectors; its index is built when it is first asked for."""
    if has_whole(vectors):
        return open_whole(vectors)
    with write_lock(knowledge.directory), full_disk_is_an_error(knowledge.directory):
        return open_whole(vectors, progress)


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """One model's vectors of a knowledge base; `missing` paragraphs have none yet."""

    directory: str
    paragraphs: int
    missing: int
    rows: int
    dim: int
    dtype: str
    granularity: str
    megabytes: float
    recall: float | None = None


def vector_facts(
    knowledge: KnowledgeBase, *, check: bool = False, progress: Progress = silent
) -> list[VectorFacts]:
    """All vectors of a knowledge base. `check` measures how many of the paragraphs that are best
    for a question the search over everything finds: a sample of sentences asks, exactly as well.
    """
    found = []
    for path in _all_vectors(knowledge.directory):
        vectors = Vectors(path)
        numbers = knowledge.store.numbers()
        recall = None
        if check and len(vectors):
            places = np.linspace(0, vectors.commit.rows - 1, CHECKED).astype(np.int64)
            recall = open_all(knowledge, vectors, progress).recall(vectors.rows(places), TOP)
        found.append(
            VectorFacts(
                path.name,
                len(vectors),
                int(np.count_nonzero(~vectors.has(numbers))),
                vectors.commit.rows,
                vectors.layout.dim,
                vectors.layout.dtype,
                vectors.layout.granularity,
                round(vectors.bytes / 1e6, 1),
                recall,
            )
        )
    return found


def compact_knowledge(directory: Path) -> dict[str, CompactSummary]:
    """Drop the vectors of removed paragraphs; what was dropped, by directory."""
    with (
        KnowledgeBase(directory) as knowledge,
        write_lock(directory),
        full_disk_is_an_error(directory),
    ):
        return {path.name: compact(path, knowledge.store) for path in _all_vectors(directory)}


def _model(directory: Path, model: Path | None) -> Path:
    """The model named, else the one the knowledge base was last encoded with, else ours."""
    if model is not None:
        return model
    if not has_model(directory):
        return shipped_encoder()
    note = directory / MODEL
    try:
        remembered = str(json.loads(note.read_text(encoding="utf-8"))["path"])
    except (ValueError, TypeError, KeyError) as error:
        raise ArtifactError(
            f"{note} is damaged ({error}). Delete it and run `muppet encode {directory}` again."
        ) from error
    return Path(remembered) if remembered else shipped_encoder()


def _remember(directory: Path, model: Path) -> None:
    """The default from now on; ours has no path, since it moves with the package."""
    path = "" if model == shipped_encoder() else str(model.resolve())
    write_json(directory / MODEL, {"path": path})


def shipped_encoder() -> Path:
    """The encoder that comes with the package."""
    return Path(str(files("muppet") / "models" / "encoder"))


def _all_vectors(directory: Path) -> list[Path]:
    """The vectors of every model; what is being replaced, or was never finished, is none."""
    found = sorted(directory.glob("vectors-*"))
    return [path for path in found if path.suffix == "" and (path / MANIFEST).is_file()]


def _vectors_in(directory: Path, encoder: TextEncoder) -> Path:
    return directory / f"vectors-{encoder.checksum[:12]}"
