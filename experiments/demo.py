"""The bundled questions of two hops, each with its answer and whether answer and chain are right.

    muppet index src/muppet/demo/paragraphs.jsonl --into KB && muppet encode KB
    python experiments/demo.py KB

Nothing was trained on the demo corpus, and nothing chosen on it. Right is an answer that matches
exactly, as HotpotQA's evaluation compares; its chain is right if it holds the gold paragraphs and
no other. Support is told as the F1 of its sentences.
"""

from dataclasses import asdict, dataclass

from shared import add_reader, arguments, settings_of, some_of, tell

from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.corpus.demo import DEMO
from muppet.domain import Result
from muppet.evaluate.asking import answered, ask_all, predictions_of
from muppet.evaluate.report import QuestionScores, score_questions
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import open_muppet

HOPS = ("bridge", "comparison")


@dataclass(frozen=True, slots=True)
class Line:
    """One question, and what came of it."""

    question: str
    said: str
    right: str
    probability: float
    is_right: bool
    has_right_chain: bool
    support_f1: float


def main() -> None:
    parser = arguments(__doc__, skip=0)
    add_reader(parser)
    asked = parser.parse_args()
    every = [one for one in read_questions(DEMO / "questions.json") if one.gold.kind in HOPS]
    questions = some_of(every, asked.skip, asked.count)
    knowledge = KnowledgeBase(asked.kb)
    config = settings_of(knowledge, asked.config)
    with open_muppet(
        knowledge, config=config, model=asked.model, reader=asked.reader, threads=asked.threads
    ) as muppet:
        results = ask_all(muppet.ask_many, questions)
    scores = score_questions(predictions_of(answered(questions, results)), questions)
    lines = [
        line_of(one, results[one.question.id], score)
        for one, score in zip(questions, scores, strict=True)
    ]
    right = [line for line in lines if line.is_right]
    both = [line for line in right if line.has_right_chain]
    text = [
        f"{'right' if line.is_right else 'WRONG'}  {'chain' if line.has_right_chain else '-----'}"
        f"  {line.support_f1:.2f}  {line.question}  {line.said!r}"
        + ("" if line.is_right else f", not {line.right!r}")
        for line in lines
    ]
    text.append(f"Of {len(lines)}: {len(right)} right, {len(both)} of them with the right chain.")
    facts = {"right": len(right), "with_right_chain": len(both), "lines": [*map(asdict, lines)]}
    tell("\n".join(text), facts, as_json=asked.json)


def line_of(asked: BenchmarkQuestion, result: Result, score: QuestionScores) -> Line:
    gold = {one.title for one in asked.gold.paragraphs}
    best = result.answers[0] if result.answers else None
    chain = result.chain_of(best).paragraphs if best else ()
    return Line(
        question=asked.question.text,
        said=best.text if best else "",
        right=asked.gold.answers[0],
        probability=best.probability if best else 0.0,
        is_right=score.answer is not None and score.answer.em == 1,
        has_right_chain={result.paragraphs[number].title for number in chain} == gold,
        support_f1=score.support.f1 if score.support else 0.0,
    )


if __name__ == "__main__":
    main()
