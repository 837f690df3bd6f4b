"""Find the files of a corpus that is too large for memory, and describe each by its beginning.

`bpe_scale` divides them, and reads them part by part.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from typing import BinaryIO, Final, Literal, NamedTuple

from bpe_core.corpus.archives import Budget, open_packed
from bpe_core.corpus.columns import (
    ROWS_DESCRIBED,
    TableColumns,
    describe_row_columns,
    no_text_column,
)
from bpe_core.corpus.encoding_guess import JUDGED_BYTES, shown_encoding
from bpe_core.corpus.file_kinds import (
    JSON_LINES,
    TABLE_KINDS,
    Packing,
    detect_packing,
    file_suffix,
    is_plain_text,
    unpacked_name,
)
from bpe_core.corpus.notes import Note
from bpe_core.corpus.parquet import open_parquet_file
from bpe_core.corpus.readers import NamedFile, ReadOptions, read_source, skipped
from bpe_core.corpus.rows import are_json_lines, row_in, values_on
from bpe_core.corpus.text_decoding import (
    DecodingErrors,
    refuse_controls,
    refuse_other_kinds,
    whole_characters,
)
from bpe_core.corpus.urls import FoundFile, Location
from bpe_core.errors import BpeError, CorpusError, EmptyCorpusError, UnsupportedFileError
from bpe_core.files import ARCHIVE_DAMAGE
from bpe_core.unicode import are_whole_characters

Kind = Literal["text", "jsonl", "parquet", "whole"]
"""How a file is read: piece by piece, line by line, by row groups, or whole by one worker."""

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(TABLE_KINDS, "whole"),
    **dict.fromkeys(JSON_LINES, "jsonl"),
    ".parquet": "parquet",
}
_MAX_WHOLE_BYTES: Final = 1 << 30


class SourceFile(NamedTuple):
    """A file that holds text."""

    url: str
    """A URL, or an absolute path."""
    kind: Kind
    packing: Packing | None
    size: int
    version: str
    """A value that changes if the file does: its time and size, or a tag from its server."""
    is_named: bool = True
    """False for one of a folder or a pattern, which is skipped if it cannot be read."""
    name: str = ""
    """What documents, notes and figures call it: no path of this machine."""

    @property
    def location(self) -> Location:
        """Where it is opened."""
        return Location(self.url)

    @classmethod
    def find(cls, names: Iterable[str]) -> list[SourceFile]:
        """Find the files that paths, URLs, folders and patterns such as *.parquet name, in order.

        Of a folder all files are taken, sorted by path, but for hidden ones. Raises CorpusError for
        a name without files.

        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "b.jsonl.gz").write_bytes(b"")
        ...     _ = Path(folder, "a.txt").write_text("hug")
        ...     [(source.kind, source.packing, source.size) for source in SourceFile.find([folder])]
        [('text', None, 3), ('jsonl', 'gzip', 0)]
        """
        found: list[SourceFile] = []
        for name in names:
            files, is_named = Location(name).files()
            found += [cls._found(file, is_named=is_named) for file in files]
        if not found:
            raise EmptyCorpusError("No file given: name at least one.")
        return _named_apart(found)

    @classmethod
    def _found(cls, file: FoundFile, *, is_named: bool) -> SourceFile:
        name, packing = unpacked_name(file.name)
        kind = _KINDS.get(file_suffix(name), "text")
        if packing and kind == "parquet":
            kind = "whole"
        return cls(file.url, kind, packing, file.size, file.version, is_named, file.name)

    def describe_or_skip(
        self,
        text_column: str | None,
        errors: DecodingErrors = "strict",
        *,
        lists_columns: bool = False,
    ) -> DescribedFile | Note:
        """Describe the file, or return why it is skipped as one of a folder or a pattern.

        >>> source = SourceFile("/no/a.txt", "text", None, 3, "", is_named=False, name="a.txt")
        >>> source.describe_or_skip(None).kind
        'unreadable'
        """
        try:
            return self.describe(text_column, errors, lists_columns=lists_columns)
        except CorpusError as error:
            if self.is_named:
                raise
            return self.skipped(error)

    def skipped(self, error: CorpusError) -> Note:
        """Return the note that the file is skipped, which names no path of this machine."""
        return skipped(self.name, type(error)(str(error).replace(self.location.shown, self.name)))

    def describe(
        self,
        text_column: str | None,
        errors: DecodingErrors = "strict",
        *,
        lists_columns: bool = False,
    ) -> DescribedFile:
        """Look at the beginning, or at the metadata at its end, to know how to divide it.

        With `lists_columns`, the columns of rows are listed too. Raises UnsupportedFileError for a
        file that is not of the kind its name says, and CorpusError for a missing column.
        """
        source, name = self, self.location.shown
        if source.kind == "parquet":
            with source.location.reading() as file:
                parquet = open_parquet_file(file, name, errors)
                column = text_column
                if column not in parquet.strings:
                    _, column = parquet.choose(column)
                names = parquet.columns if lists_columns else ()
                return DescribedFile(source, column, parquet.group_sizes(column), names)
        source = source._by_content(name)
        if source.kind == "jsonl":
            if text_column is not None and not lists_columns:
                return DescribedFile(source, text_column)
            found, has_texts = source._json_columns()
            column = text_column
            if column is None:
                if found.chosen is None and not has_texts:
                    raise no_text_column(name, found)
                column = found.chosen.name if found.chosen else ""
            return DescribedFile(source, column, names=found.names if lists_columns else ())
        if source.kind == "whole" and source.size > _MAX_WHOLE_BYTES:
            raise UnsupportedFileError(
                f"{name} has {source.size:,} bytes, and a file of its kind is read whole, up to "
                f"{_MAX_WHOLE_BYTES:,}. Convert it to text, JSON lines or Parquet, or split it."
            )
        return DescribedFile(source, text_column or "" if source.kind == "whole" else "")

    def _by_content(self, name: str) -> SourceFile:
        """Return the file with the kind that its beginning shows; raises UnsupportedFileError."""
        source = self
        with source.location.reading() as file:
            head = file.read(JUDGED_BYTES)
        if (packing := detect_packing(head)) != source.packing:
            source = source._replace(packing=packing)
        if packing is not None:
            name = unpacked_name(name)[0]
            with source.opened() as file:
                head = file.read(JUDGED_BYTES)
        refuse_other_kinds(head, name)
        is_cut = len(head) == JUDGED_BYTES
        is_shown = shown_encoding(head) is not None
        # A large file is read in pieces even if it is not UTF-8, which raises an error or replaces.
        is_utf8 = are_whole_characters(whole_characters(head)[0] if is_cut else head)
        in_pieces = not is_shown and (is_utf8 or source.size > _MAX_WHOLE_BYTES)
        kind = file_suffix(name)
        if kind in (".json", *JSON_LINES):
            text = head.decode(errors="replace").removeprefix("\ufeff")
            is_lines = in_pieces and are_json_lines(text, kind, is_cut=is_cut)
            return source._replace(kind="jsonl" if is_lines else "whole")
        if source.kind == "whole" or not is_plain_text(head, name):
            return source._replace(kind="whole")
        refuse_controls(head, name)
        return source if in_pieces else source._replace(kind="whole")

    def _json_columns(self) -> tuple[TableColumns, bool]:
        """Describe the columns of the first JSON lines; True if some are texts without one."""
        rows: list[dict[str, object]] = []
        has_texts = False
        with self.opened() as file:
            for line in islice(file, ROWS_DESCRIBED):
                with suppress(ValueError, RecursionError):
                    found = [
                        row_in(value) for value in values_on(line.removeprefix(codecs.BOM_UTF8))
                    ]
                    rows += [row for row in found if isinstance(row, dict)]
                    has_texts = has_texts or any(isinstance(row, str) for row in found)
        names = dict.fromkeys(name for row in rows for name in row)
        return describe_row_columns(names, rows, is_sample=True), has_texts

    @contextmanager
    def opened(self) -> Generator[BinaryIO]:
        """Open the file, and unpack it if it is packed; errors become CorpusError."""
        name = self.location.shown
        with self.location.reading() as file:
            if self.packing is None:
                yield file
                return
            try:
                yield open_packed(file, self.packing, name)
            except BpeError:
                raise
            except ARCHIVE_DAMAGE as error:
                reason = " ".join(str(error).split())[:200]
                raise UnsupportedFileError(
                    f"{name} is damaged or incomplete ({reason}). Make or download it again."
                ) from None

    def texts(self, column: str, errors: DecodingErrors) -> tuple[list[str], list[Note]]:
        """Read the whole file as `read_corpus` does; return its documents, with notes on them."""
        choices = ReadOptions(column or None, errors=errors)
        file = NamedFile(self.url, self.name)
        documents, notes = read_source(file, choices, Budget(), lambda _: None)
        return [document.text for document in documents], notes


def _named_apart(sources: list[SourceFile]) -> list[SourceFile]:
    """Name files of one name by their paths from the folder that all files are in."""
    urls: dict[str, set[str]] = {}
    for source in sources:
        urls.setdefault(source.name, set()).add(source.url)
    alike = {name for name, found in urls.items() if len(found) > 1}
    parts = [source.location.shown.split("/") for source in sources]
    n_shared = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*parts)))  # noqa: B905
    return [
        source._replace(name="/".join(path[n_shared:])) if source.name in alike else source
        for source, path in zip(sources, parts, strict=True)
    ]


class DescribedFile(NamedTuple):
    """What must be known about a file to divide it."""

    source: SourceFile
    column: str
    """The column of the text; empty for plain text."""
    groups: tuple[int, ...] = ()
    """The size in bytes of each row group of a Parquet file."""
    names: tuple[str, ...] = ()
    """The columns of Parquet, or of the first rows of JSON lines, if they were asked for."""
