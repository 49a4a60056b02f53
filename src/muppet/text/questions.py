"""What counts as a question: something short with at least one word to search for."""

from textwrap import shorten

from muppet.domain import Question
from muppet.errors import QuestionError
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words

LONGEST = 5_000
"""Characters; a question beyond that is a document pasted by mistake."""


def question_from(text: str, id_: str = "") -> Question:
    """A question that can be searched for, or a QuestionError that says why not."""
    if not isinstance(text, str):
        raise QuestionError(f"A question is text, not {text!r}.")
    if not text.strip():
        raise QuestionError("The question is empty. Ask something, in quotes.")
    if len(text) > LONGEST:
        raise QuestionError(
            f"The question has {len(text):,} characters; at most {LONGEST:,} are allowed. "
            "Ask in a sentence or two; documents go into `muppet index`."
        )
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise QuestionError("The question is not valid text: it holds half a surrogate pair.")
    found = [word.lower() for word in words(text) if any(map(str.isalnum, word))]
    shown = shorten(text, 60, placeholder=" …")
    if not found:
        raise QuestionError(f"The question {shown!r} holds no word to search for.")
    if all(word in STOP_WORDS for word in found):
        raise QuestionError(
            f"The question {shown!r} has only words that stand everywhere ({found[0]!r}, "
            "…): there is nothing to search for. Name a person, a place or a thing."
        )
    return Question(id_, " ".join(text.split()))
