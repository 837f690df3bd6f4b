"""Read columns of Parquet files with Arrow: used by the process that `parquet_process` starts."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any, BinaryIO, Final, NamedTuple, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.archives import MAX_COLUMNS, MAX_UNPACKED_BYTES, too_many_columns
from bpe_core.corpus.columns import (
    CHAT_KEYS,
    TableColumns,
    Tally,
    describe_tallies,
    no_column,
    no_text_column,
    text_in,
)
from bpe_core.corpus.file_kinds import PARQUET_MARK
from bpe_core.corpus.text_decoding import REPLACING, DecodingErrors
from bpe_core.errors import EmptyCorpusError, TextDecodingError, UnsupportedFileError
from bpe_core.extras import import_arrow

_BYTES_DESCRIBED: Final = 32 * 2**20
# Few rows, because one may be a whole book; many, because most are a line.
_BATCH_BYTES: Final = 4 * 2**20
_MIN_BATCH_ROWS: Final = 16
_MAX_BATCH_ROWS: Final = 16_384
_GROUPS_DESCRIBED: Final = 8
_FIRST_VALUES: Final = 200
_OF_COUNTS: Final = ({"word", "count"}, {"word", "count", "first"})
_BAD_TEXT: Final = f"Export it again, or {REPLACING}."


class Texts(NamedTuple):
    """The texts of some rows of one column; empty and missing ones are left out."""

    n_rows: int
    """The number of rows read so far, from the first."""
    rows: NDArray[np.int64]
    """The rows with text, from 1."""
    lengths: NDArray[np.int64]
    """Their lengths in bytes."""
    data: NDArray[np.uint8]
    """Their bytes."""


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """An opened Parquet file, of which only the metadata has been read."""

    name: str
    file: Any
    columns: tuple[str, ...]
    """The names of all columns, in order."""
    strings: tuple[str, ...]
    """The names of the columns that can be read: of strings, bytes, numbers, lists and chats."""
    ids: tuple[str, ...]
    """Those of them with UUIDs, which have letters and are no text."""
    errors: DecodingErrors
    """What becomes of bytes that are not UTF-8."""

    def describe(self, max_bytes: int = _BYTES_DESCRIBED) -> TableColumns:
        """Describe the columns of strings, by a sample spread over the file if it is large."""
        metadata = self.file.metadata
        n_groups = metadata.num_row_groups
        groups = range(n_groups)
        if n_groups > _GROUPS_DESCRIBED and metadata.num_rows:
            step = (n_groups - 1) / (_GROUPS_DESCRIBED - 1)
            groups = [round(step * place) for place in range(_GROUPS_DESCRIBED)]
        arrow = _arrow(self.name)
        n_characters = dict.fromkeys(self.strings, 0)
        first: dict[str, list[object]] = {name: [] for name in self.strings}
        n_rows = 0
        for group in groups if self.strings else ():
            n_bytes = 0
            for batch in self._batches(self.strings, group):
                n_rows += batch.num_rows
                n_bytes += batch.nbytes
                for name in self.strings:
                    values = _stored(batch.column(name), arrow)
                    if name not in self.ids:
                        n_characters[name] += _n_characters(values, arrow)
                    if (missing := _FIRST_VALUES - len(first[name])) > 0:
                        first[name] += self._first(values.slice(0, missing), name, n_rows)
                if n_bytes > max_bytes / len(groups):
                    break
        return describe_tallies(
            self.columns,
            [Tally(name, n_characters[name], first[name]) for name in self.strings],
            is_sample=n_rows < metadata.num_rows,
        )

    def choose(self, column: str | None) -> tuple[TableColumns, str]:
        """Describe the columns, and return the one to read: the one asked for, or the default.

        Raises CorpusError if there is none or no row, and UnsupportedFileError for a counts file.
        """
        if not self.file.metadata.num_rows:
            raise EmptyCorpusError(f"{self.name} has no rows. Give a file with text in it.")
        if column is None:
            refuse_counts(self.columns, self.name)
        columns = self.describe()
        if column is None:
            if columns.chosen is None:
                raise no_text_column(self.name, columns)
            column = columns.chosen.name
        if column not in self.strings:
            raise no_column(self.name, column, columns)
        return columns, column

    def texts(self, column: str) -> Iterator[Texts]:
        """Yield the texts of one column of strings, a batch of rows at a time.

        Raises UnsupportedFileError if the column is damaged or has more text than is read.
        """
        arrow = _arrow(self.name)
        n_bytes = n_rows = 0
        for group in range(self.file.metadata.num_row_groups):
            for batch in self._batches([column], group):
                values = _stored(batch.column(column), arrow)
                # Before the values of a dictionary are expanded.
                n_bytes += values.nbytes
                if hasattr(values, "dictionary"):
                    measure = arrow.compute.binary_length
                    n_bytes += _total(measure, values, arrow.large_binary(), arrow)
                if n_bytes > MAX_UNPACKED_BYTES:
                    raise UnsupportedFileError(
                        f"{self.name} holds more than {MAX_UNPACKED_BYTES >> 20} MB of text in "
                        "this column once it is unpacked. Split it into smaller files."
                    )
                yield _decode_texts(_as_bytes(values, arrow), n_rows, arrow)
                n_rows += batch.num_rows

    def group_sizes(self, column: str) -> tuple[int, ...]:
        """Return the size in bytes of one column in each row group, before compression."""
        metadata = self.file.metadata
        # A column of lists or chats is stored as several.
        numbers = [
            n
            for n in range(metadata.num_columns)
            if f"{metadata.schema.column(n).path}.".startswith(f"{column}.")
        ]
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        return tuple(
            sum(group.column(n).total_uncompressed_size for n in numbers) for group in groups
        )

    def rows_in(
        self, column: str, groups: Iterable[int], others: Sequence[str] = ()
    ) -> Iterator[tuple[bytes, tuple[object, ...]]]:
        """Yield the text of each row of some row groups as UTF-8, and its values in other columns.

        Text that is missing is b"".
        """
        arrow = _arrow(self.name)
        for group in groups:
            for batch in self._batches([*{column: None, **dict.fromkeys(others)}], group):
                texts = _as_bytes(_stored(batch.column(column), arrow), arrow)
                try:
                    texts.cast(arrow.large_string())
                    found = [text or b"" for text in texts.to_pylist()]
                except arrow.ArrowException:
                    if self.errors == "strict":
                        raise TextDecodingError(
                            f"{self.name} has text in the column {column!r:.60} that is not valid "
                            f"UTF-8, in row group {group + 1:,}. {_BAD_TEXT}"
                        ) from None
                    found = [
                        (text or b"").decode(errors="replace").encode()
                        for text in texts.to_pylist()
                    ]
                with damage_named(self.name):
                    values = [
                        _as_values(_stored(batch.column(each), arrow), arrow) for each in others
                    ]
                yield from zip(found, zip(*values) if values else repeat(()))  # noqa: B905

    def _batches(self, columns: list[str] | tuple[str, ...], group: int) -> Iterator[Any]:
        with damage_named(self.name):
            described = self.file.metadata.row_group(group)
            share = max(1, described.total_byte_size // max(1, described.num_rows))
            n_rows = min(max(_MIN_BATCH_ROWS, _BATCH_BYTES // share), _MAX_BATCH_ROWS)
            yield from self.file.iter_batches(
                batch_size=n_rows, columns=list(columns), row_groups=[group], use_threads=False
            )

    def _first(self, values: Any, column: str, n_rows: int) -> list[object]:
        """Return an Arrow array as values; repeated ones of a dictionary are one string."""
        try:
            if hasattr(values, "dictionary"):
                texts: list[object] = values.dictionary.to_pylist()
                places = cast("list[int | None]", values.indices.to_pylist())
                return [None if place is None else _decoded(texts[place]) for place in places]
            if not _has_own_text(values.type, _arrow(self.name).types):
                return list(map(_decoded, values.to_pylist()))
        except UnicodeDecodeError:
            if self.errors == "strict":
                raise TextDecodingError(
                    f"{self.name} has text in the column {column!r:.60} that is not valid UTF-8, "
                    f"in or before row {n_rows:,}. {_BAD_TEXT}"
                ) from None
        found = _as_bytes(values, _arrow(self.name)).to_pylist()
        return [None if text is None else text.decode(errors="replace") for text in found]


def open_parquet(
    data: NDArray[np.uint8], name: str, errors: DecodingErrors = "strict"
) -> ParquetFile:
    """Open a Parquet file in memory; raises UnsupportedFileError and MissingExtraError."""
    return open_parquet_file(_arrow(name).BufferReader(data), name, errors)


def open_parquet_file(
    opened: BinaryIO, name: str, errors: DecodingErrors = "strict"
) -> ParquetFile:
    """Open a Parquet file; raises UnsupportedFileError and MissingExtraError."""
    with damage_named(name):
        file = _arrow(name).parquet.ParquetFile(opened)
        if file.metadata.num_columns > MAX_COLUMNS:
            raise too_many_columns(name)
        fields = list(file.schema_arrow)
        types = _arrow(name).types
    columns = [str(column.name) for column in fields]
    strings = [str(column.name) for column in fields if _is_readable(column.type, types)]
    ids = [str(column.name) for column in fields if _is_uuid(column.type)]
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise UnsupportedFileError(
            f"{name} has two columns named {twice!r:.60}. Rename one, and export it again."
        )
    return ParquetFile(name, file, tuple(columns), tuple(strings), tuple(ids), errors)


def check_marks(data: bytes, name: str) -> None:
    """Raise UnsupportedFileError unless data begins and ends as a Parquet file does.

    >>> check_marks(b"PAR1 and something else", "a.parquet")
    Traceback (most recent call last):
    bpe_core.errors.UnsupportedFileError: a.parquet is not a parquet file, or only a part of one: \
