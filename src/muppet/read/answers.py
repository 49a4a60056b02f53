"""What the reader said of all chains of a question → answers, best first (checklist 27).

Each chain was read by itself. Whether the answer is a span or yes/no is decided over all chains;
equal answers of different chains are one; support comes from the chain of the answer alone. What a
chain says by itself (`Candidates`) can be kept, so that one more chain costs little.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muppet.bounds import at_hop
from muppet.config import ReadConfig
from muppet.domain import Answer, Paragraph, SentenceRef, Span
from muppet.read.calibrate import sigmoid
from muppet.read.spans import Floats, Found, best_spans, span_scores
from muppet.text.layout import NOWHERE, Layout, Reading
from muppet.text.normalise import normalise

VERDICTS = ("yes", "no")
SPARE = 4
"""So many times the spans wanted are looked at in a chain, since many of them are one answer."""


@dataclass(frozen=True, slots=True)
class ChainLogits:
    """What the reader said of one chain of T tokens and S sentences, as its `Layout` has them."""

    start: Floats  # (T,)
    end: Floats  # (T,)
    kind: Floats  # (2,), span or yes/no
    verdict: Floats  # (2,), yes or no
    support: Floats  # (S,)


def without_padding(reading: Reading, row: Iterable[Floats]) -> ChainLogits:
    """What was said of one chain of a batch: start, end, kind, verdict, support."""
    tokens, sentences = len(reading.layout.segments), len(reading.layout.present)
    start, end, kind, verdict, support = row
    return ChainLogits(start[:tokens], end[:tokens], kind, verdict, support[:sentences])


@dataclass(frozen=True, slots=True)
class ChainRead:
    """A chain, how it was laid out, and what the reader said of it."""

    paragraphs: tuple[Paragraph, ...]
    reading: Reading
    logits: ChainLogits


@dataclass(frozen=True, slots=True)
class _SpanText:
    """A span of a chain, its text, and what that is to the official evaluation."""

    text: str
    normal: str
    score: float
    span: Span


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one chain has to say, whatever the other ones say."""

    paragraphs: tuple[str, ...]
    spans: tuple[_SpanText, ...]  # best first
    every_span: float  # log of the sum of what all of them have
    kind: Floats  # (2,), span or yes/no
    verdict: Floats  # (2,), yes or no
    support: tuple[SentenceRef, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An answer before it is known whether it will be given: its chain, and how good it is."""

    text: str
    chain: Candidates
    score: float
    probability: float
    span: Span | None = None


def choose_answers(chains: Sequence[ChainRead], config: ReadConfig) -> list[Answer]:
    """The best answers, those of the likelier kind first; none where there is nothing to read.

    A reader without heads never says yes or no.
    """
    return merge_answers([candidates_of(one, config) for one in chains], config)


def candidates_of(chain: ChainRead, config: ReadConfig) -> Candidates:
    """All that can be said of a chain by itself: most of the work, and done once."""
    logits, regions = chain.logits, _sentences(chain.reading.layout)
    brevity = at_hop(config.brevity, len(chain.paragraphs) - 1)
    scores = span_scores(logits.start, logits.end, regions, config.longest, brevity)
    found = best_spans(scores, SPARE * config.answers)
    return Candidates(
        paragraphs=tuple(paragraph.id for paragraph in chain.paragraphs),
        spans=tuple(_span_text(chain, one) for one in found),
        every_span=float(np.logaddexp.reduce(scores, axis=None)),
        kind=logits.kind,
        verdict=logits.verdict,
        support=_support(chain, config),
    )


def merge_answers(chains: Sequence[Candidates], config: ReadConfig) -> list[Answer]:
    """What `choose_answers` says of chains whose candidates are known."""
    if not chains:
        return []
    kinds = np.stack([one.kind for one in chains])  # (chains, 2)
    span_share, verdict_share = _shares(kinds, config.merge)
    spans = [(one, span_share) for one in _spans(chains, config)]
    verdicts = [(one, verdict_share) for one in _verdicts(chains, config.merge) if verdict_share]
    is_span = bool(spans) and span_share >= verdict_share
    ordered = [*spans, *verdicts] if is_span else [*verdicts, *spans]
    return [_answer(one, share) for one, share in ordered[: config.answers]]


def with_retrieval(
    chain: ChainRead, score: float, sentences: Sequence[int | None], config: ReadConfig
) -> ChainRead:
    """What was read in a chain, with what retrieval knows of it: its score, and by which sentence
    of each of its paragraphs it was found."""
    return matched(favoured(chain, config.chain_weight * score), sentences, config.match_weight)


def favoured(chain: ChainRead, by: float) -> ChainRead:
    """A chain whose answers are all better by so much than what was read in it says."""
    logits = chain.logits
    better = replace(
        logits, start=logits.start + by, kind=logits.kind + by, verdict=logits.verdict + by
    )
    return replace(chain, logits=better)


def matched(chain: ChainRead, sentences: Sequence[int | None], by: float) -> ChainRead:
    """A chain in which the sentence of each paragraph that retrieval found it by, if it was found
    by one, is support more likely by so much."""
    layout = chain.reading.layout
    found = [
        place >= 0 and sentences[place] == number
        for place, number in zip(
            layout.sentence_places.tolist(), layout.sentence_numbers.tolist(), strict=True
        )
    ]
    support = chain.logits.support + by * np.array(found, dtype=np.float64)
    return replace(chain, logits=replace(chain.logits, support=support))


def _spans(chains: Sequence[Candidates], config: ReadConfig) -> list[_Candidate]:
    """The merged spans of all chains, best first, as many as can be given; probabilities among
    spans alone."""
    everything = float(np.logaddexp.reduce([one.every_span for one in chains]))
    merged = _merged(chains, everything, config.merge)
    return _apart(_best_first(merged, config.merge), config.answers)


def _apart(candidates: Iterable[_Candidate], most: int) -> list[_Candidate]:
    """The first ones, without those that are a part of a better one, or more than it, at the same
    place."""
    kept: list[tuple[_Candidate, Span]] = []
    for one in candidates:
        assert one.span is not None
        if len(kept) < most and not any(_overlap(one.span, better) for _, better in kept):
            kept.append((one, one.span))
    return [one for one, _ in kept]


def _overlap(one: Span, other: Span) -> bool:
    is_near = one.paragraph == other.paragraph and one.in_title == other.in_title
    return is_near and one.start < other.end and other.start < one.end


def _sentences(layout: Layout) -> NDArray[np.int64]:
    """The regions of a chain, cut between sentences: no answer goes on into the next one."""
    inside = layout.regions * len(layout.segments) + layout.segments
    return np.where(layout.regions == NOWHERE, NOWHERE, inside)


def _verdicts(chains: Sequence[Candidates], merge: str) -> list[_Candidate]:
    """Yes and no, the likelier first; probabilities among these two alone."""
    verdicts = np.stack([one.verdict for one in chains])  # (chains, 2)
    candidates = [
        _Candidate(text, chains[best], float(verdicts[best, place]), share)
        for place, (text, best, share) in enumerate(
            zip(VERDICTS, verdicts.argmax(axis=0).tolist(), _shares(verdicts, merge), strict=True)
        )
    ]
    return _best_first(candidates, merge)


def _merged(chains: Iterable[Candidates], everything: float, merge: str) -> list[_Candidate]:
    """Answers that are one to the official evaluation, as the best of them."""
    groups: dict[str, list[tuple[_SpanText, Candidates]]] = {}
    for chain in chains:
        for one in chain.spans:
            groups.setdefault(one.normal, []).append((one, chain))
    merged = []
    for group in groups.values():
        best, chain = max(group, key=lambda found: found[0].score)
        counted = [one for one, _ in group] if merge == "sum" else [best]
        share = min(sum(math.exp(one.score - everything) for one in counted), 1.0)
        merged.append(_Candidate(best.text, chain, best.score, share, best.span))
    return merged


def _best_first(candidates: Iterable[_Candidate], merge: str) -> list[_Candidate]:
    if merge == "sum":
        return sorted(candidates, key=lambda one: -one.probability)
    return sorted(candidates, key=lambda one: -one.score)


def _shares(logits: Floats, merge: str) -> tuple[float, float]:
    """Of two choices, how likely each is: by its best chain, or by all: (chains, 2) -> 2"""
    totals = logits.max(axis=0) if merge == "best" else np.logaddexp.reduce(logits, axis=0)
    first, second = np.exp(totals - np.logaddexp.reduce(totals))
    return float(first), float(second)


def _span_text(chain: ChainRead, found: Found) -> _SpanText:
    """The source's own characters."""
    place, start, end, in_title = chain.reading.characters(found.first, found.last)
    paragraph = chain.paragraphs[place]
    text = (paragraph.title if in_title else paragraph.text)[start:end]
    where = None if in_title else paragraph.start + start
    span = Span(paragraph.id, start, end, where, in_title)
    return _SpanText(text, normalise(text) or text.lower(), found.score, span)


def _answer(candidate: _Candidate, share: float) -> Answer:
    return Answer(
        text=candidate.text,
        kind="span" if candidate.span else candidate.text,
        score=candidate.score,
        probability=candidate.probability * share,
        chain=candidate.chain.paragraphs,
        support=candidate.chain.support,
        span=candidate.span,
    )


def _support(chain: ChainRead, config: ReadConfig) -> tuple[SentenceRef, ...]:
    layout = chain.reading.layout
    likely = np.where(layout.present, sigmoid(chain.logits.support), -1.0)
    chosen = likely >= config.support
    if config.support_each:
        chosen[_likeliest(layout, likely)] = True
    return tuple(
        SentenceRef(
            chain.paragraphs[layout.sentence_places[sentence]].id,
            int(layout.sentence_numbers[sentence]),
        )
        for sentence in np.flatnonzero(chosen)
    )


def _likeliest(layout: Layout, likely: Floats) -> list[int]:
    """The likeliest sentence of each paragraph that has any: a chain needs all its paragraphs."""
    places = np.where(layout.present, layout.sentence_places, NOWHERE)
    own = [np.flatnonzero(places == place) for place in np.unique(places) if place >= 0]
    return [int(sentences[likely[sentences].argmax()]) for sentences in own]
