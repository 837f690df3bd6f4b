"""Recognise the kind of a source, unpack it, and read its documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from bpe_core.checks import describe
from bpe_core.corpus.archives import gunzip, members_of
from bpe_core.corpus.budget import SECONDS_TO_DESCRIBE, Budget
from bpe_core.corpus.columns import TableColumns, quoted
from bpe_core.corpus.notes import Note, NoteKind, group_notes
from bpe_core.corpus.rows import Report
from bpe_core.corpus.tables import describe_table, is_table, read_table
from bpe_core.corpus.text_decoding import check_encoding, decode_text
from bpe_core.errors import CorpusError, EmptyCorpusError, TextDecodingError, UnsupportedFileError

_MOST_REASONS = 5
_GZIP_MARK = b"\x1f\x8b"
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")

# Zip archives under another name: their text is inside XML, so their members are not documents.
_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".jar", ".whl", ".npz")


class Upload(Protocol):
    """An uploaded file: a name, and `read()` or, preferably, `getvalue()` for its bytes."""

    @property
    def name(self) -> str: ...

    def read(self) -> bytes: ...


Source = str | os.PathLike[str] | Upload


class Document(NamedTuple):
    """One document of a file, with its name and its encoding."""

    text: str
    name: str
    encoding: str


class Choices(NamedTuple):
    """The caller's choices about tables and text; None leaves one to the reader."""

    text_column: str | Mapping[str, str] | None = None
    """For all tables, or by the name of a file; a member of an archive is `archive.zip/a.csv`."""
    encoding: str | Mapping[str, str] | None = None
    """For all files, or by the name of a file."""

    def check(self) -> None:
        """Raise ConfigError for an unknown encoding."""
        encodings = (
            self.encoding.values() if isinstance(self.encoding, Mapping) else [self.encoding]
        )
        for encoding in encodings:
            if encoding is not None:
                check_encoding(encoding)

    def column_of(self, name: str) -> str | None:
        """Return the column chosen for a file."""
        column = self.text_column
        return column.get(name) if isinstance(column, Mapping) else column

    def encoding_of(self, name: str) -> str | None:
        """Return the encoding chosen for a file."""
        return self.encoding.get(name) if isinstance(self.encoding, Mapping) else self.encoding


Found = tuple[list[Document], list[Note]]


def size_of(source: Source) -> int:
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
    kind: NoteKind = "unreadable"
    if isinstance(error, EmptyCorpusError):
        kind = "empty"
    elif isinstance(error, TextDecodingError):
        kind = "undecodable"
    return Note(kind, name, f"Skipped. {error}")


def reasons(failures: Sequence[tuple[str, CorpusError]]) -> str:
    """Return why files could not be read, grouped if there are many."""
    if len(failures) <= _MOST_REASONS:
        return " ".join(str(error) for _, error in failures)
    groups = group_notes(skipped(name, error) for name, error in failures)
    return " ".join(group.sentence for group in groups)


