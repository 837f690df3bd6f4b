"""Read large files into a corpus in a separate process with limited memory and time.

Decoding and cutting up a large text holds the interpreter's lock for tenths of a second at a time,
and everything else in the same process waits.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import gettempdir
from typing import ClassVar, Final, TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.corpus.columns import TableColumns
from bpe_core.corpus.corpus import (
    FIGURES,
    Corpus,
    Figures,
    damage_as_format_error,
    link_corpus,
    open_texts,
)
from bpe_core.corpus.counts_file import KEY, counts_in
from bpe_core.corpus.file_kinds import HEAD_BYTES, PARQUET_MARK, is_packed
from bpe_core.corpus.notes import Note
from bpe_core.corpus.read import read_corpus
from bpe_core.corpus.readers import (
    NamedFile,
    ReadOptions,
    Upload,
    may_be_tables,
    source_size,
    tables_in,
)
from bpe_core.corpus.word_counts import CountsSummary, WordCounts
from bpe_core.errors import ConfigError, ProcessError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_core.files import read_regular
from bpe_core.processes import Limits, Report
from bpe_core.types import PretokenCounts

with needs_extra("app", "Reading in another process"):
    import msgspec

    from bpe_core.processes import call

MIN_BYTES: Final = 4_000_000
"""The size from which files are worth a process, which takes half a second to start."""
_MIN_MARKS: Final = 200_000
"""Each line or comma may be a row or a value, and 1.9 million rows of a 4 MB table took 5 to 20
seconds."""
_MAX_BYTES: Final = 4 * 2**30
_MAX_FILES_RATIO: Final = 8
_MAX_SECONDS: Final = 900.0
MAX_WORDS: Final = 1_000_000
"""The distinct words of a counts file; each takes some 300 bytes in memory, and 600 in training."""
_MAX_COUNTS_BYTES: Final = 2**31
_MAX_COUNTS_PROCESSOR_SECONDS: Final = 60
_MAX_COUNTS_SECONDS: Final = 300.0
_UNFINISHED: Final = ".unfinished-corpus-"
_MAX_EXCERPTS: Final = 16
_WINDOW: Final = 200
_BEYOND_ASCII: Final = regex.compile(r"[^\x00-\x7f]")
_Answer = TypeVar("_Answer")
_Parts = tuple[Figures, Figures]


@dataclass(frozen=True, slots=True)
class Filed:
    """All of a large corpus but its text, and the figures of the parts that it is divided into."""

    whole: Figures
    notes: tuple[Note, ...]
    excerpts: tuple[tuple[str, ...], tuple[str, ...]]
    """The text around the first character beyond ASCII in each file of a guessed encoding, and the
    names of the documents that it is from."""
    columns: tuple[str, ...]
    """The names of the columns by which it can be divided."""
    share: float
    by: str | None
    parts: _Parts
    """As the corpus is divided by `share` and `by`."""


@dataclass(frozen=True, slots=True)
class Uploads:
    """Files in memory, which are read here, or in a process if they are large.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "hug.txt"
    ...     size = 3
    >>> uploads = Uploads([Upload(b"hug")])
    >>> uploads.n_bytes, uploads.are_large
    (3, False)
    >>> uploads.read(held_out_share=0.0, on_progress=lambda share: None).documents
    ('hug',)
    """

    MAX_BYTES_IN_MEMORY: ClassVar = 20_000_000
    """A text of up to this size is returned as a `Corpus`, as if it had been read here."""

    files: Sequence[Upload]
    choices: ReadOptions = field(default_factory=ReadOptions)
    wait: Callable[[], AbstractContextManager[Path]] = lambda: nullcontext(Path(gettempdir()))
    """Waits until a process may read; enters the folder that it may write to."""

    @property
    def n_bytes(self) -> int:
        """Their size, as far as it is known without reading them."""
        return sum(map(source_size, self.files))

    @property
    def are_large(self) -> bool:
        """Whether a process reads them."""
        return worth_a_process(self.files)

    def read(
        self,
        *,
        held_out_share: float,
        held_out_by: str | None = None,
        on_progress: Callable[[float], None],
    ) -> Corpus:
        """Read them into a corpus; of a large one, only figures are in memory.

        Raises what `read_in_process` and `wait` raise, but for OSError.
        """
        return self._read(
            lambda place: read_in_process(
                self.files,
                self.choices,
                held_out_share=held_out_share,
                held_out_by=held_out_by,
                place=place,
                on_progress=on_progress,
            ),
            lambda: self._read_here(on_progress),
        )

    def read_beginning(
        self, max_characters: int, *, on_progress: Callable[[float], None]
    ) -> tuple[Corpus, int]:
        """Read them, of large ones only the beginning; return the number of characters of all.

        The documents count as joined by a character. Raises what `read` raises.
        """

        def here() -> tuple[Corpus, int]:
            corpus = self._read_here(on_progress)
            return corpus, corpus.n_characters + max(0, len(corpus.documents) - 1)

        return self._read(
            lambda place: read_beginning_in_process(
                self.files, self.choices, max_characters, place=place, on_progress=on_progress
            ),
            here,
        )

    def describe_tables(self, most: int) -> list[tuple[str, TableColumns]]:
        """Describe tables as `tables_in` does. Raises what `read` raises."""
        return self._read(
            lambda place: describe_in_process(self.files, self.choices, most, place=place),
            lambda: list(tables_in(self.files, self.choices, most)),
        )

    def _read_here(self, on_progress: Callable[[float], None]) -> Corpus:
        return read_corpus(self.files, **self.choices._asdict(), on_progress=on_progress)

    def _read(self, apart: Callable[[Path], _Answer], here: Callable[[], _Answer]) -> _Answer:
        if self.are_large:
            # The disk may be full or read-only.
            with suppress(OSError), self.wait() as place:
                return apart(place)
        return here()


def worth_a_process(uploads: Sequence[Upload]) -> bool:
    """Return whether files are so large, or may unpack to so much, that a process should read them.

    Any packed file may: 16 kB of JSON unpacked to 16 MB, which stopped everything else for 2
    seconds.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "hug.txt"
    ...     size = 3
    >>> worth_a_process([Upload(b"hug")])
    False
    """
    if sum(map(source_size, uploads)) >= MIN_BYTES:
        return True
    texts = [_read_data(upload) for upload in uploads]
    marks = sum(data.count(b"\n") + data.count(b",") for data in texts)
    return marks >= _MIN_MARKS or any(is_packed(data[:HEAD_BYTES]) for data in texts)


def read_in_process(
    uploads: Sequence[Upload],
    choices: ReadOptions,
    *,
    held_out_share: float,
    held_out_by: str | None = None,
    place: Path,
    on_progress: Callable[[float], None],
) -> Corpus:
    """Read files as `read_corpus` does; a large corpus stays in a new folder in `place`.

    It is divided by `held_out_share` and `held_out_by` at the same time, or by default if that is
    not possible. Raises what `read_corpus` and `on_progress` raise, UnsupportedFileError if
    the files take too much memory or time, and OSError if the folder cannot be written.
    """
    with _write_folder(uploads, place) as folder:
        names = [upload.name for upload in uploads]
        asked = names, choices, held_out_share, held_out_by
        _ask(read_files, folder, *asked, on_progress=on_progress)
        if (folder / FIGURES).exists():
            return open_large(folder)
        corpus = Corpus.open(folder)
        shutil.rmtree(folder, ignore_errors=True)
        return corpus


def open_large(folder: Path) -> Corpus:
    """Return the corpus of a folder with its figures; the folder is deleted with it.

    Raises FormatError if the files are damaged or missing.
    """
    filed = _read_figures(folder)
    with damage_as_format_error():
        texts = open_texts(folder)
    corpus = Corpus(
        texts,
        (),
        file_notes=filed.notes,
        columns=dict.fromkeys(filed.columns, ()),
        text=Corpus(*filed.excerpts),
        known=filed.whole,
        folder=folder,
    )
    weakref.finalize(corpus, shutil.rmtree, folder, ignore_errors=True)
    return corpus


def open_saved(folder: Path) -> Corpus:
    """Return the corpus that was saved in a folder, which may be deleted while it is open.

    The files of a large one are linked to a new folder next to it, which is deleted with it. Raises
    FormatError if the files are damaged or missing.
    """
    if not (folder / FIGURES).exists():
        return Corpus.open(folder)
    linked = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        link_corpus(folder, linked)
        return open_large(linked)
    except BaseException:
        shutil.rmtree(linked, ignore_errors=True)
        raise


def divide_in_process(
    folder: Path, held_out_share: float, by: str | None = None, text: Corpus | None = None
) -> tuple[Corpus, Corpus]:
    """Return the figures of both parts of a large corpus, as `Corpus.split` with the seed 0 does.

    If a `text` is given, it is held out. Raises what `Corpus.split`, `Corpus.hold_out` and
    `read_in_process` raise.
    """
    filed = _read_figures(folder)
    parts = filed.parts
    if text is not None:
        # Next to the folder, whose files another call may be listing.
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=folder.parent) as place:
            text.save(Path(place))
            asked = held_out_share, by, Path(place)
            parts = _ask(divide_corpus, folder, *asked, more_bytes=text.n_bytes)
    elif (held_out_share, by) != (filed.share, filed.by):
        parts = _ask(divide_corpus, folder, held_out_share, by, None)
    training, held_out = (Corpus((), (), known=part, how=part.how) for part in parts)
    return training, held_out


def _read_figures(folder: Path) -> Filed:
    with damage_as_format_error():
        return msgspec.json.decode(read_regular(folder / FIGURES), type=Filed)


def read_beginning_in_process(
    uploads: Sequence[Upload],
    choices: ReadOptions,
    max_characters: int,
    *,
    place: Path,
    on_progress: Callable[[float], None],
) -> tuple[Corpus, int]:
    """Read the first documents of files, `max_characters` in all; return the characters of all.

    Raises what `read_in_process` raises. Nothing is left in `place`.
    """
    with _write_folder(uploads, place) as folder:
        names = [upload.name for upload in uploads]
        asked = names, choices, max_characters
        n_characters = _ask(read_beginning, folder, *asked, on_progress=on_progress)
        corpus = Corpus.open(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return corpus, n_characters


def describe_in_process(
    uploads: Sequence[Upload],
    choices: ReadOptions,
    most: int,
    *,
    place: Path,
) -> list[tuple[str, TableColumns]]:
    """Describe tables as `tables_in` does. Raises what `read_in_process` raises."""
    tables = [upload for upload in uploads if may_be_tables(_read_data(upload), upload.name)]
    if not tables:
        return []
    with _write_folder(tables, place) as folder:
        found = _ask(describe_tables, folder, [upload.name for upload in tables], choices, most)
        shutil.rmtree(folder, ignore_errors=True)
    return found


@contextmanager
def _write_folder(uploads: Sequence[Upload], place: Path) -> Generator[Path]:
    """Yield a new folder in `place` with the files; it is deleted if the block raises."""
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=place))
    try:
        for number, upload in enumerate(uploads):
            (folder / f"upload-{number}").write_bytes(_read_data(upload))
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _read_data(upload: Upload) -> bytes:
    get_value: Callable[[], bytes] | None = getattr(upload, "getvalue", None)
    return get_value() if get_value else upload.read()


def _ask(
    function: Callable[..., _Answer],
    folder: Path,
    *arguments: object,
    more_bytes: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> _Answer:
    """Call a function in a process with limits for the files in the folder and `more_bytes`."""
    size = more_bytes + sum(path.stat().st_size for path in folder.iterdir())
    limits = Limits(_MAX_SECONDS, _MAX_BYTES + _MAX_FILES_RATIO * size)
    try:
        return call(function, folder, *arguments, limits=limits, on_progress=on_progress)
    except ProcessError:
        raise UnsupportedFileError(
            "These files take too much memory or time to read. Give fewer of them, or smaller ones."
        ) from None


def read_files(
    folder: Path,
    names: list[str],
    choices: ReadOptions,
    share: float,
    by: str | None,
    report: Report[float],
) -> None:
    """Read the uploads of a folder, and write their corpus to it, with figures if it is large."""
    corpus = _read(folder, names, choices, report)
    corpus.save(folder)
    if corpus.n_bytes <= Uploads.MAX_BYTES_IN_MEMORY:
        return
    report(0.6, must_arrive=True)
    try:
        parts = _parts(*corpus.split(share, by=by))
    except ConfigError:
        by = None
        parts = _parts(*corpus.split(share, by=by))
    whole = replace(_measure(corpus), beginnings=parts[0].beginnings)
    columns = tuple(corpus.columns)
    filed = Filed(whole, corpus.file_notes, _excerpts(corpus), columns, share, by, parts)
    (folder / FIGURES).write_bytes(msgspec.json.encode(filed))


def read_beginning(
    folder: Path, names: list[str], choices: ReadOptions, max_characters: int, report: Report[float]
) -> int:
    """Write the first documents of the uploads of a folder to it; return the characters of all."""
    corpus = _read(folder, names, choices, report)
    _beginning(corpus, max_characters).save(folder)
    return corpus.n_characters + max(0, len(corpus.documents) - 1)


def describe_tables(
    folder: Path, names: list[str], choices: ReadOptions, most: int
) -> list[tuple[str, TableColumns]]:
    """Describe the uploads of a folder that are tables."""
    return list(tables_in(_files(folder, names), choices, most))


def divide_corpus(folder: Path, share: float, by: str | None, text: Path | None) -> _Parts:
    """Return the figures of the corpus in a folder as it is divided, or as `text` is held out."""
    corpus = Corpus.open(folder, stays_on_disk=True)
    if text is not None:
        return _parts(*corpus.hold_out(Corpus.open(text, stays_on_disk=True)))
    return _parts(*corpus.split(share, by=by))


def _read(folder: Path, names: list[str], choices: ReadOptions, report: Report[float]) -> Corpus:
    """Read the uploads of a folder, which are then deleted."""
    corpus = read_corpus(
        _files(folder, names),
        **choices._asdict(),
        # Dividing the corpus and describing it takes about as long as reading it.
        on_progress=lambda part: report(part / 2),
    )
    for path in folder.glob("upload-*"):
        path.unlink()
    return corpus


def _files(folder: Path, names: list[str]) -> list[NamedFile]:
    paths = [folder / f"upload-{number}" for number in range(len(names))]
    return [
        NamedFile(str(path), name, path.stat().st_size)
        for path, name in zip(paths, names, strict=True)
    ]


def _beginning(corpus: Corpus, max_characters: int) -> Corpus:
    documents: list[str] = []
    for document in corpus.documents:
        if max_characters < 0:
            break
        documents.append(document[:max_characters])
        max_characters -= len(document) + 1
    n = len(documents)
    return Corpus(
        tuple(documents),
        corpus.names[:n],
        file_notes=corpus.file_notes,
        encodings=corpus.encodings[:n],
    )


def _parts(training: Corpus, held_out: Corpus) -> _Parts:
    return _measure(training), _measure(held_out)


def _measure(corpus: Corpus) -> Figures:
    return Figures(
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        sha256=corpus.sha256,
        fingerprint=corpus.fingerprint,
        n_sources=corpus.n_sources,
        files=corpus.files,
        composition=corpus.composition(),
        characters=corpus.characters(),
        beginnings=corpus.beginnings,
        how=corpus.how,
    )


def _excerpts(corpus: Corpus) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return texts by which guesses can be judged, and the names of their documents."""
    wanted = {note.file for note in corpus.file_notes if note.kind in ("encoding", "undecodable")}
    texts: list[str] = []
    names: list[str] = []
    for text, name in zip(corpus.documents, corpus.names, strict=True):
        file = next((file for file in wanted if name == file or name.startswith(f"{file} ")), None)
        found = _BEYOND_ASCII.search(text) if file is not None else None
        if file is not None and found and len(texts) < _MAX_EXCERPTS:
            wanted.remove(file)
            texts.append(text[max(0, found.start() - _WINDOW) : found.start() + _WINDOW])
            names.append(name)
    return tuple(texts), tuple(names)


