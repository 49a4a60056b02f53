"""ELMo from its published files (checklist 10)."""

import json
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from muppet.nn.elmo import ClippedLstm, Elmo
from muppet.nn.elmo_cache import UNKNOWN
from tiny_elmo import (
    FILTERS,
    LONGEST,
    Arrays,
    C,
    Floats,
    P,
    alone,
    padded,
    tiny_options,
    tiny_weights,
    write_elmo,
)

ROOT = Path(__file__).parent.parent.parent
FIXTURE = ROOT.parent / "shared" / "data" / "elmo-fixture"
needs_fixture = pytest.mark.skipif(
    not FIXTURE.is_dir(), reason="the published tiny ELMo is not in ../shared/data/elmo-fixture"
)
# The published architecture in plain loops: the oracle.


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def plain_word(weights: Arrays, codes: Sequence[int]) -> Floats:
    """(P,), the vector of one word given as characters without its marks."""
    characters = [258, *codes[: LONGEST - 2], 259]
    characters += [260] * (LONGEST - len(characters))
    letters = weights["char_embed"][characters].astype(np.float64)
    features = []
    for number, (width, count) in enumerate(FILTERS):
        kernel, bias = weights[f"CNN/W_cnn_{number}"][0], weights[f"CNN/b_cnn_{number}"]
        for which in range(count):
            windows = [letters[at : at + width] for at in range(LONGEST - width + 1)]
            best = max(float((window * kernel[:, :, which]).sum()) for window in windows)
            features.append(max(best + float(bias[which]), 0.0))
    x = np.array(features)
    for number in range(2):
        group = f"CNN_high_{number}"
        gate = sigmoid(x @ weights[f"{group}/W_carry"] + weights[f"{group}/b_carry"])
        changed = x @ weights[f"{group}/W_transform"] + weights[f"{group}/b_transform"]
        x = gate * np.maximum(changed, 0) + (1 - gate) * x
    return x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]


def plain_step(
    weights: Arrays,
    group: str,
    clips: tuple[float, float],
    x: Floats,
    cell: Floats,
    output: Floats,
) -> tuple[Floats, Floats]:
    """(P,), (C,), (P,) -> (C,), (P,): one step of one LSTM, unit by unit."""
    gates = np.concatenate([x, output]) @ weights[f"{group}/W_0"] + weights[f"{group}/B"]
    next_cell, shown = np.zeros(C), np.zeros(C)
    for unit in range(C):
        i, j, f, o = (gates[gate * C + unit] for gate in range(4))
        value = sigmoid(f + 1.0) * cell[unit] + sigmoid(i) * np.tanh(j)
        next_cell[unit] = min(max(value, -clips[0]), clips[0])
        shown[unit] = sigmoid(o) * np.tanh(next_cell[unit])
    projected = shown @ weights[f"{group}/W_P_0"]
    return next_cell, np.array([min(max(value, -clips[1]), clips[1]) for value in projected])


def plain_layers(weights: Arrays, words: Sequence[str]) -> Floats:
    """(T, 3, 2 P), one sentence, token by token."""
    sentence = [[256], *(list(word.encode()) for word in words), [257]]
    tokens = [plain_word(weights, codes) for codes in sentence]
    halves = []
    for way in range(2):
        layers = [tokens[::-1] if way else tokens]
        for layer in range(2):
            group = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            cell, output = np.zeros(C), np.zeros(P)
            read = []
            for x in layers[-1]:
                cell, output = plain_step(weights, group, (0.6, 0.5), x, cell, output)
                read.append(output + x if layer else output)
            layers.append(read)
        halves.append([layer[::-1] if way else layer for layer in layers])
    both: Floats = np.concatenate(np.array(halves), axis=2)  # (3, T + 2, 2 P)
    return both.transpose(1, 0, 2)[1:-1]


# Parity with the original TensorFlow model.


@needs_fixture
def test_the_top_layer_is_that_of_the_original_model_checklist_10() -> None:
    elmo = Elmo.from_files(FIXTURE / "options.json", FIXTURE / "lm_weights.hdf5")
    groups = json.loads((FIXTURE / "sentences.json").read_text())
    expected = []
    for number in range(3):
        with h5py.File(FIXTURE / f"lm_embeddings_{number}.hdf5") as file:
            expected.append([np.concatenate(file[str(k)][()], axis=1) for k in range(len(file))])
    state = elmo.initial_state(3)
    for k, sentences in enumerate(zip(*groups, strict=True)):
        vectors = [elmo.token_vectors(sentence.split()) for sentence in sentences]
        layers, state = elmo.layers_after(state, *padded(vectors))
        for row, sequence in enumerate(vectors):
            top = layers[row, : len(sequence), 2].numpy()
            np.testing.assert_allclose(top, expected[row][k], rtol=0, atol=1e-5)