def name_of(source: Source) -> str:
    """Return the name of a source, as documents and notes use it."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source).name or os.fspath(source)
    return str(getattr(source, "name", describe(source)))


def read_source(source: Source, choices: Choices, budget: Budget, report: Report) -> Found:
    """Read one source's documents, with notes on what was skipped or guessed.

    Raises CorpusError or a subclass if it has no text that can be read.
    """
    data, name = _bytes_of(source)
    budget.begin(len(data))
    return _read_bytes(data, name, choices, budget, report, nested=False)


def table_columns(source: Source, choices: Choices) -> TableColumns | None:
    """Describe the columns of a table, gzipped or not; None if the file is not a table."""
    data, name = _bytes_of(source)
    budget = Budget()
    budget.begin(len(data))
    return _table_of(data, name, choices, budget)[1]


def tables_in(
    sources: Sequence[Source], choices: Choices, most: int
) -> Iterator[tuple[str, TableColumns]]:
    """Describe the first `most` tables among files, those in zip archives too, with their names.

    Tables that cannot be read are left out, because reading the corpus reports them.

    >>> import io
    >>> class File(io.BytesIO):
    ...     name = "words.csv"
    >>> [(name, found.names) for name, found in tables_in([File(b"id,text\\n1,hug")], Choices(), 9)]
    [('words.csv', ('id', 'text'))]
    """
    return islice(_tables_in(sources, choices), most)


def may_be_tables(data: bytes, name: str) -> bool:
    """Return whether `tables_in` may find a table in a file.

    >>> may_be_tables(b"hug", "a.txt"), may_be_tables(b"text\\nhug", "a.csv")
    (False, True)
    """
    is_packed = data.startswith((*_ZIP_MARKS, _GZIP_MARK))
    return is_packed or is_table(data, _suffix(name))


def _tables_in(sources: Sequence[Source], choices: Choices) -> Iterator[tuple[str, TableColumns]]:
    budget = Budget(seconds_apart=SECONDS_TO_DESCRIBE)
    for source in sources:
        with suppress(CorpusError):
            data, name = _bytes_of(source)
            budget.begin(len(data))
            for member, own in _files_in(data, name, budget):
                with suppress(CorpusError):
                    own_name, columns = _table_of(own, member, choices, budget)
                    if columns is not None:
                        yield own_name, columns


def _files_in(data: bytes, name: str, budget: Budget) -> Iterator[tuple[str, bytes]]:
    """Yield the files in a zip archive, or the file itself."""
    if not data.startswith(_ZIP_MARKS) or _suffix(name) in _OFFICE:
        yield name, data
        return
    for member in members_of(data, name, budget):
        if not isinstance(member.data, CorpusError):
            yield member.name, member.data


def _table_of(
    data: bytes, name: str, choices: Choices, budget: Budget
) -> tuple[str, TableColumns | None]:
    if data.startswith(_GZIP_MARK):
        data = gunzip(data, name, budget)
        name = _without_gz(name)
    kind = _suffix(name)
    if data.startswith(_ZIP_MARKS) or not is_table(data, kind):
        return name, None
    encoding = choices.encoding_of(name)
    return name, describe_table(data, kind, name, encoding=encoding, budget=budget)


def _bytes_of(source: Source) -> tuple[bytes, str]:
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise CorpusError("The path is empty: name a file.")
        path = Path(source)
        try:
            return path.read_bytes(), path.name
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CorpusError(
                f"{os.fspath(source)!r} cannot be opened: {reason}. Check the path."
            ) from None
        except ValueError:
            raise CorpusError(
                f"{os.fspath(source)!r} is not a valid path: it contains a NUL or a lone "
                "surrogate. Correct it."
            ) from None
    get_value: Callable[[], bytes] | None = getattr(source, "getvalue", None)
    if not hasattr(source, "name") or not (get_value or hasattr(source, "read")):
        raise CorpusError(
            f"Expected a path, or an object with a name and read(), got {describe(source)}. For "
            "text in memory, use Corpus.from_text."
        )
    return (get_value() if get_value else source.read()), source.name


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def _without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def _read_bytes(
    data: bytes, name: str, choices: Choices, budget: Budget, report: Report, *, nested: bool
) -> Found:
    if not data:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    if data.startswith(_GZIP_MARK):
        data = gunzip(data, name, budget)
        name = _without_gz(name)
        if not data:
            raise EmptyCorpusError(f"{name} unpacks to an empty file. Give a file with text in it.")
    kind = _suffix(name)
    if data.startswith(_ZIP_MARKS):
        if nested or kind in _OFFICE:
            what = "an archive inside an archive" if nested else f"a {kind[1:]} file"
            raise UnsupportedFileError(
                f"{name} is {what}, not text. Unpack it, or export its text first."
            )
        return _read_zip(data, name, choices, budget, report)
    if is_table(data, kind):
        table = read_table(
            data, kind, name, choices.column_of(name), encoding=choices.encoding_of(name),
            budget=budget, report=report,
        )  # fmt: skip
        return [
            Document(text, f"{name} {place}", table.encoding)
            for text, place in zip(table.texts, table.places, strict=True)
        ], table.notes
    decoded = decode_text(data, name, choices.encoding_of(name))
    if not decoded.text:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    if (column := choices.column_of(name)) is not None:
        text = f"{name} is not a table: read all of it, not a column {quoted(column)}."
        notes.append(Note("not-a-table", name, text))
    return [Document(decoded.text, name, decoded.encoding)], notes


def _read_zip(data: bytes, name: str, choices: Choices, budget: Budget, report: Report) -> Found:
    documents: list[Document] = []
    notes: list[Note] = []
    failures: list[tuple[str, CorpusError]] = []
    for member in members_of(data, name, budget):
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
