"""The demo corpus behind a server, with networks that nobody has trained."""

import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parent))  # for `serving`

from serving import HERE

from muppet.corpus.sources import Sources
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.write import index_documents
from muppet.pipeline import Muppet, open_muppet
from muppet.server.app import make_app
from random_model import write_model, write_reader


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_reader(tmp_path_factory.mktemp("served") / "reader")


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("served")
    model = write_model(directory / "encoder")
    demo = Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))
    index_documents(directory / "demo", Sources([demo]))
    encode_knowledge(directory / "demo", model)
    return directory / "demo"


@pytest.fixture(scope="session")
def muppet(kb: Path, reader: Path) -> Iterator[Muppet]:
    with open_muppet(kb, reader=reader, threads=1) as opened:
        yield opened


@pytest.fixture
def client(muppet: Muppet) -> Iterator[TestClient]:
    with TestClient(make_app({"demo": muppet}), HERE) as opened:
        yield opened
