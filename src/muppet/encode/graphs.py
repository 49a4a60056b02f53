"""An exported model's directory, opened: the graphs in onnxruntime, and how texts are prepared."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from muppet.artifact import Manifest, checksum_file, read_manifest
from muppet.config import EncoderConfig, from_table
from muppet.encode.inputs import Array, Inputs, file_of, open_session
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared

KIND = "exported encoder"
FORMAT = 1
REMAKE = "muppet train export RUN/best --out MODEL"
HOLDS = {"encoder": dict, "int8": bool, "positions": int}


class Graphs:
    """The graphs of one model: batches in, arrays out. Runs may be asked for from many threads."""

    def __init__(self, directory: Path) -> None:
        manifest = _manifest(directory)
        self.config = from_table(EncoderConfig, manifest.config["encoder"])
        self.is_int8 = bool(manifest.config["int8"])
        self.checksum = _checksum(directory, self.config)
        self._inputs = Inputs(directory, self.config, manifest.config["positions"], REMAKE)
        self.preparer = self._inputs.preparer
        self._text = self._session(directory, "text.onnx")
        self._relevance = self._session(directory, "relevance.onnx")
        self._reformulate = (
            self._session(directory, "reformulate.onnx")
            if self.config.hops > 1 and self.config.network == "recurrent"
            else None
        )
        self._wanted = {given.name for given in self._text.get_inputs()}
        self._inputs.require_all_of(self._wanted, directory / "text.onnx", REMAKE)

    def text(self, texts: Sequence[Prepared], outputs: Sequence[str]) -> list[Array]:
        """Of `states` (B, T, D), `vectors` (B, S, D) and `attention` (B, T) the ones named."""
        batch = make_batch(texts, self.preparer.lexicon)
        fields = self._inputs.fields(batch, self._wanted)
        found: list[Array] = self._text.run(list(outputs), fields)
        return found

    def relevance(self, questions: Array, hop: int) -> tuple[Array, Array, Array]:
        """(B, D) -> search vectors (B, D), offsets (B,), stop logits (B,); hops count from 0."""
        last = np.array([min(hop, self.config.hops - 1)])
        search, offset, complete = self._relevance.run(None, {"questions": questions, "hop": last})
        return search, offset, complete

    def reformulate(
        self, question: Array, question_mask: Array, chain: Array, chain_mask: Array
    ) -> tuple[Array, Array, Array]:
        """States -> next questions (B, D), attention over question (B, N) and chain (B, M)"""
        assert self._reformulate is not None
        fields = {
            "question": question,
            "question_mask": question_mask,
            "chain": chain,
            "chain_mask": chain_mask,
        }
        asked, over_question, over_chain = self._reformulate.run(None, fields)
        return asked, over_question, over_chain

    @staticmethod
    def _session(directory: Path, name: str) -> onnxruntime.InferenceSession:
        return open_session(file_of(directory, name, REMAKE), REMAKE)


def checksum_of(directory: Path) -> str:
    """Of what makes the sentence vectors: the graph, and how much of a paragraph it is shown."""
    return _checksum(directory, from_table(EncoderConfig, _manifest(directory).config["encoder"]))


def _checksum(directory: Path, config: EncoderConfig) -> str:
    graph = checksum_file(file_of(directory, "text.onnx", REMAKE))
    return hashlib.sha256(f"{graph} {config.max_tokens} {config.title}".encode()).hexdigest()


def _manifest(directory: Path) -> Manifest:
    return read_manifest(directory, KIND, FORMAT, remake=REMAKE, holds=HOLDS)
