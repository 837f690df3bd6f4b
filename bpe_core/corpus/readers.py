"""Recognise the kind of a source, unpack it, and read its documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

from bpe_core.checks import check_choice, describe, is_a
from bpe_core.corpus.archives import iterate_members, unpack
from bpe_core.corpus.budget import SECONDS_TO_DESCRIBE, Budget
from bpe_core.corpus.columns import TableColumns, quoted
from bpe_core.corpus.file_kinds import (
    HEAD_BYTES,
    detect_packing,
    file_suffix,
    is_archive,
    is_packed,
    is_table,
    other_kind,
    unpacked_name,
)
from bpe_core.corpus.notes import Note, NoteKind, group_notes
from bpe_core.corpus.rows import OnPart
from bpe_core.corpus.tables import describe_table, read_table
from bpe_core.corpus.text_decoding import (
    DecodingErrors,
    check_encoding,
    decode_text,
    refuse_other_kinds,
)
from bpe_core.corpus.urls import files_at, reading
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    TextDecodingError,
    UnsupportedFileError,
)

_MAX_REASONS = 5


class Upload(Protocol):
    """An uploaded file: a name, and `read()` or, preferably, `getvalue()` for its bytes."""

    @property
    def name(self) -> str:
        """Its name, whose ending may say what it holds."""
        ...

    def read(self) -> bytes:
        """Return its contents."""
        ...


Source = str | os.PathLike[str] | Upload


class Document(NamedTuple):
    """One document of a file, with its name and its encoding."""

    text: str
    name: str
    encoding: str
    value: str = ""
    """In the column that is kept."""


class ReadOptions(NamedTuple):
    """The caller's choices about tables and text; None leaves one to the reader."""

    text_column: str | Mapping[str, str] | None = None
    """For all tables, or by the name of a file; a member of an archive is `archive.zip/a.csv`."""
    encoding: str | Mapping[str, str] | None = None
    """For all files, or by the name of a file."""
    errors: DecodingErrors = "strict"
    """What becomes of bytes that do not fit the encoding."""
    max_archive_files: int | None = None
    """The largest number of files in an archive; None for no limit."""
    kept_column: str | None = None
    """A column of all tables whose values are read along with the texts."""

    def check(self) -> None:
        """Raise ConfigError for an unknown encoding or value of `errors`."""
        check_choice("errors", self.errors, DecodingErrors, ConfigError)
        encodings = (
            self.encoding.values() if isinstance(self.encoding, Mapping) else [self.encoding]
        )
        for encoding in encodings:
            if encoding is not None:
                check_encoding(encoding)

    def chosen_column(self, name: str) -> str | None:
        """Return the column chosen for a file."""
        column = self.text_column
        return column.get(name) if isinstance(column, Mapping) else column

    def chosen_decoding(self, name: str) -> tuple[str | None, DecodingErrors]:
        """Return the encoding chosen for a file, and what becomes of bytes that do not fit."""
        own = self.encoding.get(name) if isinstance(self.encoding, Mapping) else self.encoding
        return own, self.errors


class NamedFile(NamedTuple):
    """A file by path or URL that documents and notes call by another name."""

    url: str
    name: str
    size: int = 0
    """In bytes, if it is known."""

    def read(self) -> bytes:
        """Return its contents; raises CorpusError."""
        with reading(self.url) as file:
            return file.read()


Found = tuple[list[Document], list[Note]]


def expand_folder(source: Source) -> list[Source]:
    """Return the files in a folder in the order of their paths, and any other source as it is.

    Hidden files are left out. Raises CorpusError for a folder without files.

    >>> expand_folder("a.txt")
    ['a.txt']
    """
    if not isinstance(source, (str, os.PathLike)) or not os.path.isdir(source):
        return [source]
    files, _ = files_at(os.fspath(source))
    return [NamedFile(file.url, file.name, file.size) for file in files]


