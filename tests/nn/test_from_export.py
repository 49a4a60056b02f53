"""What was exported can be trained further: its graphs give back the network that made them."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig, ReaderConfig
from muppet.corpus.demo import demo_paragraphs
from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.errors import ArtifactError, ConfigError
from muppet.knowledge.encode import shipped_encoder
from muppet.nn.arrays import tensors
from muppet.nn.chains import next_questions
from muppet.nn.export import export_model
from muppet.nn.export_reader import export_reader
from muppet.nn.from_export import (
    graph_weights,
    recover_encoder,
    recover_reader,
    write_trainable,
)
from muppet.nn.model import Model, load_model, new_model, trained_weights
from muppet.nn.reader_model import ReaderModel, load_reader, new_reader
from muppet.pipeline import shipped_reader
from muppet.read.reader import ChainReader
from muppet.text.batch import make_batch
from muppet.text.layout import reading_joined
from random_model import write_model, write_reader
from tiny_bert import write_bert

QUESTIONS = ["Was the cafe the station?", "Which station was the cafe for?"]
CHAIN = (
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station.")),
    Paragraph("b", "Cafe", ("The cafe.", " Was the station the cafe of the station.")),
)
EXACT, HALF, ROUNDED, AGAIN, DEEP = 1e-4, 0.02, 0.2, 0.02, 0.3
"""How far numbers may be off, as a share of their size: as good as nothing; what float16 takes from
embeddings; what int8 takes from activations, of a transformer as random as this one; what it takes
from weights that it has rounded before; what it takes from the activations of twelve layers, the
shipped encoder's, on texts as odd as these (on HotpotQA's, 0.15, and no rank is lost by it)."""


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> ContextualConfig:
    path = str(write_bert(tmp_path_factory.mktemp("bert")))
    return ContextualConfig("transformer", path, layers=2, tuned=2, dropout=0.0)


def shaken(weights: dict[str, torch.Tensor]) -> None:
    """As if they had been trained: none is as it began, and no two are equal."""
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in weights.values():
            weight.add_(torch.randn_like(weight), alpha=0.05)


def make_encoder(bert: ContextualConfig) -> Model:
    config = EncoderConfig(
        network="transformer",
        dim=32,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=bert,
    )
    model = new_model(config, [], None)
    shaken(trained_weights(model.encoder))
    model.encoder.eval()
    return model


def make_reader(bert: ContextualConfig, *, heads: bool = True) -> ReaderModel:
    config = ReaderConfig(
        network="transformer",
        dim=32,
        hidden=6,
        heads=heads,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=bert,
    )
    model = new_reader(config, [], None)
    shaken(trained_weights(model.reader))
    model.reader.eval()
    return model


def assert_close(found: np.ndarray, expected: np.ndarray, within: float) -> None:
    assert found.shape == expected.shape
    assert np.linalg.norm(found - expected) < within * max(1.0, float(np.linalg.norm(expected)))


@torch.no_grad()
def by_torch(model: ReaderModel, question: str, chain: tuple[Paragraph, ...]) -> list[np.ndarray]:
    ready = model.preparer
    reading = reading_joined(ready, ready.question(question), [ready.paragraph(p) for p in chain])
    assert reading.joined is not None
    batch = tensors(make_batch([reading.joined], ready.lexicon))
    logits = model.reader.read_joined(batch, torch.from_numpy(reading.layout.titles[None]))
    return [part[0].numpy() for part in logits]


def by_graph(reader: ChainReader, question: str, chain: tuple[Paragraph, ...]) -> list[np.ndarray]:
    (read,) = reader.read([(question, chain)])
    logits = read.logits
    return [logits.start, logits.end, logits.kind, logits.verdict, logits.support]


def assert_reads_alike(
    model: ReaderModel, reader: ChainReader, within: float, chain: tuple[Paragraph, ...] = CHAIN
) -> None:
    for question in QUESTIONS:
        parts = by_torch(model, question, chain), by_graph(reader, question, chain)
        for logits, expected in zip(*parts, strict=True):
            assert_close(logits, expected, within)


def assert_same_weights(again: Path, graph: Path, prefix: str) -> None:
    """What int8 has rounded once hardly moves when it is rounded again: only as far as the ranges
    of what is computed with rounded weights are not what they were."""
    found, own = graph_weights(again, prefix), graph_weights(graph, prefix)
    assert found.keys() == own.keys()
    for name in own:
        if own[name].dtype == np.float32:
            assert_close(found[name], own[name], AGAIN)


@torch.no_grad()
def assert_searches_alike(model: Model, encoder: TextEncoder, within: float) -> None:
    """Both hops' search vectors, offsets and stop logits, and the sentences' vectors."""
    ready, network = model.preparer, model.encoder
    questions = [ready.question(question) for question in QUESTIONS]
    first = network.question(network.read(tensors(make_batch(questions, ready.lexicon))))
    texts = [ready.paragraph(CHAIN[0])]
    second = next_questions(network, ready, questions, [texts] * len(questions))
    asked = encoder.ask(QUESTIONS), encoder.ask_after(QUESTIONS, [CHAIN[:1]] * len(QUESTIONS))
    for hop, (vectors, found) in enumerate(zip((first, second), asked, strict=True)):
        relevance = network.relevance_at(hop)
        assert_close(found.search, relevance.search_vector(vectors).numpy(), within)
        assert_close(found.offset, relevance.offset(vectors).numpy(), within)
        assert_close(found.complete, network.is_complete(vectors).numpy(), within)
    batch = tensors(make_batch([ready.paragraph(one) for one in CHAIN], ready.lexicon))
    sentences, _ = network.sentences(network.read(batch), batch)
    for rows, own in zip(encoder.sentences(CHAIN), sentences.numpy(), strict=True):
        assert (rows * own[: len(rows)]).sum(axis=1) == pytest.approx(1.0, abs=within)


@pytest.mark.parametrize(
    ("int8", "tuned"), [(False, 1), (True, 2)], ids=["float, upper layer", "int8, all layers"]
)
def test_an_encoder_searches_as_its_graphs_do(
    bert: ContextualConfig, tmp_path: Path, int8: bool, tuned: int
) -> None:
    model = make_encoder(replace(bert, tuned=tuned))
    export_model(tmp_path / "exported", model, {}, int8=int8)
    encoder, within = TextEncoder(tmp_path / "exported"), ROUNDED if int8 else EXACT
    found = recover_encoder(tmp_path / "exported", tmp_path / "transformer")
    assert_searches_alike(found, encoder, within)
    with pytest.raises(AssertionError):
        assert_searches_alike(new_model(model.config, [], None), encoder, within)
    if int8:
        export_model(tmp_path / "again", found, {}, int8=True)
        graphs = tmp_path / "again" / "text.onnx", tmp_path / "exported" / "text.onnx"
        assert_same_weights(*graphs, "encoder.")


@pytest.mark.parametrize(
    ("form", "tuned", "heads"),
    [("float", 2, True), ("float", 1, False), ("half", 2, True), ("int8", 2, True)],
    ids=["float", "float, upper layer, no heads", "half", "int8"],
)
def test_a_reader_reads_as_its_graph_does(
    bert: ContextualConfig, tmp_path: Path, form: str, tuned: int, heads: bool
) -> None:
    model, int8 = make_reader(replace(bert, tuned=tuned), heads=heads), form == "int8"
    export_reader(tmp_path / "exported", model, {}, int8=int8, half=form == "half")
    reader, found = (
        ChainReader(tmp_path / "exported"),
        recover_reader(tmp_path / "exported", tmp_path / "transformer"),
    )
    within = {"float": EXACT, "half": HALF, "int8": ROUNDED}[form]
    assert_reads_alike(found, reader, within)
    if int8:
        export_reader(tmp_path / "again", found, {}, int8=True)
        graphs = tmp_path / "again" / "read.onnx", tmp_path / "exported" / "read.onnx"
        assert_same_weights(*graphs, "reader.")
    if form != "float":
        return
    own = trained_weights(model.reader)
    for name, weight in trained_weights(found.reader).items():
        shift = (own[name] - weight).mean() if "logits" in name else 0.0  # a softmax sees none
        assert (own[name] - weight - shift).abs().max() < EXACT, name


def test_weights_that_are_equal_are_stored_once_and_still_found(
    bert: ContextualConfig, tmp_path: Path
) -> None:
    """The random transformer's biases are all zero, and its norms one."""
    torch.manual_seed(2)
    config = make_reader(bert).config
    model = new_reader(config, [], None)
    model.reader.eval()
    export_reader(tmp_path / "exported", model, {})
    found = trained_weights(recover_reader(tmp_path / "exported", tmp_path / "transformer").reader)
    own = trained_weights(model.reader)
    assert all(torch.allclose(own[name], found[name], atol=EXACT) for name in own)