a parquet file begins and ends with the letters PAR1. Export or download it again.
    """
    if not (data.startswith(PARQUET_MARK) and data.endswith(PARQUET_MARK)):
        raise UnsupportedFileError(
            f"{name} is not a parquet file, or only a part of one: a parquet file begins and ends "
            "with the letters PAR1. Export or download it again."
        )


def is_counts(columns: Iterable[str]) -> bool:
    """Return True for the columns of a counts file, as `bpe count` and other tools write it.

    >>> is_counts(["word", "count"]), is_counts(["word", "count", "text"])
    (True, False)
    """
    return set(columns) in _OF_COUNTS


def refuse_counts(columns: Iterable[str], name: str) -> None:
    """Raise UnsupportedFileError for the columns of a counts file, whose words are not text.

    >>> refuse_counts(["text"], "a.parquet")
    """
    if is_counts(columns):
        raise UnsupportedFileError(
            f"{name} holds words and their counts, not text. Learn from it by bpe train --counts, "
            "or bpe extend or replace with --counts, or on the page Train if it is from bpe count "
            "or bpe merge-counts."
        )


@contextmanager
def damage_named(name: str) -> Generator[None]:
    """Raise UnsupportedFileError for a file that Arrow cannot read."""
    damage = _arrow(name).ArrowException
    try:
        yield
    except MemoryError:
        # Arrow's own error for it is one of its exceptions as well.
        raise
    except (damage, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's, not Arrow's
            raise
        raise UnsupportedFileError(
            f"{name} is not a Parquet file that can be read: it is damaged, or encrypted or "
            "compressed in a way that is not supported. Export it again, with Snappy or without "
            "compression."
        ) from None


def _arrow(name: str) -> Any:
    return import_arrow(f"Reading {name}", "compute", "parquet")


def _is_readable(kind: Any, types: Any) -> bool:
    """Return True for an Arrow type whose values can be read as text."""
    if hasattr(kind, "storage_type"):
        return _is_readable(kind.storage_type, types)
    if types.is_dictionary(kind):
        return _is_bytes(kind.value_type, types)
    if _is_list(kind, types):
        inner = kind.value_type
        if not types.is_struct(inner):
            return _is_string(inner, types)
        names = {inner.field(n).name for n in range(inner.num_fields)}
        return any(names.issuperset(keys) for keys in CHAT_KEYS)
    return _is_bytes(kind, types) or any(
        is_kind(kind)
        for is_kind in (
            types.is_integer,
            types.is_floating,
            types.is_boolean,
            types.is_decimal,
            types.is_date,
            types.is_timestamp,
            types.is_time,
            types.is_duration,
        )
    )


def _is_list(kind: Any, types: Any) -> bool:
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    views = (types.is_list_view, types.is_large_list_view)
    return any(is_kind(kind) for is_kind in (*lists, *views))


def _is_string(kind: Any, types: Any) -> bool:
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _is_bytes(kind: Any, types: Any) -> bool:
    """Return True for strings, and for bytes, which may be UTF-8."""
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view)
    fixed = types.is_fixed_size_binary(kind) and not types.is_decimal(kind)
    return _is_string(kind, types) or fixed or any(is_kind(kind) for is_kind in binary)


def _is_uuid(kind: Any) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def _stored(values: Any, arrow: Any) -> Any:
    """Return a column as it is stored, such as JSON as strings; UUIDs are written out."""
    if not isinstance(values, arrow.ExtensionArray):
        return values
    if not _is_uuid(values.type):
        return values.storage
    found = values.storage.to_pylist()
    return arrow.array([None if each is None else str(UUID(bytes=each)) for each in found])


def _has_own_text(kind: Any, types: Any) -> bool:
    """Return True for times and decimals, of which Python's values are no text or do not exist."""
    plain = (types.is_integer, types.is_floating, types.is_boolean)
    is_plain = _is_bytes(kind, types) or any(is_kind(kind) for is_kind in plain)
    return not (is_plain or _is_list(kind, types))


