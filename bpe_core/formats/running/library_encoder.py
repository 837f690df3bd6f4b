"""What the encoders that another library runs have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from bpe_core.immutable import Immutable


class LibraryEncoder(Immutable):
    """Base class of the encoders that another library runs: what they know about themselves.

    `engine` is the library with its version, `vocab` the bytes of each id, and `special_tokens` the
    id of each special token.

    >>> encoder = LibraryEncoder("tiktoken 1.0", {0: b"a"}, {}, "00ff")
    >>> encoder.engine, encoder.vocab_size, encoder.fingerprint
    ('tiktoken 1.0', 1, '00ff')
    """

    def __init__(
        self,
        engine: str,
        vocab: Mapping[int, bytes],
        special_tokens: Mapping[str, int],
        fingerprint: str,
    ) -> None:
        self._engine = engine
        self._vocab = MappingProxyType(dict(vocab))
        self._special_tokens = MappingProxyType(dict(special_tokens))
        self._fingerprint = fingerprint

    @property
    def engine(self) -> str:
        """The library and its version."""
        return self._engine

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes."""
        return self._vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return len(self._vocab)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Each special token's id."""
        return self._special_tokens

    @property
    def fingerprint(self) -> str:
        """The SHA-256, in hexadecimal, of everything that affects encoding.

        The library's version is included, because another version may give other ids.
        """
        return self._fingerprint

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer's normalizer changes it before it is cut.

        >>> LibraryEncoder("tiktoken 1.0", {0: b"a"}, {}, "00ff").normalized("ﬁ")
        'ﬁ'
        """
        return text

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes, such as ▁ and ##.

        Returns None if the file writes bytes.

        >>> LibraryEncoder("tiktoken 1.0", {0: b"a"}, {}, "00ff").written(0)
        """
        del id
        return None

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Yield a text whole, because nothing proves where its ids would not change.

        `size` is the number of characters that each part has at least.

        >>> list(LibraryEncoder("tiktoken 1.0", {0: b"a"}, {}, "00ff").parts("a a", 1))
        ['a a']
        """
        del size
        yield text
