"""An exported encoder that nobody has trained, for tests of what comes after training."""

from pathlib import Path

import torch

from muppet.config import CharacterConfig, EncoderConfig
from muppet.nn.export import export_model
from muppet.nn.model import new_model


def write_model(directory: Path, hops: int = 2) -> Path:
    """A random recurrent network over characters: every word counts, none is understood."""
    torch.manual_seed(2)
    letters = CharacterConfig(dim=8, filters=24, width=3, longest=10, at_least=1)
    config = EncoderConfig(dim=16, word_vectors=False, characters=letters, hops=hops)
    model = new_model(config, ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"], None)
    with torch.no_grad():
        for weights in model.encoder.relevance.parameters():
            weights.mul_(3.0)
    export_model(directory, model, {})
    return directory
