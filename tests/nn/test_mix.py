"""The learned mix of layers (checklist 10)."""

import math

import torch

from muppet.nn.mix import ScalarMix


def test_a_mix_is_a_softmax_average_times_a_scalar_checklist_10() -> None:
    mix = ScalarMix(3)
    with torch.no_grad():
        mix.logits.copy_(torch.tensor([0.5, -1.0, 2.0]))
        mix.gamma.fill_(1.5)
    layers = torch.randn(2, 4, 3, 5, generator=torch.Generator().manual_seed(1))
    powers = [math.exp(0.5), math.exp(-1.0), math.exp(2.0)]
    mixed = mix(layers).detach()
    assert mixed.shape == (2, 4, 5)
    for b in range(2):
        for t in range(4):
            for d in range(5):
                total = sum(powers[n] * float(layers[b, t, n, d]) for n in range(3))
                assert math.isclose(
                    float(mixed[b, t, d]), 1.5 * total / sum(powers), rel_tol=1e-4, abs_tol=1e-5
                )


def test_an_untrained_mix_is_the_plain_average_checklist_10() -> None:
    layers = torch.arange(24.0).view(1, 2, 3, 4)
    torch.testing.assert_close(ScalarMix(3)(layers), layers.mean(dim=2))


def test_the_weights_and_the_scalar_learn_checklist_10() -> None:
    mix = ScalarMix(2)
    mix(torch.tensor([[[[1.0], [3.0]]]])).sum().backward()
    assert mix.gamma.grad is not None
    assert mix.logits.grad is not None
    assert float(mix.gamma.grad) == 2.0
    torch.testing.assert_close(mix.logits.grad, torch.tensor([-0.5, 0.5]))
