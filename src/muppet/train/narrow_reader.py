"""A trained reader → a narrower one, by how it reads some of the questions it was trained on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from muppet.config import ReadConfig
from muppet.domain import Progress
from muppet.errors import ConfigError
from muppet.nn.narrow import require_narrowable, write_narrow
from muppet.nn.reader import Reader
from muppet.nn.reader_model import load_reader
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.reader_measure import answer_questions
from muppet.train.reader_samples import WrongChains, reader_samples


def narrow_reader(
    directory: Path,
    files: Sequence[Path],
    out: Path,
    *,
    inner: int,
    questions: int,
    seed: int,
    progress: Progress,
) -> None:
    """Write the reader in `directory` with `inner` units in every feed-forward layer. So many
    questions of each file are read, each with its gold chain and a wrong one."""
    model = load_reader(directory)
    require_narrowable(model, directory, out, inner)
    rng = np.random.default_rng(seed)
    examples = []
    for file in files:
        data = load_training_data([file], max_tokens=model.config.max_tokens)
        some = sorted(rng.permutation(len(data.questions))[:questions].tolist())
        few = replace(data, questions=tuple(data.questions[number] for number in some))
        wrong = WrongChains(count=1)
        samples = {place: reader_samples(place, few, rng, wrong) for place in range(len(some))}
        examples.append((Texts(few, model.preparer), samples))
    if not any(samples for _, samples in examples):
        raise ConfigError(
            "None of the files holds a question with its gold paragraphs: name benchmark files."
        )

    def read(reader: Reader) -> None:
        for texts, samples in examples:
            for _ in answer_questions(reader, texts, samples, ReadConfig()):
                pass

    write_narrow(model, directory, out, inner, read, progress)
