"""A package of the npm registry as a .tgz, its checksum checked; nothing of it is executed."""

import shutil
import subprocess
import sys
from pathlib import Path

from muppet.artifact import checksum_file


def get_package(name: str, version: str, sha256: str, place: Path) -> Path:
    """The package, in this directory."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is missing. Install Node.js, which brings it, and run this again.")
    command = [npm, "pack", f"{name}@{version}", "--ignore-scripts", "--silent"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    package = place / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if done.returncode != 0 or not package.is_file():
        sys.exit(f"`npm pack {name}@{version}` failed:\n{done.stderr}{done.stdout}")
    if (found := checksum_file(package)) != sha256:
        sys.exit(f"The package has SHA-256 {found}, not {sha256}: it is not used.")
    return package


def say(message: str) -> None:
    sys.stderr.write(f"{message}\n")
