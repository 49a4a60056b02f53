"""The stop head of an exported encoder, fitted by itself to questions of one to four hops.

Training sees few chains that are complete, and of questions of one hop none. The head is linear in
the reformulated question (checklist 34), so with everything else as it is it can be fitted at once:
logistic regression over gold chains of every length. The vectors of an index stay as they are.
"""

import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from muppet.artifact import (
    Manifest,
    checksum_file,
    new_artifact,
    read_manifest,
    require_replaceable,
)
from muppet.config import EncoderConfig, from_table
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Paragraph, Progress, silent
from muppet.encode.encoder import TextEncoder
from muppet.encode.graphs import FORMAT, HOLDS, KIND, REMAKE
from muppet.encode.inputs import file_of
from muppet.errors import ConfigError, QuestionError
from muppet.nn.encoder import stop_scale
from muppet.nn.relevance import SHARPNESS

HELD_OUT = 5
"""Every so many-th question says how good the fit is, and is not fitted."""
DECAY = 1e-2
AT_ONCE = 64
GRAPH = "relevance.onnx"
WEIGHT, BIAS = "encoder.stop.weight", "encoder.stop.bias"

Accuracies = dict[str, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Prefix:
    """A question with what has been read so far; `complete`: that is all of its gold."""

    source: str
    number: int
    question: str
    chain: tuple[Paragraph, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class StopHead:
    """A chain's evidence is complete if weight . (what it asks next) + bias > 0."""

    weight: NDArray[np.float32]  # (D,)
    bias: float

    def logits(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) -> (N,)"""
        return vectors @ self.weight + np.float32(self.bias)


def fit_to(
    model: Path,
    files: Sequence[Path],
    out: Path,
    *,
    count: int,
    seed: int,
    threads: int = 1,
    progress: Progress = silent,
) -> Accuracies:
    """Fit to so many questions of each file and write the encoder; how good the head is on the
    questions that were held out: file -> paragraphs read -> share right."""
    encoder = TextEncoder(model, threads)
    encoder.require_reformulation()
    require_replaceable(out, KIND)
    files = list(dict.fromkeys(files))
    rng = np.random.default_rng(seed)
    prefixes: list[Prefix] = []
    for file in files:
        questions = read_questions(file)
        some = rng.permutation(len(questions))[:count]
        prefixes += gold_prefixes(str(file), [questions[place] for place in some], rng)
    vectors = _reformulated(encoder, prefixes, progress)
    held = np.array([one.number % HELD_OUT == 0 for one in prefixes], dtype=bool)
    seen, unseen = np.flatnonzero(~held), np.flatnonzero(held)
    if len({prefixes[place].complete for place in seen.tolist()}) < 2:
        raise QuestionError(
            "The stop head learns from chains that are complete and from such that are not, so "
            "from questions with the texts of several gold paragraphs, and there are none or too "
            f"few in {', '.join(map(str, files))}. Name HotpotQA's train file too, for example."
        )
    head = fit_stop_head(vectors[seen], [prefixes[place] for place in seen.tolist()])
    made_from = {str(file): checksum_file(file) for file in files}
    write_stop_head(model, out, head, made_from | {"count": str(count), "seed": str(seed)})
    return accuracies(head, vectors[unseen], [prefixes[place] for place in unseen.tolist()])


def gold_prefixes(
    source: str, questions: Sequence[BenchmarkQuestion], rng: np.random.Generator
) -> list[Prefix]:
    """Every beginning of each question's gold, in some order; and where that has several
    paragraphs, half the time its first with a distractor behind it, which is not complete. A
    question that comes without its gold's texts is left out."""
    found = []
    for number, one in enumerate(questions):
        if not all(paragraph.text for paragraph in one.gold.paragraphs):
            continue
        gold = [one.gold.paragraphs[place] for place in rng.permutation(len(one.gold.paragraphs))]
        asked = one.question.text
        for hops in range(1, len(gold) + 1):
            chain = tuple(gold[:hops])
            found.append(Prefix(source, number, asked, chain, complete=hops == len(gold)))
        wrong = [other for other in one.context if other not in gold]
        if len(gold) > 1 and wrong and rng.random() < 0.5:
            chain = (gold[0], wrong[rng.integers(len(wrong))])
            found.append(Prefix(source, number, asked, chain, complete=False))
    return found


def fit_stop_head(vectors: NDArray[np.float32], prefixes: Sequence[Prefix]) -> StopHead:
    """Logistic regression on (N, D) reformulated questions. Complete and not complete weigh the
    same, and within each so do the sources, however many questions they have."""
    complete = torch.tensor([one.complete for one in prefixes], dtype=torch.float64)
    share = torch.from_numpy(_shares(prefixes))
    given = torch.from_numpy(vectors).double() * SHARPNESS
    weight = torch.zeros(given.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        descent.zero_grad()
        apart = binary_cross_entropy_with_logits(given @ weight + bias, complete, reduction="none")
        total = share @ apart + DECAY / 2 * weight @ weight
        total.backward()  # type: ignore[no-untyped-call]
        return total

    descent.step(loss)  # type: ignore[no-untyped-call]
    return StopHead((weight.detach() * SHARPNESS).float().numpy(), bias.item())


def accuracies(
    head: StopHead, vectors: NDArray[np.float32], prefixes: Sequence[Prefix]
) -> Accuracies:
    """How often the head is right: source -> paragraphs read -> share."""
    right = (head.logits(vectors) > 0) == np.array([one.complete for one in prefixes])
    found: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for one, is_right in zip(prefixes, right.tolist(), strict=True):
        found[one.source, len(one.chain)].append(is_right)
    table: Accuracies = defaultdict(dict)
    for (source, hops), some in sorted(found.items()):
        table[source][hops] = sum(some) / len(some)
    return dict(table)


def write_stop_head(
    model: Path, out: Path, head: StopHead, fitted_to: Mapping[str, str] = {}
) -> None:
    """The exported encoder again, with this stop head, whole or not at all. It has seen gold
    chains alone, so it judges none."""
    manifest = read_manifest(model, KIND, FORMAT, remake=REMAKE, holds=HOLDS)
    config = from_table(EncoderConfig, manifest.config["encoder"])
    graph = onnx.load(file_of(model, GRAPH, REMAKE))
    values = {WEIGHT: head.weight[None] / stop_scale(config), BIAS: np.array([head.bias])}
    for place in graph.graph.initializer:
        if place.name in values:
            new = values.pop(place.name).astype(np.float32)
            place.CopyFrom(numpy_helper.from_array(new, place.name))
    if values:
        raise ConfigError(f"{model} has no stop head: it was trained for one hop.")
    made_from = {**manifest.made_from, "stop head of": checksum_file(model / GRAPH), **fitted_to}
    settings = {**manifest.config, "encoder": {**manifest.config["encoder"], "judges": False}}
    with new_artifact(out, Manifest(KIND, FORMAT, settings, made_from)) as partial:
        for file in model.iterdir():
            if file.is_file():
                shutil.copyfile(file, partial / file.name)
            else:
                shutil.copytree(file, partial / file.name)
        onnx.save(graph, partial / GRAPH)


def _reformulated(
    encoder: TextEncoder, prefixes: Sequence[Prefix], progress: Progress
) -> NDArray[np.float32]:
    """(N, D)"""
    found: list[NDArray[np.float32]] = []
    for first in range(0, len(prefixes), AT_ONCE):
        some = prefixes[first : first + AT_ONCE]
        found += encoder.reformulated([one.question for one in some], [one.chain for one in some])
        progress("reading", len(found), len(prefixes))
    return np.stack(found) if found else np.zeros((0, encoder.dim), dtype=np.float32)


def _shares(prefixes: Sequence[Prefix]) -> NDArray[np.float64]:
    """What each weighs: (N,), 1 in all"""
    groups = [(one.complete, one.source) for one in prefixes]
    distinct = set(groups)
    sizes = {group: groups.count(group) for group in distinct}
    alike = {group: sum(group[0] == other[0] for other in distinct) for group in distinct}
    labels = len({complete for complete, _ in distinct})
    return np.array([1 / (labels * alike[group] * sizes[group]) for group in groups])