def source_size(source: Source) -> int:
    """Return the size of a source in bytes without reading it; 0 if unknown."""
    if isinstance(source, (str, os.PathLike)):
        try:
            return Path(source).stat().st_size
        except (OSError, ValueError):
            return 0
    size = getattr(source, "size", 0)
    return size if isinstance(size, int) else 0


def skipped(name: str, error: CorpusError) -> Note:
    """Return the note on a file that was skipped because of an error."""
    if isinstance(error, EmptyCorpusError):
        return Note("empty", name, f"{name} is empty and was skipped.")
    kind: NoteKind = "undecodable" if isinstance(error, TextDecodingError) else "unreadable"
    return Note(kind, name, f"Skipped. {error}")


def reasons(failures: Sequence[tuple[str, CorpusError]]) -> str:
    """Return why files could not be read, grouped if there are many."""
    if len(failures) <= _MAX_REASONS:
        return " ".join(str(error) for _, error in failures)
    groups = group_notes(skipped(name, error) for name, error in failures)
    return " ".join(group.sentence for group in groups)


def source_name(source: Source) -> str:
    """Return the name of a source, as documents and notes use it."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source).name or os.fspath(source)
    return str(getattr(source, "name", describe(source)))


def read_source(source: Source, choices: ReadOptions, budget: Budget, report: OnPart) -> Found:
    """Read one source's documents, with notes on what was skipped or guessed.

    Raises CorpusError or a subclass if it has no text that can be read.
    """
    data, name = source_bytes(source)
    budget.begin(len(data))
    return _read_bytes(data, name, choices, budget, report, nested=False)


def tables_in(
    sources: Sequence[Source], choices: ReadOptions, most: int
) -> Iterator[tuple[str, TableColumns]]:
    """Describe the first `most` tables among files, those in zip archives too, with their names.

    Tables that cannot be read are left out, because reading the corpus reports them.

    >>> import io
    >>> class File(io.BytesIO):
    ...     name = "words.csv"
    >>> found = tables_in([File(b"id,text\\n1,hug")], ReadOptions(), 9)
    >>> [(name, columns.names) for name, columns in found]
    [('words.csv', ('id', 'text'))]
    """
    return islice(_tables_in(sources, choices), most)


def may_be_tables(data: bytes, name: str) -> bool:
    """Return whether `tables_in` may find a table in a file.

    >>> may_be_tables(b"hug", "a.txt"), may_be_tables(b"text\\nhug", "a.csv")
    (False, True)
    """
    head = data[:HEAD_BYTES]
    return is_packed(head) or is_table(head, file_suffix(name))


def _tables_in(
    sources: Sequence[Source], choices: ReadOptions
) -> Iterator[tuple[str, TableColumns]]:
    budget = Budget(seconds_apart=SECONDS_TO_DESCRIBE)
    for source in sources:
        with suppress(CorpusError):
            data, name = source_bytes(source)
            budget.begin(len(data))
            for member, own in _files_in(data, name, budget, choices):
                with suppress(CorpusError):
                    own_name, columns = _find_table(own, member, choices, budget)
                    if columns is not None:
                        yield own_name, columns


def _files_in(
    data: bytes, name: str, budget: Budget, choices: ReadOptions
) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an archive, or the file itself, unpacked."""
    data, name = _unpacked(data, name, budget)
    if not is_archive(data) or other_kind(data[:HEAD_BYTES], name) is not None:
        yield name, data
        return
    for member in iterate_members(data, name, budget, choices.max_archive_files):
        if not isinstance(member.data, CorpusError):
            yield member.name, member.data


def _find_table(
    data: bytes, name: str, choices: ReadOptions, budget: Budget
) -> tuple[str, TableColumns | None]:
    data, name = _unpacked(data, name, budget)
    kind = file_suffix(name)
    if is_archive(data) or not is_table(data, kind):
        return name, None
    encoding, errors = choices.chosen_decoding(name)
    return name, describe_table(data, kind, name, encoding=encoding, errors=errors, budget=budget)


