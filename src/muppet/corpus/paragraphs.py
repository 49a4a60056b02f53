"""A document → paragraphs that remember where they stood in it."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from muppet.config import CorpusConfig
from muppet.domain import Document, Paragraph
from muppet.text.sentences import join_ready, split_sentences

_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*\n\s*")
_WORD = re.compile(r"\S+")


def split_document(document: Document, id_: str, config: CorpusConfig) -> list[Paragraph]:
    """The paragraphs of a document, in order; the n-th has the id `id#n`, the first `id`.

    Given sentences are one paragraph as they are. Otherwise blank lines end a paragraph; short
    ones (headings, list items) are joined with what follows until `min_words`, and long ones are
    cut between sentences before `max_words`. A heading that only repeats the title is left out.
    """
    if document.sentences:
        return [
            Paragraph(
                id_,
                document.title,
                join_ready(document.sentences),
                document=id_,
                source=document.source,
            )
        ]
    return [
        Paragraph(
            id=id_ if position == 0 else f"{id_}#{position + 1}",
            title=document.title,
            sentences=sentences,
            document=id_,
            position=position,
            start=start,
            source=document.source,
        )
        for position, (start, sentences) in enumerate(_pieces(document, config))
    ]


def _pieces(document: Document, config: CorpusConfig) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(where it begins, its sentences) of each paragraph of a document."""
    text = document.text
    for start, end in _joined_blocks(_blocks_below_title(document), text, config.min_words):
        sentences = split_sentences(text[start:end], config.language)
        if _count_words(text[start:end]) <= config.max_words:
            yield start, sentences
            continue
        for offset, group in _grouped(sentences, config.max_words):
            yield start + offset, group


def _joined_blocks(
    blocks: Iterable[tuple[int, int]], text: str, min_words: int
) -> Iterator[tuple[int, int]]:
    """Spans between blank lines, a short one together with those after it."""
    joined_start = None
    for start, end in blocks:
        first = start if joined_start is None else joined_start
        if _count_words(text[first:end]) >= min_words:
            yield first, end
            joined_start = None
        else:
            joined_start = first
    if joined_start is not None:
        yield joined_start, len(text.rstrip())


def _blocks_below_title(document: Document) -> list[tuple[int, int]]:
    blocks = list(_blocks(document.text))
    heads = [document.text[start:end].strip("# \t").casefold() for start, end in blocks[:1]]
    repeats = len(blocks) > 1 and heads == [document.title.strip().casefold()]
    return blocks[1:] if repeats else blocks


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = len(text) - len(text.lstrip())
    for gap in _BLANK_LINES.finditer(text, start):
        if gap.end() < len(text):
            yield start, gap.start()
            start = gap.end()
    end = len(text.rstrip())
    if start < end:
        yield start, end


def _grouped(sentences: tuple[str, ...], max_words: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Runs of whole sentences of at most `max_words`; one longer sentence is cut at its words."""
    start, group, words = 0, list[str](), 0
    for sentence in _cut_long(sentences, max_words):
        count = _count_words(sentence)
        if group and words + count > max_words:
            yield start, tuple(group)
            start, group, words = start + sum(map(len, group)), [], 0
        group.append(sentence)
        words += count
    if group:
        yield start, tuple(group)


def _cut_long(sentences: tuple[str, ...], max_words: int) -> Iterator[str]:
    for sentence in sentences:
        begins = [match.start() for match in _WORD.finditer(sentence)]
        cuts = [0, *begins[max_words::max_words], len(sentence)]
        yield from (sentence[a:b] for a, b in pairwise(cuts))


def _count_words(text: str) -> int:
    return len(text.split())
