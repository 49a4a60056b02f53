"""Multi-hop question answering over your own documents.

    import muppet

    muppet.index("./my_docs", into="kb")
    muppet.encode("kb")
    with muppet.open("kb") as kb:
        print(kb.ask("a question of two hops").answers[0].text)

Each name here is imported when it is first used, so that `import muppet` stays light.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muppet.config import Config
    from muppet.domain import Answer, Chain, Document, Found, Hop, Paragraph, Result, SentenceRef
    from muppet.errors import MuppetError
    from muppet.facade.knowledge import Knowledge, encode, index, open
    from muppet.facade.training import train_encoder, train_reader

__version__ = "0.22.0"
__all__ = [
    "Answer",
    "Chain",
    "Config",
    "Document",
    "Found",
    "Hop",
    "Knowledge",
    "MuppetError",
    "Paragraph",
    "Result",
    "SentenceRef",
    "encode",
    "index",
    "open",
    "train_encoder",
    "train_reader",
]

# onnxruntime sends its maker what it is used for, and reads this when it is first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

_WHERE = {
    "config": ("Config",),
    "domain": ("Answer", "Chain", "Document", "Found", "Hop", "Paragraph", "Result", "SentenceRef"),
    "errors": ("MuppetError",),
    "facade.knowledge": ("Knowledge", "encode", "index", "open"),
    "facade.training": ("train_encoder", "train_reader"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

for _package in ("encode", "index"):
    # Two packages have the names of two functions. Imported now and taken out of sight, they
    # do not come back into it when one of their modules is imported.
    import_module(f"muppet.{_package}")
    del globals()[_package]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"muppet has no {name!r}; it has {', '.join(__all__)}.")
    value: object = getattr(import_module(f"muppet.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
