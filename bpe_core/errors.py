"""The tree of exceptions that a caller can cause, each with the built-in exception that it also is.

    BpeError
    ├── CorpusError (ValueError)    a corpus that cannot be read or has nothing to learn from
    │   ├── EmptyCorpusError        no text in it
    │   ├── TextDecodingError       bytes that are not text in any encoding tried
    │   └── UnsupportedFileError    a file of a kind that cannot be read, or one too large
    ├── ConfigError (ValueError)    a TrainingConfig, or another argument, that cannot work
    │   ├── ArgumentTypeError (TypeError)  an argument of the wrong type
    │   ├── VocabularyTooSmallError no room for the alphabet and the special tokens
    │   └── PatternError            a pattern that does not compile
    │       └── PatternTimeoutError one that takes too long on this text
    ├── OutOfRangeError (IndexError)  a step, a number of merges or an index outside its range
    ├── TokenizationError (ValueError)  a text or a list of ids that this tokenizer cannot take
    │   ├── InvalidTextError        a lone surrogate, which UTF-8 cannot encode
    │   ├── UnknownSymbolError      a character or byte outside the tokenizer's alphabet
    │   └── InvalidTokenIdError (IndexError)  an id outside the vocabulary
    ├── ChatTemplateError (ValueError)  a chat template, or messages, that cannot be rendered
    ├── SearchError (ValueError)    an invalid search of a vocabulary
    ├── FormatError (ValueError)    a file that is not in the expected format
    │   ├── IntegrityError          data whose checksum differs from the published or stored one
    │   └── NewerFormatError        a file that a newer version of this package wrote
    ├── StoreError (RuntimeError)   a store of runs and files that cannot do what was asked
    │   ├── NoEntryError            no entry of this name
    │   ├── NotKeptError            an entry that cannot be kept: the disk is full or read-only
    │   └── NotPermittedError       an entry, or a store, of another user
    ├── ProcessError (RuntimeError)  work in another process that was killed, or that crashed
    │   ├── MemoryLimitError        it exceeded its limit of memory
    │   ├── TimeLimitError          it exceeded its limit of time
    │   └── UnforeseenError         it raised an error that is not one of these
    ├── MissingExtraError (ImportError)  a task that needs an optional package that is not installed
    └── UnavailableError (OSError)  external data that is not cached and cannot be downloaded

    MissingFileError (FileNotFoundError)  a path without a file: a CorpusError and a FormatError

Each message states what was found, where, and what to do about it.
"""

from __future__ import annotations

import errno
from typing import Final


class BpeError(Exception):
    """Base of all errors that a caller of this package can cause and may want to catch."""


class CorpusError(BpeError, ValueError):
    """A corpus that cannot be read or has nothing to learn from."""


class EmptyCorpusError(CorpusError):
    """A corpus without any text."""


class TextDecodingError(CorpusError):
    """Bytes that are not text in any encoding tried; the message names the byte offset."""


class UnsupportedFileError(CorpusError):
    """A file that cannot be read as text, or is larger than is safe to unpack."""


class ConfigError(BpeError, ValueError):
    """A training configuration, or another argument, that cannot work."""


class ArgumentTypeError(ConfigError, TypeError):
    """An argument of the wrong type; the message states what was expected."""


class VocabularyTooSmallError(ConfigError):
    """A vocabulary size that leaves no room for the base symbols and the special tokens."""


class PatternError(ConfigError):
    """A pattern, for pre-tokens or a search, that is not a valid regular expression."""


class PatternTimeoutError(PatternError):
    """A pattern that did not finish on a text within its time limit."""


class OutOfRangeError(BpeError, IndexError):
    """A step, a number of merges or an index outside its range, which the message states."""


class TokenizationError(BpeError, ValueError):
    """A text, or a list of ids, that a tokenizer cannot take."""


class InvalidTextError(TokenizationError):
    """A text with a lone surrogate, which UTF-8 cannot encode."""


class UnknownSymbolError(TokenizationError):
    """A character or byte outside the tokenizer's alphabet."""


class InvalidTokenIdError(TokenizationError, IndexError):
    """An id outside the tokenizer's vocabulary."""


class ChatTemplateError(BpeError, ValueError):
    """A chat template that fails or refuses the messages, or messages of another form."""


class SearchError(BpeError, ValueError):
    """An invalid search of a vocabulary, such as bytes that are not hexadecimal."""


class FormatError(BpeError, ValueError):
    """A file that is not in the expected format."""


class MissingFileError(FileNotFoundError, CorpusError, FormatError):
    """A path at which there is no file, whether of a corpus or of a tokenizer."""


class IntegrityError(FormatError):
    """Data whose SHA-256 differs from the published one, or from the one stored with it."""


class NewerFormatError(FormatError):
    """A file or an entry of the store that a newer version of this package wrote."""


class StoreError(BpeError, RuntimeError):
    """A store of runs and files that cannot do what was asked."""


class NoEntryError(StoreError):
    """The store has no entry of this name."""


class NotKeptError(StoreError):
    """The store cannot keep anything now: its disk is full or read-only."""


class NotPermittedError(StoreError):
    """An entry, or the whole store, belongs to another user of this computer."""


class ProcessError(BpeError, RuntimeError):
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


class MissingExtraError(BpeError, ImportError):
    """A task that needs an optional package; the message names what to install."""


class UnavailableError(BpeError, OSError):
    """External data that is not cached and cannot be downloaded now."""


_REMEDIES: Final = {
    "ENOSPC": "Free some space there, or choose another disk.",
    "EDQUOT": "Delete files of yours there, or choose another disk.",
    "EFBIG": "Choose another disk, or raise the limit on the size of files (ulimit -f).",
    "EROFS": "Choose a folder that can be written.",
    "EACCES": "Check the permissions of the path and its folders.",
    "EPERM": "Check the permissions of the path and its folders.",
    "EISDIR": "Name a file.",
    "ENAMETOOLONG": "Choose a shorter name.",
    "EMFILE": "Close other files, or raise the limit on open ones (ulimit -n).",
    "ENFILE": "Close other programs, or raise the system's limit on open files.",
    "EIO": "Check the disk, or the network that it is on, and try again.",
    "ESTALE": "Try again.",
    "ETIMEDOUT": "Check the network, and try again.",
    "ENOMEM": "Close other programs, or use a machine with more memory.",
}


def explain(error: OSError, otherwise: str = "Check the path.") -> str:
    """Return what the system says of a file that it cannot read or write, and what to do about it.

    >>> explain(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device. Free some space there, or choose another disk.'
    >>> explain(OSError(errno.ENOTDIR, "Not a directory"), "Name another.")
    'Not a directory. Name another.'
    """
    reason = " ".join((error.strerror or str(error) or type(error).__name__).split())
    remedy = _REMEDIES.get(errno.errorcode.get(error.errno or 0, ""), otherwise)
    return f"{reason[:300].rstrip('.')}. {remedy}"
