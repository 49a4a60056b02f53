"""Answers and chains as people read them: styled and wrapped on a terminal, plain when piped."""

import math
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from muppet.cli.shared import shown
from muppet.domain import Answer, Chain, Hop, Paragraph, Result
from muppet.encode.encoder import TextEncoder

UNKNOWN = "Not in these documents, as far as I can tell. My best guess:"
NOTHING = "Nothing in these documents has a word of the question."
SHOWN_WORDS = 6
"""Words of a text that are named for the attention they got."""
NARROWEST = 40
"""Columns that lines are filled to at the least, however narrow the terminal."""
LEAST = 0.005
"""What another answer must be at least, to be shown: below this it would be 0 %."""
_CONTROLS = dict.fromkeys(
    [*range(9), *range(14, 32), *range(127, 160)], "\N{REPLACEMENT CHARACTER}"
)
"""Characters of a document that would give orders to the terminal it is shown on."""
_RESET = "\x1b[0m"
_STYLE = re.compile("(?:\x1b\\[[0-9;]*m)+")

Mark = tuple[int, int, str]
"""Characters `start` to `end` of a text, and the style they are shown in."""


def show_answer(result: Result) -> None:
    """The answer, the chain of evidence, and what else it might be."""
    if not result.answers:
        click.echo(NOTHING)
        return
    best, *others = result.answers
    if not result.is_known:
        click.echo(UNKNOWN)
    known = "green" if result.is_known else "yellow"
    text = click.style(one_line(best.text), bold=True, fg=known)
    echo(f"{text}  ({best.probability:.0%})")
    chain = result.chain_of(best)
    titles = [result.paragraphs[number].title for number in chain.paragraphs]
    for number, hop in enumerate(chain.hops, 1):
        paragraph = result.paragraphs[hop.paragraph]
        echo(f"  {number}. {heading(paragraph, hop, result.ranks)}", hanging=5)
        for index in evidence(best, paragraph):
            echo(f"     {marked(best, paragraph, index, titles)}", hanging=5)
    likely = [one for one in others if one.probability >= LEAST]
    if likely:
        told = ", ".join(f"{one_line(one.text)} ({one.probability:.0%})" for one in likely)
        echo(f"  or: {told}", hanging=6)


def show_chain(chain: Chain, paragraphs: Mapping[int, Paragraph], ranks: Mapping[int, int]) -> None:
    """Each hop's title, probability, place for the plain question, and best sentence."""
    for hop in chain.hops:
        paragraph = paragraphs[hop.paragraph]
        probability = f"  [{probability_of(hop):.2f}]"
        echo(f"   {heading(paragraph, hop, ranks, probability)}", hanging=6)
        echo(f"      {one_line(paragraph.sentences[hop.sentence or 0])}", hanging=6)


def show_attention(encoder: TextEncoder, question: str, chain: Sequence[Paragraph]) -> None:
    """The words of question and chain that got most of the attention before the next hop."""
    attention = encoder.attention(question, chain)
    parts = [("question", attention.question)]
    parts += [(one.title, words) for one, words in zip(chain, attention.chain, strict=True)]
    for name, weighed in [(one_line(title), words) for title, words in parts]:
        content = [(word, share) for word, share in weighed if word.isalnum()]
        best = sorted(content, key=lambda pair: -pair[1])[:SHOWN_WORDS]
        echo(f"      {name}: " + ", ".join(f"{word} {share:.0%}" for word, share in best), 8)


def evidence(answer: Answer, paragraph: Paragraph) -> list[int]:
    """The sentences of a paragraph that bear an answer out; else its first one."""
    return [one.index for one in answer.support if one.paragraph == paragraph.id] or [0]


def probability_of(hop: Hop) -> float:
    """How likely a hop is right, as far as its score is a log probability."""
    return math.exp(min(hop.score, 0))


def one_line(text: str) -> str:
    """A text of a document on one line, and with no orders to the terminal."""
    return " ".join(text.translate(_CONTROLS).split())


def echo(text: str, hanging: int = 0) -> None:
    """Print a line; on a terminal it is filled to its width, `hanging` from the second line on."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    width = max(shutil.get_terminal_size().columns, NARROWEST)
    for line in filled(text, width, hanging):
        click.echo(line)


def filled(text: str, width: int, hanging: int) -> Iterator[str]:
    """Lines of at most `width` columns, a longer word aside; a style goes on in the next line."""
    stripped = text.lstrip(" ")
    line, style, is_empty = text[: len(text) - len(stripped)], "", True
    column = len(line)
    for word in stripped.split(" "):
        size = len(click.unstyle(word))
        if not is_empty and column + 1 + size > width:
            yield line.rstrip(" ") + (_RESET if style else "")
            line, column, is_empty = " " * hanging + style, hanging, True
        line += word if is_empty else f" {word}"
        column += size + (not is_empty)
        is_empty = False
        for codes in _STYLE.findall(word):
            style = "" if codes.endswith(_RESET) else codes
    yield line


def heading(paragraph: Paragraph, hop: Hop, ranks: Mapping[int, int], probability: str = "") -> str:
    """A paragraph's title, where it stands for the plain question, and where it comes from."""
    rank = ranks.get(hop.paragraph)
    where = f"rank {rank} for the question" if rank else "not found by the question"
    title = click.style(one_line(paragraph.title), bold=True)
    source = one_line(shown(paragraph.source))
    return f"{title}{probability}  " + click.style(f"{where}  {source}", dim=True)


def marked(answer: Answer, paragraph: Paragraph, index: int, titles: Sequence[str]) -> str:
    """A sentence with the answer, and the titles of the chain's other paragraphs, marked."""
    sentence = paragraph.sentences[index]
    before = sum(map(len, paragraph.sentences[:index]))
    marks: list[Mark] = []
    span = answer.span
    if span and not span.in_title and span.paragraph == paragraph.id:
        start, end = span.start - before, span.end - before
        if start >= 0 and end <= len(sentence):
            marks.append((start, end, click.style("", bold=True, underline=True, reset=False)))
    bridge = click.style("", fg="cyan", reset=False)
    for title in titles:
        place = sentence.find(title) if title and title != paragraph.title else -1
        if place >= 0:
            marks.append((place, place + len(title), bridge))
    return " ".join(_styled(sentence.translate(_CONTROLS), marks).split())


def _styled(text: str, marks: Sequence[Mark]) -> str:
    """A text with its marks; of two that overlap the first of the list counts."""
    kept: list[Mark] = []
    for start, end, style in marks:
        if all(end <= other or start >= until for other, until, _ in kept):
            kept.append((start, end, style))
    for start, end, style in sorted(kept, reverse=True):
        text = text[:start] + style + text[start:end] + _RESET + text[end:]
    return text