def is_counts_file(data: bytes) -> bool:
    """Return True for a Parquet file with the columns and the metadata of `write_counts`.

    Only the bytes of its metadata are looked at; reading it shows whether it is valid.

    >>> is_counts_file(b"hug 10")
    False
    """
    if len(data) < 12 or data[-4:] != PARQUET_MARK:
        return False
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[max(0, len(data) - 8 - size) : -8]
    # Strings are preceded by a length in the format's own numbers: 4 is 8, 5 is 10.
    columns = b"\x04word" in footer and b"\x05count" in footer
    return columns and KEY in footer


def read_counts_in_process(data: bytes, name: str, sample: Corpus | None = None) -> Corpus:
    """Read a counts file as a corpus, with a sample of the text if there is one.

    Raises UnsupportedFileError for a file that is not valid, takes too much memory or time, or has
    more than MAX_WORDS distinct words.
    """
    limits = Limits(
        _MAX_COUNTS_SECONDS, _MAX_COUNTS_BYTES + 8 * len(data), _MAX_COUNTS_PROCESSOR_SECONDS
    )
    try:
        found = call(read_words, np.frombuffer(data, np.uint8), name, limits=limits)
    except ProcessError:
        raise UnsupportedFileError(
            f"{name} takes too much memory or time to read. Drop rare words with bpe count "
            "--floor, or train on it from the command line with bpe train --counts."
        ) from None
    letters, counts, summary = found
    words = PretokenCounts.of_letters(letters, counts)
    return Corpus.from_word_counts(WordCounts(words, summary), sample)


def read_words(
    data: NDArray[np.uint8], name: str
) -> tuple[NDArray[np.uint8], NDArray[np.int64], CountsSummary]:
    """Return the letters, the counts and the summary of a file; see `read_counts_in_process`."""
    found = counts_in(io.BytesIO(data.data), name)
    pretokens = found.pretokens
    if pretokens.n_words > MAX_WORDS:
        raise UnsupportedFileError(
            f"{name} has {pretokens.n_words:,} distinct words; the limit here is {MAX_WORDS:,}. "
            "Drop rare words with bpe count --floor, or train on it from the command line "
            "with bpe train --counts."
        )
    return pretokens.letters, pretokens.counts.astype(np.int64), found.summary
