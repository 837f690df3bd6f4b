"""What a training starts from: special tokens, base symbols, the end-of-word marker, and their ids.

Ids are those of Hugging Face's `BpeTrainer`: special tokens first, in the order given; then the
base symbols, bytes sorted by their printable character and characters by code point; then the
marker, if there is one; then one id a merge.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from bpe_core.errors import VocabularyTooSmallError
from bpe_core.types import Base, TrainingConfig
from bpe_core.unicode.byte_alphabet import BYTE_ORDER

_PLACE_OF_BYTE = {bytes([byte]): place for place, byte in enumerate(BYTE_ORDER)}


def symbols_of(word: bytes, base: Base) -> list[bytes]:
    """Cut a pre-token into the base symbols that it starts as: bytes, or characters as UTF-8.

    >>> symbols_of("né".encode(), "bytes")
    [b'n', b'\\xc3', b'\\xa9']
    >>> symbols_of("né".encode(), "characters")
    [b'n', b'\\xc3\\xa9']
    """
    if base == "bytes":
        return [word[i : i + 1] for i in range(len(word))]
    return [character.encode() for character in word.decode()]


class GrowingVocabulary:
    """A vocabulary while it is learned: it starts with the base and takes one merge at a time.

    `seen` holds the base symbols that the documents contain. A byte alphabet may be "full"; of
    characters only those that were seen are taken, since nobody wants all of Unicode. Raises
    `VocabularyTooSmallError` where the size asked for has no room for what it must start with.

    >>> config = TrainingConfig(260, base="characters", end_of_word="</w>", special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, seen=[b"u", b"g"])
    >>> vocabulary.tokens
    [b'g', b'u', b'</w>']
    >>> vocabulary.start(b"ugg")
    [1, 0, 0, 2]
    >>> vocabulary.tokens[vocabulary.join(1, 0)]
    b'ug'
    """

    def __init__(self, config: TrainingConfig, seen: Iterable[bytes]) -> None:
        symbols = set(seen)
        if config.base == "bytes":
            if config.alphabet == "full":
                symbols |= _PLACE_OF_BYTE.keys()
            base = sorted(symbols, key=_PLACE_OF_BYTE.__getitem__)
        else:
            base = sorted(symbols)  # UTF-8 sorts as its code points do
        self.base: Base = config.base
        self.tokens = [token.encode() for token in config.special_tokens] + base
        """tokens[id]: the bytes of a token, those of the marker included."""
        self.special_tokens = {token: id for id, token in enumerate(config.special_tokens)}
        n_special = len(self.special_tokens)
        self.base_ids = {symbol: n_special + place for place, symbol in enumerate(base)}
        self.end_of_word_id: int | None = None
        if config.end_of_word is not None:
            self.end_of_word_id = len(self.tokens)
            self.tokens.append(config.end_of_word.encode())
        if len(self.tokens) > config.vocab_size:
            raise VocabularyTooSmallError(_too_small(config, n_special, len(base)))
        # Whether a token ends a word is a matter of structure: a text may spell "</w>" in letters,
        # and that is another token than the marker, though their bytes are alike.
        self._ends_word = [id == self.end_of_word_id for id in range(len(self.tokens))]
        # Of tokens that end no word, and of those that do.
        self._by_spelling: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        for id in range(n_special, len(self.tokens)):
            self._by_spelling[self._ends_word[id]][self.tokens[id]] = id

    def __len__(self) -> int:
        return len(self.tokens)

    def start(self, word: bytes) -> list[int]:
        """Give the ids that a pre-token starts as, the end-of-word marker at its end."""
        ids = [self.base_ids[symbol] for symbol in symbols_of(word, self.base)]
        return ids if self.end_of_word_id is None else [*ids, self.end_of_word_id]

    def join(self, left: int, right: int) -> int:
        """Give the id of what a merge makes: a new one, or the older token that is spelled so.

        Hugging Face's trainer reuses the id of a token spelled alike. A training that starts from
        single symbols never gets there: two stretches of text with the same bytes and no symbol
        that reaches over their ends are merged alike at every step. Special tokens are not looked
        at, so ordinary text never turns into one, whatever it spells.
        """
        if self.join_new([(left, right)]):
            return len(self.tokens) - 1
        return self._by_spelling[self._ends_word[right]][self.tokens[left] + self.tokens[right]]

    def join_new(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Join pairs one after another, up to one that is spelled as an older token; how many.

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
        """Give one that is the same now and grows apart."""
        other = copy(self)
        other.take_over(self)
        return other

    def take_over(self, other: GrowingVocabulary) -> None:
        """Become as another is now."""
        self.tokens = list(other.tokens)
        self._ends_word = list(other._ends_word)
        within, ending = other._by_spelling
        self._by_spelling = (dict(within), dict(ending))


def _too_small(config: TrainingConfig, n_special: int, n_base: int) -> str:
    kind = "bytes" if config.base == "bytes" else "characters"
    parts = [f"{n_base} {kind}"]
    if n_special:
        parts.append(f"{n_special} special token{'s' * (n_special > 1)}")
    if config.end_of_word is not None:
        parts.append("1 end-of-word marker")
    least = n_special + n_base + (config.end_of_word is not None)
    return (
        f"A vocabulary of {config.vocab_size} is too small: it starts with {' + '.join(parts)} "
        f"= {least} tokens before the first merge. Ask for at least {least}; each merge adds one."
    )
