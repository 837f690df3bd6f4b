"""What a comparison, a view and a measurement ask of a tokenizer, whoever encodes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bpe_core.pretokenizers.special_tokens import AllowedSpecial
from bpe_core.types import Segment


@runtime_checkable
class Encoder(Protocol):
    """Something that encodes: a `Tokenizer`, or a `ForeignTokenizer` that another library runs.

    Whatever else a `Tokenizer` can do (explain, merge ranks, parts of a token) is its own: ask
    with `isinstance`.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> isinstance(gpt2(), Encoder), gpt2().model, gpt2().engine
    (True, 'BPE', 'bpe_core')
    """

    @property
    def model(self) -> str:
        """BPE, Unigram, WordPiece or WordLevel."""
        ...

    @property
    def engine(self) -> str:
        """What encodes: "bpe_core", or another library and its version."""
        ...

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes, with what marks the border of a word where tokens are written with it.

        Ids may have gaps, and two ids the same bytes.
        """
        ...

    @property
    def vocab_size(self) -> int:
        """How many tokens it has."""
        ...

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Each special token's id."""
        ...

    @property
    def unknown_id(self) -> int | None:
        """The token that stands for text which it can't spell; None where it has none."""
        ...

    @property
    def drops_text(self) -> bool:
        """True where it may leave out white space, so that no token stands for it."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash over all that decides what it encodes: equal only where it encodes alike."""
        ...

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""
        ...

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens where they stand in a text, each byte of the text in exactly one."""
        ...


@dataclass(frozen=True, slots=True)
class NamedEncoder:
    """An encoder with what a reader wants to know of it.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> NamedEncoder("GPT-2", gpt2()).provenance
    ''
    """

    name: str
    """What it is called; for one out of a file, the file's name: a visitor's own words."""
    encoder: Encoder
    provenance: str = ""
    """Where it is from and what encodes with it, in sentences; may quote the file."""