def _unpacked(data: bytes, name: str, budget: Budget) -> tuple[bytes, str]:
    """Return what a packed file holds and its name, or both as they are."""
    packing = detect_packing(data[:HEAD_BYTES])
    if packing is None:
        return data, name
    return unpack(data, packing, name, budget), unpacked_name(name)[0]


def source_bytes(source: Source) -> tuple[bytes, str]:
    """Return the contents of a source and its name; raises CorpusError and ArgumentTypeError."""
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise CorpusError("The path is empty: name a file.")
        with reading(os.fspath(Path(source))) as file:  # a Path is never a URL
            return file.read(), source_name(source)
    get_value: Callable[[], bytes] | None = getattr(source, "getvalue", None)
    if not hasattr(source, "name") or not (get_value or hasattr(source, "read")):
        raise ArgumentTypeError(
            f"Expected a path, or an object with a name and read(), got {describe(source)}. For "
            "text in memory, use Corpus.from_text."
        )
    data = get_value() if get_value else source.read()
    if not is_a(data, bytes):
        raise ArgumentTypeError(
            f"Reading {source.name} gives a value of type {type(data).__name__}, not bytes. Open "
            "it in the mode 'rb', or give its path."
        )
    return data, source.name


def _read_bytes(
    data: bytes, name: str, choices: ReadOptions, budget: Budget, report: OnPart, *, nested: bool
) -> Found:
    if not data:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    packed = data
    data, name = _unpacked(data, name, budget)
    if not data:
        raise EmptyCorpusError(f"{name} unpacks to an empty file. Give a file with text in it.")
    head = data[:HEAD_BYTES]
    if detect_packing(head) is not None and packed is not data:
        raise UnsupportedFileError(f"{name} is packed twice. Unpack it first.")
    refuse_other_kinds(data, name)
    if is_archive(head):
        if nested:
            raise UnsupportedFileError(
                f"{name} is an archive inside an archive, not text. Unpack it first."
            )
        return _read_archive(data, name, choices, budget, report)
    encoding, errors = choices.chosen_decoding(name)
    kind = file_suffix(name)
    if is_table(head, kind):
        table = read_table(
            data, kind, name, choices.chosen_column(name), kept_column=choices.kept_column,
            encoding=encoding, errors=errors, budget=budget, report=report,
        )  # fmt: skip
        values = table.values or [""] * len(table.texts)
        return [
            Document(text, f"{name} {place}", table.encoding, value)
            for text, place, value in zip(table.texts, table.places, values, strict=True)
        ], table.notes
    decoded = decode_text(data, name, encoding, errors)
    if not decoded.text:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    if (column := choices.chosen_column(name)) is not None:
        text = f"{name} is not a table: read all of it, not a column {quoted(column)}."
        notes.append(Note("not-a-table", name, text))
    return [Document(decoded.text, name, decoded.encoding)], notes


def _read_archive(
    data: bytes, name: str, choices: ReadOptions, budget: Budget, report: OnPart
) -> Found:
    documents: list[Document] = []
    notes: list[Note] = []
    failures: list[tuple[str, CorpusError]] = []
    for member in iterate_members(data, name, budget, choices.max_archive_files):
        try:
            if isinstance(member.data, CorpusError):
                raise member.data
            found, new_notes = _read_bytes(
                member.data, member.name, choices, budget,
                lambda part, member=member: report(member.begin + part * member.share), nested=True,
            )  # fmt: skip
        except CorpusError as error:
            failures.append((member.name, error))
            notes.append(skipped(member.name, error))
        else:
            documents.extend(found)
            notes.extend(new_notes)
        # Thousands of unreadable members must not keep the caller from stopping this.
        report(member.begin + member.share)
    if not documents:
        kind = UnsupportedFileError
        if all(isinstance(error, EmptyCorpusError) for _, error in failures):
            kind = EmptyCorpusError
        why = reasons(failures) or "It has no files."
        raise kind(f"{name} has no file that can be read. {why}")
    return documents, notes
