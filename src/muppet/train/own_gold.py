"""Own questions → what they can be learned from: gold paragraphs, support, distractors.

Where a question names no paragraphs the current model looks for them: gold is the best chain it
finds that holds the answer (distant supervision). The files that come out are HotpotQA's, so that
training reads them as any other, and a person can look at them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from muppet.artifact import (
    Manifest,
    new_artifact,
    read_manifest,
    require_made_from,
    restore_artifact,
)
from muppet.domain import Paragraph, Progress
from muppet.errors import QuestionError
from muppet.read.answers import VERDICTS
from muppet.retrieve.retriever import Retrieved, Retriever
from muppet.text.normalise import normalise
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words
from muppet.train.answers_in_text import answer_places
from muppet.train.data import truncated
from muppet.train.own_questions import (
    OwnQuestion,
    checksum_questions,
    hold_out,
    named_paragraphs,
)

KIND = "own questions"
FORMAT = 1
AGAIN = "muppet train own, with another --out"
FEWEST = 20
"""Questions with evidence; from fewer nothing can be learned, let alone measured."""
AT_ONCE = 16
"""Questions that are retrieved for together."""
MOST_DISTRACTORS = 8

NOT_FOUND = "the answer stands in no chain that was found"
NOT_NAMED = "the answer does not stand in the paragraphs named"
VERDICT = "the answer is yes or no, and no paragraphs are named"
LEFT_OUT = "left out"

Given = Mapping[int, tuple[Paragraph, ...]]
"""The paragraphs that questions name, by the questions' lines."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with what its answer rests on, or why that is not known.

    `gold` is in hop order, `support` are (place in gold, sentence), and `answer` is the one of the
    question's answers that stands there.
    """

    asked: OwnQuestion
    answer: str = ""
    gold: tuple[Paragraph, ...] = ()
    support: tuple[tuple[int, int], ...] = ()
    distractors: tuple[Paragraph, ...] = ()
    why_not: str = ""


def prepare_questions(
    directory: Path,
    questions: Sequence[OwnQuestion],
    retriever: Retriever,
    *,
    source: str,
    max_tokens: int,
    share: float,
    seed: int,
    progress: Progress,
) -> None:
    """Make the directory of a file's questions, each with its evidence and its part; one that an
    earlier call has made stays as it is. `source` is the file, for what is said of its lines."""
    made_from = {
        "file of questions": checksum_questions(questions),
        "encoder": retriever.encoder.checksum,
        "share or seed": f"{share} {seed}",
        "length of paragraphs": str(max_tokens),
    }
    if restore_artifact(directory):
        manifest = read_manifest(directory, KIND, FORMAT, remake=AGAIN)
        require_made_from(directory, manifest, made_from, remake=AGAIN)
        return
    store = retriever.knowledge.store
    given = {one.line: named_paragraphs(one, store, source) for one in questions}
    evidence = find_evidence(questions, given, retriever, max_tokens, progress)
    known = [one.asked for one in evidence if one.gold]
    unknown = [one.asked for one in evidence if not one.gold]
    if len(known) < FEWEST:
        reasons = Counter(one.why_not for one in evidence if one.why_not)
        told = "".join(f"; of {count} {why}" for why, count in reasons.most_common())
        raise QuestionError(
            f"{source}: {len(known)} of {len(questions)} questions can be learned from, and at "
            f"least {FEWEST} are needed{told}. Add questions, or name their paragraphs."
        )
    held_out = hold_out(known, share, seed) | hold_out(unknown, share, seed)
    write_own_questions(directory, evidence, held_out, made_from)


def read_left_out(directory: Path) -> dict[str, int]:
    """How many questions are neither learned from nor held out, by reason."""
    lines = (directory / "questions.jsonl").read_text(encoding="utf-8").split("\n")
    fates = [json.loads(line) for line in lines if line]
    lost = Counter(one["without evidence"] for one in fates if one["part"] == LEFT_OUT)
    return dict(lost.most_common())


def find_evidence(
    questions: Sequence[OwnQuestion],
    given: Given,
    retriever: Retriever,
    max_tokens: int,
    progress: Progress,
) -> list[Evidence]:
    """What each question can be learned from; of a paragraph only so many tokens count."""
    found: list[Evidence] = []
    for first in range(0, len(questions), AT_ONCE):
        some = questions[first : first + AT_ONCE]
        retrieved = retriever.retrieve_many([one.text for one in some])
        found += [
            evidence_for(asked, given.get(asked.line, ()), own, max_tokens)
            for asked, own in zip(some, retrieved, strict=True)
        ]
        progress("finding evidence", len(found), len(questions))
    return found


def evidence_for(
    asked: OwnQuestion, given: tuple[Paragraph, ...], retrieved: Retrieved, max_tokens: int
) -> Evidence:
    """The paragraphs given, or those of the best chain that holds an answer."""
    is_verdict = {normalise(answer) for answer in asked.answers} <= {*VERDICTS}
    if is_verdict and not given:
        return Evidence(asked, why_not=VERDICT)
    for chain, matches in [(given, {})] if given else _chains(retrieved):
        short = [truncated(one, max_tokens) for one in chain]
        answers = [one for one in asked.answers if any(_holds(some, [one]) for some in short)]
        if is_verdict or answers:
            answer = asked.answers[0] if is_verdict else answers[0]
            found = matches or _matches(retrieved)
            support = tuple(
                (place, number)
                for place, one in enumerate(short)
                for number in _support(one, asked.text, answer, found.get(one.id))
            )
            others = _others(asked, chain, retrieved, holding=bool(given))
            return Evidence(asked, answer, chain, support, others)
    return Evidence(asked, why_not=NOT_NAMED if given else NOT_FOUND)


def write_own_questions(
    directory: Path, evidence: Sequence[Evidence], held_out: set[int], made_from: Mapping[str, str]
) -> None:
    """train.json, dev.json (of the held-out ones those with evidence), held-out.jsonl (all of
    them, for `muppet evaluate`), and questions.jsonl: what became of each."""
    parts: dict[str, list[Evidence]] = {"train.json": [], "dev.json": []}
    for one in evidence:
        if one.gold:
            parts["dev.json" if one.asked.line in held_out else "train.json"].append(one)
    held = [one.asked for one in evidence if one.asked.line in held_out]
    with new_artifact(directory, Manifest(KIND, FORMAT, {}, dict(made_from))) as partial:
        for name, own in parts.items():
            _write(partial / name, json.dumps([hotpot_record(one) for one in own], indent=1))
        plain = ({"id": str(o.line), "question": o.text, "answers": list(o.answers)} for o in held)
        _write(partial / "held-out.jsonl", _lines(plain))
        fates = (_fate(one, one.asked.line in held_out) for one in evidence)
        _write(partial / "questions.jsonl", _lines(fates))


def hotpot_record(evidence: Evidence) -> dict[str, object]:
    """A question with its evidence as HotpotQA writes it: paragraphs are named by title, so where
    two of a question's have the same one, the second is called `title (2)`."""
    context: dict[str, tuple[str, ...]] = {}
    for one in (*evidence.gold, *evidence.distractors):
        title, count = one.title, 1
        while title in context:
            count += 1
            title = f"{one.title} ({count})"
        context[title] = one.sentences
    titles = list(context)
    return {
        "_id": str(evidence.asked.line),
        "question": evidence.asked.text,
        "answer": evidence.answer,
        "type": "own",
        "supporting_facts": [(titles[place], number) for place, number in evidence.support],
        "context": list(context.items()),
    }


