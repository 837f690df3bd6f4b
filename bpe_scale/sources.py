"""Find the files of a corpus, describe each, and divide them into stretches of text.

A stretch is what one worker reads at a time. Where it begins and ends depends on the files alone.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from typing import BinaryIO, Final, Literal, NamedTuple

from bpe_core.corpus import (
    JSON_LINES,
    JUDGED_BYTES,
    ROWS_DESCRIBED,
    TABLE_KINDS,
    DecodingErrors,
    FoundFile,
    Location,
    Note,
    Packing,
    TableColumns,
    are_json_lines,
    describe_row_columns,
    detect_packing,
    file_suffix,
    is_plain_text,
    no_text_column,
    open_packed,
    open_parquet_file,
    refuse_controls,
    refuse_other_kinds,
    row_in,
    shown_encoding,
    skipped,
    unpacked_name,
    values_on,
    whole_characters,
)
from bpe_core.errors import BpeError, CorpusError, EmptyCorpusError, UnsupportedFileError
from bpe_core.files import ARCHIVE_DAMAGE
from bpe_core.pretokenizers import SCANNERS, Pretokenizer, get_pretokenizer, safe_split
from bpe_core.unicode import are_whole_characters

Kind = Literal["text", "jsonl", "parquet", "whole"]
"""How a file is read: piece by piece, line by line, by row groups, or whole by one worker."""

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(TABLE_KINDS, "whole"),
    **dict.fromkeys(JSON_LINES, "jsonl"),
    ".parquet": "parquet",
}
_MAX_WHOLE_BYTES: Final = 1 << 30

_MIN_BYTES: Final = 8 << 20
_USUAL_BYTES: Final = 64 << 20
_MIN_STRETCHES: Final = 8
_MAX_STRETCHES: Final = 4_096
_SEARCHED: Final = 1 << 20
# A change to how files are divided or read makes parts in older work folders unusable.
_VERSION: Final = 4


class Source(NamedTuple):
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


class DescribedFile(NamedTuple):
    """What must be known about a file to divide it."""

    source: Source
    column: str
    """The column of the text; empty for plain text."""
    groups: tuple[int, ...] = ()
    """The size in bytes of each row group of a Parquet file."""
    names: tuple[str, ...] = ()
    """The columns of Parquet, or of the first rows of JSON lines, if they were asked for."""


def find_sources(names: Iterable[str]) -> list[Source]:
    """Find the files that paths, URLs, folders and patterns such as *.parquet name, in order.

    Of a folder all files are taken, sorted by path, but for hidden ones. Raises CorpusError for a
    name without files.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "b.jsonl.gz").write_bytes(b"")
    ...     _ = Path(folder, "a.txt").write_text("hug")
    ...     [(source.kind, source.packing, source.size) for source in find_sources([folder])]
    [('text', None, 3), ('jsonl', 'gzip', 0)]
    """
    found: list[Source] = []
    for name in names:
        files, is_named = Location(name).files()
        found += [_source(file, is_named=is_named) for file in files]
    if not found:
        raise EmptyCorpusError("No file given: name at least one.")
    return _named_apart(found)


def _source(file: FoundFile, *, is_named: bool) -> Source:
    name, packing = unpacked_name(file.name)
    kind = _KINDS.get(file_suffix(name), "text")
    if packing and kind == "parquet":
        kind = "whole"
    return Source(file.url, kind, packing, file.size, file.version, is_named, file.name)


def _named_apart(sources: list[Source]) -> list[Source]:
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


def describe_or_skip(
    source: Source,
    text_column: str | None,
    errors: DecodingErrors = "strict",
    *,
    lists_columns: bool = False,
) -> DescribedFile | Note:
    """Describe a file, or return why one of a folder or a pattern is skipped.

    >>> source = Source("/no/a.txt", "text", None, 3, "", is_named=False, name="a.txt")
    >>> describe_or_skip(source, None).kind
    'unreadable'
    """
    try:
        return describe_source(source, text_column, errors, lists_columns=lists_columns)
    except CorpusError as error:
        if source.is_named:
            raise
        return note_skipped(source, error)


def note_skipped(source: Source, error: CorpusError) -> Note:
    """Return the note on a file that is skipped, which names no path of this machine."""
    return skipped(source.name, type(error)(str(error).replace(source.location.shown, source.name)))


def describe_source(
    source: Source,
    text_column: str | None,
    errors: DecodingErrors = "strict",
    *,
    lists_columns: bool = False,
) -> DescribedFile:
    """Look at a file's beginning, or at the metadata at its end, to know how to divide it.

    With `lists_columns`, the columns of rows are listed too. Raises UnsupportedFileError for a file
    that is not of the kind its name says, and CorpusError for a missing column.
    """
    name = source.location.shown
    if source.kind == "parquet":
        with source.location.reading() as file:
            parquet = open_parquet_file(file, name, errors)
            column = text_column
            if column not in parquet.strings:
                _, column = parquet.choose(column)
            names = parquet.columns if lists_columns else ()
            return DescribedFile(source, column, parquet.group_sizes(column), names)
    source = _by_content(source, name)
    if source.kind == "jsonl":
        if text_column is not None and not lists_columns:
            return DescribedFile(source, text_column)
        found, has_texts = _json_columns(source)
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


def _by_content(source: Source, name: str) -> Source:
    """Return a source of the kind that its beginning shows; raises UnsupportedFileError."""
    with source.location.reading() as file:
        head = file.read(JUDGED_BYTES)
    if (packing := detect_packing(head)) != source.packing:
        source = source._replace(packing=packing)
    if packing is not None:
        name = unpacked_name(name)[0]
        with opened(source) as file:
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


def _json_columns(source: Source) -> tuple[TableColumns, bool]:
    """Describe the columns of JSON lines by the first rows; True if some are texts without one."""
    rows: list[dict[str, object]] = []
    has_texts = False
    with opened(source) as file:
        for line in islice(file, ROWS_DESCRIBED):
            with suppress(ValueError, RecursionError):
                found = [row_in(value) for value in values_on(line.removeprefix(codecs.BOM_UTF8))]
                rows += [row for row in found if isinstance(row, dict)]
                has_texts = has_texts or any(isinstance(row, str) for row in found)
    names = dict.fromkeys(name for row in rows for name in row)
    return describe_row_columns(names, rows, is_sample=True), has_texts


@contextmanager
def opened(source: Source) -> Generator[BinaryIO]:
    """Open a file, and unpack it if it is packed; errors become CorpusError."""
    name = source.location.shown
    with source.location.reading() as file:
        if source.packing is None:
            yield file
            return
        try:
            yield open_packed(file, source.packing, name)
        except BpeError:
            raise
        except ARCHIVE_DAMAGE as error:
            reason = " ".join(str(error).split())[:200]
            raise UnsupportedFileError(
                f"{name} is damaged or incomplete ({reason}). Make or download it again."
            ) from None


def lines_from(file: BinaryIO, begin: int, end: int | None) -> Iterator[tuple[int, bytes]]:
    r"""Yield the lines that start between two places of a file, each with its place.

    >>> from io import BytesIO
    >>> list(lines_from(BytesIO(b"a\nb\nc"), 1, 3))
    [(2, b'b\n')]
    """
    at = begin
    if begin:
        file.seek(begin - 1)
        at += len(file.readline()) - 1
    while end is None or at < end:
        line = file.readline()
        if not line:
            return
        yield at, line
        at += len(line)


def key_for(*described: object) -> str:
    """Return a name for a part of a job that is the same only for the same JSON values.

    >>> key_for(1, "gpt2") == key_for(1, "gpt2"), len(key_for(1))
    (True, 32)
    """
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:32]


class FilePart(NamedTuple):
    """A part of a file: bytes, or row groups of Parquet, from `begin` to before `end`."""

    source: Source
    column: str
    begin: int
    end: int
    """-1 for all of a file that is read whole, or whose unpacked size is not known."""
    step: int
    """The distance in bytes between the places where the file may be cut; 0 if it is not cut."""

    @property
    def n_bytes(self) -> int:
        """About how much text there is, packed if the file is."""
        if self.source.kind == "parquet":
            return self.step
        return self.source.size if self.end < 0 else self.end - self.begin


class Stretch(NamedTuple):
    """The text that one worker counts at a time: a part of a file, or several small files."""

    parts: tuple[FilePart, ...]
    pretokenizer: str
    run_bytes: int
    """The amount of text after which counted words are written, to bound the memory taken."""
    errors: DecodingErrors = "strict"
    """What becomes of bytes that are not UTF-8."""
    skip_damaged: bool = False
    """Whether the rest of a part that cannot be read is left out, or an error."""

    @property
    def key(self) -> str:
        """A name that is the same only for the same bytes, cut in the same way."""
        return key_for(_VERSION, *self)

    @property
    def n_bytes(self) -> int:
        """About how much text there is."""
        return sum(part.n_bytes for part in self.parts)


def stretch_bytes_for(n_bytes: int) -> int:
    """Return the length of stretches in a corpus of `n_bytes`: mostly 64 MB.

    Shorter ones let the workers of a small corpus end at about the same time, and longer ones keep
    their number within bounds. It changes in steps, so most stretches of a corpus that has grown
    are those of before.

    >>> [stretch_bytes_for(n_bytes) >> 20 for n_bytes in (1 << 20, 1 << 28, 1 << 30, 1 << 40)]
    [8, 32, 64, 256]
    """
    size = _MIN_BYTES
    while size < _USUAL_BYTES and 2 * size * _MIN_STRETCHES <= n_bytes:
        size *= 2
    while size * _MAX_STRETCHES < n_bytes:
        size *= 2
    return size


def divide_files(
    files: Iterable[DescribedFile],
    pretokenizer: str,
    stretch_bytes: int,
    errors: DecodingErrors = "strict",
    *,
    skip_damaged: bool = False,
) -> Iterator[Stretch]:
    """Divide files into stretches of about `stretch_bytes`, in order.

    Text is cut where no pre-token can cross, which the worker finds when it reads that place; for a
    custom pattern and "none", a text is one stretch. JSON lines are cut between lines, Parquet
    between row groups. A packed file is one stretch, and so is one that is read whole.

    >>> source = Source("a.txt", "text", None, 250, "")
    >>> [each.parts[0][2:] for each in divide_files([DescribedFile(source, "")], "gpt2", 100)]
    [(0, 100, 100), (100, 200, 100), (200, 250, 100)]
    """

    def stretch(parts: list[FilePart]) -> Stretch:
        return Stretch(tuple(parts), pretokenizer, stretch_bytes, errors, skip_damaged)

    pending: list[FilePart] = []
    n_pending = 0
    for part in _parts(files, pretokenizer, stretch_bytes):
        if pending and n_pending + part.n_bytes > stretch_bytes:
            yield stretch(pending)
            pending, n_pending = [], 0
        pending.append(part)
        n_pending += part.n_bytes
    if pending:
        yield stretch(pending)


def _parts(
    files: Iterable[DescribedFile], pretokenizer: str, stretch_bytes: int
) -> Iterator[FilePart]:
    for source, column, groups, _ in files:
        if source.kind == "parquet":
            begin = size = 0
            for group, group_size in enumerate(groups):
                if size and size + group_size > stretch_bytes:
                    yield FilePart(source, column, begin, group, size)
                    begin, size = group, 0
                size += group_size
            if groups:
                yield FilePart(source, column, begin, len(groups), size)
        elif source.packing or source.kind == "whole":
            yield FilePart(source, column, 0, -1, 0)
        elif source.kind == "text" and pretokenizer not in SCANNERS:
            yield FilePart(source, column, 0, source.size, 0)
        else:
            for begin in range(0, source.size, stretch_bytes):
                end = min(begin + stretch_bytes, source.size)
                yield FilePart(source, column, begin, end, stretch_bytes)


def text_bounds(file: BinaryIO, part: FilePart, pretokenizer: str) -> tuple[int, int]:
    """Return where a part of a text file really begins and ends: at cuts between pre-tokens.

    Every worker finds the same cut at the same place. A place without a safe cut soon after it is
    left out: its stretch is empty, and the one before extends to the next cut.
    """
    size = part.source.size
    if not part.step:
        return part.begin, part.end
    cut = get_pretokenizer(pretokenizer)
    begin = 0 if part.begin == 0 else _cut_after(file, part.begin, size, cut)
    if begin is None:
        return part.begin, part.begin
    for place in range(part.begin + part.step, size, part.step):
        end = _cut_after(file, place, size, cut)
        if end is not None and end > begin:
            return begin, end
    return begin, size


def _cut_after(file: BinaryIO, near: int, size: int, pretokenizer: Pretokenizer) -> int | None:
    file.seek(near)
    data = file.read(min(_SEARCHED, size - near))
    first = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), len(data))
    whole, _ = whole_characters(data[first:])
    try:
        whole.decode()
    except UnicodeDecodeError:
        # The kernel needs valid UTF-8. Counting this place will raise an error that names it.
        return None
    cut = safe_split(whole, 0, pretokenizer)
    return None if cut == len(whole) else near + first + cut
