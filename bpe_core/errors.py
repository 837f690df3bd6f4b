"""The tree of exceptions that a caller can cause.

    BpeError
    ├── CorpusError                 a corpus that cannot be read or has nothing to learn from
    │   ├── EmptyCorpusError        no text in it
    │   ├── TextDecodingError       bytes that are not text in any encoding tried
    │   └── UnsupportedFileError    a file of a kind that cannot be read, or one too large
    ├── ConfigError                 a TrainingConfig that cannot work
    │   ├── VocabularyTooSmallError no room for the alphabet and the special tokens
    │   └── PatternError            a pattern that does not compile
    │       └── PatternTimeoutError one that takes too long on this text
    ├── TokenizationError           a text or a list of ids that this tokenizer cannot take
    │   ├── InvalidTextError        a lone surrogate, which UTF-8 cannot encode
    │   ├── UnknownSymbolError      a character or byte outside the tokenizer's alphabet
    │   └── InvalidTokenIdError     an id outside the vocabulary
    ├── SearchError                 an invalid search of a vocabulary
    ├── FormatError                 a file that is not in the expected format
    │   ├── IntegrityError          data whose checksum differs from the published or stored one
    │   └── NewerFormatError        a file that a newer version of this package wrote
    ├── StoreError                  a store of runs and files that cannot do what was asked
    │   ├── NoEntryError            no entry of this name
    │   ├── NotKeptError            an entry that cannot be kept: the disk is full or read-only
    │   └── NotPermittedError       an entry, or a store, of another user
    ├── ProcessError                work in another process that was killed, or that crashed
    │   ├── MemoryLimitError        it exceeded its limit of memory
    │   ├── TimeLimitError          it exceeded its limit of time
    │   └── UnforeseenError         it raised an error that is not one of these
    ├── MissingExtraError           a task that needs an optional package that is not installed
    └── UnavailableError            external data that is not cached and cannot be downloaded

Each message states what was found, where, and what to do about it.
"""

from __future__ import annotations


class BpeError(Exception):
    """Base of all errors that a caller of this package can cause and may want to catch."""


class CorpusError(BpeError):
    """A corpus that cannot be read or has nothing to learn from."""


class EmptyCorpusError(CorpusError):
    """A corpus without any text."""


class TextDecodingError(CorpusError):
    """Bytes that are not text in any encoding tried; the message names the byte offset."""


class UnsupportedFileError(CorpusError):
    """A file that cannot be read as text, or is larger than is safe to unpack."""


class ConfigError(BpeError):
    """A training configuration that cannot work."""


class VocabularyTooSmallError(ConfigError):
    """A vocabulary size that leaves no room for the base symbols and the special tokens."""


class PatternError(ConfigError):
    """A pattern, for pre-tokens or a search, that is not a valid regular expression."""


class PatternTimeoutError(PatternError):
    """A pattern that did not finish on a text within its time limit."""


class TokenizationError(BpeError):
    """A text, or a list of ids, that a tokenizer cannot take."""


class InvalidTextError(TokenizationError):
    """A text with a lone surrogate, which UTF-8 cannot encode."""


class UnknownSymbolError(TokenizationError):
    """A character or byte outside the tokenizer's alphabet."""


class InvalidTokenIdError(TokenizationError):
    """An id outside the tokenizer's vocabulary."""


class SearchError(BpeError):
    """An invalid search of a vocabulary, such as bytes that are not hexadecimal."""


class FormatError(BpeError):
    """A file that is not in the expected format."""


class IntegrityError(FormatError):
    """Data whose SHA-256 differs from the published one, or from the one stored with it."""


class NewerFormatError(FormatError):
    """A file or an entry of the store that a newer version of this package wrote."""


class StoreError(BpeError):
    """A store of runs and files that cannot do what was asked."""


class NoEntryError(StoreError):
    """The store has no entry of this name."""


class NotKeptError(StoreError):
    """The store cannot keep anything now: its disk is full or read-only."""


class NotPermittedError(StoreError):
    """An entry, or the whole store, belongs to another user of this computer."""


class ProcessError(BpeError):
    """Work in another process that ended without an answer: it was killed, or it crashed."""


class MemoryLimitError(ProcessError):
    """Work in another process that exceeded its limit of memory."""


class TimeLimitError(ProcessError):
    """Work in another process that exceeded its limit of time."""


class UnforeseenError(ProcessError):
    """Work in another process that raised an error of another kind.

    Only the name of its class is known, because its message may quote a visitor's text.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        """The name of the class."""

    def __str__(self) -> str:
        return f"It stopped because of an error in the app ({self.name})."


class MissingExtraError(BpeError):
    """A task that needs an optional package; the message names what to install."""


class UnavailableError(BpeError):
    """External data that is not cached and cannot be downloaded now."""