def _decoded(value: object) -> object:
    """Return bytes as a string if they are UTF-8, and other values as they are."""
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    return value


def _as_bytes(values: Any, arrow: Any) -> Any:
    """Return a column that can be read as bytes of UTF-8, with offsets of 64 bits."""
    kind = values.type.value_type if hasattr(values, "dictionary") else values.type
    if _is_bytes(kind, arrow.types):
        return values.cast(arrow.large_binary())
    if _is_list(kind, arrow.types):
        texts = [text_in(value) for value in values.to_pylist()]
        return arrow.array(texts, arrow.large_string()).cast(arrow.large_binary())
    if arrow.types.is_duration(kind):
        values = values.cast(arrow.int64())
    try:
        return values.cast(arrow.large_string()).cast(arrow.large_binary())
    except arrow.ArrowInvalid:
        if not arrow.types.is_timestamp(kind):
            raise
    # A time zone that the system does not know: the same times, in UTC.
    in_utc = values.view(arrow.timestamp(kind.unit, "UTC"))
    return in_utc.cast(arrow.large_string()).cast(arrow.large_binary())


def _as_values(values: Any, arrow: Any) -> list[object]:
    """Return a column as bytes of UTF-8, and what is nested in it as lists and dicts."""
    if arrow.types.is_nested(values.type):
        return values.to_pylist()
    return _as_bytes(values, arrow).to_pylist()


