"""Which pretrained transformer to begin an encoder with: all of them untrained, side by side.

    python experiments/inputs.py QUESTIONS gte=gte-small/onnx/model.onnx bge=.../model.onnx:cls

Each is an ONNX graph with its `tokenizer.json` in the directory above it, as the packages of
../shared/docs/registry.md have them, and is pooled by the mean of its states or, behind `:cls`, by
its first one. How often the gold pair is the best of a question's own ten paragraphs, by cosines:
in one shot, the two best; in two hops, all ordered pairs, the second paragraph compared with the
question's words as they read beside the first. What looks best here may still be too slow: seconds
are those of one core.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from shared import markdown, per_cent, some_of, tell
from tokenizers import Tokenizer

from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Paragraph
from muppet.evaluate.bootstrap import mean_of

Vectors = NDArray[np.float32]
LONGEST = 256
"""Word pieces of a text that are read."""


class Input:
    """A pretrained transformer: texts in, unit vectors out."""

    def __init__(self, graph: Path, *, by_first: bool) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(graph, options)
        self._tokenizer = Tokenizer.from_file(str(graph.parent.parent / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST, strategy="longest_first")
        self._by_first = by_first

    def vector(self, text: str) -> Vectors:
        """(D,)"""
        states, _ = self._read(text, None)
        return _unit(states[0] if self._by_first else states.mean(axis=0))

    def beside(self, question: str, paragraph: str) -> Vectors:
        """The question's words as they read beside a paragraph: (D,)"""
        states, is_question = self._read(question, paragraph)
        return _unit(states[0] if self._by_first else states[is_question].mean(axis=0))

    def _read(self, text: str, other: str | None) -> tuple[Vectors, NDArray[np.bool_]]:
        """States (P, D), and which of them are the first text's."""
        encoding = self._tokenizer.encode(text, other)
        wanted = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        fields = {name: np.array([value], dtype=np.int64) for name, value in wanted.items()}
        (states, *_) = self._session.run(None, fields)
        return states[0], np.array(encoding.type_ids) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("inputs", nargs="+", help="NAME=GRAPH, or NAME=GRAPH:cls.")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    questions = some_of(read_questions(asked.questions), asked.skip, asked.count)
    rows, facts = [], {}
    for name, _, place in (one.partition("=") for one in asked.inputs):
        graph, _, pooling = place.partition(":")
        began = time.process_time()
        own = Input(Path(graph), by_first=pooling == "cls")
        verdicts = np.array([is_gold_first(own, one) for one in questions])  # (questions, 2)
        seconds = time.process_time() - began
        one_shot, two_hops = (mean_of(column) for column in verdicts.T.tolist())
        rows.append([name, per_cent(one_shot), per_cent(two_hops), f"{seconds:.0f}"])
        facts[name] = {"one shot": one_shot, "two hops": two_hops, "seconds": seconds}
    heads = ["", "one shot", "two hops", "seconds"]
    text = f"{len(questions)} questions: gold pair first, per cent\n\n{markdown(heads, rows)}"
    tell(text, facts, as_json=asked.json)


def is_gold_first(own: Input, asked: BenchmarkQuestion) -> tuple[bool, bool]:
    """Whether the gold pair is the best, in one shot and in two hops."""
    question, context = asked.question.text, asked.context
    gold = {one.title for one in asked.gold.paragraphs}
    paragraphs = np.stack([own.vector(_text(one)) for one in context])  # (P, D)
    first = paragraphs @ own.vector(question)  # (P,)
    again = np.stack([own.beside(question, _text(one)) for one in context])
    second = again @ paragraphs.T  # (P, P)
    pairs = permutations(range(len(context)), 2)
    best = max(pairs, key=lambda pair: first[pair[0]] + second[pair])
    two = np.argsort(-first)[:2].tolist()
    return _titles(context, two) == gold, _titles(context, best) == gold


def _titles(context: Sequence[Paragraph], places: Sequence[int]) -> set[str]:
    return {context[place].title for place in places}


def _text(paragraph: Paragraph) -> str:
    return f"{paragraph.title}. {paragraph.text}"


def _unit(vector: Vectors) -> Vectors:
    return vector / np.linalg.norm(vector)


if __name__ == "__main__":
    main()
