"""Texts → sentence vectors; questions, with or without their chains → what to search with.

The runtime's encoder: exported graphs, no torch. One path for the command line, the server and
the evaluation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.encode.graphs import Graphs
from muppet.encode.inputs import Array
from muppet.errors import ConfigError
from muppet.text.batch import chunks
from muppet.text.prepare import Prepared

AT_ONCE = 1024
"""Tokens of texts of similar length that are read together: what a core's cache holds."""

Vectors = NDArray[np.float32]
Item = TypeVar("Item")
Result = TypeVar("Result")


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
        self._graphs = Graphs(directory, threads)
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

        return in_chunks(texts, _size, run)

    def ask(self, questions: Sequence[str]) -> Asked:
        """What the questions search with at the first hop."""
        texts = [self._graphs.preparer.question(question) for question in questions]
        vectors = in_chunks(texts, _size, self._first_vectors)
        return self._asked(vectors, hop=0)

    def ask_after(self, questions: Sequence[str], chains: Sequence[Sequence[Paragraph]]) -> Asked:
        """What they search with after these chains, all of the same number of paragraphs."""
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
            return in_chunks(joined, _size, self._first_vectors)
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
            _, over_question, over_chain = self._run_reformulate([(text, parts)])
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

    def _compared(self, pairs: Sequence[tuple[Prepared, list[Prepared]]]) -> list[Vectors]:
        def run(some: Sequence[tuple[Prepared, list[Prepared]]]) -> list[Vectors]:
            return list(self._run_reformulate(some)[0])

        def size(pair: tuple[Prepared, list[Prepared]]) -> int:
            return sum(len(text.types) for text in (pair[0], *pair[1]))

        return in_chunks(pairs, size, run)

    def _run_reformulate(
        self, pairs: Sequence[tuple[Prepared, list[Prepared]]]
    ) -> tuple[Array, Array, Array]:
        """-> next questions (B, D), attention over question (B, N) and chain (B, M)"""
        distinct = {id(text): text for question, chain in pairs for text in (question, *chain)}
        states = dict(zip(distinct, self._states(list(distinct.values())), strict=True))
        questions = [states[id(question)] for question, _ in pairs]
        chains = [np.concatenate([states[id(text)] for text in chain]) for _, chain in pairs]
        return self._graphs.reformulate(*pad_states(questions), *pad_states(chains))

    def _states(self, texts: Sequence[Prepared]) -> list[Vectors]:
        """Each text's token states: (T, D)"""

        def run(some: Sequence[Prepared]) -> list[Vectors]:
            (states,) = self._graphs.text(some, ["states"])
            return [one[: len(text.types)] for one, text in zip(states, some, strict=True)]

        return in_chunks(texts, _size, run)


def _size(text: Prepared) -> int:
    return len(text.pieces) or len(text.types)


def in_chunks(
    items: Sequence[Item],
    size: Callable[[Item], int],
    run: Callable[[Sequence[Item]], Sequence[Result]],
) -> list[Result]:
    """Run on chunks of similar size, longest first; the results in the items' own order."""
    order = sorted(range(len(items)), key=lambda place: -size(items[place]))
    found: dict[int, Result] = {}
    for part in chunks([size(items[place]) for place in order], AT_ONCE):
        some = order[part]
        found.update(zip(some, run([items[place] for place in some]), strict=True))
    return [found[place] for place in range(len(items))]


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
