"""Multi-hop beam search for many questions at once: callables in, ranked chains out.

A pure function (checklist 20, 21): what a question is, how it is reformulated and where the
paragraphs lie is the caller's affair. The model may decide how many hops it takes (checklist 34).
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muppet.bounds import at_hop, require_at_least
from muppet.domain import Chain, Hop
from muppet.errors import ConfigError

AUTO = "auto"
MODEL = "model"
RELEASED = "released"
MOST_HOPS = 4


class Prefix(NamedTuple):
    """A question, by its number in the batch, and its chain so far: at hop 0 the empty one."""

    question: int
    chain: Chain


Asked = TypeVar("Asked")
"""What `ask` makes of prefixes: only the caller's own callables look into it."""

Ask = Callable[[Sequence[Prefix]], Asked]
"""Reformulates the questions of all prefixes, in one forward pass."""

Search = Callable[[Asked, Sequence[Prefix], int], Sequence[Sequence[Hop]]]
"""What was asked, for which prefixes, at which hop (from 0) → each prefix's candidates.

They come in any order. The model's ranking wants log probabilities, log sigmoid(inner + offset):
the offset differs from prefix to prefix, so inner products alone do not compare. The released
ranking wants just those. Paragraphs that are in the chain already may be among them.
"""

Complete = Callable[[Asked, Sequence[Prefix]], ArrayLike]
"""What was asked, for which prefixes → the logit that each chain's evidence is complete."""


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """How far and how wide: `hops` is a number, or auto for 1..`most_hops` as the model decides.

    After every hop but the last, `widths[hop]` chains of a question go on; the last width also
    holds for all further hops. `keep` chains come out (checklist 7: 8 and 45). `ranking` is model,
    by log probabilities, or released, by the last hop's inner product alone (checklist 21). By the
    model's, a chain also goes on only if its score is within `margin` of its question's best.
    """

    hops: int | str = 2
    most_hops: int = MOST_HOPS
    widths: tuple[int, ...] = (8,)
    keep: int = 45
    ranking: str = MODEL
    margin: float = math.inf

    def __post_init__(self) -> None:
        hops = 0 if isinstance(self.hops, str) else self.hops
        if not (self.is_auto or 1 <= hops <= MOST_HOPS):
            raise ConfigError(
                f"retrieve.hops must be from 1 to {MOST_HOPS}, or {AUTO}, not {self.hops!r}."
            )
        if not 1 <= self.most_hops <= MOST_HOPS:
            raise ConfigError(
                f"retrieve.most_hops must be from 1 to {MOST_HOPS}, not {self.most_hops}."
            )
        if not self.widths or min(self.widths) < 1:
            raise ConfigError(
                "retrieve.widths needs one width or more, each at least 1, "
                f"not {list(self.widths)}."
            )
        require_at_least("retrieve.margin", self.margin, 0)
        if self.keep < 1:
            raise ConfigError(f"retrieve.keep must be at least 1, not {self.keep}.")
        if self.ranking not in (MODEL, RELEASED):
            raise ConfigError(
                f"retrieve.ranking must be {MODEL} or {RELEASED}, not {self.ranking!r}."
            )
        if self.is_auto and self.is_released:
            raise ConfigError(
                f"retrieve.hops = {AUTO} compares probabilities, and retrieve.ranking = {RELEASED} "
                f"has none. Set the number of hops, or set the ranking to {MODEL}."
            )

    @property
    def is_auto(self) -> bool:
        return self.hops == AUTO

    @property
    def is_released(self) -> bool:
        return self.ranking == RELEASED

    @property
    def longest(self) -> int:
        """The number of hops of the longest chain."""
        return self.most_hops if isinstance(self.hops, str) else self.hops

    def width(self, hop: int) -> int:
        """How many chains of a question are left after this hop (from 0)."""
        if hop == self.longest - 1:
            return self.keep
        return at_hop(self.widths, hop)

    def enough(self, hop: int) -> int:
        """With so many best candidates of each prefix the result is as with all of them.

        A chain may meet its own paragraphs again. Of equal ones, take the lowest numbers.
        """
        return self.width(hop) + hop


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chain and the score it was ranked by, which is not always the sum of its hops'."""

    chain: Chain
    score: float


@dataclass(frozen=True, slots=True)
class _Walk:
    """A chain on its way: `going_on` is the log probability that it has not stopped before."""

    question: int
    chain: Chain
    score: float = 0.0
    going_on: float = 0.0


