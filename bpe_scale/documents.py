"""Read the documents of a stretch, piece by piece, and collect their hash, size and characters."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from bpe_core.corpus import (
    Budget,
    NamedFile,
    Note,
    ReadOptions,
    Row,
    decoded,
    open_parquet_file,
    read_pieces,
    read_source,
    row_in,
    text_in,
    values_on,
)
from bpe_core.errors import CorpusError, TextDecodingError, UnsupportedFileError
from bpe_scale.sources import FilePart, Stretch, lines_from, note_skipped, opened, text_bounds

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
            self.notes.append(note_skipped(part.source, error))

    def _text(self, part: FilePart) -> Iterator[bytes]:
        name = part.source.location.shown
        where = " of the unpacked text" if part.source.packing else ""
        with opened(part.source) as file:
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
        """Yield the documents of a file that `read_source` reads."""
        source = part.source
        choices = ReadOptions(part.column or None, errors=self._stretch.errors)
        try:
            found, notes = read_source(
                NamedFile(source.url, source.name), choices, Budget(), lambda _: None
            )
        except CorpusError as error:
            if source.is_named or self._stretch.skip_damaged:
                raise
            self.notes.append(note_skipped(source, error))
            return
        self.notes += notes
        self.n_replaced += sum(note.kind == "replaced" for note in notes)
        for document in found:
            yield document.text.encode()

    def _json_rows(self, part: FilePart) -> Iterator[bytes | None]:
        name = part.source.location.shown
        n_good = n_bad = bad_at = 0
        has_column = False
        with opened(part.source) as file:
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


def _as_text(value: object) -> str:
    """Return a value of a column as text: a string as it is, anything else as JSON.

    >>> _as_text("né"), _as_text({"a": ["é", 1]}), _as_text(b"hug")
    ('né', '{"a": ["é", 1]}', 'hug')
    """
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode(errors="replace").decode()
