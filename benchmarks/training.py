"""The training step against the limit of its hardware: bare GRUs and matmuls of the same shapes.

    python benchmarks/training.py                               recipes/paper-hotpot.toml
    python benchmarks/training.py recipes/paper-squad.toml --steps 5 --json

The limit is the forward and backward pass of plain torch GRUs over the same padded batches, and of
the matrix products of the reformulation: no embedding, attention, pooling, loss or optimiser.
Only for recurrent networks. Read the ratio, not the times.
"""

import argparse
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from muppet.config import load_settings
from muppet.domain import silent
from muppet.train.batches import TrainingBatch
from muppet.train.loop import make_optimiser
from muppet.train.recipe import EncoderRecipe
from muppet.train.run import freeze_inputs, training_step
from muppet.train.train_encoder import EncoderRun

BAR = 0.6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="recipes/paper-hotpot.toml", type=Path)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--run", type=Path, default=Path("/tmp/muppet-benchmark"))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    recipe = load_settings(EncoderRecipe, asked.recipe)
    if recipe.encoder.network != "recurrent":
        parser.error(f"{asked.recipe} has a {recipe.encoder.network}: the limit is that of GRUs.")
    asked.run.mkdir(parents=True, exist_ok=True)
    run = EncoderRun(recipe, asked.run)
    freeze_inputs(run, silent)
    facts = measure(run, asked.steps)
    print(json.dumps(facts) if asked.json else _table(facts))


def measure(run: EncoderRun, steps: int) -> dict[str, float | str]:
    """Step and limit in turns, so that whatever else the machine does hits both alike."""
    optimiser = make_optimiser(run.encoder, run.recipe.optimiser)
    batches = [
        run.batch(0, step, numbers) for step, numbers in enumerate(run.epoch(0)[: steps + 1])
    ]
    training_step(run, batches[0], optimiser)  # warm up
    took: dict[str, list[float]] = {"step": [], "limit": []}
    for batch in batches[1:]:
        bare = bare_passes(run, batch)
        took["limit"].append(_seconds(lambda bare=bare: [one() for one in bare]))
        took["step"].append(_seconds(lambda batch=batch: training_step(run, batch, optimiser)))
    ratios = [limit / step for limit, step in zip(took["limit"], took["step"], strict=True)]
    return {
        "recipe dim": run.recipe.encoder.dim,
        "threads": run.recipe.run.threads,
        "step seconds": statistics.median(took["step"]),
        "limit seconds": statistics.median(took["limit"]),
        "limit / step": statistics.median(ratios),
        "bar": BAR,
        "verdict": "met" if statistics.median(ratios) >= BAR else "MISSED",
        "load": round(os.getloadavg()[0], 1),
        "commit": _commit(),
    }


def bare_passes(run: EncoderRun, batch: TrainingBatch) -> list[Callable[[], None]]:
    """What cannot be avoided: every GRU and every matrix product, on random numbers."""
    dim, inputs = run.recipe.encoder.dim, run.encoder.embedding.size
    texts = [*batch.paragraphs, batch.questions]
    passes = [_both_ways(inputs, dim, len(text), text.words.shape[1]) for text in texts]
    if run.recipe.encoder.hops == 1:
        return passes
    chains = {(int(q), *map(int, c[:-1])) for q, c in zip(batch.question, batch.chain, strict=True)}
    if run.recipe.objective.stop_weight:
        chains |= {(int(q), *map(int, c)) for q, c in zip(batch.question, batch.chain, strict=True)}
        chains |= {chain[:-1] for chain in chains if len(chain) > 2}
    width = batch.questions.words.shape[1]
    passes.append(_both_ways(dim, dim, len(chains), width))
    passes.append(_product(len(chains) * width, 4 * dim, dim))
    passes.append(_product(len(chains) * width, dim, dim))
    return passes


def _both_ways(inputs: int, dim: int, texts: int, width: int) -> Callable[[], None]:
    one, other = (nn.GRU(inputs, dim // 2, batch_first=True) for _ in range(2))
    states = torch.randn(texts, width, inputs, requires_grad=True)
    return lambda: _backward(one(states)[0].sum() + other(states)[0].sum())


def _product(rows: int, inputs: int, outputs: int) -> Callable[[], None]:
    layer = nn.Linear(inputs, outputs)
    states = torch.randn(rows, inputs, requires_grad=True)
    return lambda: _backward(layer(states).sum())


def _backward(loss: Tensor) -> None:
    loss.backward()


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _table(facts: dict[str, float | str]) -> str:
    return "\n".join(
        f"{name:15} {value:.3f}" if isinstance(value, float) else f"{name:15} {value}"
        for name, value in facts.items()
    )


if __name__ == "__main__":
    main()
