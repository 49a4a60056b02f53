"""What the reader is asked to get right (checklist 24, 25)."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from muppet.nn.reader import NEVER


def shared_norm(logits: Tensor, gold: Tensor, allowed: Tensor, question: Tensor) -> Tensor:
    """Minus the log of what gold gets of one softmax over all chains of its question.

    (N, T), (N, T), (N, T), (N,) which question a chain is read for -> (). The mean over all
    questions; one without gold, to which the loss does not apply, counts nothing.
    """
    count = int(question.max()) + 1
    member = question[None, :] == torch.arange(count, device=question.device)[:, None]  # (Q, N)
    everything = _over_chains(logits, allowed, member)
    right = _over_chains(logits, gold & allowed, member)
    has_gold = (member & (gold & allowed).any(dim=1)[None, :]).any(dim=1)  # (Q,)
    return ((everything - right) * has_gold).sum() / count


def support(logits: Tensor, gold: Tensor, known: Tensor) -> Tensor:
    """Binary cross-entropy of each sentence of which it is known: (N, S), (N, S), (N, S) -> ()"""
    losses = binary_cross_entropy_with_logits(logits, gold.to(logits), reduction="none")
    return (losses * known).sum() / known.sum().clamp(min=1)


def _over_chains(logits: Tensor, chosen: Tensor, member: Tensor) -> Tensor:
    """The log of the sum of the chosen ones' powers: (N, T), (N, T), (Q, N) -> (Q,)"""
    chains = logits.masked_fill(~chosen, NEVER).logsumexp(dim=1)  # (N,)
    return chains[None, :].expand(member.shape).masked_fill(~member, 2 * NEVER).logsumexp(dim=1)
