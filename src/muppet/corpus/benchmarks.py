"""Question files of HotpotQA, SQuAD, 2WikiMultihopQA, MuSiQue and BoolQ → Questions with Gold.

The format is recognised by what is in the file. Plain questions, `{"question", "answer"}` or
`{"question", "answers"}` in JSON or JSONL, are understood too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from muppet.corpus.files import UnreadableError, open_file
from muppet.corpus.rows import Value, json_values
from muppet.domain import Broken, Document, Paragraph, Question, SentenceRef
from muppet.errors import QuestionError
from muppet.text.sentences import join_ready, split_sentences

Record = dict[str, Any]
Context = tuple[Paragraph, ...]

T = TypeVar("T")

_HOPS = re.compile(r"[2-9]hop")
_UNTYPED = "question"
_CONTEXTS = frozenset({"context", "paragraphs"})
_PASSAGE = frozenset({"title", "passage"})
VERDICT = "verdict"
"""The kind of BoolQ's questions, which are all of yes or no."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What a right answer to a benchmark question is, and the evidence it rests on.

    `kind` is the benchmark's own type (bridge, comparison, …). `paragraphs` are the gold ones in
    the order their benchmark lists them; `support` names sentences by (title, number).
    """

    answers: tuple[str, ...]
    kind: str
    paragraphs: tuple[Paragraph, ...]
    support: frozenset[SentenceRef]


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question, its gold, and the paragraphs its file gives it to choose from."""

    question: Question
    gold: Gold
    context: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class _Format:
    """How one benchmark writes a record: its paragraphs, and the questions about them."""

    unit: str
    needs: str
    context: Callable[[Record], Context]
    questions: Callable[[Record, Context, int], list[BenchmarkQuestion]]


def read_questions(path: Path) -> list[BenchmarkQuestion]:
    """All questions of a file, in its order; QuestionError names the first that is not one."""
    found: list[BenchmarkQuestion] = []
    try:
        with open_file(path) as stream:
            for number, record in _records(json_values(stream, str(path))):
                found += _parsed(record, number, _questions)
    except UnreadableError as error:
        raise QuestionError(f"{error}.") from None
    except QuestionError as error:
        raise QuestionError(f"{path}: {error}.") from None
    if not found:
        raise QuestionError(f"{path} has no questions; {_EXPECTED}.")
    return found


def context_documents(path: Path) -> Iterator[Document | Broken]:
    """The paragraphs of a question file that have text, each once and each still one paragraph."""
    with open_file(path) as stream:
        yield from read_contexts(json_values(stream, str(path)), str(path))


def has_contexts(value: object) -> bool:
    """Whether a JSON value is of a question file that brings its own paragraphs."""
    if not isinstance(value, dict):
        return False
    if "question" in value and _are_titles(value.get("paragraphs")):
        return False
    brings = not _CONTEXTS.isdisjoint(value) or _is_boolq(value)
    return _is_squad(value) or ("question" in value and brings)


def read_contexts(values: Iterable[Value], source: str) -> Iterator[Document | Broken]:
    """What `context_documents` does, for JSON values that are already at hand."""
    seen: set[int] = set()
    for number, record in _records(values):
        try:
            context = _parsed(record, number, _context)
        except QuestionError as error:
            yield record if isinstance(record, Broken) else Broken(source, number, str(error))
            continue
        for paragraph in context:
            key = hash((paragraph.title, paragraph.text))  # 8 bytes in place of the text
            if key not in seen and paragraph.text.strip():
                seen.add(key)
                yield Document(paragraph.title, source, number, sentences=paragraph.sentences)


def _is_squad(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("data"), list)


def _is_boolq(value: Record) -> bool:
    """A title, a passage, and true or false for an answer, or none; not a user's own question."""
    given = value.get("answer", value.get("answers"))
    return value.keys() >= _PASSAGE and (given is None or isinstance(given, bool))


def _records(values: Iterable[Value]) -> Iterator[Value]:
    """The questions of a file, or the articles of SQuAD's, numbered from 1."""
    for number, value in values:
        yield from enumerate(value["data"], 1) if _is_squad(value) else [(number, value)]


def _questions(form: _Format, record: Record, number: int) -> list[BenchmarkQuestion]:
    return form.questions(record, form.context(record), number)


def _context(form: _Format, record: Record, _number: int) -> Context:
    return form.context(record)


def _parsed(record: Any, number: int, parse: Callable[[_Format, Record, int], T]) -> T:  # noqa: ANN401
    """What `parse` makes of a record; QuestionError says what is wrong with it."""
    if isinstance(record, Broken):
        raise QuestionError(f"line {record.place} {record.reason}")
    form = _format(record, number)
    try:
        return parse(form, record, number)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        wrong = f"lacks {error}" if isinstance(error, KeyError) else "has an unknown shape"
        raise QuestionError(f"{form.unit} {number} {wrong}; {form.needs}") from None


def _format(record: object, number: int) -> _Format:
    keys = record.keys() if isinstance(record, dict) else set[str]()
    if isinstance(record, dict) and "paragraphs" in keys:
        if "question" not in keys:
            return _SQUAD
        return _PLAIN if _are_titles(record["paragraphs"]) else _MUSIQUE
    if not keys.isdisjoint({"context", "supporting_facts"}):
        return _HOTPOT
    if isinstance(record, dict) and _is_boolq(record):
        return _BOOLQ
    if not keys.isdisjoint({"question", "answer", "answers"}):
        return _PLAIN
    raise QuestionError(f"number {number} is not a question; {_EXPECTED}")


