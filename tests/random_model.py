"""Exported networks that nobody has trained, for tests of what comes after training."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import torch

from muppet.config import CharacterConfig, EncoderConfig, ReaderConfig
from muppet.corpus.sources import Sources
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.write import index_documents
from muppet.nn.export import export_model
from muppet.nn.export_reader import export_reader
from muppet.nn.model import new_model
from muppet.nn.reader_model import new_reader

LETTERS = CharacterConfig(dim=8, filters=24, width=3, longest=10, at_least=1)
WORDS = ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]


def write_model(directory: Path, hops: int = 2, *, judges: bool = True) -> Path:
    """A random recurrent network over characters: every word counts, none is understood."""
    torch.manual_seed(2)
    config = EncoderConfig(dim=16, word_vectors=False, characters=LETTERS, hops=hops, judges=judges)
    model = new_model(config, WORDS, None)
    with torch.no_grad():
        for weights in model.encoder.relevance.parameters():
            weights.mul_(3.0)
    export_model(directory, model, {})
    return directory


def write_reader(directory: Path) -> Path:
    """A random recurrent reader over characters."""
    torch.manual_seed(3)
    config = ReaderConfig(dim=16, hidden=8, word_vectors=False, characters=LETTERS)
    export_reader(directory, new_reader(config, WORDS, None), {})
    return directory


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo corpus, encoded, and the networks to ask it with."""

    kb: Path
    encoder: Path
    reader: Path


def write_demo(directory: Path) -> Demo:
    """A knowledge base of the bundled documents, by networks that nobody has trained."""
    demo = Demo(directory / "kb", write_model(directory / "e"), write_reader(directory / "r"))
    index_documents(demo.kb, Sources([Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))]))
    encode_knowledge(demo.kb, demo.encoder)
    return demo
