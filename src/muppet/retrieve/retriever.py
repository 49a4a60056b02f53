"""Lexical narrowing + encoder + vectors + beam, wired together: questions → chains."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muppet.bounds import at_hop
from muppet.config import RetrieveConfig
from muppet.domain import Chain, Found, Hop, Paragraph, Progress, silent
from muppet.encode.encoder import Asked, TextEncoder
from muppet.errors import ArtifactError, ConfigError, QuestionError
from muppet.index.mips import top
from muppet.index.vectors import Vectors
from muppet.index.whole import Whole
from muppet.knowledge.encode import open_all, open_encoded, open_so_far
from muppet.knowledge.open import KnowledgeBase, has_model
from muppet.retrieve.beam import BeamSettings, Prefix, Ranked, beam_search, log_sigmoid
from muppet.retrieve.judge import rank_whole
from muppet.retrieve.names import known_text, name_of, unnamed, with_chain
from muppet.retrieve.on_demand import OnDemand, Searched

_LOG = logging.getLogger(__name__)

Numbers = NDArray[np.int64]
Scores = NDArray[np.float32]
Watch = Callable[[str, Mapping[int, Sequence[Paragraph]]], None]
"""Told when a hop is done, `hop`, and when reading begins, `reading`: with the best chain so far of
each question, by the question's place among those asked together."""


def unwatched(_stage: str, _best: Mapping[int, Sequence[Paragraph]]) -> None:
    """The stages of work that nobody watches."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A question's chains, best first, with the paragraphs they name.

    `ranks` say where a paragraph stands for the plain question, among all that its words narrow
    to; `seconds` are the question's share of the time.
    """

    question: str
    chains: list[Ranked]
    paragraphs: Mapping[int, Paragraph]
    ranks: Mapping[int, int] = field(default_factory=dict)
    seconds: float = 0.0

    def best(self, count: int) -> Found:
        """The best chains, and no more than so many."""
        return Found(
            self.question,
            tuple(one.chain for one in self.chains[:count]),
            tuple(one.score for one in self.chains[:count]),
            self.paragraphs,
            self.ranks,
            {"retrieve": self.seconds},
        )


class Pool(NamedTuple):
    """Paragraphs that words narrowed a text to, ascending, and how well: 0 the best, down to -1."""

    numbers: Numbers
    shares: NDArray[np.float32]