def _are_titles(paragraphs: object) -> bool:
    """As a user's own questions name their gold paragraphs; evaluation does not look at them."""
    if not isinstance(paragraphs, list) or not paragraphs:
        return False
    return all(isinstance(one, str) for one in paragraphs)


def _question(record: Record, number: int) -> Question:
    return Question(str(record.get("_id", record.get("id", number))), record["question"].strip())


def _answers(*answers: object) -> tuple[str, ...]:
    """The answers there are, each once, in their order."""
    return tuple(dict.fromkeys(str(answer) for answer in answers if answer is not None))


def _plain_questions(record: Record, context: Context, number: int) -> list[BenchmarkQuestion]:
    given = record.get("answers", record.get("answer"))
    answers = _answers(*given) if isinstance(given, list) else _answers(given)
    gold = Gold(answers, _UNTYPED, (), frozenset())
    return [BenchmarkQuestion(_question(record, number), gold, context)]


def _paragraph(title: object, sentences: Sequence[str]) -> Paragraph:
    if not isinstance(title, str) or not all(isinstance(one, str) for one in sentences):
        raise TypeError("a title and its sentences are strings")
    return Paragraph(title, title, tuple(sentences))


def _hotpot_context(record: Record) -> Context:
    if any(isinstance(sentences, str) for _, sentences in record["context"]):
        raise TypeError("sentences are a list")
    return tuple(_paragraph(title, join_ready(given)) for title, given in record["context"])


def _hotpot_questions(record: Record, context: Context, number: int) -> list[BenchmarkQuestion]:
    facts = record.get("supporting_facts") or ()
    by_title = {paragraph.title: paragraph for paragraph in reversed(context)}
    paragraphs = tuple(
        by_title.get(title) or _paragraph(title, ())
        for title in dict.fromkeys(title for title, _ in facts)
    )
    support = frozenset(SentenceRef(title, int(index)) for title, index in facts)
    kind = str(record.get("type") or _UNTYPED)
    gold = Gold(_answers(record.get("answer")), kind, paragraphs, support)
    return [BenchmarkQuestion(_question(record, number), gold, context)]


def _musique_context(record: Record) -> Context:
    given = record["paragraphs"]
    pairs = [(one["title"], one.get("paragraph_text") or one["text"]) for one in given]
    return tuple(_paragraph(title, split_sentences(text)) for title, text in pairs)


def _musique_questions(record: Record, context: Context, number: int) -> list[BenchmarkQuestion]:
    question = _question(record, number)
    steps = record.get("question_decomposition") or ()  # the test set has none
    hops = _HOPS.match(question.id)
    kind = f"{len(steps)}hop" if steps else hops[0] if hops else _UNTYPED
    support = dict.fromkeys(step["paragraph_support_idx"] for step in steps)
    paragraphs = tuple(context[index] for index in support if index is not None)
    answers = _answers(record.get("answer"), *(record.get("answer_aliases") or ()))
    gold = Gold(answers, kind, paragraphs, frozenset())
    return [BenchmarkQuestion(question, gold, context)]


def _squad_context(article: Record) -> Context:
    title = article["title"].replace("_", " ")
    return tuple(
        Paragraph(title if n == 1 else f"{title}#{n}", title, split_sentences(one["context"]))
        for n, one in enumerate(article["paragraphs"], 1)
    )


def _squad_questions(article: Record, context: Context, _number: int) -> list[BenchmarkQuestion]:
    found = []
    for paragraph, given in zip(context, article["paragraphs"], strict=True):
        for one in given["qas"]:
            answers = _answers(*(answer["text"] for answer in one["answers"]))
            gold = Gold(answers, "single", (paragraph,), frozenset())
            question = Question(str(one["id"]), one["question"].strip())
            found.append(BenchmarkQuestion(question, gold, (paragraph,)))
    return found


def _boolq_context(record: Record) -> Context:
    return (_paragraph(record["title"], split_sentences(record["passage"])),)


def _boolq_questions(record: Record, context: Context, number: int) -> list[BenchmarkQuestion]:
    given = record.get("answer")  # the test set has none
    answers = () if given is None else ("yes" if given else "no",)
    gold = Gold(answers, VERDICT, context, frozenset())
    return [BenchmarkQuestion(_question(record, number), gold, context)]


_HOTPOT = _Format(
    "question",
    "HotpotQA and 2Wiki have `question`, `context` [[title, [sentence, …]], …] and, except in a "
    "test set, `answer` and `supporting_facts` [[title, number], …]",
    _hotpot_context,
    _hotpot_questions,
)
_MUSIQUE = _Format(
    "question",
    "MuSiQue has `question`, `answer`, `question_decomposition` with `paragraph_support_idx`, and "
    "`paragraphs` with `title` and `paragraph_text`",
    _musique_context,
    _musique_questions,
)
_SQUAD = _Format(
    "article",
    "SQuAD has `title` and `paragraphs` with `context` and `qas` (`id`, `question`, `answers`)",
    _squad_context,
    _squad_questions,
)
_BOOLQ = _Format(
    "question",
    "BoolQ has `question`, `title`, `passage` and, except in a test set, `answer`, true or false",
    _boolq_context,
    _boolq_questions,
)
_PLAIN = _Format(
    "question", "it needs `question`, and `answer` or `answers`", lambda _: (), _plain_questions
)
_EXPECTED = (
    "expected HotpotQA, 2Wiki, SQuAD, MuSiQue, BoolQ, or objects with `question` and `answer`"
)
