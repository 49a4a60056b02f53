"""The sentence vectors of a knowledge base: made by one encoder, kept in step with paragraphs.

KB/vectors-XXXXXXXXXXXX/   by the encoder with this checksum: a knowledge base may have several
KB/model.json              the model that was used last, which is the default
"""

import json
from dataclasses import dataclass
from pathlib import Path

from muppet.artifact import write_json
from muppet.domain import Progress, silent
from muppet.encode.encoder import TextEncoder
from muppet.errors import ArtifactError
from muppet.index.build import EncodeSummary, encode_paragraphs
from muppet.index.compact import CompactSummary, compact
from muppet.index.vectors import Vectors
from muppet.index.whole import Whole, has_whole, open_whole
from muppet.knowledge.lock import full_disk_is_an_error, write_lock
from muppet.knowledge.open import KnowledgeBase

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
    encoder = TextEncoder(_model(directory, model))
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
        if model is not None:
            write_json(directory / "model.json", {"path": str(model.resolve())})
    return summary


def open_encoded(directory: Path, model: Path | None = None, *, threads: int = 2) -> Encoded:
    """The vectors that a model made; without one named, the model that was used last."""
    encoder = TextEncoder(_model(directory, model), threads)
    where = _vectors_in(directory, encoder)
    if not where.exists():
        raise ArtifactError(
            f"{directory} has no vectors of this model yet. Make them with "
            f"`muppet encode {directory} --model MODEL`."
        )
    return Encoded(encoder, Vectors(where, {"encoder": encoder.checksum}))


def open_all(knowledge: KnowledgeBase, vectors: Vectors, progress: Progress = silent) -> Whole:
    """The search over all vectors; its index is built when it is first asked for."""
    if has_whole(vectors):
        return open_whole(vectors)
    with write_lock(knowledge.directory), full_disk_is_an_error(knowledge.directory):
        return open_whole(vectors, progress)


def compact_knowledge(directory: Path) -> dict[str, CompactSummary]:
    """Drop the vectors of removed paragraphs; what was dropped, by directory."""
    with (
        KnowledgeBase(directory) as knowledge,
        write_lock(directory),
        full_disk_is_an_error(directory),
    ):
        return {
            path.name: compact(path, knowledge.store)
            for path in sorted(directory.glob("vectors-*"))
            if path.is_dir() and path.suffix == ""
        }


def has_model(directory: Path) -> bool:
    """Whether the knowledge base has been encoded by some model."""
    return (directory / "model.json").is_file()


def _model(directory: Path, model: Path | None) -> Path:
    if model is not None:
        return model
    if not has_model(directory):
        raise ArtifactError(
            f"{directory} has not been encoded yet, so it can be searched by words alone. "
            f"Encode it with `muppet encode {directory} --model MODEL`, or add --lexical."
        )
    return Path(json.loads((directory / "model.json").read_text(encoding="utf-8"))["path"])


def _vectors_in(directory: Path, encoder: TextEncoder) -> Path:
    return directory / f"vectors-{encoder.checksum[:12]}"