@dataclass(slots=True)
class _Session:
    """What one call of `retrieve_many` has looked up so far."""

    questions: Sequence[str]
    hidden: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    watch: Watch = unwatched
    paragraphs: dict[int, Paragraph] = field(default_factory=dict)
    narrowed: dict[tuple[str, int], list[Hop]] = field(default_factory=dict)
    ranks: list[dict[int, int]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    @property
    def spare(self) -> int:
        """So many more have to be found, since some may be hidden."""
        return max((len(hidden) for hidden in self.hidden.values()), default=0)

    def seen(self, question: str, hops: list[Hop]) -> list[Hop]:
        """Those hops that are not hidden from a question."""
        hidden = self.hidden.get(question)
        return [hop for hop in hops if hop.paragraph not in hidden] if hidden else hops


class Retriever:
    """A knowledge base that is ready for questions of many hops."""

    def __init__(
        self,
        knowledge: KnowledgeBase,
        encoder: TextEncoder,
        vectors: Searched,
        config: RetrieveConfig | None = None,
        whole: Whole | None = None,
    ) -> None:
        self.knowledge = knowledge
        self.encoder = encoder
        self.vectors = vectors
        self.config = config or RetrieveConfig()
        self._whole = whole
        self._told_of_missing: set[Searched] = set()
        self._beam = BeamSettings(
            self.config.hops,
            self.config.most_hops,
            self.config.widths,
            self.config.keep,
            self.config.ranking,
            self.config.margin,
        )
        if "all" in self.config.pools and whole is None:
            raise ConfigError("retrieve.pools has `all`, which needs an index of all vectors.")
        if self._beam.longest > 1:
            encoder.require_reformulation()

    def with_config(self, config: RetrieveConfig) -> "Retriever":
        """The same encoder and vectors, by other settings."""
        self._keep_up()
        other = Retriever(self.knowledge, self.encoder, self.vectors, config, self._whole)
        other._told_of_missing = self._told_of_missing
        return other

    def retrieve(self, question: str) -> Retrieved:
        return self.retrieve_many([question])[0]

    def retrieve_many(
        self,
        questions: Sequence[str],
        hidden: Mapping[str, AbstractSet[int]] | None = None,
        watch: Watch = unwatched,
    ) -> list[Retrieved]:
        """All questions at once: each hop is one forward pass for the beams of all of them.

        `hidden` paragraphs of a question are passed over, as if the knowledge base had them not.
        """
        revision = self.knowledge.store.revision
        try:
            return self._retrieve(questions, hidden, watch)
        except KeyError:
            if self.knowledge.store.revision == revision:
                raise
        return self._retrieve(questions, hidden, watch)  # a writer took a paragraph away meanwhile

    def _retrieve(
        self,
        questions: Sequence[str],
        hidden: Mapping[str, AbstractSet[int]] | None,
        watch: Watch,
    ) -> list[Retrieved]:
        began = time.perf_counter()
        self._keep_up()
        session = _Session(questions, hidden or {}, watch)
        chains = beam_search(
            len(questions),
            self._beam,
            ask=lambda prefixes: self._ask(session, prefixes),
            search=lambda asked, prefixes, hop: self._search(session, asked, prefixes, hop),
            complete=lambda asked, _prefixes: asked.complete,
        )
        numbers = {n for some in chains for one in some for n in one.chain.paragraphs}
        self._look_up(session, numbers)
        paragraphs, terms = session.paragraphs, self.knowledge.terms
        chains = rank_whole(self.encoder, questions, chains, paragraphs, self.config, terms)
        _tell(session, [Prefix(n, some[0].chain) for n, some in enumerate(chains) if some])
        seconds = (time.perf_counter() - began) / max(len(questions), 1)
        return [
            Retrieved(question, own, paragraphs, ranks, seconds)
            for question, own, ranks in zip(questions, chains, session.ranks, strict=True)
        ]

    def _keep_up(self) -> None:
        """With a writer that has published other vectors since the last question."""
        newest, whole = self.vectors.newest(), self._whole
        if newest is self.vectors:
            return
        if whole is not None and isinstance(newest, Vectors):
            try:
                whole = open_all(self.knowledge, newest)
            except ArtifactError:  # somebody still writes: the next question tries again
                return
        self.vectors, self._whole = newest, whole

    def _ask(self, session: _Session, prefixes: Sequence[Prefix]) -> Asked:
        questions = [session.questions[prefix.question] for prefix in prefixes]
        if not prefixes[0].chain.hops:
            return self.encoder.ask(questions)
        self._look_up(session, {n for prefix in prefixes for n in prefix.chain.paragraphs})
        _tell(session, prefixes)
        return self.encoder.ask_after(questions, [_texts(session, one) for one in prefixes])

    def _search(
        self, session: _Session, asked: Asked, prefixes: Sequence[Prefix], hop: int
    ) -> list[list[Hop]]:
        """The best candidates of every prefix; prefixes with the same pool are searched at once."""
        if hop == 0:
            session.ranks = self._ranks(session, asked)
        enough = self._beam.enough(hop)
        if at_hop(self.config.pools, hop) == "all":
            every = self._search_whole(session, asked, prefixes, enough + session.spare)
            return [
                session.seen(session.questions[prefix.question], hops)[:enough]
                for prefix, hops in zip(prefixes, every, strict=True)
            ]
        found: list[list[Hop]] = [[] for _ in prefixes]
        for (numbers, shares), places in self._pools(session, prefixes, hop):
            if not len(numbers):
                continue
            products, sentences = self.vectors.search(numbers, asked.search[places])
            lacks = shares * self.config.lexical_weight
            lacks = lacks - self._unnamed(session, [prefixes[place] for place in places], numbers)
            scores = self._scores(products, asked.offset[places][:, None], lacks)
            for row, (place, best) in enumerate(zip(places, top(scores, enough), strict=True)):
                found[place] = _hops(numbers[best], scores[row, best], sentences[row, best])
        return found

    def _ranks(self, session: _Session, plain: Asked) -> list[dict[int, int]]:
        """Of each question, as it was asked before the first hop."""
        keep = max(self.config.narrow)
        self._narrow(session, {question: question for question in session.questions}, keep)
        ranks = []
        for place, question in enumerate(session.questions):
            numbers = self._pool(session.narrowed[question, keep]).numbers
            scores, _ = self.vectors.search(numbers, plain.search[[place]])
            best = numbers[top(scores, len(numbers))[0]]
            ranks.append({number: rank for rank, number in enumerate(best.tolist(), start=1)})
        return ranks

    def _search_whole(
        self, session: _Session, asked: Asked, prefixes: Sequence[Prefix], keep: int
    ) -> list[list[Hop]]:
        assert self._whole is not None
        results = self._whole.search(asked.search, keep, self._is_there)
        found = []
        for one, offset, prefix in zip(results, asked.offset, prefixes, strict=True):
            (lost,) = self._unnamed(session, [prefix], one.numbers)
            scores = self._scores(one.scores, offset, -lost)
            found.append(_hops(one.numbers, scores, one.sentences))
        return found

    def _unnamed(
        self, session: _Session, prefixes: Sequence[Prefix], numbers: Numbers
    ) -> NDArray[np.float32]:
        """What each paragraph loses if neither the question nor the chain so far names it:
        (Q, P)"""
        weight = at_hop(self.config.title_weights, len(prefixes[0].chain.hops))
        if not weight or self._beam.is_released:
            return np.zeros((len(prefixes), len(numbers)), dtype=np.float32)
        missing = [number for number in numbers.tolist() if number not in session.names]
        titles = self.knowledge.store.titles(missing)
        session.names |= {number: name_of(title) for number, title in titles.items()}
        names = [session.names.get(number, "") for number in numbers.tolist()]
        return np.float32(weight) * np.stack(
            [
                unnamed(
                    names,
                    known_text(session.questions[one.question], _texts(session, one)),
                )
                for one in prefixes
            ]
        )

    def _is_there(self, numbers: Numbers) -> NDArray[np.bool_]:
        return np.isin(numbers, list(self.knowledge.store.existing(numbers.tolist())))

    def _scores(self, products: Scores, offset: Scores | np.float32, lacks: Scores) -> Scores:
        """Log probabilities, and what words and names take off; the released ranking wants raw
        products."""
        if self._beam.is_released:
            return products
        likely = log_sigmoid((products + offset) / self.config.temperature)
        return (likely + lacks).astype(np.float32)

    def _pools(
        self, session: _Session, prefixes: Sequence[Prefix], hop: int
    ) -> list[tuple[Pool, list[int]]]:
        """The paragraphs to search, and the places of the prefixes that search them.

        Plain questions are narrowed once, as far as any hop needs.
        """
        keep = at_hop(self.config.narrow, hop)
        is_requery = at_hop(self.config.pools, hop) == "requery"
        found = keep if is_requery else max(self.config.narrow)
        texts: dict[str, list[int]] = {}
        of_question: dict[str, str] = {}
        for place, prefix in enumerate(prefixes):
            text = question = session.questions[prefix.question]
            if is_requery:
                text = with_chain(text, _texts(session, prefix))
            texts.setdefault(text, []).append(place)
            of_question[text] = question
        self._narrow(session, of_question, found)
        return [
            (self._pool(session.narrowed[text, found][:keep]), places)
            for text, places in texts.items()
        ]

    def _pool(self, hops: Sequence[Hop]) -> Pool:
        """Of hops, best first, the paragraphs that have vectors."""
        best = hops[0].score if hops and hops[0].score > 0 else 1.0
        ordered = sorted(hops, key=lambda hop: hop.paragraph)
        numbers = np.array([hop.paragraph for hop in ordered], dtype=np.int64)
        shares = np.array([hop.score / best - 1 for hop in ordered], dtype=np.float32)
        known = self.vectors.has(numbers)
        if not known.all():
            self._tell_of_missing()
        return Pool(numbers[known], shares[known])

    def _tell_of_missing(self) -> None:
        """That a question's words find paragraphs which no search can look at; once for these
        vectors, by whatever settings they are searched."""
        if self.vectors in self._told_of_missing:
            return
        self._told_of_missing.add(self.vectors)
        every = self.knowledge.store.numbers()
        missing, kb = int((~self.vectors.has(every)).sum()), self.knowledge.directory
        _LOG.warning(
            "%s of the %s paragraphs in %s have no vectors of this model yet, so they are not "
            "found, though words lead to some of them. Run `muppet encode %s`.",
            *(f"{missing:,}", f"{len(every):,}", kb, kb),
        )

    def _narrow(self, session: _Session, texts: Mapping[str, str], keep: int) -> None:
        """Narrow the texts, each of a question, unless that is done."""
        new = [text for text in texts if (text, keep) not in session.narrowed]
        if not new:
            return
        found = self.knowledge.narrow_many(new, keep + session.spare, self.config.engine)
        for text, every in zip(new, found, strict=True):
            session.narrowed[text, keep] = session.seen(texts[text], every)[:keep]

    def _look_up(self, session: _Session, numbers: set[int]) -> None:
        missing = sorted(numbers - session.paragraphs.keys())
        session.paragraphs |= self.knowledge.store.paragraphs(missing)


def open_retriever(
    knowledge: KnowledgeBase,
    model: Path | None = None,
    config: RetrieveConfig | None = None,
    progress: Progress = silent,
) -> Retriever:
    """A knowledge base's retriever: by the model named, or the one it was last encoded with."""
    settings, kb = config or knowledge.config.retrieve, knowledge.directory
    if settings.on_demand:
        encoder, stored = open_so_far(kb, model)
        knowledge.narrower(settings.engine, progress)
        return Retriever(knowledge, encoder, OnDemand(knowledge.store, encoder, stored), settings)
    if model is None and not has_model(kb):
        raise QuestionError(
            f"{kb} has no sentence vectors yet, so it can be searched by words alone. Make it "
            f"ready with `muppet encode {kb}`, then ask again; or set retrieve.on_demand."
        )
    encoded = open_encoded(kb, model)
    knowledge.narrower(settings.engine, progress)
    whole = open_all(knowledge, encoded.vectors, progress) if "all" in settings.pools else None
    return Retriever(knowledge, encoded.encoder, encoded.vectors, settings, whole)


def search_words(knowledge: KnowledgeBase, question: str, keep: int, engine: str) -> Found:
    """By words alone, as a knowledge base that has no vectors is searched: chains of one hop."""
    began = time.perf_counter()
    hops = knowledge.narrow(question, keep, engine)
    seconds = {"lexical": time.perf_counter() - began}
    return Found(
        question,
        tuple(Chain((hop,)) for hop in hops),
        tuple(hop.score for hop in hops),
        knowledge.store.paragraphs([hop.paragraph for hop in hops]),
        {hop.paragraph: rank for rank, hop in enumerate(hops, start=1)},
        seconds,
    )


def _hops(numbers: Numbers, scores: Scores, sentences: Numbers) -> list[Hop]:
    triples = zip(numbers.tolist(), scores.tolist(), sentences.tolist(), strict=True)
    return [Hop(*triple) for triple in triples]


def _tell(session: _Session, prefixes: Sequence[Prefix]) -> None:
    """The best chain of each question comes before its others."""
    best: dict[int, list[Paragraph]] = {}
    for prefix in prefixes:
        best.setdefault(prefix.question, _texts(session, prefix))
    session.watch("hop", best)


def _texts(session: _Session, prefix: Prefix) -> list[Paragraph]:
    return [session.paragraphs[number] for number in prefix.chain.paragraphs]
