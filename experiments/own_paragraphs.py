"""How often the gold pair is the best of all pairs among a question's own ten paragraphs.

    python experiments/own_paragraphs.py KB QUESTIONS runs/small/best runs/paper-hotpot/best

Encoders rank all ordered pairs by the log probabilities of their two hops; TF-IDF and BM25, with
the word statistics of the knowledge base, take their two best paragraphs. The first half of the
questions chose the encoders' checkpoints (`data.dev_questions`); the second half did not.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from muppet.corpus.benchmarks import read_questions
from muppet.evaluate.bootstrap import mean_of
from muppet.knowledge.open import KnowledgeBase
from muppet.nn.model import load_model
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.examples import TrainingData
from muppet.train.measure import rank_own_paragraphs

DEEP = 5_000
Verdicts = dict[str, bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    kinds = {one.question.id: one.gold.kind for one in read_questions(asked.questions)}
    data = load_training_data([asked.questions])
    systems: dict[str, Verdicts] = {}
    with KnowledgeBase(asked.kb) as knowledge:
        for engine in ("tfidf", "bm25"):
            systems[engine] = lexical_pairs(knowledge, engine, data)
    for directory in asked.models:
        systems[str(directory)] = encoder_pairs(directory, asked.questions)
    ids = [question.id for question in data.questions]
    half = len(ids) // 2
    rows = [
        {"system": name, "questions": part} | _shares(verdicts, some, kinds)
        for name, verdicts in systems.items()
        for part, some in (("all", ids), ("chosen on", ids[:half]), ("not chosen on", ids[half:]))
    ]
    for row in rows:
        sys.stdout.write((json.dumps(row) if asked.json else _line(row)) + "\n")


def lexical_pairs(knowledge: KnowledgeBase, engine: str, data: TrainingData) -> Verdicts:
    """Whether the two best of a question's own paragraphs are its gold ones."""
    verdicts = {}
    for question in data.questions:
        own = {
            number: row
            for row in (*question.gold, *question.distractors)
            for number in knowledge.store.by_title(data.paragraphs[row].title)
        }
        hops = knowledge.narrower(engine).narrow(question.text, DEEP)
        best = [own[hop.paragraph] for hop in hops if hop.paragraph in own][:2]
        verdicts[question.id] = set(best) == set(question.gold)
    return verdicts


def encoder_pairs(directory: Path, questions: Path) -> Verdicts:
    """Whether the encoder's best pair is the gold one."""
    model = load_model(directory)
    data = load_training_data([questions], max_tokens=model.config.max_tokens)
    texts = Texts(data, model.preparer)
    return {
        data.questions[one.question].id: set(one.best_pair())
        == set(data.questions[one.question].gold)
        for one in rank_own_paragraphs(model.encoder, texts, range(len(data.questions)))
    }


def _shares(verdicts: Verdicts, ids: list[str], kinds: Mapping[str, str]) -> dict[str, object]:
    """Overall with its 95 % interval, and by type."""
    right = {id_: verdicts.get(id_, False) for id_ in ids}
    overall = mean_of(list(right.values()))
    by_kind = {
        kind: float(np.mean([value for id_, value in right.items() if kinds[id_] == kind]))
        for kind in ("bridge", "comparison")
    }
    return {"overall": overall.value, "low": overall.low, "high": overall.high} | by_kind


def _line(row: dict[str, object]) -> str:
    numbers = (
        f"{100 * row[name]:6.1f}" for name in ("overall", "low", "high", "bridge", "comparison")
    )
    return f"{row['system']:32} {row['questions']:14}" + "".join(numbers)


if __name__ == "__main__":
    main()