@needs_fixture
def test_vectors_without_context_are_those_of_the_original_model_checklist_10() -> None:
    elmo = Elmo.from_files(FIXTURE / "options.json", FIXTURE / "lm_weights.hdf5")
    words = (FIXTURE / "vocab_test.txt").read_text().split("\n")
    with h5py.File(FIXTURE / "elmo_token_embeddings.hdf5") as file:
        expected = file["embedding"][()]
    assert UNKNOWN in words
    rows = [row for row, word in enumerate(words) if word not in ("<S>", "</S>")]  # no words
    found = elmo.token_vectors([words[row] for row in rows]).numpy()
    np.testing.assert_allclose(found, expected[rows], rtol=0, atol=1e-5)


# The architecture, on weights of our own.


@pytest.mark.parametrize(
    "words",
    [
        ["one"],
        ["The", "quick", "fox", "."],
        ["naïve", "東京", "🦊", "Ωμέγα"],
        ["incomprehensibilities", "of", "東京東京東京東京"],
    ],
    ids=["one word", "a sentence", "not ASCII", "longer than the maximum"],
)
def test_all_layers_are_those_of_the_architecture_in_plain_loops_checklist_10(
    elmo: Elmo, words: list[str]
) -> None:
    found = alone(elmo, words).numpy()
    np.testing.assert_allclose(found, plain_layers(tiny_weights(), words), rtol=0, atol=1e-5)


