"""The folder of an encoded corpus: shards of ids in several formats, kept columns, a manifest.

Shards are written in the formats that training loops read, with columns of the source's rows next
to the ids. The manifest describes the folder; its files are checked against it.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any, BinaryIO, Final, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import counted, describe, is_a, several
from bpe_core.corpus import ROWS_DESCRIBED, DescribedFile, Location, listed, quoted
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    FormatError,
    IntegrityError,
    NewerFormatError,
    UnsupportedFileError,
)
from bpe_core.extras import import_arrow, needs_extra
from bpe_core.formats import loads
from bpe_scale.work import Record, WorkFolder

with needs_extra("tables", "Encoding a corpus"):
    import msgspec


NAME: Final = "manifest.json"
TOKENIZER_NAME: Final = "tokenizer.bpe.json"
OWN_NAME: Final = re.compile(
    r"(train|val)-[0-9]{5,}\.(bin|idx|npy|parquet)|manifest\.json|tokenizer\.bpe\.json"
    r"|\.unfinished-[0-9a-f]{32}(-.*)?"
)
"""The names that an encoded corpus and an interrupted run leave in a folder."""
_VERSION: Final = 1
_PIECE: Final = 1 << 20

Format = Literal["bin", "megatron", "npy", "parquet"]
Dtype = Literal["<u2", "<u4", "<i4"]
Ids = NDArray[np.integer]
MEGATRON_DTYPES: Final = {"<u2": 8, "<i4": 4}
"""The codes in Megatron's index of the types of ids that are written here."""
_MEGATRON_MAGIC: Final = b"MMIDIDX\x00\x00"
_ROW_GROUP_TOKENS: Final = 1 << 20
IDS: Final = "input_ids"
MASKS: Final = "assistant_masks"
N_TOKENS: Final = "n_tokens"
_MAX_NAMED: Final = 10
Values = Sequence[Sequence[str | None]]
"""What rows have in the columns that are kept."""


class TokenizerFacts(msgspec.Struct, frozen=True):
    """The tokenizer that encoded a corpus."""

    fingerprint: str
    vocab_size: int
    file: str
    """Its file in the folder, or the name of one that another library runs."""


class EosFacts(msgspec.Struct, frozen=True):
    """The special token that follows each document."""

    token: str
    id: int


class SourceFacts(msgspec.Struct, frozen=True):
    """What a file contributed."""

    name: str
    """Its path from the folder on that was named, or its own name if it was."""
    bytes: int
    """The size of its text."""
    documents: int
    tokens: int


class FileFacts(msgspec.Struct, frozen=True):
    """A file of a shard."""

    name: str
    bytes: int
    sha256: str


class ShardFacts(msgspec.Struct, frozen=True):
    """A shard, in the order of the corpus."""

    split: str
    documents: int
    tokens: int
    rows: int
    """Documents, or packed rows."""
    left_out_tokens: int
    """Those after the last packed row."""
    files: Annotated[list[FileFacts], msgspec.Meta(min_length=1)]