def test_what_is_written_is_a_model_that_a_run_can_start_from(tmp_path: Path) -> None:
    path = str(write_bert(tmp_path / "bert"))
    bert = ContextualConfig("transformer", path, layers=2, tuned=2, dropout=0.0)
    encoder, reader = make_encoder(bert), make_reader(bert)
    export_model(tmp_path / "e", encoder, {})
    export_reader(tmp_path / "r", reader, {})
    write_trainable(tmp_path / "e", tmp_path / "encoder")
    write_trainable(tmp_path / "r", tmp_path / "reader")
    shutil.rmtree(bert.path)  # what a network began as is not needed any more
    for place, found, made in (
        ("encoder", load_model(tmp_path / "encoder").config, encoder.config),
        ("reader", load_reader(tmp_path / "reader").config, reader.config),
    ):
        own = replace(bert, path=str(tmp_path / f"{place}-transformer"))
        assert found == replace(made, contextual=own)


def test_recurrent_networks_and_damaged_graphs_are_refused(
    bert: ContextualConfig, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="recurrent network"):
        recover_encoder(write_model(tmp_path / "encoder"), tmp_path / "t")
    with pytest.raises(ConfigError, match=r"run\.start"):
        recover_reader(write_reader(tmp_path / "reader"), tmp_path / "t")
    export_reader(tmp_path / "exported", make_reader(bert), {})
    (tmp_path / "exported" / "read.onnx").write_bytes(b"not a graph at all")
    with pytest.raises(ArtifactError, match="damaged"):
        recover_reader(tmp_path / "exported", tmp_path / "transformer")


@pytest.mark.slow
def test_our_own_encoder_and_reader_can_be_trained_further(tmp_path: Path) -> None:
    """Their weights come back as they were left: exported again, they are the same."""
    encoder = recover_encoder(shipped_encoder(), tmp_path / "encoder")
    assert_searches_alike(encoder, TextEncoder(shipped_encoder()), DEEP)
    found = recover_reader(shipped_reader(), tmp_path / "reader")
    reader = ChainReader(shipped_reader())
    assert_reads_alike(found, reader, ROUNDED, tuple(demo_paragraphs()[:2]))
    export_reader(tmp_path / "again", found, {}, half=True)
    again = graph_weights(tmp_path / "again" / "read.onnx", "reader.")
    own = graph_weights(shipped_reader() / "read.onnx", "reader.")
    for name in trained_weights(found.reader):
        assert_close(again[name], own[name], HALF)
