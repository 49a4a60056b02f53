"""The BiGRU, its variational dropout and how its weights begin (checklist 11)."""

import pytest
import torch
from torch import Tensor, nn

from muppet.nn.recurrent import BiGRU, VariationalDropout

LENGTHS = [5, 1, 3, 7]


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(11)


def bidirectional_twin(ours: BiGRU) -> nn.GRU:
    """PyTorch's own bidirectional GRU with the same weights."""
    inputs, half = ours.forwards.input_size, ours.forwards.hidden_size
    twin = nn.GRU(inputs, half, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for name, weights in ours.forwards.named_parameters():
            getattr(twin, name).copy_(weights)
        for name, weights in ours.backwards.named_parameters():
            getattr(twin, f"{name}_reverse").copy_(weights)
    return twin


def loud(inputs: int, dim: int) -> BiGRU:
    """Weights so large, and biases so far from zero, that a wrong start is seen."""
    gru = BiGRU(inputs, dim, dropout=0.2).eval()
    with torch.no_grad():
        for weights in gru.parameters():
            weights.normal_(std=0.7)
    return gru


def test_each_text_is_read_as_if_it_were_alone_and_from_its_own_end_checklist_11() -> None:
    gru = loud(4, 6)
    twin = bidirectional_twin(gru)
    states = torch.randn(len(LENGTHS), 9, 4)  # two more places than the longest text
    found = gru(states, torch.tensor(LENGTHS))
    assert found.shape == (len(LENGTHS), 9, 6)
    for row, length in enumerate(LENGTHS):
        alone, _ = twin(states[row : row + 1, :length])
        torch.testing.assert_close(found[row, :length], alone[0], atol=1e-6, rtol=1e-5)


def test_what_stands_in_the_padding_changes_no_text_checklist_11() -> None:
    gru = loud(4, 6)
    states = torch.randn(len(LENGTHS), 7, 4)
    mask = torch.arange(7)[None] < torch.tensor(LENGTHS)[:, None]
    other = torch.where(mask[:, :, None], states, torch.randn(len(LENGTHS), 7, 4) * 100)
    lengths = torch.tensor(LENGTHS)
    torch.testing.assert_close(gru(states, lengths)[mask], gru(other, lengths)[mask])


def test_half_of_the_dimensions_look_each_way_checklist_11() -> None:
    gru = loud(4, 6)
    states = torch.randn(1, 5, 4)
    changed = states.clone()
    changed[0, 4] += 1.0
    lengths = torch.tensor([5])
    moved = (gru(states, lengths) - gru(changed, lengths))[0].abs() > 1e-6
    assert not moved[:4, :3].any()  # forwards: the past does not know the future
    assert moved[:4, 3:].all()  # backwards: it does


def test_one_dropout_mask_serves_all_time_steps_checklist_11() -> None:
    dropped = VariationalDropout(0.4).train()(torch.ones(6, 8, 50))
    for text in dropped:
        for step in text:
            assert torch.equal(step, text[0])


def test_texts_have_dropout_masks_of_their_own_checklist_11() -> None:
    dropped = VariationalDropout(0.4).train()(torch.ones(6, 2, 50))
    assert len({tuple(text[0].tolist()) for text in dropped}) == 6


def test_dropout_preserves_the_expectation_checklist_11() -> None:
    dropped = VariationalDropout(0.2).train()(torch.ones(400, 1, 250))
    assert sorted(set(dropped.flatten().tolist())) == pytest.approx([0.0, 1.25])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.01)  # 6 standard deviations
    assert (dropped == 0).double().mean().item() == pytest.approx(0.2, abs=0.01)


def test_dropout_is_off_outside_training_checklist_11() -> None:
    states = torch.randn(2, 3, 4)
    assert torch.equal(VariationalDropout(0.9).eval()(states), states)
    gru = loud(4, 6)
    lengths = torch.tensor([3, 2])
    assert torch.equal(gru(states, lengths), gru(states, lengths))


def test_the_input_of_the_bigru_is_dropped_in_training_checklist_11() -> None:
    gru = loud(4, 6).train()
    seen: list[Tensor] = []
    gru.forwards.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    gru(torch.ones(50, 3, 4), torch.full((50,), 3))
    assert {round(value, 4) for value in seen[0].flatten().tolist()} == {0.0, 1.25}
    assert torch.equal(seen[0][:, 0], seen[0][:, 2])


def test_weights_begin_truncated_normal_of_05_and_biases_zero_checklist_11() -> None:
    gru = BiGRU(4, 1024, dropout=0.2)
    weights = [one for name, one in gru.named_parameters() if "weight" in name]
    biases = [one for name, one in gru.named_parameters() if "bias" in name]
    assert len(weights) == len(biases) == 4
    assert all(not bias.any() for bias in biases)
    flat = torch.cat([one.detach().flatten() for one in weights])
    assert 0.099 < flat.abs().max().item() <= 0.1  # cut at two standard deviations
    assert flat.mean().item() == pytest.approx(0.0, abs=0.0005)
    assert flat.std().item() == pytest.approx(0.05 * 0.8796, abs=0.0005)  # that of the cut normal
    beyond_one = (flat.abs() > 0.05).double().mean().item()
    assert beyond_one == pytest.approx((0.9545 - 0.6827) / 0.9545, abs=0.005)


def test_smaller_networks_begin_wider_but_cut_alike_checklist_11() -> None:
    """Our decision, not the paper's: .05 would be almost nothing for a few dozen inputs."""
    gru = BiGRU(64, 128, dropout=0.2)
    assert all(not one.any() for name, one in gru.named_parameters() if "bias" in name)
    weights = [one for name, one in gru.named_parameters() if "weight" in name]
    flat = torch.cat([one.detach().flatten() for one in weights])
    assert 0.24 < flat.abs().max().item() <= 0.25  # 2 / sqrt(64)
    assert flat.std().item() == pytest.approx(0.125 * 0.8796, abs=0.003)