def beam_search(
    questions: int,
    settings: BeamSettings,
    *,
    ask: Ask[Asked],
    search: Search[Asked],
    complete: Complete[Asked] | None = None,
) -> list[list[Ranked]]:
    """The number of questions → for each its best chains, best first, at most `keep`.

    The model's ranking: a chain's score is the sum of its hops' log probabilities; no paragraph
    comes twice in a chain, and no set of paragraphs twice after any hop: two orders of a set differ
    only in what they would ask next, so the better one goes on. The released ranking: a chain's
    score is its last hop's, repeats and both orders of a pair take places of their own. Equal
    scores are ordered by paragraph numbers.

    With a fixed number of hops, a chain that finds no further paragraph is dropped; but where
    that happens to all chains of a question, they are its result. For auto, see `_stop_or_go_on`.
    """
    if settings.is_auto and complete is None:
        raise ConfigError(
            f"retrieve.hops = {AUTO} needs a model with a stop head, and this one has none. "
            "Set the number of hops."
        )
    beam = [_Walk(question, Chain()) for question in range(questions)]
    ended: list[_Walk] = []
    for hop in range(settings.longest):
        if not beam:
            break
        prefixes = [Prefix(walk.question, walk.chain) for walk in beam]
        asked = ask(prefixes)
        if settings.is_auto and complete and hop:
            stopped, beam = _stop_or_go_on(beam, log_odds=complete(asked, prefixes))
            ended += stopped
        longer = _extend(beam, search(asked, prefixes, hop), settings)
        if not settings.is_auto and hop:
            ended += _stuck(beam, longer)
        beam = _best(longer, settings.width(hop), settings)
        if hop < settings.longest - 1 and not settings.is_released:
            beam = _near_the_best(beam, settings.margin)
    return _ranked(questions, _best(ended + beam, settings.keep, settings))


def log_sigmoid(logits: ArrayLike) -> NDArray[np.float64]:
    """Logits → log probabilities, of the same shape; finite for every finite logit."""
    return -np.logaddexp(0.0, -np.asarray(logits, dtype=np.float64))


def _stop_or_go_on(beam: list[_Walk], log_odds: ArrayLike) -> tuple[list[_Walk], list[_Walk]]:
    """Each chain both as one that stops here and as one that goes on.

    With p_h the probability that the evidence is complete after hop h, a chain that stops after
    n hops scores: mean over its hops of the log probability + sum over h < n of log(1 - p_h)
    + log p_n. The hops count by their mean because every further one can only lower a sum: by
    sums a shorter chain would nearly always win. The other terms are the model's probability that
    n is the right length; over all lengths they add up to 1, so they favour none. After the last
    hop stopping is certain. A chain that finds nothing further has its place as one that stopped.

    Chains that go on are of one length, and are cut by the sum of all terms so far.
    """
    stop, go_on = log_sigmoid(log_odds), log_sigmoid(-np.asarray(log_odds, dtype=np.float64))
    stopped = [
        replace(walk, score=_mean_score(walk.chain, walk.going_on) + float(log_p))
        for walk, log_p in zip(beam, stop, strict=True)
    ]
    going = [
        replace(walk, going_on=walk.going_on + float(log_p))
        for walk, log_p in zip(beam, go_on, strict=True)
    ]
    return stopped, going


def _extend(
    beam: Sequence[_Walk], found: Sequence[Sequence[Hop]], settings: BeamSettings
) -> list[_Walk]:
    """Every chain with each of its candidates, scored."""
    longer: list[_Walk] = []
    for walk, hops in zip(beam, found, strict=True):
        score = _scoring(settings, hop=len(walk.chain.hops))
        for hop in hops:
            if settings.is_released or hop.paragraph not in walk.chain:
                chain = walk.chain.then(hop)
                longer.append(
                    _Walk(walk.question, chain, score(chain, walk.going_on), walk.going_on)
                )
    return longer


def _scoring(settings: BeamSettings, hop: int) -> Callable[[Chain, float], float]:
    """What chains that have just made this hop (from 0) are compared by."""
    if settings.is_released:
        return _last_score
    if settings.is_auto and hop == settings.longest - 1:
        return _mean_score  # here stopping is certain, so this is the whole score
    return _joint_score


def _joint_score(chain: Chain, going_on: float) -> float:
    return chain.score + going_on


def _mean_score(chain: Chain, going_on: float) -> float:
    return chain.score / len(chain.hops) + going_on


def _last_score(chain: Chain, _going_on: float) -> float:
    return chain.hops[-1].score


def _stuck(beam: Sequence[_Walk], longer: Sequence[_Walk]) -> list[_Walk]:
    """The chains of the questions none of whose chains found a further paragraph."""
    alive = {walk.question for walk in longer}
    return [walk for walk in beam if walk.question not in alive]


def _best(walks: Sequence[_Walk], width: int, settings: BeamSettings) -> list[_Walk]:
    """The best `width` chains of each question, best first; of the same chains the best one."""
    kept: list[_Walk] = []
    seen: set[tuple[int, Hashable]] = set()
    count: Counter[int] = Counter()
    for walk in sorted(walks, key=lambda walk: (walk.question, -walk.score, walk.chain.paragraphs)):
        order = walk.chain.paragraphs
        key = walk.question, order if settings.is_released else frozenset(order)
        if count[walk.question] < width and key not in seen:
            kept.append(walk)
            seen.add(key)
            count[walk.question] += 1
    return kept


def _near_the_best(beam: Sequence[_Walk], margin: float) -> list[_Walk]:
    """Without the chains that score so much less than the best of their question."""
    best: dict[int, float] = {}
    for walk in beam:
        best[walk.question] = max(walk.score, best.get(walk.question, -math.inf))
    return [walk for walk in beam if walk.score >= best[walk.question] - margin]


def _ranked(questions: int, best: Sequence[_Walk]) -> list[list[Ranked]]:
    results: list[list[Ranked]] = [[] for _ in range(questions)]
    for walk in best:
        results[walk.question].append(Ranked(walk.chain, walk.score))
    return results
