"""What the encoder is asked to get right (checklist 16), and two losses of ours beside it."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def cross_entropy(logits: Tensor, relevant: Tensor) -> Tensor:
    """Binary cross-entropy of the relevance of samples: (N,), (N,) -> ()"""
    return binary_cross_entropy_with_logits(logits, relevant.to(logits))


def ranking(logits: Tensor, relevant: Tensor, question: Tensor, margin: float) -> Tensor:
    """mean over questions of max(0, margin - mean_pos + mean_neg), on probabilities.

    (N,), (N,), (N,) which question a sample is of -> (). A question whose samples are all
    relevant, or all not, has nothing to rank and is left out.
    """
    probabilities = logits.sigmoid()
    groups = int(question.max()) + 1
    positives = _mean_by_group(probabilities, relevant, question, groups)
    negatives = _mean_by_group(probabilities, ~relevant, question, groups)
    hinge = (margin - positives + negatives).clamp(min=0)
    both = ~(positives.isnan() | negatives.isnan())
    return hinge[both].mean() if both.any() else logits.sum() * 0.0


def in_batch(logits: Tensor, positive: Tensor, allowed: Tensor) -> Tensor:
    """Each right paragraph against all wrong ones of the batch: a softmax, not in the paper.

    (V, P), (V, P), (V, P) -> (). `allowed` leaves out what is neither right nor wrong, such as
    paragraphs that the chain already holds.
    """
    wrong = logits.masked_fill(positive | ~allowed, -1e4).logsumexp(dim=1, keepdim=True)  # (V, 1)
    losses = torch.logaddexp(logits, wrong) - logits  # -log softmax of one right one: (V, P)
    right = positive & allowed
    return losses[right].mean() if right.any() else logits.sum() * 0.0


def stopping(logits: Tensor, complete: Tensor) -> Tensor:
    """Whether the evidence is complete after a hop (checklist 34): (N,), (N,) -> ()

    Complete chains are few, so both answers weigh the same, however many there are of each.
    """
    losses = binary_cross_entropy_with_logits(logits, complete.to(logits), reduction="none")
    answers = [losses[chosen].mean() for chosen in (complete, ~complete) if chosen.any()]
    return torch.stack(answers).mean() if answers else logits.sum() * 0.0


def _mean_by_group(values: Tensor, chosen: Tensor, group: Tensor, groups: int) -> Tensor:
    """The mean of the chosen values of each group; NaN where there are none: (groups,)"""
    total = values.new_zeros(groups).index_add(0, group[chosen], values[chosen])
    count = values.new_zeros(groups).index_add(
        0, group[chosen], values.new_ones(len(values))[chosen]
    )
    return total / count