def _n_characters(values: Any, arrow: Any) -> int:
    """Return the number of characters in a batch of a column; numbers have none."""
    kind = values.type.value_type if hasattr(values, "dictionary") else values.type
    if _is_list(kind, arrow.types):
        return sum(len(text_in(value) or "") for value in values.to_pylist())
    if not _is_bytes(kind, arrow.types):
        return 0
    if not _is_string(kind, arrow.types):
        try:
            inner = values.dictionary if hasattr(values, "dictionary") else values
            inner.cast(arrow.large_string())
        except arrow.ArrowException:
            # In a column of pictures, no value is UTF-8.
            texts = map(_decoded, values.to_pylist())
            return sum(len(text) for text in texts if isinstance(text, str))
    return _total(arrow.compute.utf8_length, values, arrow.large_string(), arrow)


def _decode_texts(values: Any, n_before: int, arrow: Any) -> Texts:
    n_rows = n_before + len(values)
    lengths = arrow.compute.fill_null(arrow.compute.binary_length(values), 0)
    all_lengths = lengths.to_numpy(zero_copy_only=False)
    places = np.flatnonzero(all_lengths)
    if len(places) < len(values):
        values = values.take(places)
    offsets = np.frombuffer(values.buffers()[1], np.int64)
    offsets = offsets[values.offset : values.offset + len(values) + 1]
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    return Texts(n_rows, places + (n_before + 1), all_lengths[places], data)


def _total(length: Any, values: Any, kind: Any, arrow: Any) -> int:
    """Return the length of all values as a kind; those of a dictionary as often as they occur."""
    if hasattr(values, "dictionary"):
        lengths = length(values.dictionary.cast(kind)).take(values.indices)
    else:
        lengths = length(values.cast(kind))
    return arrow.compute.sum(lengths).as_py() or 0
