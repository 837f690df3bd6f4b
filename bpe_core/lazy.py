"""A package's face: the names that other packages may import, each loaded on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from sys import modules
from typing import Any

_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST, without importing ast


def lazy_exports(name: str, path: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`, which import what its file lists.

    The list is the `if TYPE_CHECKING:` block of the file at `path`, so type checkers, readers and
    imports go by the same lines. Reading it takes a fifth of a millisecond.

    >>> import bpe_core.corpus
    >>> "Corpus" in dir(bpe_core.corpus)
    True
    """
    source: Any = compile(Path(path).read_bytes(), path, "exec", _ONLY_AST)
    module_of = {
        alias.name: statement.module
        for block in source.body
        if hasattr(block, "test")
        for statement in block.body
        for alias in statement.names
        if statement.module != name  # the import system finds a package's modules by itself
    }

    def get_attribute(attribute: str) -> object:
        if attribute not in module_of:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        value = getattr(import_module(module_of[attribute]), attribute)
        setattr(modules[name], attribute, value)
        return value

    return get_attribute, lambda: sorted(module_of)


def from_above(face: str, name: str) -> Any:
    """Return what a package above lists, for a method that is short for a function of it.

    A module never imports what stands above it: that would be a circle. So `Tokenizer.from_file`,
    which calls `bpe_core.load`, looks it up when it is called.

    >>> from_above("bpe_core", "gpt2")().vocab_size
    50257
    """
    return getattr(import_module(face), name)
