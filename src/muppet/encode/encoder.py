"""Texts → sentence vectors; questions, with or without their chains → what to search with.

The runtime's encoder: exported graphs, no torch. One path for the command line, the server and
the evaluation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.encode.chunked import Chunked
from muppet.encode.graphs import Graphs
from muppet.encode.inputs import Array
from muppet.errors import ConfigError
from muppet.text.prepare import Prepared

Vectors = NDArray[np.float32]
Pair = tuple[Prepared, list[Prepared]]
"""A question and its chain."""


@dataclass(frozen=True, slots=True)
class Asked:
    """B questions of one hop, ready for search: relevance = inner product + offset (checklist 14).

    `complete` is the stop head's logit that the evidence read so far is all that is needed.
    """

    search: Vectors  # (B, D)
    offset: Vectors  # (B,)
    complete: Vectors  # (B,)


@dataclass(frozen=True, slots=True)
class Attention:
    """How much of the attention each word got when a question was reformulated; sums to 1 each."""

    question: list[tuple[str, float]]
    chain: list[list[tuple[str, float]]]


class TextEncoder:
    """One exported model, ready to read."""

    def __init__(self, directory: Path, threads: int = 1) -> None:
        self._graphs = Graphs(directory)
        self._chunked = Chunked(threads)
        self._rereads = self._graphs.config.network == "transformer"

    @property
    def checksum(self) -> str:
        """Of what makes the sentence vectors: an index remembers it."""
        return self._graphs.checksum

    @property
    def dim(self) -> int:
        return self._graphs.config.dim

    @property
    def hops(self) -> int:
        return self._graphs.config.hops

    @property
    def judges(self) -> bool:
        """Whether its stop head has learned to choose between chains."""
        return self._graphs.config.judges and self.hops > 1

    @property
    def granularity(self) -> str:
        return self._graphs.config.granularity

    def sentences(self, paragraphs: Sequence[Paragraph]) -> list[Vectors]:
        """Each paragraph's vectors, row i for sentence i: (S, D).

        Sentences that were cut off at the end have no row; an empty one has its neighbour's.
        """
        texts = [self._graphs.preparer.paragraph(paragraph) for paragraph in paragraphs]

        def run(some: Sequence[Prepared]) -> list[Vectors]:
            (vectors,) = self._graphs.text(some, ["vectors"])
            whole = self.granularity == "paragraph"
            return [
                one[:1] if whole else _without_gaps(one, text)
                for one, text in zip(vectors, some, strict=True)
            ]

        return self._chunked.run(texts, _size, run)

    def ask(self, questions: Sequence[str]) -> Asked:
        """What the questions search with at the first hop."""
        texts = [self._graphs.preparer.question(question) for question in questions]
        vectors = self._chunked.run(texts, _size, self._first_vectors)
        return self._asked(vectors, hop=0)

    def ask_after(self, questions: Sequence[str], chains: Sequence[Sequence[Paragraph]]) -> Asked:
        """What they search with after these chains, all of the same number of paragraphs; whether
        they are complete does not depend on that number, so for this alone they may differ."""
        vectors = self.reformulated(questions, chains)
        return self._asked(vectors, hop=len(chains[0]) if chains else 1)

    def reformulated(
        self, questions: Sequence[str], chains: Sequence[Sequence[Paragraph]]
    ) -> list[Vectors]:
        """The questions as their chains have reformulated them: (D,) each"""
        self.require_reformulation()
        ready = self._graphs.preparer
        distinct = {one for chain in chains for one in chain}
        prepared = {one: ready.paragraph(one) for one in distinct}
        texts = {question: ready.question(question) for question in set(questions)}
        pairs = [
            (texts[question], [prepared[one] for one in chain])
            for question, chain in zip(questions, chains, strict=True)
        ]
        if self._rereads:
            joined = [ready.joined(*pair) for pair in pairs]
            return self._chunked.run(joined, _size, self._first_vectors)
        return self._compared(pairs)

    def require_reformulation(self) -> None:
        """Refuse a second hop where there is none."""
        if self.hops == 1:
            raise ConfigError(
                "This model was trained for one hop and cannot reformulate a question. "
                "Ask it with --hops 1, or use another model."
            )

    def attention(self, question: str, chain: Sequence[Paragraph]) -> Attention:
        """The words that made the question after this chain."""
        ready = self._graphs.preparer
        text, parts = ready.question(question), [ready.paragraph(one) for one in chain]
        if self._rereads:
            joined = ready.joined(text, parts)
            (found,) = self._graphs.text([joined], ["attention"])
            over_question, over_chain = np.split(found[0], [len(text.types)])
        else:
            pairs = [(text, parts)]
            _, over_question, over_chain = self._run_reformulate(pairs, self._states_of(pairs))
            over_question, over_chain = over_question[0], over_chain[0]
        words = [part.tokens.words() for part in parts]
        ends = np.cumsum([len(some) for some in words])[:-1]
        return Attention(
            _weighed(text.tokens.words(), over_question),
            [_weighed(*pair) for pair in zip(words, np.split(over_chain, ends), strict=True)],
        )

    def _asked(self, vectors: Sequence[Vectors], hop: int) -> Asked:
        stacked = np.stack(vectors) if vectors else np.zeros((0, self.dim), dtype=np.float32)
        return Asked(*self._graphs.relevance(stacked, hop))

    def _first_vectors(self, texts: Sequence[Prepared]) -> list[Vectors]:
        """The vector of each text's first sentence: (D,)"""
        (vectors,) = self._graphs.text(texts, ["vectors"])
        return [one[0] for one in vectors]

    def _compared(self, pairs: Sequence[Pair]) -> list[Vectors]:
        """Every text is read once, before any question is compared with its chain."""
        states = self._states_of(pairs)

        def run(some: Sequence[Pair]) -> list[Vectors]:
            return list(self._run_reformulate(some, states)[0])

        def size(pair: Pair) -> int:
            return sum(len(text.types) for text in (pair[0], *pair[1]))

        return self._chunked.run(pairs, size, run)

    def _run_reformulate(
        self, pairs: Sequence[Pair], states: Mapping[int, Vectors]
    ) -> tuple[Array, Array, Array]:
        """-> next questions (B, D), attention over question (B, N) and chain (B, M)"""
        questions = [states[id(question)] for question, _ in pairs]
        chains = [np.concatenate([states[id(text)] for text in chain]) for _, chain in pairs]
        return self._graphs.reformulate(*pad_states(questions), *pad_states(chains))

    def _states_of(self, pairs: Sequence[Pair]) -> dict[int, Vectors]:
        """The token states of every distinct text, by its id."""
        distinct = {id(text): text for question, chain in pairs for text in (question, *chain)}
        return dict(zip(distinct, self._states(list(distinct.values())), strict=True))

    def _states(self, texts: Sequence[Prepared]) -> list[Vectors]:
        """Each text's token states: (T, D)"""

        def run(some: Sequence[Prepared]) -> list[Vectors]:
            (states,) = self._graphs.text(some, ["states"])
            return [one[: len(text.types)] for one, text in zip(states, some, strict=True)]

        return self._chunked.run(texts, _size, run)


def _size(text: Prepared) -> int:
    return len(text.pieces) or len(text.types)


def _without_gaps(vectors: Vectors, text: Prepared) -> Vectors:
    """The rows down to the last sentence that has tokens; a gap takes the row before it."""
    if not len(text.segments):
        return vectors[:1]
    present = np.unique(text.segments)
    sentence = np.arange(present[-1] + 1)
    nearest = present[np.maximum(np.searchsorted(present, sentence, side="right") - 1, 0)]
    return vectors[nearest]


def pad_states(texts: Sequence[Vectors]) -> tuple[Vectors, NDArray[np.bool_]]:
    """(B, T, D) and its mask (B, T)"""
    longest = max([1, *(len(text) for text in texts)])
    states = np.zeros((len(texts), longest, texts[0].shape[1]), dtype=np.float32)
    mask = np.zeros(states.shape[:2], dtype=bool)
    for row, text in enumerate(texts):
        states[row, : len(text)] = text
        mask[row, : len(text)] = True
    return states, mask


def _weighed(words: list[str], weights: Vectors) -> list[tuple[str, float]]:
    total = float(weights[: len(words)].sum()) or 1.0
    return [(word, float(weight) / total) for word, weight in zip(words, weights, strict=False)]
