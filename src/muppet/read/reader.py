"""Questions with chains → what the reader says of them, and their answers.

The runtime's reader: exported graphs, no torch. The recurrent network reads every question and
paragraph once a call, however many chains share it, and then each chain; the transformer network
reads question and chain in one text, so nothing of that can be shared.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import checksum_file, read_manifest, write_json
from muppet.config import ReadConfig, ReaderConfig, from_table
from muppet.domain import Answer, Paragraph
from muppet.encode.chunked import ALONE, AT_ONCE, Chunked
from muppet.encode.encoder import pad_states
from muppet.encode.inputs import Array, Inputs, file_of, open_session
from muppet.errors import ArtifactError, ConfigError
from muppet.read.answers import ChainLogits, ChainRead, choose_answers, without_padding
from muppet.read.calibrate import Calibration
from muppet.read.rounds import Pair
from muppet.text.batch import make_batch
from muppet.text.layout import Reading, pad_layouts, reading_apart, reading_joined
from muppet.text.prepare import Prepared

KIND = "exported reader"
FORMAT = 1
REMAKE = "muppet train export RUN/best --out READER"
HOLDS = {"reader": dict, "int8": bool, "positions": int}
CALIBRATION = "calibration.json"
RECALIBRATE = "muppet train calibrate KB QUESTIONS --reader READER"
LOGITS = ("start", "end", "kind", "verdict", "support")

States = NDArray[np.float32]


class ChainReader:
    """One exported reader, ready to read on so many threads."""

    def __init__(self, directory: Path, threads: int = 1) -> None:
        manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE, holds=HOLDS)
        self.config = from_table(ReaderConfig, manifest.config["reader"])
        self.joins = self.config.network == "transformer"
        self.calibration = read_calibration(directory)
        self._inputs = Inputs(directory, self.config, manifest.config["positions"], REMAKE)
        read = file_of(directory, "read.onnx", REMAKE)
        self.checksum = checksum_file(read)
        self._read = open_session(read, REMAKE)
        self.threads = threads
        self._chunked = Chunked(threads)
        self._wanted = {given.name for given in self._read.get_inputs()}
        self._inputs.require_all_of(self._wanted, read, REMAKE)
        knows_padding = not self.joins or "piece_mask" in self._wanted
        self._at_once = AT_ONCE if knows_padding else ALONE
        if not self.joins:
            text = file_of(directory, "text.onnx", REMAKE)
            self._text = open_session(text, REMAKE)
            self._text_wanted = {given.name for given in self._text.get_inputs()}
            self._inputs.require_all_of(self._text_wanted, text, REMAKE)

    def answers(
        self, question: str, chains: Sequence[Sequence[Paragraph]], config: ReadConfig
    ) -> list[Answer]:
        """The best answers from all chains of a question, best first (checklist 27)."""
        return choose_answers(self.read([(question, chain) for chain in chains]), config)

    def calibrated(self, answers: Sequence[Answer]) -> list[Answer]:
        """The same answers, with how likely each is right in place of its share of what was read.

        Until the reader has been calibrated the two are one.
        """
        if self.calibration is None or not answers:
            return list(answers)
        likely = self.calibration.of_answers([answer.probability for answer in answers]).tolist()
        return [replace(one, probability=p) for one, p in zip(answers, likely, strict=True)]

    @property
    def threshold(self) -> float:
        """An answer that is less likely right than this is a guess."""
        return self.calibration.threshold if self.calibration else 0.0

    def read(self, pairs: Sequence[Pair]) -> list[ChainRead]:
        """What the reader says of each chain, read by itself for its question."""
        readings = self._readings(pairs)
        run = self._run_joined if self.joins else self._run_apart(readings)
        found = self._chunked.run(readings, lambda one: one.size, run, self._at_once)
        return [
            ChainRead(tuple(chain), reading, logits)
            for (_, chain), reading, logits in zip(pairs, readings, found, strict=True)
        ]

    def _readings(self, pairs: Sequence[Pair]) -> list[Reading]:
        """Every distinct text is prepared once."""
        ready = self._inputs.preparer
        questions = {text: ready.question(text) for text in {question for question, _ in pairs}}
        distinct = {one for _, chain in pairs for one in chain}
        paragraphs = {one: ready.paragraph(one) for one in distinct}
        found = []
        for question, chain in pairs:
            texts = [paragraphs[one] for one in chain]
            if self.joins:
                found.append(reading_joined(ready, questions[question], texts))
            else:
                found.append(reading_apart(questions[question], texts))
        return found

    def _run_joined(self, readings: Sequence[Reading]) -> list[ChainLogits]:
        texts = [reading.joined for reading in readings if reading.joined is not None]
        batch = make_batch(texts, self._inputs.preparer.lexicon)
        fields = self._inputs.fields(batch, self._wanted)
        layouts = pad_layouts([reading.layout for reading in readings])
        return self._logits(readings, fields | {"titles": layouts.titles})

    def _run_apart(
        self, readings: Sequence[Reading]
    ) -> Callable[[Sequence[Reading]], list[ChainLogits]]:
        """Reads all their texts once; what is returned reads some of the chains of them."""
        distinct = {id(text): text for one in readings for text in (one.question, *one.chain)}
        states = dict(zip(distinct, self._states(list(distinct.values())), strict=True))

        def run(some: Sequence[Reading]) -> list[ChainLogits]:
            chains = [np.concatenate([states[id(text)] for text in one.chain]) for one in some]
            question, question_mask = pad_states([states[id(one.question)] for one in some])
            fields = asdict(pad_layouts([one.layout for one in some]))
            fields |= {"question": question, "question_mask": question_mask}
            return self._logits(some, fields | {"states": pad_states(chains)[0]})

        return run

    def _states(self, texts: Sequence[Prepared]) -> list[States]:
        """Each text's token states: (T, D)"""

        def run(some: Sequence[Prepared]) -> list[States]:
            batch = make_batch(some, self._inputs.preparer.lexicon)
            fields = self._inputs.fields(batch, self._text_wanted)
            (states,) = self._text.run(["states"], fields)
            return [one[: len(text.types)] for one, text in zip(states, some, strict=True)]

        return self._chunked.run(texts, lambda text: len(text.pieces) or len(text.types), run)

    def _logits(self, readings: Sequence[Reading], fields: dict[str, Array]) -> list[ChainLogits]:
        wanted = {name: field for name, field in fields.items() if name in self._wanted}
        found = [part.astype(np.float64) for part in self._read.run(list(LOGITS), wanted)]
        return [
            without_padding(reading, (part[row] for part in found))
            for row, reading in enumerate(readings)
        ]


def read_calibration(directory: Path) -> Calibration | None:
    """How a reader's probabilities are to be understood, if that has been measured."""
    path = directory / CALIBRATION
    if not path.is_file():
        return None
    try:
        return from_table(Calibration, json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError, ConfigError) as error:
        raise ArtifactError(
            f"{path} is damaged ({error}). Delete it, or make it anew with `{RECALIBRATE}`."
        ) from error


def write_calibration(directory: Path, calibration: Calibration) -> None:
    read_manifest(directory, KIND, FORMAT, remake=REMAKE)
    write_json(directory / CALIBRATION, asdict(calibration))
