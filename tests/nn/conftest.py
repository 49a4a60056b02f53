"""A tiny ELMo for the tests of networks."""

from pathlib import Path

import pytest

from muppet.nn.elmo import Elmo
from tiny_elmo import tiny_options, tiny_weights, write_elmo


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    return Elmo.from_files(*write_elmo(tmp_path / "elmo", tiny_options(), tiny_weights()))
