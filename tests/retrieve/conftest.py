"""The demo corpus, encoded by a small network that nobody has trained."""

from importlib.resources import files
from pathlib import Path

import pytest

from muppet.corpus.sources import Sources
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.write import index_documents
from random_model import write_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "random")


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    directory = tmp_path_factory.mktemp("demo") / "kb"
    index_documents(directory, Sources([Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))]))
    encode_knowledge(directory, model, dtype="float32", threads=1)
    return directory
