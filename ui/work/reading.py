"""Read a visitor's files: small ones here, large ones in a process, a few visitors at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final, TypeVar

from bpe_core.corpus.columns import TableColumns
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.corpus.read_corpus import read_corpus
from bpe_core.corpus.readers import ReadOptions, Upload, tables_in
from bpe_core.corpus.reading_process import (
    describe_in_process,
    read_beginning_in_process,
    read_in_process,
    worth_a_process,
)
from bpe_core.corpus.text_decoding import DecodingErrors
from bpe_core.files.store import make_store_folder

MAX_ARCHIVE_FILES: Final = 10_000
_MAX_CONCURRENT: Final = 2
"""Each process may take gigabytes."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2
_places: Final = BoundedSemaphore(_MAX_CONCURRENT)
_Found = TypeVar("_Found")


def read_files(
    files: Sequence[Upload],
    columns: Mapping[str, str],
    *,
    encoding: Mapping[str, str],
    errors: DecodingErrors = "strict",
    held_out_share: float,
    held_out_by: str = "document",
    kept_column: str | None = None,
    on_progress: Callable[[float], None],
    on_wait: Callable[[], object],
) -> Corpus | FiledCorpus:
    """Read files into a corpus; of a large one, only figures are in memory.

    `on_wait` is called regularly while others' files are read. Raises what `read_corpus`,
    `on_progress` and `on_wait` raise.
    """
    choices = ReadOptions(columns, encoding, errors, MAX_ARCHIVE_FILES, kept_column)

    def apart(place: Path) -> Corpus | FiledCorpus:
        return read_in_process(
            files,
            choices,
            held_out_share=held_out_share,
            held_out_by=held_out_by,
            place=place,
            on_progress=on_progress,
        )

    def here() -> Corpus:
        return read_corpus(files, **choices._asdict(), on_progress=on_progress)

    return _read(files, apart, here, on_wait)


def read_beginning(
    files: Sequence[Upload],
    max_characters: int,
    *,
    on_progress: Callable[[float], None],
    on_wait: Callable[[], object],
) -> tuple[Corpus, int]:
    """Read files, of large ones only the beginning; return the number of characters of all.

    The documents count as joined by a character. Raises what `read_files` raises.
    """
    choices = ReadOptions(max_archive_files=MAX_ARCHIVE_FILES)

    def apart(place: Path) -> tuple[Corpus, int]:
        return read_beginning_in_process(
            files, choices, max_characters, place=place, on_progress=on_progress
        )

    def here() -> tuple[Corpus, int]:
        corpus = read_corpus(files, **choices._asdict(), on_progress=on_progress)
        return corpus, corpus.n_characters + max(0, len(corpus.documents) - 1)

    return _read(files, apart, here, on_wait)


def describe_tables(
    files: Sequence[Upload],
    encoding: Mapping[str, str],
    most: int,
    *,
    errors: DecodingErrors = "strict",
    on_wait: Callable[[], object],
) -> list[tuple[str, TableColumns]]:
    """Describe tables as `tables_in` does. Raises what `read_files` raises."""
    choices = ReadOptions(None, encoding, errors, MAX_ARCHIVE_FILES)

    def apart(place: Path) -> list[tuple[str, TableColumns]]:
        return describe_in_process(files, choices, most, place=place)

    def here() -> list[tuple[str, TableColumns]]:
        return list(tables_in(files, choices, most))

    return _read(files, apart, here, on_wait)


def _read(
    files: Sequence[Upload],
    apart: Callable[[Path], _Found],
    here: Callable[[], _Found],
    on_wait: Callable[[], object],
) -> _Found:
    """Read in a child process if the files are large, otherwise here."""
    if worth_a_process(files):
        with _place(on_wait):
            try:
                return apart(make_store_folder())
            except OSError:
                pass  # the disk is full or read-only, so the files are read here
    return here()


@contextmanager
def _place(on_wait: Callable[[], object]) -> Generator[None]:
    while not _places.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        on_wait()
    try:
        yield
    finally:
        _places.release()