def test_one_step_of_an_lstm_is_that_of_plain_loops_checklist_10(elmo: Elmo) -> None:
    lstm = elmo.back.lstms[1]
    assert isinstance(lstm, ClippedLstm)
    rng = np.random.default_rng(3)
    x, cell, output = (rng.normal(0, 1, (4, size)) for size in (P, C, P))
    cells, outputs = lstm.step(*(torch.tensor(a, dtype=torch.float32) for a in (x, cell, output)))
    group = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"
    for row in range(4):
        expected = plain_step(tiny_weights(), group, (0.6, 0.5), x[row], cell[row], output[row])
        np.testing.assert_allclose(cells[row], expected[0], rtol=0, atol=1e-6)
        np.testing.assert_allclose(outputs[row], expected[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["cell_clip", "proj_clip"])
def test_cells_and_projections_are_clipped_checklist_10(tmp_path: Path, name: str) -> None:
    options = tiny_options()
    words = ["The", "quick", "fox", "."]
    weights = tiny_weights()
    clipped = Elmo.from_files(*write_elmo(tmp_path / "clipped", options, weights))
    options["lstm"][name] = 1e9
    free = Elmo.from_files(*write_elmo(tmp_path / "free", options, weights))
    assert not torch.allclose(alone(clipped, words)[:, 1], alone(free, words)[:, 1], atol=1e-3)
    _, state = clipped.layers_after(
        clipped.initial_state(1), *padded([clipped.token_vectors(words)])
    )
    assert float(state.cells.abs().max()) == pytest.approx(0.6)
    assert float(state.outputs.abs().max()) == pytest.approx(0.5)


def test_a_skip_connection_adds_the_layer_below_checklist_10(elmo: Elmo, tmp_path: Path) -> None:
    options = tiny_options()
    options["lstm"]["use_skip_connections"] = False
    plain = Elmo.from_files(*write_elmo(tmp_path / "plain", options, tiny_weights()))
    words = ["a", "b"]
    torch.testing.assert_close(
        alone(elmo, words)[:, 2], alone(plain, words)[:, 2] + alone(plain, words)[:, 1]
    )


def test_layer_0_is_the_token_vector_twice_checklist_10(elmo: Elmo) -> None:
    vectors = elmo.token_vectors(["The", "fox"])
    torch.testing.assert_close(alone(elmo, ["The", "fox"])[:, 0], vectors.repeat(1, 2))


SENTENCES = [["a"], ["The", "quick", "brown", "fox", "."], ["naïve", "words"], ["x", "y", "z"]]


@pytest.mark.parametrize("width", [5, 9])
def test_neither_padding_nor_batch_mates_change_a_result_checklist_10(
    elmo: Elmo, width: int
) -> None:
    vectors = [elmo.token_vectors(words) for words in SENTENCES]
    layers = elmo.layers(*padded(vectors, width))
    assert layers.shape == (4, width, 3, 2 * P)
    for row, words in enumerate(SENTENCES):
        torch.testing.assert_close(layers[row, : len(words)], alone(elmo, words))
        assert not layers[row, len(words) :].any()


def test_what_stands_in_the_padding_is_never_read_checklist_10(elmo: Elmo) -> None:
    batch, mask = padded([elmo.token_vectors(words) for words in SENTENCES], 6)
    expected = elmo.layers(batch, mask)
    batch[~mask] = torch.nan
    torch.testing.assert_close(elmo.layers(batch, mask), expected)


def test_a_sequence_without_tokens_has_nothing_to_say_checklist_10(elmo: Elmo) -> None:
    empty = elmo.token_vectors([])
    assert empty.shape == (0, P)
    layers = elmo.layers(*padded([empty, elmo.token_vectors(["x"])]))
    assert not layers[0].any()
    torch.testing.assert_close(layers[1], alone(elmo, ["x"]))


def test_a_mask_with_a_hole_is_refused_checklist_10(elmo: Elmo) -> None:
    mask = torch.tensor([[True, False, True]])
    with pytest.raises(ValueError, match="between tokens"):
        elmo.layers(torch.zeros(1, 3, P), mask)


def test_a_state_is_carried_over_from_each_sequence_to_its_next_checklist_10(elmo: Elmo) -> None:
    first = padded([elmo.token_vectors(words) for words in SENTENCES])
    second = padded([elmo.token_vectors(words) for words in reversed(SENTENCES)])
    _, state = elmo.layers_after(elmo.initial_state(4), *first)
    together, _ = elmo.layers_after(state, *second)
    for row, (words, next_words) in enumerate(zip(SENTENCES, reversed(SENTENCES), strict=True)):
        _, own = elmo.layers_after(elmo.initial_state(1), *padded([elmo.token_vectors(words)]))
        torch.testing.assert_close(state.cells[:, :, row], own.cells[:, :, 0])
        torch.testing.assert_close(state.outputs[:, :, row], own.outputs[:, :, 0])
        expected, _ = elmo.layers_after(own, *padded([elmo.token_vectors(next_words)]))
        torch.testing.assert_close(together[row, : len(next_words)], expected[0])
        assert not torch.allclose(expected[0], alone(elmo, next_words), atol=1e-3)


def test_a_long_word_is_cut_at_a_byte_checklist_10(elmo: Elmo) -> None:
    long, cut, other = elmo.token_vectors(["abcdefghijKLM", "abcdefghij", "abcdefghi"])
    torch.testing.assert_close(long, cut)
    assert not torch.allclose(cut, other)
    kanji = elmo.token_vectors(["東東東東", "東東東" + "東".encode()[:1].decode("latin-1")])
    assert not torch.allclose(kanji[0], kanji[1])  # nine bytes and one more, which is no letter
    expected = plain_word(tiny_weights(), list("東東東東".encode()))
    np.testing.assert_allclose(kanji[0].numpy(), expected, rtol=0, atol=1e-5)


def test_a_word_is_the_same_in_a_long_list_and_alone_checklist_10(elmo: Elmo) -> None:
    words = [f"word{number}" for number in range(600)]
    vectors = elmo.token_vectors(words)
    assert vectors.shape == (600, P)
    torch.testing.assert_close(vectors[599], elmo.token_vectors(["word599"])[0])


def test_what_cannot_be_encoded_is_left_out_of_a_word_checklist_10(elmo: Elmo) -> None:
    broken, whole = elmo.token_vectors(["a\ud800b", "ab"])
    torch.testing.assert_close(broken, whole)


def test_the_parameters_are_frozen_checklist_10(elmo: Elmo) -> None:
    parameters = list(elmo.parameters())
    assert parameters
    assert not any(parameter.requires_grad for parameter in parameters)


def test_unfrozen_parameters_can_learn_checklist_10(elmo: Elmo) -> None:
    elmo.requires_grad_(True)
    alone(elmo, ["The", "fox"]).sum().backward()
    assert all(parameter.grad is not None for parameter in elmo.parameters())
