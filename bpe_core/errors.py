"""Everything that a caller can cause, as one tree of exceptions.

    BpeError
    ├── CorpusError                 a corpus cannot be read, or holds nothing to learn from
    │   ├── EmptyCorpusError        no text in it
    │   ├── TextDecodingError       bytes that are no text in any encoding tried
    │   └── UnsupportedFileError    a file of a kind that cannot be read, or one too large
    ├── ConfigError                 a TrainingConfig that cannot work
    │   ├── VocabularyTooSmallError no room for the alphabet and the special tokens
    │   └── PatternError            a pattern that does not compile
    │       └── PatternTimeoutError one that takes too long on this text
    ├── TokenizationError           a text or a list of ids that this tokenizer cannot take
    │   ├── InvalidTextError        a lone surrogate: no UTF-8 exists for it
    │   ├── UnknownSymbolError      a character or byte outside the tokenizer's alphabet
    │   └── InvalidTokenIdError     an id outside the vocabulary
    ├── SearchError                 a search of a vocabulary that says nothing to look for
    ├── FormatError                 a file that is not in the format it should be in
    │   └── IntegrityError          data whose checksum is not the published one
    ├── MissingExtraError           a task that needs an optional package, which isn't installed
    └── UnavailableError            data of others that is not on this machine and can't be fetched

Each message says what was found, where, and what to do about it.
"""

from __future__ import annotations


class BpeError(Exception):
    """Base of all errors that a caller of this package can cause and may want to catch."""


class CorpusError(BpeError):
    """A corpus cannot be read, or holds nothing to learn from."""


class EmptyCorpusError(CorpusError):
    """A corpus without any text."""


class TextDecodingError(CorpusError):
    """Bytes that are not text in any of the encodings tried; the message names the byte offset."""


class UnsupportedFileError(CorpusError):
    """A file of a kind that cannot be read as text, or larger than is safe to unpack."""


class ConfigError(BpeError):
    """A training configuration that cannot work."""


class VocabularyTooSmallError(ConfigError):
    """A vocabulary size that leaves no room for the base symbols and the special tokens."""


class PatternError(ConfigError):
    """A pattern, of pre-tokens or to search by, that is not a valid regular expression."""


class PatternTimeoutError(PatternError):
    """A pattern that did not finish on a text in the time it was given."""


class TokenizationError(BpeError):
    """A text, or a list of ids, that a tokenizer cannot take."""


class InvalidTextError(TokenizationError):
    """A text with a lone surrogate, for which no UTF-8 exists."""


class UnknownSymbolError(TokenizationError):
    """A character or byte that the tokenizer's alphabet does not hold."""


class InvalidTokenIdError(TokenizationError):
    """An id that the tokenizer's vocabulary does not hold."""


class SearchError(BpeError):
    """A search of a vocabulary that says nothing to look for, such as bytes that are no hex."""


class FormatError(BpeError):
    """A file that is not in the format it was read as."""


class IntegrityError(FormatError):
    """Data whose SHA-256 is not the one its publisher gave."""


class MissingExtraError(BpeError):
    """A task that needs an optional package; the message says what to install."""


class UnavailableError(BpeError):
    """Data of others that is neither on this machine nor to be had from the network now."""
