"""Write the tokenizer that a process changes, and name the one that a run extends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bpe_core.adapting import DEFAULT_COVERAGE
from bpe_core.errors import FormatError
from bpe_core.files import read_regular
from bpe_core.formats import dumps, loads
from bpe_core.tokenizer import Tokenizer

_FILE: Final = "base.bpe.json"


@dataclass(frozen=True, slots=True)
class BaseName:
    """What a visitor calls the tokenizer that a run extends."""

    key: str
    """Its key on the shelf, as in `ui.tokenizers.shelf`; or "run-" and the id of a run."""
    name: str
    """May be user input."""


@dataclass(frozen=True, slots=True)
class Extension:
    """How a training extends a tokenizer."""

    base: BaseName
    n_tokens: int
    """The number of tokens to add."""
    terms: tuple[str, ...] = ()
    """The terms to make tokens before others are learned; user input."""
    pinned: tuple[str, ...] = ()
    """The bytes of tokens that are tried after the terms, in hexadecimal."""
    left_out: tuple[str, ...] = ()
    """The bytes of tokens that are not to be made, in hexadecimal."""
    character_coverage: float = DEFAULT_COVERAGE
    """The share of the text whose characters a base that spells them in bytes gets first."""

    def tried_first(self) -> list[str | bytes]:
        """Return the terms and the pinned tokens, as `extend` takes them."""
        return [*self.terms, *map(bytes.fromhex, self.pinned)]

    def excluded(self) -> list[bytes]:
        """Return the bytes of the tokens that are left out, as `extend` takes them."""
        return list(map(bytes.fromhex, self.left_out))


def extended_title(base: BaseName, text: str) -> str:
    """Return the title of a run that extends a base for a text with this title.

    >>> extended_title(BaseName("gpt2", "GPT-2"), "ships.txt")
    'GPT-2 + ships.txt'
    """
    return f"{base.name} + {text}"


def text_title(base: BaseName | None, title: str) -> str:
    """Return the title of the text that a run with this title and base was trained on.

    >>> text_title(BaseName("gpt2", "GPT-2"), "GPT-2 + ships.txt")
    'ships.txt'
    >>> text_title(None, "GPT-2 + ships.txt")
    'GPT-2 + ships.txt'
    """
    return title if base is None else title.removeprefix(extended_title(base, ""))


def write_base(folder: Path, tokenizer: Tokenizer) -> None:
    """Write the tokenizer that a process extends or reduces into its folder."""
    (folder / _FILE).write_bytes(next(iter(dumps(tokenizer, "native").values())))


def read_base(folder: Path) -> Tokenizer:
    """Read it again. Raises FormatError if it is damaged or missing."""
    try:
        data = read_regular(folder / _FILE)
    except OSError as error:
        raise FormatError("The tokenizer to work on is missing.") from error
    return loads({_FILE: data})