class Totals(msgspec.Struct, frozen=True):
    """The size of a split."""

    documents: int
    tokens: int
    shards: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a folder of encoded shards; the result of `encode_corpus`."""

    bpe_core: int = _VERSION
    """The version of this description."""
    format: Format
    dtype: Dtype
    """The type of the ids, as NumPy writes it."""
    tokenizer: TokenizerFacts
    eos: EosFacts | None
    pack: int | None
    shard_tokens: int
    val_share: float
    shuffle_seed: int | None
    bytes: int
    """The size of the text in UTF-8."""
    documents: int
    tokens: int
    skipped_rows: int
    replaced: int
    damaged: int
    """The number of files, or parts of one, that could not be read to their end."""
    notes: list[str]
    splits: dict[str, Totals]
    sources: list[SourceFacts]
    shards: Annotated[list[ShardFacts], msgspec.Meta(min_length=1)]
    learned: int | None = None
    """The tokens of conversations that a model learns to write; None for other documents."""

    def __repr__(self) -> str:
        return (
            f"Manifest({counted(self.tokens, 'token')} in {counted(len(self.shards), 'shard')}, "
            f"{self.format}, {self.dtype})"
        )

    def to_json(self) -> bytes:
        """Return it as JSON for people to read too."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @staticmethod
    def is_in(folder: str) -> bool:
        """Return True if a folder has one.

        >>> Manifest.is_in("/no/such/folder")
        False
        """
        return NAME in Location(folder).names()

    @classmethod
    def read(cls, folder: str) -> Manifest:
        """Read the manifest of a folder, by path or URL.

        Raises FormatError if it is not one, NewerFormatError for one of a later version, and
        MissingFileError.
        """
        with Location(f"{folder.rstrip('/')}/{NAME}").reading() as file:
            data = file.read()
        try:
            version = msgspec.json.decode(data, type=dict[str, object]).get("bpe_core")
            if isinstance(version, int) and version > _VERSION:
                raise NewerFormatError(
                    f"The {NAME} of {Location(folder).shown} has version {version}, and this "
                    f"program reads version {_VERSION}. Update it."
                )
            return msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError as error:
            raise FormatError(
                f"The {NAME} of {Location(folder).shown} does not describe an encoded corpus "
                f"({error}). Encode it again with bpe encode-corpus."
            ) from None

    def verify(self, folder: str) -> None:
        """Check that all its files are in a folder, unchanged.

        Raises IntegrityError that names the first that is not.
        """
        names = set(Location(folder).names())
        for described in (file for shard in self.shards for file in shard.files):
            place = f"{folder.rstrip('/')}/{described.name}"
            if described.name not in names:
                raise _changed(place, "is missing")
            digest, size = hashlib.sha256(), 0
            with Location(place).reading() as file:
                while data := file.read(_PIECE):
                    digest.update(data)
                    size += len(data)
            if size != described.bytes:
                raise _changed(place, f"has {counted(size, 'byte')} instead of {described.bytes:,}")
            if digest.hexdigest() != described.sha256:
                raise _changed(
                    place, "has the right size, and another SHA-256 than its manifest says"
                )

    def read_first_document(self, folder: str, n: int) -> tuple[list[int], Mapping[int, bytes]]:
        """Return the first ids of the first document, at most `n`, and the bytes of each id.

        Without the tokenizer's file in the folder, the bytes are not known. Raises CorpusError if
        they cannot be read, FormatError for Parquet of another kind, IntegrityError for another
        tokenizer, and what opening the tokenizer raises.
        """
        place = f"{folder.rstrip('/')}/"
        with Location(place + self.shards[0].files[0].name).reading() as file:
            if self.format == "parquet":
                parquet = import_arrow("Reading parquet", "parquet").parquet
                try:
                    batch = next(parquet.ParquetFile(file).iter_batches(1, columns=["input_ids"]))
                    ids = [int(id) for id in batch["input_ids"][0].as_py()[:n]]
                except (LookupError, TypeError, StopIteration):
                    raise FormatError(
                        f"The Parquet files in {Location(folder).shown} have no ids in rows of "
                        "input_ids. Encode the corpus again with bpe encode-corpus."
                    ) from None
            else:
                if self.format == "npy":
                    np.lib.format.read_magic(file)
                    np.lib.format.read_array_header_1_0(file)
                dtype = np.dtype(self.dtype)
                ids = np.frombuffer(file.read(n * dtype.itemsize), dtype).tolist()
        if self.eos is not None and self.eos.id in ids:
            ids = ids[: ids.index(self.eos.id) + 1]
        if self.tokenizer.file != TOKENIZER_NAME:
            # A manifest may come from anyone, so no other file that it names is opened.
            return ids, {}
        with Location(place + TOKENIZER_NAME).reading() as file:
            tokenizer = loads({TOKENIZER_NAME: file.read()})
        if tokenizer.fingerprint != self.tokenizer.fingerprint:
            raise IntegrityError(
                f"{Location(place + TOKENIZER_NAME).shown} is not the tokenizer whose fingerprint "
                "the manifest has. Copy it again, or encode the corpus again."
            )
        return ids, tokenizer.vocab


def _changed(place: str, problem: str) -> IntegrityError:
    return IntegrityError(
        f"{Location(place).shown} {problem}. Copy it again, or encode the corpus again."
    )


