"""The family tree of errors a user can cause.

Each message says what is wrong, where, and what to do next. Library code raises these; only
`cli/main.py` (and the server) turn them into one line and an exit code. Anything else is our bug.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class MuppetError(Exception):
    """Something the user can put right."""


class ConfigError(MuppetError):
    """A setting that does not exist, or has a value it cannot have."""


class ArtifactError(MuppetError):
    """A directory of ours that is missing, damaged, of another version, or busy."""


class CorpusError(MuppetError):
    """A source that cannot be read into a knowledge base."""


class QuestionError(MuppetError):
    """A question, or a file of questions or predictions, that cannot be used."""


INSTALL = "in the directory of Muppet's source, pip install --editable '.[{}]'"
"""How to get the libraries of an extra. The `muppet` of PyPI is somebody else's."""


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Around the import of an optional library: where it is missing, say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "muppet":
            raise
        raise ConfigError(
            f"{what} needs {library}, which is not installed: {INSTALL.format(extra)}."
        ) from error
