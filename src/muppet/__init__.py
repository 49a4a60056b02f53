"""Multi-hop question answering over your own documents."""

__version__ = "0.2.0"
