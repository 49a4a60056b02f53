"""Exported graphs say what the networks said, and need no torch to say it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.arrays import tensors
from muppet.nn.chains import next_questions
from muppet.nn.export import export_model
from muppet.nn.model import Model, new_model
from muppet.text.batch import make_batch
from muppet.text.vectors import WordVectors
from tiny_bert import write_bert

QUESTIONS = ["Was the cafe the station?", "Who", "Which whale was it that the station was for?"]
PARAGRAPHS = [
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station.")),
    Paragraph("b", "Cafe", ("", "The cafe.", " ", " Was.")),
    Paragraph("c", "Whales", ("Was the station the cafe.", " The whale of the whole world.")),
    Paragraph("d", "", ("",)),
]
NETWORKS = ("recurrent", "transformer", "paragraph", "both", "one hop")


def make_model(name: str, directory: Path) -> Model:
    torch.manual_seed(7)
    letters = CharacterConfig(dim=3, filters=6, width=2, longest=6, at_least=1)
    bert = ContextualConfig("transformer", str(write_bert(directory)), layers=2, dropout=0.0)
    matrix = np.random.default_rng(4).normal(size=(3, 5)).astype(np.float32)
    vectors = WordVectors(("whale", "the", "station"), matrix)
    plain = EncoderConfig(dim=8, characters=letters)
    configs = {
        "recurrent": plain,
        "paragraph": EncoderConfig(dim=8, characters=letters, granularity="paragraph"),
        "one hop": EncoderConfig(dim=8, characters=letters, hops=1),
        "both": EncoderConfig(dim=8, characters=letters, contextual=bert, hops=3),
        "transformer": EncoderConfig(
            network="transformer",
            dim=32,
            word_vectors=False,
            characters=CharacterConfig(filters=0),
            contextual=ContextualConfig("transformer", bert.path, layers=1, tuned=2, dropout=0.0),
        ),
    }
    words = ["the", "whale", "was", "station", "cafe"]
    config = configs[name]
    model = new_model(config, words, vectors if config.word_vectors else None)
    with torch.no_grad():
        for weights in model.encoder.relevance.parameters():
            weights.normal_(std=0.5)
    model.encoder.eval().requires_grad_(requires_grad=False)
    return model


@pytest.fixture(scope="module", params=NETWORKS)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Model, TextEncoder]:
    directory = tmp_path_factory.mktemp("models")
    model = make_model(request.param, directory / "bert")
    export_model(directory / "exported", model, {})
    return model, TextEncoder(directory / "exported")


def close(found: np.ndarray, expected: torch.Tensor) -> None:
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


def test_sentence_vectors_are_those_of_torch(both: tuple[Model, TextEncoder]) -> None:
    model, encoder = both
    for paragraph, rows in zip(PARAGRAPHS, encoder.sentences(PARAGRAPHS), strict=True):
        ready = [model.preparer.paragraph(paragraph)]
        batch = tensors(make_batch(ready, model.preparer.lexicon))
        vectors, present = model.encoder.sentences(model.encoder.read(batch), batch)
        assert rows.shape[1] == encoder.dim
        for sentence in np.flatnonzero(present[0].numpy()):
            close(rows[sentence], vectors[0, sentence])
        assert len(rows) <= max(vectors.shape[1], 1)


def test_a_sentence_without_words_has_the_row_before_it_and_a_first_one_the_next(
    both: tuple[Model, TextEncoder],
) -> None:
    _, encoder = both
    (rows,) = encoder.sentences([Paragraph("b", "", ("", "The cafe.", " ", " Was."))])
    if encoder.granularity == "paragraph":
        assert len(rows) == 1
        return
    assert len(rows) == 4
    assert (rows[0] == rows[1]).all() and (rows[2] == rows[1]).all()
    assert not np.allclose(rows[3], rows[1])


def test_the_first_hop_searches_with_torch_s_vector_and_offset_checklist_14(
    both: tuple[Model, TextEncoder],
) -> None:
    model, encoder = both
    asked = encoder.ask(QUESTIONS)
    ready = [model.preparer.question(question) for question in QUESTIONS]
    batch = tensors(make_batch(ready, model.preparer.lexicon))
    vectors = model.encoder.question(model.encoder.read(batch))
    close(asked.search, model.encoder.relevance_at(0).search_vector(vectors))
    close(asked.offset, model.encoder.relevance_at(0).offset(vectors))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_later_hops_search_with_torch_s_reformulated_question_checklist_15(
    both: tuple[Model, TextEncoder], hops: int
) -> None:
    model, encoder = both
    if encoder.hops == 1:
        with pytest.raises(ConfigError, match="trained for one hop"):
            encoder.ask_after(QUESTIONS, [PARAGRAPHS[:1]] * 3)
        return
    chains = [PARAGRAPHS[:hops], PARAGRAPHS[1::-1] + PARAGRAPHS[:1], PARAGRAPHS[:3][::-1]]
    chains = [chain[:hops] for chain in chains]
    asked = encoder.ask_after(QUESTIONS, chains)
    ready = model.preparer
    vectors = torch.cat(
        [
            next_questions(
                model.encoder, ready, [ready.question(question)], [[*map(ready.paragraph, chain)]]
            )
            for question, chain in zip(QUESTIONS, chains, strict=True)
        ]
    )
    relevance = model.encoder.relevance_at(hops)
    close(asked.search, relevance.search_vector(vectors))
    close(asked.offset, relevance.offset(vectors))
    close(asked.complete, model.encoder.is_complete(vectors))


def test_attention_names_the_words_of_question_and_chain(both: tuple[Model, TextEncoder]) -> None:
    _, encoder = both
    if encoder.hops == 1:
        return
    attention = encoder.attention(QUESTIONS[0], PARAGRAPHS[:2])
    assert [word for word, _ in attention.question] == ["Was", "the", "cafe", "the", "station", "?"]
    assert [word for word, _ in attention.chain[1]][:2] == ["Cafe", "."]
    shares = [share for part in attention.chain for _, share in part]
    assert min(shares) >= 0
    assert sum(share for _, share in attention.question) == pytest.approx(1.0, abs=1e-4)


def test_a_question_alone_and_in_a_batch_is_the_same(both: tuple[Model, TextEncoder]) -> None:
    _, encoder = both
    together = encoder.ask(QUESTIONS * 12)
    for row, question in enumerate(QUESTIONS):
        alone = encoder.ask([question])
        np.testing.assert_allclose(together.search[row], alone.search[0], atol=1e-5)


def test_no_question_is_no_vector(both: tuple[Model, TextEncoder]) -> None:
    _, encoder = both
    assert encoder.ask([]).search.shape == (0, encoder.dim)
    assert encoder.sentences([]) == []


def test_int8_keeps_the_directions(tmp_path: Path) -> None:
    model = make_model("transformer", tmp_path / "bert")
    export_model(tmp_path / "fp32", model, {})
    export_model(tmp_path / "int8", model, {}, int8=True)
    exact, rounded = (TextEncoder(tmp_path / name) for name in ("fp32", "int8"))
    assert exact.checksum != rounded.checksum
    pairs = zip(exact.sentences(PARAGRAPHS[:3]), rounded.sentences(PARAGRAPHS[:3]), strict=True)
    for before, after in pairs:
        assert ((before * after).sum(axis=1) > 0.98).all()


def test_vectors_of_more_of_a_paragraph_are_other_vectors(tmp_path: Path) -> None:
    export_model(tmp_path / "model", make_model("recurrent", tmp_path / "bert"), {})
    before = TextEncoder(tmp_path / "model").checksum
    manifest = tmp_path / "model" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"max_tokens": 600', '"max_tokens": 5'))
    assert TextEncoder(tmp_path / "model").checksum != before
    manifest.write_text(manifest.read_text().replace('"max_tokens": 5', '"max_tokens": 600'))
    assert TextEncoder(tmp_path / "model").checksum == before


def test_float16_weights_take_less_room_and_give_the_same_vectors(tmp_path: Path) -> None:
    model = make_model("transformer", tmp_path / "bert")
    export_model(tmp_path / "fp32", model, {})
    export_model(tmp_path / "half", model, {}, half=True)
    large, small = ((tmp_path / name / "text.onnx").stat().st_size for name in ("fp32", "half"))
    assert small < 0.9 * large
    exact, rounded = (TextEncoder(tmp_path / name) for name in ("fp32", "half"))
    pairs = zip(exact.sentences(PARAGRAPHS[:3]), rounded.sentences(PARAGRAPHS[:3]), strict=True)
    for before, after in pairs:
        np.testing.assert_allclose(after, before, atol=2e-3)


def test_a_lost_or_damaged_file_is_named(tmp_path: Path) -> None:
    model = make_model("one hop", tmp_path / "bert")
    export_model(tmp_path / "model", model, {})
    whole = (tmp_path / "model" / "relevance.onnx").read_bytes()
    (tmp_path / "model" / "relevance.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArtifactError, match=r"relevance\.onnx is damaged.*Export it again"):
        TextEncoder(tmp_path / "model")
    (tmp_path / "model" / "relevance.onnx").unlink()
    with pytest.raises(ArtifactError, match=r"has lost its relevance\.onnx"):
        TextEncoder(tmp_path / "model")


def test_the_runtime_never_imports_torch(tmp_path: Path) -> None:
    model = make_model("recurrent", tmp_path / "bert")
    export_model(tmp_path / "model", model, {})
    program = (
        "import sys; from pathlib import Path; from muppet.encode.encoder import TextEncoder\n"
        f"TextEncoder(Path({str(tmp_path / 'model')!r})).ask(['Who?'])\n"
        "assert not {'torch', 'transformers', 'onnx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
