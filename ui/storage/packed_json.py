"""JSON files of a run's folder, read as values of declared types, and the form of a corpus in them.

Large ones are packed with gzip. All are checked against the folder's manifest.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.damage import ARRAY_DAMAGE
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.spans import Place
from bpe_core.errors import BpeError, FormatError
from bpe_core.files.store import read_checked, refused_as_not_permitted

Value = TypeVar("Value")


class StoredCorpus(msgspec.Struct, frozen=True):
    """A corpus without the notes and encodings of its files; earlier versions stored less."""

    documents: tuple[str, ...]
    names: tuple[str, ...]
    word_counts: dict[str, int] | None = None
    places: tuple[Place, ...] = ()
    units: tuple[int, ...] = ()
    columns: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict[str, "tuple[str, ...]"]
    )
    how: HeldOut | None = None

    def corpus(self) -> Corpus:
        """Return the corpus; raises ValueError or BpeError if its fields do not fit together."""
        if self.places and len(self.places) != len(self.documents):
            raise ValueError(f"Expected {len(self.documents)} places, got {len(self.places)}.")
        return Corpus(**{name: getattr(self, name) for name in StoredCorpus.__struct_fields__})


def corpus_fields(corpus: Corpus) -> dict[str, Any]:
    """Return a corpus as the fields of a StoredCorpus.

    >>> StoredCorpus(**corpus_fields(Corpus.from_text("hug"))).corpus().documents
    ('hug',)
    """
    words = corpus.word_counts
    return {
        "documents": tuple(corpus.documents),
        "names": corpus.names,
        "word_counts": None if words is None else dict(words),
        "places": corpus.places,
        "units": corpus.units,
        "columns": dict(corpus.columns),
        "how": corpus.how,
    }


def write_packed(path: Path, value: object) -> None:
    """Write a value as packed JSON; raises OSError."""
    # Without a timestamp, so that the same value makes the same file.
    path.write_bytes(gzip.compress(msgspec.json.encode(value), mtime=0))


def read_packed(folder: Path, name: str, type: type[Value]) -> Value:
    """Return the value of a file of a run's folder; call it within `named_damage`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, named_damage("The word"):
    ...     write_packed(Path(folder, "word.json.gz"), {"hug": 3})
    ...     read_packed(Path(folder), "word.json.gz", dict[str, int])
    {'hug': 3}
    """
    return msgspec.json.decode(gzip.decompress(read_checked(folder, name)), type=type)


@contextmanager
def named_damage(what: str) -> Generator[None]:
    """Raise a FormatError for a damaged file, and a NotPermittedError for another user's.

    Covers the reading of the file and the use of its value. `what` begins the message.

    >>> with named_damage("The corpus kept with this run"):
    ...     {}["origin"]
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The corpus kept with this run is damaged.
    """
    with refused_as_not_permitted(what):
        try:
            yield
        except PermissionError:
            raise
        except (*ARRAY_DAMAGE, RecursionError, zlib.error, BpeError) as error:
            raise FormatError(f"{what} is damaged.") from error
