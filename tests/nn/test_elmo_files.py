"""Files of an ELMo that do not fit are refused (checklist 10)."""

from pathlib import Path

import pytest

from muppet.errors import ConfigError
from muppet.nn.elmo import Elmo
from tiny_elmo import tiny_options, tiny_weights, write_elmo


@pytest.mark.parametrize("missing", ["options.json", "weights.hdf5"])
def test_a_missing_file_is_named_checklist_10(tmp_path: Path, missing: str) -> None:
    files = write_elmo(tmp_path, tiny_options(), tiny_weights())
    (tmp_path / missing).unlink()
    with pytest.raises(ConfigError, match=f"{missing} is not there"):
        Elmo.from_files(*files)


def test_files_of_another_kind_are_refused_checklist_10(tmp_path: Path) -> None:
    options, weights = write_elmo(tmp_path, tiny_options(), tiny_weights())
    with pytest.raises(ConfigError, match=r"is no options\.json"):
        Elmo.from_files(weights, weights)
    with pytest.raises(ConfigError, match="is no HDF5 file"):
        Elmo.from_files(options, options)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("char_cnn", "activation", "gelu", "activation is gelu, not relu or tanh"),
        ("char_cnn", "n_characters", 261, "n_characters is 261, not 262"),
        ("char_cnn", "filters", [1, 2], "is no options.json"),
        ("lstm", "dim", None, "is no options.json"),
        ("lstm", "dim", 6, r"Cell0/LSTMCell/B has the shape \(24,\).* it is \(20,\)"),
        ("lstm", "n_layers", 3, "Cell2/LSTMCell/B has the shape.* it is missing"),
    ],
)
def test_options_that_do_not_fit_are_refused_checklist_10(
    tmp_path: Path, part: str, name: str, value: object, message: str
) -> None:
    options = tiny_options()
    options[part][name] = value
    with pytest.raises(ConfigError, match=message):
        Elmo.from_files(*write_elmo(tmp_path, options, tiny_weights()))
