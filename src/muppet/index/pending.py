"""The finished blocks of a run, put aside until all are there: what makes encoding resumable.

    DIR/pending/manifest.json      the commit that the blocks are meant for
    DIR/pending/block-000012.npz   numbers, rows per paragraph, rows and scales of one block

A block is whole or not there. One is used again only if it holds just the paragraphs that are
asked of it, so a resumed run ends like an undisturbed one.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import MANIFEST, Manifest, flush_directory, read_manifest, write_json
from muppet.errors import ArtifactError
from muppet.index.disk import written_aside
from muppet.index.layout import FORMAT, MAKE, PENDING, Commit, Layout
from muppet.index.quantise import pack

KIND = "pending sentence vectors"


class Pending:
    """The blocks of one commit that is to be made."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / PENDING

    def is_meant_for(self, commit: Commit, block: int) -> bool:
        """Whether the blocks that stand here make this commit, or have made it."""
        return self._read_manifest() == _plan(commit, block)

    @property
    def number(self) -> int:
        """The number of the commit that the blocks are meant for; 0 if there are none."""
        manifest = self._read_manifest()
        return int(manifest.config["commit"]["number"]) if manifest else 0

    def begin(self, commit: Commit, block: int) -> None:
        """Be ready for blocks of this commit; those that were meant for another are removed."""
        if not self.is_meant_for(commit, block):
            self.discard()
            self.directory.mkdir(exist_ok=True)
            write_json(self.directory / MANIFEST, asdict(_plan(commit, block)))
            flush_directory(self.directory)

    def discard(self) -> None:
        """Remove the blocks, and last of all what says whose they were; the folder stays."""
        for path in self.directory.glob("*"):
            if path.name != MANIFEST:
                path.unlink()
        (self.directory / MANIFEST).unlink(missing_ok=True)

    def has(self, place: int, numbers: NDArray[np.int64]) -> bool:
        """Whether this block is finished, for just these paragraphs."""
        try:
            return np.array_equal(self.read(place, "numbers"), numbers)
        except (FileNotFoundError, ArtifactError):
            return False

    def write(
        self,
        place: int,
        numbers: NDArray[np.int64],
        vectors: Sequence[NDArray[np.float32]],
        layout: Layout,
    ) -> None:
        """Put a finished block aside: its paragraphs, and an array (sentences, dim) for each."""
        for number, rows in zip(numbers.tolist(), vectors, strict=True):
            if not len(rows) or rows.shape[1:] != (layout.dim,):
                raise ValueError(
                    f"The encoder gave paragraph {number} vectors of shape {rows.shape}, and not "
                    f"one of {layout.dim} for each sentence."
                )
        packed = pack(np.concatenate(vectors), layout.dtype)
        counts = np.array([len(rows) for rows in vectors], dtype=np.int64)
        with written_aside(self._file(place)) as stream:
            np.savez(stream, numbers=numbers, counts=counts, rows=packed.rows, scales=packed.scales)

    def read(self, place: int, name: str) -> NDArray[Any]:
        """One array of a finished block."""
        path = self._file(place)
        with path.open("rb") as stream:
            try:
                with np.load(stream, allow_pickle=False) as arrays:
                    found: NDArray[Any] = arrays[name]
            except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
                raise ArtifactError(
                    f"{path} is damaged ({error}). Delete it, then run `{MAKE}` again."
                ) from error
        return found

    def _file(self, place: int) -> Path:
        return self.directory / f"block-{place:06}.npz"

    def _read_manifest(self) -> Manifest | None:
        try:
            return read_manifest(self.directory, KIND, FORMAT, remake=MAKE)
        except ArtifactError:  # there is none, or none that we can use
            return None


def _plan(commit: Commit, block: int) -> Manifest:
    """What is known of a commit before it is made."""
    plan = {"number": commit.number, "generation": commit.generation, "block": block}
    manifest = commit.manifest
    return replace(manifest, kind=KIND, config={**manifest.config, "commit": plan})
