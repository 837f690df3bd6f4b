"""Read a visitor's files: small ones here, large ones in a process, a few visitors at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.corpus.read_corpus import read_corpus
from bpe_core.corpus.readers import Upload
from bpe_core.corpus.reading_process import read_in_process, worth_a_process
from bpe_core.store.place import store_folder
from bpe_core.whole_files import make_folder

_MOST_AT_ONCE: Final = 2
"""Each process may take gigabytes."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2
_places: Final = BoundedSemaphore(_MOST_AT_ONCE)


def read_files(
    files: Sequence[Upload],
    columns: Mapping[str, str],
    *,
    encoding: Mapping[str, str],
    held_out_share: float,
    on_progress: Callable[[float], None],
    on_wait: Callable[[], object],
) -> Corpus | FiledCorpus:
    """Read files into a corpus; of a large one, only figures are in memory.

    `on_wait` is called regularly while others' files are read. Raises what `read_corpus`,
    `on_progress` and `on_wait` raise.
    """
    if worth_a_process(files):
        with _place(on_wait):
            try:
                make_folder(store_folder())
                return read_in_process(
                    files,
                    columns,
                    encoding=encoding,
                    held_out_share=held_out_share,
                    place=store_folder(),
                    on_progress=on_progress,
                )
            except OSError:
                pass  # the disk is full or read-only, so the files are read here
    return read_corpus(files, columns, encoding=dict(encoding), on_progress=on_progress)


@contextmanager
def _place(on_wait: Callable[[], object]) -> Iterator[None]:
    while not _places.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        on_wait()
    try:
        yield
    finally:
        _places.release()
