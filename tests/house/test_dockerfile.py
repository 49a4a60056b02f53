"""The Dockerfile cannot be built here; what it says of this package is true at least."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_it_copies_what_is_there_and_installs_extras_that_exist() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        *sources, _into = line.split()
        assert all((ROOT / source).exists() for source in sources)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"'\.\[([a-z,]+)\]'", DOCKERFILE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_its_port_is_the_server_s_own() -> None:
    reference = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    (port,) = set(re.findall(r"EXPOSE (\d+)", DOCKERFILE))
    assert f"[default: {port};" in reference
    assert set(re.findall(r"--port\", \"(\d+)\"", DOCKERFILE)) == {port}
