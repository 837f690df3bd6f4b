"""The interface that comparisons, views and measurements need from a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bpe_core.pretokenizers.special_tokens import AllowedSpecial
from bpe_core.types import Segment


@runtime_checkable
class Encoder(Protocol):
    """Anything that encodes: a `Tokenizer`, or a `ForeignTokenizer` that another library runs.

    What only a `Tokenizer` can do (explain, merge ranks, parts of a token) is not part of this
    interface: check with `isinstance`.

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
        """The library that encodes: "bpe_core", or another one with its version."""
        ...

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id, including any marker of a word border.

        Ids may have gaps, and two ids may have the same bytes.
        """
        ...

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        ...

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each special token."""
        ...

    @property
    def unknown_id(self) -> int | None:
        """The id of the token for text outside the vocabulary; None if there is no such token."""
        ...

    @property
    def drops_text(self) -> bool:
        """True if the tokenizer may drop white space, so that no token covers it."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash over everything that affects encoding: equal hashes mean equal results."""
        ...

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""
        ...

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one."""
        ...


@dataclass(frozen=True, slots=True)
class NamedEncoder:
    """An encoder with a name and a description.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> NamedEncoder("GPT-2", gpt2()).provenance
    ''
    """

    name: str
    """Its name; for a tokenizer from a file, the file's name, which is untrusted text."""
    encoder: Encoder
    provenance: str = ""
    """Where it comes from and what encodes with it, in sentences; may quote the file."""
