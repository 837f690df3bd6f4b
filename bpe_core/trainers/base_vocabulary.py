"""The vocabulary that training starts from: special tokens, base symbols and end-of-word marker.

Ids follow Hugging Face's `BpeTrainer`: special tokens first, in the order given; then the base
symbols (bytes sorted by their printable character, characters by code point); then the end-of-word
marker, if any; then one id per merge. With byte fallback, the tokens <0x00> to <0xFF> follow the
special tokens, as in Llama 2, and a space has the place of the ▁ that files write for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from bpe_core.checks import counted
from bpe_core.errors import VocabularyTooSmallError
from bpe_core.types import Base, Characters, TrainingConfig
from bpe_core.unicode import BYTE_ORDER, META

_PLACE_OF_BYTE = {bytes([byte]): place for place, byte in enumerate(BYTE_ORDER)}


def split_symbols(word: bytes, base: Base) -> list[bytes]:
    """Split a pre-token into base symbols: single bytes, or characters encoded as UTF-8.

    >>> split_symbols("né".encode(), "bytes")
    [b'n', b'\\xc3', b'\\xa9']
    >>> split_symbols("né".encode(), "characters")
    [b'n', b'\\xc3\\xa9']
    """
    if base == "bytes":
        return [word[i : i + 1] for i in range(len(word))]
    return [character.encode() for character in word.decode()]


class GrowingVocabulary:
    """A vocabulary during training: base symbols at first, then one more token per merge.

    `seen` holds the base symbols that occur in the documents. An alphabet of characters only ever
    holds those seen, never all of Unicode. Raises `VocabularyTooSmallError` if `config.vocab_size`
    has no room for the initial tokens.

    >>> config = TrainingConfig(260, base="characters", end_of_word="</w>", special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, seen=[b"u", b"g"])
    >>> vocabulary.tokens
    [b'g', b'u', b'</w>']
    >>> vocabulary.start(b"ugg")
    [1, 0, 0, 2]
    >>> vocabulary.tokens[vocabulary.join(1, 0)]
    b'ug'
    """

    forbidden: None = None
    """No pair is forbidden when training starts from single symbols."""

    def __init__(self, config: TrainingConfig, seen: Iterable[bytes]) -> None:
        symbols = set(seen)
        if config.base == "bytes":
            if config.alphabet == "bytes":
                symbols |= _PLACE_OF_BYTE.keys()
            base = sorted(symbols, key=_PLACE_OF_BYTE.__getitem__)
        else:
            # UTF-8 bytes sort in the same order as code points.
            meta = META.encode() if isinstance(config.alphabet, Characters) else b" "
            base = sorted(symbols, key=lambda symbol: symbol.replace(b" ", meta))
        self.base: Base = config.base
        n_special = len(config.special_tokens)
        n_bytes = 256 if isinstance(config.alphabet, Characters) else 0
        self.byte_ids = range(n_special, n_special + n_bytes)
        """The ids of the bytes that spell characters outside the alphabet."""
        fallback = [bytes([byte]) for byte in range(n_bytes)]
        self.tokens = [token.encode() for token in config.special_tokens] + fallback + base
        """tokens[id]: the bytes of a token, including those of the end-of-word marker."""
        self.special_tokens = {token: id for id, token in enumerate(config.special_tokens)}
        self.base_ids = {symbol: self.byte_ids.stop + i for i, symbol in enumerate(base)}
        self.end_of_word_id: int | None = None
        if (marker := config.end_of_word) is not None:
            self.end_of_word_id = len(self.tokens)
            self.tokens.append(marker.encode())
        if len(self.tokens) > config.vocab_size:
            raise VocabularyTooSmallError(_too_small(config, len(base), len(self.tokens)))
        # Bytes alone cannot show whether a token ends a word: text that spells "</w>" is a
        # different token from the marker, although their bytes are equal.
        self._ends_word = [id == self.end_of_word_id for id in range(len(self.tokens))]
        # Token bytes -> id: first for tokens within a word, then for tokens that end one.
        self._by_spelling: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        for id in range(self.byte_ids.stop, len(self.tokens)):
            self._by_spelling[self._ends_word[id]][self.tokens[id]] = id

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def next_id(self) -> int:
        """The id of the next new token."""
        return len(self.tokens)

    def start(self, word: bytes) -> list[int]:
        """Return a pre-token's initial ids, followed by the end-of-word marker if there is one.

        With byte fallback, characters outside the alphabet are left out, as in Hugging Face's
        trainer, so their neighbours become neighbours of each other.
        """
        symbols = split_symbols(word, self.base)
        if self.byte_ids:
            symbols = filter(self.base_ids.__contains__, symbols)
        ids = [self.base_ids[symbol] for symbol in symbols]
        return ids if self.end_of_word_id is None else [*ids, self.end_of_word_id]

    def join(self, left: int, right: int) -> int:
        """Return the id of a merged pair: a new one, or that of an older token with equal bytes.

        Hugging Face's trainer also reuses the id of a token with the same bytes. This cannot happen
        when training starts from single symbols: two stretches of text with the same bytes, and no
        symbol that crosses their ends, are merged alike at every step. Special tokens are left out
        of the comparison, so ordinary text never becomes one.
        """
        if self.join_new([(left, right)]):
            return len(self.tokens) - 1
        return self._by_spelling[self._ends_word[right]][self.tokens[left] + self.tokens[right]]

    def join_new(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Add a token per pair, but none from the first pair on that spells an older token.

        Return how many were added.

        >>> vocabulary = GrowingVocabulary(TrainingConfig(259, special_tokens=()), ())
        >>> vocabulary.join_new([(64, 65), (256, 66), (64, 65)]), len(vocabulary)
        (2, 258)
        """
        tokens, ends_word, by_spelling = self.tokens, self._ends_word, self._by_spelling
        before = len(tokens)
        for left, right in pairs:
            token = tokens[left] + tokens[right]
            ends = ends_word[right]
            if by_spelling[ends].setdefault(token, len(tokens)) != len(tokens):
                break
            tokens.append(token)
            ends_word.append(ends)
        return len(tokens) - before

    def copy(self) -> GrowingVocabulary:
        """Return an independent copy."""
        other = copy(self)
        other.take_over(self)
        return other

    def take_over(self, other: GrowingVocabulary) -> None:
        """Replace the contents of this vocabulary by a copy of another's."""
        self.tokens = list(other.tokens)
        self._ends_word = list(other._ends_word)
        within, ending = other._by_spelling
        self._by_spelling = (dict(within), dict(ending))


def _too_small(config: TrainingConfig, n_base: int, least: int) -> str:
    parts = [counted(n_base, config.base[:-1])]
    n_special = len(config.special_tokens)
    n_bytes = 256 if isinstance(config.alphabet, Characters) else 0
    if n_bytes:
        parts.append(f"{n_bytes} bytes")
    if n_special:
        parts.append(counted(n_special, "special token"))
    if least > n_special + n_bytes + n_base:
        parts.append("1 end-of-word marker")
    return (
        f"A vocabulary of {config.vocab_size} is too small: it starts with {' + '.join(parts)} "
        f"= {counted(least, 'token')} before the first merge. Use at least {least:,}; "
        "each merge adds one."
    )
