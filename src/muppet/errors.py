"""The family tree of errors a user can cause.

Each message says what is wrong, where, and what to do next. Library code raises these; only
`cli/main.py` (and the server) turn them into one line and an exit code. Anything else is our bug.
"""


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