class Rows(NamedTuple):
    """The ids of a shard as a stream, and the number of ids of each row of it."""

    ids: Iterator[Ids]
    """Arrays that end anywhere."""
    lengths: NDArray[np.int64]
    """int64[n]: of each document, or of each packed row."""
    row_tokens: int | None
    """The length of all rows if they are packed."""
    columns: Any = None
    """An Arrow table of strings with a row for each, which Parquet files get too, or None."""


def endings(format: Format) -> tuple[str, ...]:
    """Return the endings of the names of a shard's files.

    >>> endings("megatron")
    ('.bin', '.idx')
    """
    return (".bin", ".idx") if format == "megatron" else (f".{format}",)


def dtype_for(format: Format, n_ids: int) -> Dtype:
    """Return the type of the ids in a format's files, for ids below `n_ids`.

    >>> dtype_for("bin", 50_257), dtype_for("bin", 100_277), dtype_for("megatron", 100_277)
    ('<u2', '<u4', '<i4')
    """
    if format == "parquet":
        return "<i4"
    if n_ids <= 1 << 16:
        return "<u2"
    return "<i4" if format == "megatron" else "<u4"


def write_shard(format: Format, rows: Rows, dtype: str, place: str) -> dict[str, tuple[int, str]]:
    """Write a shard's files to a path or URL plus their endings; return their sizes and SHA-256.

    Raises CorpusError if they cannot be written.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(_hashed(place + ending)) for ending in endings(format)]
        _WRITERS[format](rows, dtype, *files)
    return {
        ending: (file.size, file.digest.hexdigest())
        for ending, file in zip(endings(format), files, strict=True)
    }


class _HashedFile(io.RawIOBase):
    """A file that is written from begin to end, and hashed meanwhile."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self.digest.update(view)
        self.size += view.nbytes
        return view.nbytes


@contextmanager
def _hashed(url: str) -> Generator[_HashedFile]:
    with Location(url).writing() as file:
        yield _HashedFile(file)


def _write_bin(rows: Rows, dtype: str, file: _HashedFile) -> None:
    for ids in rows.ids:
        file.write(np.ascontiguousarray(ids, dtype).data)


def _write_npy(rows: Rows, dtype: str, file: _HashedFile) -> None:
    shape = (len(rows.lengths), rows.row_tokens) if rows.row_tokens else (int(rows.lengths.sum()),)
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(cast("Any", file), header)
    _write_bin(rows, dtype, file)


def _write_megatron(rows: Rows, dtype: str, file: _HashedFile, index: _HashedFile) -> None:
    """Write Megatron's indexed dataset, in which each document is a sequence."""
    _write_bin(rows, dtype, file)
    n = len(rows.lengths)
    if n and rows.lengths.max() >= 1 << 31:
        raise ConfigError(
            f"A document has {rows.lengths.max():,} tokens, and Megatron's index counts up to "
            f"{(1 << 31) - 1:,}. Choose --pack, or another format."
        )
    starts = np.cumsum(rows.lengths) - rows.lengths
    index.write(_MEGATRON_MAGIC)
    index.write(np.array([1], "<u8").data)
    index.write(np.array([MEGATRON_DTYPES[dtype]], "u1").data)
    index.write(np.array([n, n + 1], "<u8").data)
    index.write(rows.lengths.astype("<i4").data)
    index.write((starts * np.dtype(dtype).itemsize).astype("<i8").data)
    index.write(np.arange(n + 1, dtype="<i8").data)


