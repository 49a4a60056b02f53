"""Exported readers say what the networks said, and need no torch to say it (checklist 23-27)."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, ReadConfig, ReaderConfig
from muppet.domain import Paragraph
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded
from muppet.nn.export_reader import export_reader
from muppet.nn.reader import Logits, chain_batch
from muppet.nn.reader_model import ReaderModel, load_reader, new_reader, save_reader
from muppet.read.answers import ChainRead
from muppet.read.reader import ChainReader
from muppet.text.batch import make_batch
from muppet.text.layout import pad_layouts, reading_apart, reading_joined
from muppet.text.vectors import WordVectors
from tiny_bert import write_bert

QUESTIONS = ["Was the cafe the station?", "Who", "Which whale was it that the station was for?"]
PARAGRAPHS = (
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station."), start=40),
    Paragraph("b", "Cafe", ("", "The cafe.", " ", " Was.")),
    Paragraph("c", "Whales", ("Was the station the cafe.", " The whale of the whole world.")),
    Paragraph("d", "", ("",)),
)
CHAINS = [
    PARAGRAPHS[:1],
    PARAGRAPHS[:2],
    PARAGRAPHS[2::-1],
    PARAGRAPHS,
    (PARAGRAPHS[2], PARAGRAPHS[0]),
]
PAIRS = [(question, chain) for question in QUESTIONS for chain in CHAINS]
NETWORKS = ("recurrent", "released", "both", "no heads", "transformer")


def make_model(name: str, directory: Path) -> ReaderModel:
    torch.manual_seed(7)
    letters = CharacterConfig(dim=3, filters=6, width=2, longest=6, at_least=1)
    bert = ContextualConfig("transformer", str(write_bert(directory)), layers=2, dropout=0.0)
    matrix = np.random.default_rng(4).normal(size=(3, 5)).astype(np.float32)
    vectors = WordVectors(("whale", "the", "station"), matrix)
    plain = ReaderConfig(dim=8, hidden=6, characters=letters)
    configs = {
        "recurrent": plain,
        "released": replace(plain, attention="released"),
        "both": replace(plain, contextual=bert),
        "no heads": replace(plain, heads=False),
        "transformer": replace(
            plain,
            network="transformer",
            dim=32,
            word_vectors=False,
            characters=CharacterConfig(filters=0),
            contextual=replace(bert, layers=1, tuned=2),
        ),
    }
    config = configs[name]
    words = ["the", "whale", "was", "station", "cafe"]
    model = new_reader(config, words, vectors if config.word_vectors else None)
    with torch.no_grad():
        model.reader.title.normal_()
    model.reader.eval().requires_grad_(requires_grad=False)
    return model


@pytest.fixture(scope="module", params=NETWORKS)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ReaderModel, ChainReader]:
    directory = tmp_path_factory.mktemp("readers")
    model = make_model(request.param, directory / "bert")
    export_reader(directory / "exported", model, {})
    return model, ChainReader(directory / "exported")


def by_torch(model: ReaderModel, question: str, chain: tuple[Paragraph, ...]) -> Logits:
    """One chain alone, every text by itself."""
    ready = model.preparer
    asked, texts = ready.question(question), [ready.paragraph(one) for one in chain]
    if model.reader.joins:
        reading = reading_joined(ready, asked, texts)
        assert reading.joined is not None
        titles = torch.from_numpy(reading.layout.titles[None])
        return model.reader.read_joined(
            tensors(make_batch([reading.joined], ready.lexicon)), titles
        )
    layout = chain_batch(pad_layouts([reading_apart(asked, texts).layout]))
    question_read, *read = (
        model.reader.read(tensors(make_batch([text], ready.lexicon))) for text in (asked, *texts)
    )
    lengths = [len(text.types) for text in texts]
    states = torch.cat([one.states[0, :n] for one, n in zip(read, lengths, strict=True)])
    return model.reader.compare(Encoded(*question_read), states[None], layout)


def close(found: ChainRead, expected: Logits) -> None:
    logits = found.logits
    own = (logits.start, logits.end, logits.kind, logits.verdict, logits.support)
    for one, other in zip(own, expected, strict=True):
        np.testing.assert_allclose(one, other[0].numpy(), atol=1e-4)


def test_every_logit_is_torch_s_for_chains_of_any_length(
    both: tuple[ReaderModel, ChainReader],
) -> None:
    model, reader = both
    found = reader.read(PAIRS)
    assert len(found) == len(PAIRS)
    for one, (question, chain) in zip(found, PAIRS, strict=True):
        assert one.paragraphs == tuple(chain)
        close(one, by_torch(model, question, chain))


def test_a_chain_alone_and_in_a_batch_is_the_same(both: tuple[ReaderModel, ChainReader]) -> None:
    _, reader = both
    together = reader.read(PAIRS * 2)
    for place, pair in enumerate(PAIRS):
        (alone,) = reader.read([pair])
        np.testing.assert_allclose(together[place].logits.start, alone.logits.start, atol=1e-5)
        np.testing.assert_allclose(
            together[place + len(PAIRS)].logits.support, alone.logits.support, atol=1e-5
        )


def test_answers_are_in_the_source_s_characters(both: tuple[ReaderModel, ChainReader]) -> None:
    _, reader = both
    by_id = {one.id: one for one in PARAGRAPHS}
    answers = reader.answers(QUESTIONS[0], CHAINS, ReadConfig(answers=20))
    spans = [answer for answer in answers if answer.span]
    assert spans
    for answer in spans:
        assert answer.span is not None
        paragraph = by_id[answer.span.paragraph]
        source = paragraph.title if answer.span.in_title else paragraph.text
        assert source[answer.span.start : answer.span.end] == answer.text
        assert answer.span.paragraph in answer.chain
        if not answer.span.in_title:
            assert answer.span.document_start == paragraph.start + answer.span.start
    assert all(ref.paragraph in answer.chain for answer in answers for ref in answer.support)


def test_without_chains_there_is_nothing_to_say(both: tuple[ReaderModel, ChainReader]) -> None:
    _, reader = both
    assert reader.read([]) == []
    assert reader.answers("Who?", [], ReadConfig()) == []


def test_a_chain_without_a_word_is_read_too(both: tuple[ReaderModel, ChainReader]) -> None:
    model, reader = both
    (empty,) = reader.read([("Who?", PARAGRAPHS[3:])])
    assert np.isfinite(empty.logits.kind).all()
    answers = reader.answers("Who?", [PARAGRAPHS[3:]], ReadConfig())
    assert {answer.kind for answer in answers} == ({"yes", "no"} if model.config.heads else set())


def test_a_saved_reader_is_the_same_reader(tmp_path: Path) -> None:
    model = make_model("recurrent", tmp_path / "bert")
    model.reader.requires_grad_(requires_grad=True)
    model.reader.embedding.vectors.requires_grad_(requires_grad=False)  # type: ignore[union-attr]
    weights = {name: p.detach() for name, p in model.reader.named_parameters() if p.requires_grad}
    save_reader(tmp_path / "saved", model, weights, {"data": "x"})
    again = load_reader(tmp_path / "saved")
    model.reader.requires_grad_(requires_grad=False)
    for question, chain in PAIRS[:4]:
        pairs = zip(by_torch(model, question, chain), by_torch(again, question, chain), strict=True)
        assert all(torch.equal(*pair) for pair in pairs)


def test_int8_keeps_most_of_what_is_said(tmp_path: Path) -> None:
    model = make_model("transformer", tmp_path / "bert")
    export_reader(tmp_path / "fp32", model, {})
    export_reader(tmp_path / "int8", model, {}, int8=True)
    exact, rounded = (ChainReader(tmp_path / name) for name in ("fp32", "int8"))
    assert exact.checksum != rounded.checksum
    before, after = (
        np.concatenate([one.logits.start for one in reader.read(PAIRS)])
        for reader in (exact, rounded)
    )
    assert np.corrcoef(before, after)[0, 1] > 0.95


def test_float16_weights_take_less_room_and_say_the_same(tmp_path: Path) -> None:
    model = make_model("transformer", tmp_path / "bert")
    export_reader(tmp_path / "fp32", model, {})
    export_reader(tmp_path / "half", model, {}, half=True)
    large, small = ((tmp_path / name / "read.onnx").stat().st_size for name in ("fp32", "half"))
    assert small < 0.9 * large
    exact, rounded = (ChainReader(tmp_path / name).read(PAIRS) for name in ("fp32", "half"))
    for before, after in zip(exact, rounded, strict=True):
        np.testing.assert_allclose(after.logits.start, before.logits.start, atol=0.05)
        np.testing.assert_allclose(after.logits.support, before.logits.support, atol=0.05)


def test_a_lost_or_damaged_file_is_named(tmp_path: Path) -> None:
    export_reader(tmp_path / "model", make_model("recurrent", tmp_path / "bert"), {})
    whole = (tmp_path / "model" / "read.onnx").read_bytes()
    (tmp_path / "model" / "read.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArtifactError, match=r"read\.onnx is damaged.*Export it again"):
        ChainReader(tmp_path / "model")
    (tmp_path / "model" / "text.onnx").unlink()
    (tmp_path / "model" / "read.onnx").write_bytes(whole)
    with pytest.raises(ArtifactError, match=r"has lost its text\.onnx"):
        ChainReader(tmp_path / "model")


def test_a_reader_with_elmo_is_not_exported(tmp_path: Path) -> None:
    model = make_model("recurrent", tmp_path / "bert")
    elmo = replace(model.config, contextual=ContextualConfig("elmo", "nowhere"))
    with pytest.raises(ConfigError, match="ELMo cannot be exported"):
        export_reader(tmp_path / "model", replace(model, config=elmo), {})


def test_the_runtime_never_imports_torch(tmp_path: Path) -> None:
    export_reader(tmp_path / "model", make_model("recurrent", tmp_path / "bert"), {})
    program = (
        "import sys; from pathlib import Path; from muppet.read.reader import ChainReader\n"
        "from muppet.config import ReadConfig; from muppet.domain import Paragraph\n"
        f"reader = ChainReader(Path({str(tmp_path / 'model')!r}))\n"
        "reader.answers('Who?', [[Paragraph('a', 'A', ('It was.',))]], ReadConfig())\n"
        "assert not {'torch', 'transformers', 'onnx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
