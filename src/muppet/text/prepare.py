"""Questions and paragraphs → the numbers a network reads, still of their own lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from muppet.domain import Paragraph
from muppet.errors import ArtifactError, ConfigError
from muppet.text.tokens import Tokens, tokenize
from muppet.text.vocab import Lexicon

Marks = Mapping[str, tuple[Sequence[int], Sequence[int]]]
"""Pieces to stand behind the lesser and the greater of two numbers, by the kind of number."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One text: T tokens in S sentences, and the P word pieces a transformer sees.

    A sentence that was cut off or is empty has no tokens, but keeps its number (checklist 4).
    Before the character `body` stands the title, with a full stop and a space.
    """

    types: NDArray[np.int64]  # (T,), word types of the lexicon
    segments: NDArray[np.int64]  # (T,), which sentence
    sentences: int
    pieces: NDArray[np.int64]  # (P,), with the special ones
    piece_tokens: NDArray[np.int64]  # (P,), which token a piece is part of; -1: none
    tokens: Tokens
    frozen: NDArray[np.float16] | None = None  # (T, L, D), contextual layers if precomputed
    body: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """What its reading costs, to read texts of one size together."""
        return len(self.pieces), len(self.types)


class Pieces:
    """A pretrained tokenizer's word pieces, aligned to our tokens by their characters."""

    def __init__(self, directory: Path, longest: int = 512) -> None:
        path = directory / "tokenizer.json"
        if not path.is_file():
            raise ConfigError(
                f"{directory} holds no tokenizer.json, so its word pieces are unknown."
            )
        self.longest = longest
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(longest)
        except Exception as error:  # it has none of its own
            raise ArtifactError(f"{path} is damaged ({error}). Copy or export it again.") from error

    def of(self, text: str) -> list[int]:
        """Piece ids of a text that stands within another: without the special ones."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def aligned(self, tokens: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Piece ids, and the token each piece stands in: (P,), (P,)"""
        encoding = self._tokenizer.encode(tokens.text)
        starts = np.array([_visible(tokens.text, *span) for span in encoding.offsets], np.int64)
        special = np.array(encoding.special_tokens_mask, dtype=bool)
        which = np.searchsorted(np.asarray(tokens.starts), starts, side="right") - 1
        return np.array(encoding.ids, dtype=np.int64), np.where(special, -1, which)


def _joined(question: Prepared, chain: Sequence[Prepared], longest: int) -> Prepared:
    """One text, of up to so many pieces; every paragraph ends with its separator."""
    texts = [question, *chain]
    firsts = np.cumsum([0, *(len(text.types) for text in texts)])
    pieces = [question.pieces, *(text.pieces[1:] for text in chain)]  # one beginning is enough
    owners = [question.piece_tokens, *(text.piece_tokens[1:] for text in chain)]
    moved = [
        np.where(owner < 0, -1, owner + first)
        for owner, first in zip(owners, firsts[:-1], strict=True)
    ]
    starts = np.cumsum([0, *(len(text.tokens.text) + 1 for text in texts)])
    pairs = list(zip(texts, starts.tolist(), strict=False))
    return Prepared(
        types=np.concatenate([text.types for text in texts]),
        segments=(np.arange(firsts[-1]) >= firsts[1]).astype(np.int64),
        sentences=2,
        pieces=np.concatenate(pieces)[:longest],
        piece_tokens=np.concatenate(moved)[:longest],
        tokens=Tokens(
            " ".join(text.tokens.text for text in texts),
            [start + shift for text, shift in pairs for start in text.tokens.starts],
            [end + shift for text, shift in pairs for end in text.tokens.ends],
        ),
    )


def _visible(text: str, start: int, end: int) -> int:
    """Where a piece's first visible character stands: some begin with the space before a word."""
    return end - len(text[start:end].lstrip())


class Preparer:
    """Prepares texts for one model: its lexicon, its word pieces (if any) and its limits.

    A network that reads pieces alone does not `spell` its words: they all count as one type, and
    the lexicon does not grow with them. One that has numbers compared for it (text/numbers.py) has
    the `marks` for that.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        pieces: Pieces | None,
        *,
        max_tokens: int,
        with_title: bool,
        spells: bool = True,
        marks: Marks | None = None,
    ) -> None:
        self.lexicon = lexicon
        self._spells = spells
        self._pieces = pieces
        self._max_tokens = max_tokens
        self._with_title = with_title
        self.marks = marks

    @property
    def positions(self) -> int:
        """How many pieces a text may have; 0 where there are none."""
        return self._pieces.longest if self._pieces else 0

    def question(self, text: str) -> Prepared:
        """A question is one sentence, whatever it holds (checklist 12)."""
        return self._prepared(tokenize(text), [len(text)])

    def paragraph(self, paragraph: Paragraph) -> Prepared:
        """The title stands before the first sentence and is part of it (checklist 3)."""
        head = f"{paragraph.title}. " if self._with_title and paragraph.title else ""
        ends = np.cumsum([len(head), *map(len, paragraph.sentences)])[1:]
        return self._prepared(tokenize(head + paragraph.text), ends.tolist(), len(head))

    def joined(self, question: Prepared, chain: Sequence[Prepared]) -> Prepared:
        """Question and paragraphs in one text: its first sentence is the question, its second the
        chain, cut where the transformer has no more positions."""
        return _joined(question, chain, self.positions)

    def _prepared(self, tokens: Tokens, sentence_ends: list[int], body: int = 0) -> Prepared:
        segments = np.searchsorted(sentence_ends, tokens.starts, side="right")
        keep = _kept(segments, self._max_tokens)
        if keep < len(tokens):
            end = tokens.ends[keep - 1]
            tokens = Tokens(tokens.text[:end], tokens.starts[:keep], tokens.ends[:keep])
        nothing = np.zeros(0, dtype=np.int64)
        pieces, piece_tokens = self._pieces.aligned(tokens) if self._pieces else (nothing, nothing)
        return Prepared(
            types=self.lexicon.types(tokens.words() if self._spells else [""] * len(tokens)),
            segments=np.asarray(segments[:keep], dtype=np.int64),
            sentences=max(len(sentence_ends), 1),
            pieces=pieces,
            piece_tokens=piece_tokens,
            tokens=tokens,
            body=body,
        )


def _kept(segments: NDArray[np.int64], max_tokens: int) -> int:
    """How many tokens fit, in whole sentences; of a first sentence that is too long, a part."""
    if len(segments) <= max_tokens:
        return len(segments)
    whole = int(np.searchsorted(segments, segments[max_tokens], side="left"))
    return whole or max_tokens
