"""The words of the project as types: frozen, and with no behaviour that needs a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class Progress(Protocol):
    """Called while long work runs; total is None where it is not known."""

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None: ...


def silent(stage: str, done: int, total: int | None, note: str = "") -> None:
    """The progress of work that nobody watches."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader found in a source: a text to be split, or the sentences of one paragraph.

    `place` is the row, line or position in `source`, counted from 1. A document with an `id` of
    its own is that document wherever it comes from; without one its `name`, or else its title,
    names it within its source. Given `sentences` are one paragraph and keep their numbers, the
    empty ones too (checklist 4); otherwise `text` is split into paragraphs and sentences.
    """

    title: str
    source: str
    place: int
    id: str | None = None
    text: str = ""
    sentences: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A file or row that could not be read, and why."""

    source: str
    place: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A titled run of sentences: the unit that is retrieved.

    The sentences joined give back the text character for character; `start` is where that text
    begins in its document. A document's first paragraph has the document's id, the n-th `id#n`.
    """

    id: str
    title: str
    sentences: tuple[str, ...]
    document: str = ""
    position: int = 0
    start: int = 0
    source: str = ""

    @property
    def text(self) -> str:
        return "".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class SentenceRef:
    """One sentence of one paragraph; a benchmark names the paragraph by its title."""

    paragraph: str
    index: int


@dataclass(frozen=True, slots=True)
class Hop:
    """A paragraph, by its number in the knowledge base, how well it matched, and, where it was
    found by its sentences, which of them matched best."""

    paragraph: int
    score: float
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Paragraphs found one after another; the score of a chain is the sum of its hops'."""

    hops: tuple[Hop, ...] = ()

    @property
    def score(self) -> float:
        return sum(hop.score for hop in self.hops)

    @property
    def paragraphs(self) -> tuple[int, ...]:
        return tuple(hop.paragraph for hop in self.hops)

    @property
    def sentences(self) -> tuple[int | None, ...]:
        """The sentence that each paragraph was found by."""
        return tuple(hop.sentence for hop in self.hops)

    def then(self, hop: Hop) -> "Chain":
        return Chain((*self.hops, hop))

    def __contains__(self, paragraph: int) -> bool:
        return any(hop.paragraph == paragraph for hop in self.hops)


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer stands: characters `start` to `end` of a paragraph's text, which begin at
    `document_start` in its document; or, `in_title`, of its title, which is not in the document."""

    paragraph: str
    start: int
    end: int
    document_start: int | None
    in_title: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, in the source's own characters, and what it rests on.

    `kind` is span, yes or no. `chain` are the ids of the paragraphs it was read in, `support` the
    sentences of them that bear it out; `span` is where it stands, unless it is yes or no.
    """

    text: str
    kind: str
    score: float
    probability: float
    chain: tuple[str, ...]
    support: tuple[SentenceRef, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The chains of a question, best first, and what they were ranked by.

    `paragraphs` are those of the chains, by their numbers; `ranks` say where a paragraph stands
    for the plain question; `seconds` what each stage took.
    """

    question: str
    chains: tuple[Chain, ...]
    scores: tuple[float, ...]
    paragraphs: Mapping[int, Paragraph]
    ranks: Mapping[int, int]
    seconds: Mapping[str, float]

    def paragraphs_of(self, chain: Chain) -> list[Paragraph]:
        """The paragraphs of a chain, hop by hop."""
        return [self.paragraphs[number] for number in chain.paragraphs]


@dataclass(frozen=True, slots=True)
class Result:
    """All that was found for a question, best first.

    Unless it `is_known`, the best answer is no more than a guess: most likely the documents do not
    hold it. `paragraphs` are those of the chains, by their numbers; `seconds` each stage took;
    `ranks` say where a paragraph stands for the plain question; `scores` are what the chains were
    ranked by.
    """

    question: str
    answers: tuple[Answer, ...]
    is_known: bool
    chains: tuple[Chain, ...]
    paragraphs: Mapping[int, Paragraph]
    seconds: Mapping[str, float]
    ranks: Mapping[int, int] = field(default_factory=dict)
    scores: tuple[float, ...] = ()

    def chain_of(self, answer: Answer) -> Chain:
        """The chain that an answer was read in."""
        for chain in self.chains:
            if tuple(self.paragraphs[number].id for number in chain.paragraphs) == answer.chain:
                return chain
        raise KeyError(answer.chain)
