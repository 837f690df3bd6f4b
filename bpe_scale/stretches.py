"""Divide the files of a corpus into stretches of text, and read the documents of a stretch.

A stretch is what one worker reads at a time. Where it begins and ends depends on the files alone.
It is read piece by piece, and its hash, its size and its characters are collected meanwhile.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple, TypeVar

from bpe_core.corpus import (
    DecodingErrors,
    DescribedFile,
    Note,
    Row,
    SourceFile,
    decoded,
    open_parquet_file,
    read_pieces,
    row_in,
    text_in,
    values_on,
    whole_characters,
)
from bpe_core.errors import CorpusError, TextDecodingError, UnsupportedFileError
from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer

_MIN_BYTES: Final = 8 << 20
_USUAL_BYTES: Final = 64 << 20
_MIN_STRETCHES: Final = 8
_MAX_STRETCHES: Final = 4_096
_SEARCHED: Final = 1 << 20
# A change to how files are divided or read makes parts in older work folders unusable.
_VERSION: Final = 4


def key_for(*described: object) -> str:
    """Return a name for a part of a job that is the same only for the same JSON values.

    >>> key_for(1, "gpt2") == key_for(1, "gpt2"), len(key_for(1))
    (True, 32)
    """
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:32]


class FilePart(NamedTuple):
    """A part of a file: bytes, or row groups of Parquet, from `begin` to before `end`."""

    source: SourceFile
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

    >>> source = SourceFile("a.txt", "text", None, 250, "")
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
        elif source.kind == "text" and not get_pretokenizer(pretokenizer).cuts_in_place:
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
    cut = pretokenizer.safe_split(whole, 0)
    return None if cut == len(whole) else near + first + cut


Item = TypeVar("Item")


class StretchReading:
    """One pass over the text of a stretch, which also collects its hash and its size."""

    def __init__(
        self,
        stretch: Stretch,
        *,
        collect_characters: bool = False,
        hash_text: bool = True,
        columns: Sequence[str] = (),
    ) -> None:
        self._stretch = stretch
        self._columns = columns
        self._collect = collect_characters
        self._hash = hash_text
        self._digest = hashlib.sha256(b"stretch")
        self.characters: set[str] = set()
        self.n_bytes = 0
        self.n_documents = 0
        self.n_skipped = 0
        """The number of rows that are not JSON, or have no text in the column."""
        self.n_replaced = 0
        """The number of rows, pieces of a text or whole files in which bytes were replaced."""
        self.notes: list[Note] = []
        """What was skipped, and what was chosen or guessed in files that are read whole."""
        self.n_damaged = 0
        """The number of parts of files of which only the beginning could be read."""
        self.part = 0
        """The place in the stretch of the part that is read."""
        self.is_open = False
        """Whether the last document continues in the next stretch."""
        self.values: list[str | None] = []
        """What the last row has in `columns`: text, other values as JSON, or None."""

    @property
    def sha256(self) -> str:
        """The hash of the text, and of where its documents end."""
        return self._digest.hexdigest()

    def documents(self) -> Iterator[Iterator[bytes]]:
        """Yield each document, or the part of one, as pieces that end between characters."""
        read: dict[str, Callable[[FilePart], Iterator[bytes | None]]] = {
            "jsonl": self._json_rows,
            "parquet": self._parquet_rows,
            "whole": self._whole,
        }
        for number, part in enumerate(self._stretch.parts):
            self.part = number
            self.is_open = False
            if part.source.kind == "text":
                self.n_documents += part.begin == 0
                yield self._until_damage(self._text(part), part)
                continue
            for row in self._until_damage(read[part.source.kind](part), part):
                if row:
                    self.n_documents += 1
                    self._add_to_hash(b"%d:" % len(row))
                    self._look_at(row)
                    yield iter((row,))
                else:
                    self.n_skipped += 1

    def _until_damage(self, items: Iterator[Item], part: FilePart) -> Iterator[Item]:
        """Yield pieces or rows up to one that cannot be read, if damage is skipped."""
        n_before = 0
        try:
            for item in items:
                yield item
                n_before += bool(item)
        except CorpusError as error:
            if part.source.kind != "text" and n_before:
                error = type(error)(f"{error} Rows with text read before that: {n_before:,}.")
            if not self._stretch.skip_damaged:
                raise error from None
            self.n_damaged += 1
            self.notes.append(part.source.skipped(error))

    def _text(self, part: FilePart) -> Iterator[bytes]:
        name = part.source.location.shown
        where = " of the unpacked text" if part.source.packing else ""
        with part.source.opened() as file:
            begin, end = 0, -1
            if not part.source.packing:
                begin, end = text_bounds(file, part, self._stretch.pretokenizer)
                file.seek(begin)
                self.is_open = end < part.source.size
            self._add_to_hash(b"text from %d:" % begin)
            for at, piece in read_pieces(file, name, part.source.size, begin, end):
                is_marked = at == 0 and piece.startswith(codecs.BOM_UTF8)
                bare = piece.removeprefix(codecs.BOM_UTF8) if is_marked else piece
                text = self._checked(bare, name, at + len(piece) - len(bare), where)
                self._look_at(text)
                yield text

    def _checked(self, piece: bytes, name: str, at: int, where: str = "") -> bytes:
        """Return a piece of valid UTF-8; raises TextDecodingError unless bad bytes are replaced."""
        try:
            decoded(piece, name, at, where)
        except TextDecodingError:
            if self._stretch.errors == "strict":
                raise
            self.n_replaced += 1
            return piece.decode(errors="replace").encode()
        return piece

    def _whole(self, part: FilePart) -> Iterator[bytes]:
        """Yield the documents of a file that is read whole."""
        source = part.source
        try:
            found, notes = source.texts(part.column, self._stretch.errors)
        except CorpusError as error:
            if source.is_named or self._stretch.skip_damaged:
                raise
            self.notes.append(source.skipped(error))
            return
        self.notes += notes
        self.n_replaced += sum(note.kind == "replaced" for note in notes)
        for document in found:
            yield document.encode()

    def _json_rows(self, part: FilePart) -> Iterator[bytes | None]:
        name = part.source.location.shown
        n_good = n_bad = bad_at = 0
        has_column = False
        with part.source.opened() as file:
            end = None if part.end < 0 else part.end
            for at, line in lines_from(file, part.begin, end):
                bare = line.removeprefix(codecs.BOM_UTF8) if at == 0 else line
                if not bare.strip():
                    continue
                try:
                    try:
                        values = values_on(bare)
                    except UnicodeDecodeError:
                        values = values_on(self._checked(bare, name, at + len(line) - len(bare)))
                except TextDecodingError:
                    raise
                except (ValueError, RecursionError):
                    bad_at = bad_at if n_bad else at
                    n_bad += 1
                    yield None
                    continue
                n_good += 1
                for value in values:
                    row = row_in(value)
                    has_column = has_column or isinstance(row, str) or part.column in (row or ())
                    yield self._row_text(row, part.column)
        if n_bad > n_good:
            raise UnsupportedFileError(
                f"{name} has {n_bad:,} of {n_bad + n_good:,} lines that are not JSON; the first "
                f"starts at byte {bad_at:,}. Write one JSON value on each line."
            )
        if n_good and not has_column:
            raise UnsupportedFileError(
                f"{name} has no text in {part.column!r:.60} in its {n_good:,} lines from byte "
                f"{part.begin:,} on. Name its column of text."
            )

    def _row_text(self, row: Row, column: str) -> bytes | None:
        """Return the text of a row, or None if it has none; keep its other values."""
        if self._columns:
            self._keep([row.get(each) if isinstance(row, dict) else None for each in self._columns])
        text = text_in(row.get(column)) if isinstance(row, dict) else row
        try:
            return None if text is None else text.encode()
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
            return None

    def _keep(self, values: Iterable[object]) -> None:
        self.values = [None if each is None else _as_text(each) for each in values]

    def _parquet_rows(self, part: FilePart) -> Iterator[bytes]:
        with part.source.location.reading() as file:
            parquet = open_parquet_file(file, part.source.location.shown, self._stretch.errors)
            groups = range(part.begin, part.end)
            for text, values in parquet.rows_in(part.column, groups, self._columns):
                self._keep(values)
                yield text

    def _add_to_hash(self, data: bytes) -> None:
        if self._hash:
            self._digest.update(data)

    def _look_at(self, text: bytes) -> None:
        self._add_to_hash(text)
        self.n_bytes += len(text)
        if self._collect:
            # Characters of one byte that are known are dropped first, which is much faster.
            known = "".join(filter(str.isascii, self.characters)).encode()
            self.characters.update(text.translate(None, known).decode())


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


def _as_text(value: object) -> str:
    """Return a value of a column as text: a string as it is, anything else as JSON.

    >>> _as_text("né"), _as_text({"a": ["é", 1]}), _as_text(b"hug")
    ('né', '{"a": ["é", 1]}', 'hug')
    """
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode(errors="replace").decode()
