"""Names by which another process finds a function or an error of this package, or of its app."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

_PACKAGES: Final = frozenset({"bpe_core", "ui", "tests"})


def full_name(named: Callable[..., Any]) -> str:
    """Return the name of a function or class; raises ValueError unless `find` finds it by that.

    >>> full_name(find)
    'bpe_core.processes.names:find'
    """
    name = f"{named.__module__}:{named.__qualname__}"
    if "<" in name or find(name) is not named:
        raise ValueError(f"{name} is not at the top of its module")
    return name


def find(name: str) -> Callable[..., Any]:
    """Return what has a name; raises ValueError if it is in another package.

    >>> find("os:system")
    Traceback (most recent call last):
    ValueError: os:system is in another package
    """
    module, _, inside = name.partition(":")
    if module.split(".")[0] not in _PACKAGES:
        raise ValueError(f"{name} is in another package")
    return getattr(import_module(module), inside)