def _write_parquet(rows: Rows, dtype: str, file: _HashedFile) -> None:
    """Write `input_ids`, `n_tokens` and kept columns, a row for each document or packed row."""
    arrow = import_arrow("Writing parquet", "parquet")
    kept: dict[str, Any] = {}
    if rows.columns is not None:
        kept = {name: rows.columns.column(name) for name in rows.columns.column_names}
    schema = arrow.schema(
        [
            (IDS, arrow.list_(arrow.int32())),
            (N_TOKENS, arrow.int64()),
            *((name, arrow.string()) for name in kept),
        ]
    )
    ends = np.cumsum(rows.lengths)
    stream = _Stream(rows.ids)
    begin = n_taken = 0
    with arrow.parquet.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=False
    ) as writer:
        while begin < len(ends):
            end = max(begin + 1, int(np.searchsorted(ends, n_taken + _ROW_GROUP_TOKENS, "right")))
            lengths = rows.lengths[begin:end]
            offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
            ids = arrow.array(stream.take(int(offsets[-1])).astype(np.int32))
            lists = arrow.ListArray.from_arrays(arrow.array(offsets), ids)
            values = [each.slice(begin, end - begin).combine_chunks() for each in kept.values()]
            arrays = [lists, arrow.array(lengths), *(each.cast(arrow.string()) for each in values)]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))
            n_taken += int(offsets[-1])
            begin = end


class MaskedShards:
    """Parquet files of the ids of conversations, and of which of them a model learns.

    Each has the columns `input_ids`, `assistant_masks` and `n_tokens`, and about `shard_tokens`; a
    conversation is whole in the shard in which it begins. The first is written even if it is empty.
    """

    def __init__(self, names: Iterable[str], folder: str = "", shard_tokens: int = 1 << 62) -> None:
        self.written: list[ShardFacts] = []
        self._names = iter(names)
        self._folder = folder
        self._shard_tokens = shard_tokens
        self._shard = self._n_tokens = 0
        self._rows: list[tuple[Ids, NDArray[np.bool_]]] = []
        self._arrow = import_arrow("Writing parquet", "parquet")
        self._schema = self._arrow.schema(
            [
                (IDS, self._arrow.list_(self._arrow.int32())),
                (MASKS, self._arrow.list_(self._arrow.int8())),
                (N_TOKENS, self._arrow.int64()),
            ]
        )
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            self._close()
        # A file that is not complete does not appear.
        self._stack.__exit__(*error)

    def add(self, ids: Ids, mask: NDArray[np.bool_]) -> None:
        """Write the ids and the mask of a conversation."""
        if self._n_tokens // self._shard_tokens != self._shard:
            self._close()
            self._shard = self._n_tokens // self._shard_tokens
            self._open()
        self._rows.append((ids.astype(np.int32), mask))
        self._n_tokens += len(ids)
        self._n_of_shard += len(ids)
        self._n_rows += 1
        self._n_waiting += len(ids)
        if self._n_waiting >= _ROW_GROUP_TOKENS:
            self._flush()

    def _open(self) -> None:
        self._name = next(self._names)
        self._n_of_shard = self._n_rows = self._n_waiting = 0
        self._file = self._stack.enter_context(_hashed(self._folder + self._name))
        self._writer = self._stack.enter_context(
            self._arrow.parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        )

    def _flush(self) -> None:
        if not self._rows:
            return
        lengths = np.array([len(ids) for ids, _ in self._rows], np.int64)
        offsets = self._arrow.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
        ids, masks = (np.concatenate(each) for each in zip(*self._rows, strict=True))
        lists = (
            self._arrow.ListArray.from_arrays(offsets, self._arrow.array(each))
            for each in (ids, masks.astype(np.int8))
        )
        columns = [*lists, self._arrow.array(lengths)]
        self._writer.write_batch(self._arrow.record_batch(columns, schema=self._schema))
        self._rows.clear()
        self._n_waiting = 0

    def _close(self) -> None:
        self._flush()
        self._stack.close()
        facts = FileFacts(self._name, self._file.size, self._file.digest.hexdigest())
        n = self._n_rows
        self.written.append(ShardFacts("train", n, self._n_of_shard, n, 0, [facts]))


class _Stream:
    """Arrays of ids that are taken in other lengths than they arrive in."""

    def __init__(self, arrays: Iterator[Ids]) -> None:
        self._arrays = arrays
        self._rest: Ids = np.empty(0, np.int32)

    def take(self, n: int) -> Ids:
        """Return the next n ids."""
        found = [self._rest]
        n_found = self._rest.size
        while n_found < n:
            found.append(next(self._arrays))
            n_found += found[-1].size
        ids = np.concatenate(found) if len(found) > 1 else found[0]
        self._rest = ids[n:]
        return ids[:n]