def _chains(
    retrieved: Retrieved,
) -> Iterable[tuple[tuple[Paragraph, ...], dict[str, int | None]]]:
    """The chains, best first, each with the sentences its paragraphs were found by."""
    for ranked in retrieved.chains:
        chain = tuple(retrieved.paragraphs[number] for number in ranked.chain.paragraphs)
        matches = zip(chain, ranked.chain.sentences, strict=True)
        yield chain, {one.id: sentence for one, sentence in matches}


def _matches(retrieved: Retrieved) -> dict[str, int | None]:
    """By which sentence each paragraph was found, in the best chain that has it."""
    found: dict[str, int | None] = {}
    for _, matches in _chains(retrieved):
        found = matches | found
    return found


def _holds(paragraph: Paragraph, answers: Sequence[str]) -> bool:
    texts = (paragraph.title, paragraph.text)
    return any(answer_places(words(text), answers) for text in texts)


def _support(paragraph: Paragraph, question: str, answer: str, matched: int | None) -> list[int]:
    """The sentence with the answer, of several the one most like the question, and the one that
    the paragraph was found by; where there is neither, the one most like the question."""
    sentences = [words(sentence) for sentence in paragraph.sentences]
    asked = {word.lower() for word in words(question)} - STOP_WORDS

    def likeness(number: int) -> int:
        return len(asked & {word.lower() for word in sentences[number]})

    holding = [at for at, own in enumerate(sentences) if answer_places(own, [answer])]
    chosen = {max(holding, key=likeness)} if holding else set()
    if matched is not None and matched < len(sentences):
        chosen.add(matched)
    return sorted(chosen) or [max(range(len(sentences)), key=likeness)]


def _others(
    asked: OwnQuestion, gold: Iterable[Paragraph], retrieved: Retrieved, *, holding: bool
) -> tuple[Paragraph, ...]:
    """Paragraphs that were found as well, best first. One that holds the answer may be as right as
    the gold that was found, so it is taken only where gold was named."""
    own = {one.id for one in gold}
    found = {one.id: one for chain, _ in _chains(retrieved) for one in chain if one.id not in own}
    others = [one for one in found.values() if holding or not _holds(one, asked.answers)]
    return tuple(others[:MOST_DISTRACTORS])


def _fate(evidence: Evidence, is_held_out: bool) -> dict[str, object]:
    """What became of a question, for a person to read."""
    asked = evidence.asked
    used = "held out" if is_held_out else "train" if evidence.gold else LEFT_OUT
    fate: dict[str, object] = {"line": asked.line, "question": asked.text, "part": used}
    if evidence.gold:
        fate |= {"answer": evidence.answer, "paragraphs": [one.id for one in evidence.gold]}
        fate["found by"] = "name" if asked.paragraphs else "search"
    else:
        fate |= {"answer": list(asked.answers), "without evidence": evidence.why_not}
    return fate


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
