"""A directory with a manifest: kind, format, config, and what it was made from; no pickle.

A finished artifact is written aside (`x.muppet-new`) and renamed when complete, so it is either
whole or not there. Opening one of another kind or format, or one made from something that has
changed since, is refused with a sentence that says what to do.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from muppet.errors import ArtifactError

MANIFEST = "manifest.json"
ASIDE = ".muppet-new"
_TYPES = {"kind": str, "format": int, "config": dict, "made_from": dict}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands in a directory of ours; `made_from` maps each input to its checksum."""

    kind: str
    format: int
    config: Mapping[str, Any] = field(default_factory=dict)
    made_from: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def new_artifact(directory: Path, manifest: Manifest) -> Iterator[Path]:
    """A directory to fill; it becomes `directory` when the block ends well, else it is removed.

    It takes the place of an artifact of its kind, never that of anything else.
    """
    require_replaceable(directory, manifest.kind)
    restore_artifact(directory)
    partial = _aside(directory)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        write_json(partial / MANIFEST, asdict(manifest))
        _flush(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    old = _old(directory)
    if directory.exists():
        directory.rename(old)
    partial.rename(directory)
    flush_directory(directory.parent)
    shutil.rmtree(old, ignore_errors=True)


def require_replaceable(directory: Path, kind: str) -> None:
    """Refuse a place where something else than an artifact of this kind would be lost."""
    is_ours = (directory / MANIFEST).is_file() and kind_of(directory) in (kind, "")
    is_free = not directory.exists() or (directory.is_dir() and not any(directory.iterdir()))
    if not directory.name or not (is_ours or is_free):
        raise ArtifactError(
            f"{directory} exists and is no {kind}: what is there would be lost. Choose another "
            "name, or delete it."
        )


def restore_artifact(directory: Path) -> bool:
    """Put back what a crash in the middle of replacing it left aside; whether there is one now."""
    if not directory.exists() and _old(directory).exists():
        _old(directory).rename(directory)
    shutil.rmtree(_old(directory), ignore_errors=True)
    return directory.exists()


def _aside(path: Path) -> Path:
    """Where something is written before it takes its place: no name of a user's own."""
    return path.with_name(path.name + ASIDE)


def _old(directory: Path) -> Path:
    return directory.with_name(directory.name + ".muppet-old")


def read_manifest(
    directory: Path,
    kind: str,
    format_number: int,
    *,
    remake: str,
    holds: Mapping[str, type] = {},
) -> Manifest:
    """The manifest of an artifact of this kind and format; `remake` is how to build it again.

    `holds` names what its config must have, and of which type each is.
    """
    path = directory / MANIFEST
    if not path.is_file():
        what = "is not a directory" if not directory.is_dir() else f"holds no {MANIFEST}"
        raise ArtifactError(f"{directory} is no {kind}: it {what}. Make one with `{remake}`.")
    try:
        manifest = Manifest(**json.loads(path.read_text(encoding="utf-8")))
        _require_types(asdict(manifest), _TYPES)
        if manifest.kind == kind and manifest.format == format_number:
            _require_types(manifest.config, holds, "config.")
    except (ValueError, TypeError, RecursionError) as error:
        raise ArtifactError(
            f"{path} is damaged ({error}). Delete {directory}, and build it again: `{remake}`."
        ) from error
    if manifest.kind != kind:
        raise ArtifactError(f"{directory} is {_one(manifest.kind)}, not {_one(kind)}.")
    if manifest.format != format_number:
        raise ArtifactError(
            f"{directory} was written in format {manifest.format}, but this version of muppet "
            f"reads format {format_number}. Build it again with `{remake}`."
        )
    return manifest


def _one(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _require_types(table: Mapping[str, Any], types: Mapping[str, type], where: str = "") -> None:
    for name, kind in types.items():
        if type(table.get(name)) is not kind:
            raise TypeError(f"{where}{name} is missing, or is no {kind.__name__}")


def kind_of(directory: Path) -> str:
    """What an artifact is, whatever its format; nothing where it is none."""
    try:
        return str(json.loads((directory / MANIFEST).read_text(encoding="utf-8"))["kind"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def require_made_from(
    directory: Path, manifest: Manifest, inputs: Mapping[str, str], *, remake: str
) -> None:
    """Refuse an artifact whose inputs are not the ones it was made from."""
    for name, checksum in inputs.items():
        if manifest.made_from.get(name) != checksum:
            raise ArtifactError(
                f"{directory} was made from another {name} than the one here. "
                f"Build it again with `{remake}`."
            )


def checksum_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_json(path: Path, content: object) -> None:
    """A JSON file that is either the old one or, whole, the new one."""
    write_whole(path, (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode())


def require_file(path: Path) -> None:
    """That a file can take this place; /dev/null, for example, would be no device any more."""
    if path.exists() and not path.is_file():
        raise ArtifactError(f"{path} is a directory or a device. Name a file.")
    if not path.parent.is_dir():
        raise ArtifactError(
            f"{path} cannot be written: {path.parent} is no directory. Make it, or name another."
        )


def write_whole(path: Path, content: bytes) -> None:
    """A file that is either the old one or, whole, the new one."""
    require_file(path)
    partial = _aside(path)
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):  # it may have been the very thing that cannot be made
            partial.unlink()
        raise


def _flush(directory: Path) -> None:
    """Everything on the disk before the rename, or a power cut could leave a hollow artifact."""
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    flush_directory(directory)


def flush_directory(directory: Path) -> None:
    """The names in a directory, on the disk as well."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