_WRITERS: Final[dict[str, Callable[..., None]]] = {
    "bin": _write_bin,
    "megatron": _write_megatron,
    "npy": _write_npy,
    "parquet": _write_parquet,
}


def check_columns(columns: Iterable[str], format: str, pack: int | None) -> tuple[str, ...]:
    """Return the names of columns to keep; raises ConfigError for ones that cannot be.

    >>> check_columns(["url"], "parquet", None)
    ('url',)
    """
    names = tuple(several(columns, "keep_columns", "give a list of names"))
    if others := [name for name in names if not is_a(name, str)]:
        raise ArgumentTypeError(f"Expected names of columns to keep, got {describe(others[0])}.")
    if names and (format != "parquet" or pack is not None):
        raise ConfigError(
            "Columns are kept in rows that are documents. Choose --format parquet without --pack, "
            "or omit keep_columns."
        )
    if taken := [name for name in names if name in (IDS, N_TOKENS) or names.count(name) > 1]:
        raise ConfigError(
            f"The column {quoted(taken[0])} would be written twice. Keep each column once, and "
            f"none named {IDS} or {N_TOKENS}, or rename it in the source."
        )
    return names


def check_files(columns: Sequence[str], files: Sequence[DescribedFile]) -> None:
    """Raise an error if columns cannot be kept from these files, whose columns were listed.

    It is UnsupportedFileError for a file without rows, and ConfigError for a column that a Parquet
    file lacks, or that the first rows of no file have.
    """
    if not columns:
        return
    for facts in files:
        name = facts.source.location.shown
        if facts.source.kind not in ("jsonl", "parquet"):
            raise UnsupportedFileError(
                f"Columns are kept from Parquet and JSON lines, and {name} is neither. Convert it, "
                "leave it out, or omit keep_columns."
            )
        missing = [each for each in columns if each not in facts.names]
        if missing and facts.source.kind == "parquet":
            raise ConfigError(
                f"{name} has no column {quoted(missing[0])} to keep. {_name_columns(facts.names)}"
            )
    known = dict.fromkeys(name for facts in files for name in facts.names)
    for each in columns:
        if each not in known:
            raise ConfigError(
                f"No file has the column {quoted(each)} in its first {ROWS_DESCRIBED:,} rows. "
                f"{_name_columns([*known])}"
            )


def _name_columns(names: Sequence[str]) -> str:
    found = listed([quoted(name) for name in names], _MAX_NAMED) or "none"
    return f"Found: {found}. Check keep_columns."


@contextmanager
def writing_columns(file: BinaryIO, names: Sequence[str]) -> Generator[Callable[[Values], None]]:
    """Yield a function that writes the values of rows to a file, as Arrow's stream of strings."""
    arrow = _arrow()
    text = arrow.large_string()
    schema = arrow.schema([(name, text) for name in names])
    with arrow.ipc.new_stream(file, schema) as stream:

        def write(rows: Values) -> None:
            columns = [[row[place] for row in rows] for place in range(len(names))]
            arrays = [arrow.array(values, text) for values in columns]
            stream.write_batch(arrow.record_batch(arrays, schema=schema))

        yield write


def read_columns(folder: WorkFolder, stretches: Sequence[Record], pieces: NDArray[Any]) -> Any:
    """Return the values of documents as an Arrow table, in their order.

    `pieces` has the `file` of each, the place of its stretch, and its `row` there.
    """
    arrow = _arrow()
    tables: list[Any] = []
    order = np.empty(len(pieces), np.int64)
    n_rows = 0
    for number, record in enumerate(stretches):
        with Location(folder.path(record["columns"])).reading() as file:
            table = arrow.ipc.open_stream(file).read_all()
        places = np.flatnonzero(pieces["file"] == number)
        tables.append(table.take(pieces["row"][places]))
        order[places] = np.arange(n_rows, n_rows + len(places))
        n_rows += len(places)
    joined = arrow.concat_tables(tables)
    # Only shuffled documents are in another order, and it takes a copy.
    return joined if np.array_equal(order, np.arange(n_rows)) else joined.take(order)


def _arrow() -> Any:
    return import_arrow("Keeping columns", "ipc")
