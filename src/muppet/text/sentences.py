"""Paragraph text → sentences that join back to it, character for character."""

from collections.abc import Sequence

import sentencex

# sentencex 1.0.32 panics where one of these wide spaces follows an initial ("J.\u2028").
_PLAIN_SPACES = str.maketrans(
    dict.fromkeys("\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", " ")
    | {chr(code): " " for code in range(0x2000, 0x200B)}
)


def split_sentences(text: str, language: str = "en") -> tuple[str, ...]:
    """The sentences of a text; each keeps the white space that follows it.

    Promise, for any Unicode: `"".join(split_sentences(text)) == text`, and no sentence is
    only white space unless the whole text is.
    """
    sentences: list[str] = []
    leading = ""
    start = 0
    plain_text = text if text.isascii() else text.translate(_PLAIN_SPACES)
    for plain in sentencex.segment(language, plain_text):
        piece = text[start : start + len(plain)]
        start += len(plain)
        if piece.strip():
            sentences.append(leading + piece)
            leading = ""
        elif sentences:
            sentences[-1] += piece
        else:
            leading += piece
    if "".join(sentences) == text:
        return tuple(sentences)
    return (text,)  # the splitter lost a character, or there is nothing but white space


def join_ready(sentences: Sequence[str]) -> tuple[str, ...]:
    """Given sentences, spaced so that joining them gives readable text.

    A sentence gets a space at its end where neither it nor the next one has white space there.
    None is dropped: numbers never shift (checklist 4).
    """
    spaced = list(sentences)
    last = -1  # the nearest sentence before this one that is not empty
    for number, sentence in enumerate(sentences):
        if not sentence:
            continue
        if last >= 0 and not spaced[last][-1].isspace() and not sentence[0].isspace():
            spaced[last] += " "
        last = number
    return tuple(spaced)
