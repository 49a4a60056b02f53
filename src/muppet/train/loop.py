"""What all training shares: optimiser, average, checkpoint, exact resume (checklist 19)."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from muppet.artifact import (
    Manifest,
    new_artifact,
    read_manifest,
    require_made_from,
    restore_artifact,
)
from muppet.errors import ConfigError
from muppet.nn.model import load_weights, trained_parameters, trained_weights
from muppet.train.recipe import OptimiserConfig

KIND = "training checkpoint"
FORMAT = 1
OPTIMISERS = ("adadelta", "adamw")
PRETRAINED = "contextual.source"
"""In the names of a tuned transformer's weights."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a run is. The sampler draws from (seed, epoch, step), so this is its whole state."""

    epoch: int = 0
    step: int = 0  # in this epoch
    steps: int = 0  # in all
    evaluations_since_best: int = 0
    best: float = -1.0
    seconds: float = 0.0


def make_optimiser(encoder: nn.Module, config: OptimiserConfig) -> torch.optim.Optimizer:
    """Adadelta as in the paper, or AdamW; a tuned transformer has a learning rate of its own."""
    if config.kind not in OPTIMISERS:
        raise ConfigError(
            f"optimiser.kind must be one of {', '.join(OPTIMISERS)}, not {config.kind!r}."
        )
    if config.kind == "adadelta":
        return torch.optim.Adadelta(
            trained_parameters(encoder).values(),
            lr=config.rate,
            rho=config.rho,
            eps=config.epsilon,
        )
    own: list[nn.Parameter] = []
    pretrained: list[nn.Parameter] = []
    for name, parameter in trained_parameters(encoder).items():
        (pretrained if PRETRAINED in name else own).append(parameter)
    groups = [{"params": own, "lr": config.rate}]
    if pretrained:
        groups.append({"params": pretrained, "lr": config.contextual_rate})
    return torch.optim.AdamW(groups, weight_decay=config.weight_decay)


def set_rate(optimiser: torch.optim.Optimizer, config: OptimiserConfig, done: float) -> None:
    """Warm-up, then linear decay to zero, for adamw; `done` is the share of the run behind us."""
    if config.kind == "adadelta":
        return
    factor = min(
        done / config.warm_up if config.warm_up else 1.0, (1 - done) / (1 - config.warm_up)
    )
    for group, rate in zip(
        optimiser.param_groups, (config.rate, config.contextual_rate), strict=False
    ):
        group["lr"] = rate * max(factor, 0.0)


class MovingAverage:
    """An exponential moving average of the weights, used for evaluation and encoding.

    It begins with a short memory, so that a short run is not held back by where it started.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: w.clone() for name, w in trained_weights(module).items()}

    def update(self, module: nn.Module, steps: int) -> None:
        decay = min(self.decay, (1 + steps) / (10 + steps))
        for name, weight in trained_weights(module).items():
            self.weights[name].lerp_(weight, 1 - decay)


class Checkpoint:
    """All that a run needs to go on as if it had never stopped; no pickle."""

    def __init__(self, directory: Path, made_from: Mapping[str, str]) -> None:
        self._directory = directory
        self._made_from = dict(made_from)

    def exists(self) -> bool:
        return restore_artifact(self._directory)

    def save(
        self,
        position: Position,
        module: nn.Module,
        optimiser: torch.optim.Optimizer,
        average: MovingAverage,
    ) -> None:
        state = optimiser.state_dict()["state"]
        tensors: dict[str, Tensor] = {"random": torch.get_rng_state()}
        tensors |= {f"weights/{name}": w for name, w in trained_weights(module).items()}
        tensors |= {f"average/{name}": w for name, w in average.weights.items()}
        tensors |= {
            f"optimiser/{number}/{name}": value
            for number, values in state.items()
            for name, value in values.items()
        }
        with new_artifact(self._directory, Manifest(KIND, FORMAT, {}, self._made_from)) as partial:
            save_file({k: v.contiguous().clone() for k, v in tensors.items()}, partial / "state")
            (partial / "position.json").write_text(json.dumps(asdict(position)))

    def load(
        self, module: nn.Module, optimiser: torch.optim.Optimizer, average: MovingAverage
    ) -> Position:
        again = "muppet train, with another --out"
        manifest = read_manifest(self._directory, KIND, FORMAT, remake=again)
        require_made_from(self._directory, manifest, self._made_from, remake=again)
        tensors = load_file(self._directory / "state")
        load_weights(module, _under("weights/", tensors))
        average.weights = _under("average/", tensors)
        state: dict[int, dict[str, Any]] = {}
        for name, value in _under("optimiser/", tensors).items():
            number, key = name.split("/")
            state.setdefault(int(number), {})[key] = value
        optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
        torch.set_rng_state(tensors["random"])
        return Position(**json.loads((self._directory / "position.json").read_text()))


class Stopwatch:
    """Seconds of a run, over all its sittings."""

    def __init__(self, before: float) -> None:
        self._before = before
        self._began = time.monotonic()

    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began


def after_step(position: Position, seconds: float) -> Position:
    return replace(position, step=position.step + 1, steps=position.steps + 1, seconds=seconds)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
