"""What a setting may be, refused with its name, what is allowed, and what it is; which of several
holds for a hop."""

from collections.abc import Sequence
from typing import TypeVar

from muppet.errors import ConfigError

Setting = TypeVar("Setting")


def require_at_least(name: str, value: float, least: float) -> None:
    if not value >= least:  # so that NaN is refused as well
        raise ConfigError(f"{name} must be at least {least}, not {value}.")


def require_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")


def require_between(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name} must be from {least:,} to {most:,}, not {value}.")


def require_all_between(name: str, values: Sequence[float], least: float, most: float) -> None:
    if not values:
        raise ConfigError(f"{name} needs one number or more, each from {least:,} to {most:,}.")
    for value in values:
        require_between(name, value, least, most)


def at_hop(settings: Sequence[Setting], hop: int) -> Setting:
    """The setting of a hop (from 0); the last one holds for all later hops."""
    return settings[min(hop, len(settings) - 1)]
