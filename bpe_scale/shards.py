"""What workers do with ids: encode the documents of a stretch, and write a shard of all.

Workers get the tokenizer through the work folder, or by its path or name, and keep the ids there.
Documents are dealt to shards by their place in the corpus, whoever encoded them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import partial
from itertools import count, pairwise
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a
from bpe_core.corpus import Location, split_runs
from bpe_core.errors import ArgumentTypeError, TokenizationError
from bpe_core.formats import dumps, loads, open_plainest
from bpe_core.kernels import Encoded, wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers import Section, get_pretokenizer
from bpe_core.tokenizer import Encoder, Tokenizer, find_own
from bpe_scale.encoded_folder import (
    TOKENIZER_NAME,
    Format,
    Ids,
    Rows,
    Values,
    read_columns,
    write_shard,
    writing_columns,
)
from bpe_scale.stretches import Stretch, StretchReading, key_for
from bpe_scale.work import Record, WorkFolder

DOCUMENT: Final = np.dtype([("n_tokens", "<i8"), ("begins", "?"), ("is_held_out", "?")])
"""What is kept of a document, or of the part of one that a stretch holds."""

_ENDED: Final = np.dtype([("part", "i8"), ("begins", "?"), ("is_held_out", "?"), ("is_open", "?")])

# A change to what is kept makes stretches in older work folders unusable.
_STRETCH_VERSION: Final = 1
_RUN_BYTES: Final = 4 << 20
"""The text whose ids are in memory at a time."""

_SHARD_VERSION: Final = 1
_CHUNK_TOKENS: Final = 1 << 21
_MAX_OPEN: Final = 64
"""Files that are open at a time; a shuffled shard reads from all of its stretches in turn."""
_PIECE: Final = np.dtype(
    [
        ("file", "i8"),
        ("row", "i8"),
        ("begin", "i8"),
        ("n_tokens", "i8"),
        ("begins", "?"),
        ("order", "u8"),
    ]
)
"""A document, or a part of one: the file that has it, its place there as a row and in ids, and its
place in the shard."""
SPLITS: Final = ("train", "val")


class SharedTokenizer(NamedTuple):
    """A tokenizer that every worker can open."""

    fingerprint: str
    path: str
    """Its path or name; empty if its file is in the work folder."""

    def open(self, folder: WorkFolder) -> Encoder:
        """Return the tokenizer, which each process opens once."""
        # Another call in another thread may open another one meanwhile.
        encoder = _opened.get(self)
        if encoder is None:
            encoder = self._read(folder)
            _opened.clear()
            _opened[self] = encoder
        return encoder

    def _read(self, folder: WorkFolder) -> Encoder:
        if self.path:
            return open_plainest(self.path).encoder
        return loads({TOKENIZER_NAME: self.read_file(folder)})

    def read_file(self, folder: WorkFolder) -> bytes:
        """Return its file in the work folder."""
        with Location(folder.path(_file_name(self.fingerprint))).reading() as file:
            return file.read()


_opened: dict[SharedTokenizer, Encoder] = {}
"""The tokenizer that this process has opened last."""


class StretchToEncode(NamedTuple):
    """A stretch, and all that its ids depend on."""

    stretch: Stretch
    tokenizer: SharedTokenizer
    eos_id: int | None
    """The id that follows each document, if any."""
    held_out_share: float
    dtype: str
    """The type of the ids that are kept, such as "<u2"."""
    columns: tuple[str, ...] = ()
    """The columns of rows whose values are kept."""

    @property
    def key(self) -> str:
        """A name that is the same only for the same ids."""
        return key_for(_STRETCH_VERSION, self.stretch.key, self.tokenizer.fingerprint, *self[2:])


def encode_stretch(
    task: StretchToEncode,
    folder: WorkFolder,
    n_threads: int | None,
    should_stop: Callable[[], bool] | None = None,
) -> Record:
    """Encode a stretch into files of the work folder, and return their record.

    One has the ids, as `task.dtype`; one a `DOCUMENT` for each document; and with `task.columns`,
    one the values of each document, as Arrow's stream of strings. Raises what reading
    and encoding raise, and CancelledError if `should_stop()` returns True.
    """
    if worth_waiting_for(task.stretch.n_bytes):
        wait_for_kernels()
    encoder = task.tokenizer.open(folder)
    documents = _Documents(task)
    encode, text = _choose_way(encoder, documents, task.stretch, n_threads)
    kinds = ("ids", "documents", "columns") if task.columns else ("ids", "documents")
    names = {kind: folder.new_name(task.key, kind) for kind in kinds}
    with ExitStack() as stack:
        ids_file, documents_file, *others = (
            stack.enter_context(folder.writing(name)) for name in names.values()
        )
        if others:
            documents.write_values = stack.enter_context(writing_columns(others[0], task.columns))
        for run in split_runs(text, lambda section: sum(map(len, section)), _RUN_BYTES):
            if should_stop is not None and should_stop():
                raise CancelledError
            try:
                encoded = encode(run)
            except TokenizationError as error:
                raise type(error)(f"{documents.file_name}: {error}") from None
            documents.write(encoded, ids_file, documents_file)
        # Documents without text have no section, so they may come after the last run.
        documents.write(encode(iter(())), ids_file, documents_file)
    return folder.finish(task.key, {**names, **documents.record()}, names.values())


def read_documents(folder: WorkFolder, record: Record) -> NDArray[Any]:
    """Return the `DOCUMENT` rows of an encoded stretch."""
    with Location(folder.path(record["documents"])).reading() as file:
        return np.frombuffer(file.read(), DOCUMENT)


def _choose_way(
    encoder: Encoder, documents: _Documents, stretch: Stretch, n_threads: int | None
) -> tuple[Callable[[Iterator[Section]], Encoded], Iterator[Section]]:
    """Return a function that encodes sections, and the sections: by kernels if that is faster."""
    if (own := find_own(encoder)) is not None:
        kernels = own.encoder.kernels.worth(stretch.n_bytes)
        if kernels is not None and stretch.pretokenizer != "none":
            cut = get_pretokenizer(stretch.pretokenizer).sections
            encode = partial(kernels.encode_sections, n_bytes=_RUN_BYTES, n_threads=n_threads)
            return encode, documents.sections(lambda pieces: cut([pieces]))
    return partial(_encode_each, encoder), documents.sections(lambda pieces: iter([[*pieces]]))


def _encode_each(encoder: Encoder, run: Iterator[Section]) -> Encoded:
    found = [encoder.encode_to_numpy(b"".join(section).decode()) for section in run]
    ids = np.concatenate([np.empty(0, np.int32), *found])
    return ids, np.cumsum([len(each) for each in found], dtype=np.int64)


class _Documents:
    """The documents of a stretch as they are encoded, and what becomes of them."""

    def __init__(self, task: StretchToEncode) -> None:
        self._reader = StretchReading(task.stretch, hash_text=False, columns=task.columns)
        self._task = task
        self._n_begun = 0
        self._taken: list[int] = []
        """The number of the document of each section that this run has taken."""
        self._ended: list[tuple[int, bool, bool, bool]] = []
        """An `_ENDED` for each document of which the last section was taken."""
        self._values: list[list[str | None]] = []
        """For each of them, what it has in the columns that are kept."""
        self.write_values: Callable[[Values], object] = len
        self._n_written = 0
        self._n_before = 0
        """The tokens that earlier runs have of the document after those written."""
        self._figures = np.zeros((len(task.stretch.parts), 3), np.int64)
        """The documents, tokens and bytes of each part."""

    def sections(self, cut: Callable[[Iterator[bytes]], Iterator[Section]]) -> Iterator[Section]:
        """Yield the sections into which a function cuts each document."""
        for pieces in self._reader.documents():
            number = self._n_begun
            self._n_begun += 1
            for section in cut(self._looked_at(pieces)):
                self._taken.append(number)
                yield section

    def _looked_at(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a document; after the last one, decide whether it is held out."""
        number, share = self._reader.part, self._task.held_out_share
        part = self._task.stretch.parts[number]
        digest = hashlib.blake2b(digest_size=8)
        n_bytes = 0
        for piece in pieces:
            n_bytes += len(piece)
            if share:
                digest.update(piece)
            yield piece
        self._figures[number, 2] += n_bytes
        begins = part.begin == 0 or part.source.kind != "text"
        is_held_out = share > 0 and int.from_bytes(digest.digest(), "big") < share * 2**64
        self._ended.append((number, begins, is_held_out, self._reader.is_open))
        self._values.append(self._reader.values)

    def write(self, encoded: Encoded, ids_file: BinaryIO, documents_file: BinaryIO) -> None:
        """Write the ids of a run, and a row for each document that has ended since the last."""
        ids, section_ends = encoded
        ended = np.array(self._ended, _ENDED)
        numbers = np.arange(self._n_written, self._n_written + len(ended))
        ends = np.append(0, section_ends)[np.searchsorted(self._taken, numbers, "right")]
        rows = np.zeros(len(ended), DOCUMENT)
        rows["begins"], rows["is_held_out"] = ended["begins"], ended["is_held_out"]
        rows["n_tokens"] = np.diff(ends, prepend=-self._n_before)
        self._n_before = len(ids) - int(ends[-1]) if len(ended) else self._n_before + len(ids)
        eos_after = np.empty(0, np.int64)
        if self._task.eos_id is not None:
            eos_after = ends[~ended["is_open"]]
            rows["n_tokens"] += ~ended["is_open"]
        ids_file.write(_insert(ids, eos_after, self._task.eos_id or 0, self._task.dtype).data)
        documents_file.write(rows.data)
        self.write_values(self._values)
        np.add.at(self._figures[:, 0], ended["part"], rows["begins"])
        np.add.at(self._figures[:, 1], ended["part"], rows["n_tokens"])
        self._n_written += len(ended)
        self._taken.clear()
        self._ended.clear()
        self._values.clear()

    @property
    def file_name(self) -> str:
        """The file that is being read."""
        return self._task.stretch.parts[self._reader.part].source.location.shown

    def record(self) -> Record:
        """Return what is known of the stretch once all is written."""
        reader, parts = self._reader, self._task.stretch.parts
        return {
            "source_bytes": self._task.stretch.n_bytes,
            "n_bytes": reader.n_bytes,
            "n_tokens": int(self._figures[:, 1].sum()),
            "n_documents": reader.n_documents,
            "n_skipped": reader.n_skipped,
            "n_replaced": reader.n_replaced,
            "n_damaged": reader.n_damaged,
            "notes": reader.notes,
            "sources": [
                [part.source.name, *figures]
                for part, figures in zip(parts, self._figures.tolist(), strict=True)
            ],
        }


def _insert(
    ids: NDArray[np.int32], places: NDArray[np.int64], id: int, dtype: str
) -> NDArray[np.integer]:
    """Return ids with another one before each of some places, as `dtype`.

    >>> _insert(np.array([7, 8, 9], np.int32), np.array([0, 2]), 5, "<u2").tolist()
    [5, 7, 8, 5, 9]
    """
    # Faster than np.insert: documents are mostly long, and this converts in the same pass.
    out = np.empty(len(ids) + len(places), dtype)
    at = 0
    for n_before, place in enumerate(places.tolist()):
        out[at + n_before : place + n_before] = ids[at:place]
        out[place + n_before] = id
        at = place
    out[at + len(places) :] = ids[at:]
    return out


def open_given(tokenizer: Tokenizer | str | os.PathLike[str]) -> tuple[Encoder, str]:
    """Return a tokenizer given as itself or by a path or name, and that path or name, or "".

    Raises what `open_encoder` raises, and ArgumentTypeError.

    >>> encoder, path = open_given("gpt2")
    >>> encoder.vocab_size, path
    (50257, 'gpt2')
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer, ""
    if is_a(tokenizer, str, os.PathLike):
        path = os.fspath(tokenizer)
        encoder = open_plainest(path).encoder
        return encoder, os.path.abspath(path) if os.path.exists(path) else path
    raise ArgumentTypeError(
        f"Expected a Tokenizer, or the path or name of one, got {describe(tokenizer)}."
    )


def share_tokenizer(encoder: Encoder, path: str, folder: WorkFolder) -> SharedTokenizer:
    """Write a `Tokenizer` to the work folder; workers open other encoders by their path or name."""
    own = find_own(encoder)
    shared = SharedTokenizer(encoder.fingerprint, path if own is None else "")
    if own is not None:
        (data,) = dumps(own, "native").values()
        with folder.writing(_file_name(encoder.fingerprint)) as file:
            file.write(data)
    _opened.clear()
    _opened[shared] = encoder
    return shared


def cutting_pretokenizer(encoder: Encoder) -> str:
    """Return the pre-tokenizer where a document may be cut and encoded in parts, or "none".

    >>> from bpe_core.tokenizer import gpt2
    >>> cutting_pretokenizer(gpt2())
    'gpt2'
    """
    own = encoder.merged_by
    if own is not None and own is encoder:
        cut = own.pretokenizer
        # A space in front of the text must not be put in front of its later parts too, and parts
        # are encoded without a normalizer.
        if cut.cuts_in_place and not cut.adds_space:
            return cut.name
    return "none"


def _file_name(fingerprint: str) -> str:
    return f"{fingerprint[:32]}.tokenizer"


class Slice(NamedTuple):
    """Some of the documents of an encoded stretch: those of a shard's split in a range of rows."""

    stretch: int
    """The place of the stretch in the corpus."""
    begin: int
    end: int
    is_head_held_out: bool
    """Whether the document that the stretch begins within is held out."""


class Shard(NamedTuple):
    """The documents of one output file."""

    split: str
    number: int
    slices: tuple[Slice, ...]
    n_documents: int
    n_tokens: int


class ShardToWrite(NamedTuple):
    """A shard, the records of its stretches, and all else that its bytes depend on."""

    shard: Shard
    stretches: tuple[Record, ...]
    """The record of the stretch of each slice."""
    dtype: str
    format: Format
    row_tokens: int | None
    """The length of packed rows; None if rows are documents."""
    shuffle_seed: int | None
    out: str
    """The folder to write to, by path or URL."""
    columns: tuple[str, ...] = ()
    """The columns of rows whose values are written too."""

    def place(self, file_name: str) -> str:
        """Return the path or URL of one of its files."""
        return f"{self.out.rstrip('/')}/{file_name}"

    @property
    def name(self) -> str:
        """The name of its files without their endings.

        >>> ShardToWrite(Shard("val", 3, (), 0, 0), (), "<u2", "bin", None, None, "out").name
        'val-00003'
        """
        return f"{self.shard.split}-{self.shard.number:05}"

    @property
    def key(self) -> str:
        """A name that is the same only for the same files."""
        files = [record["ids"] for record in self.stretches]
        return key_for(_SHARD_VERSION, self.shard, files, *self[2:])


def write_shard_files(task: ShardToWrite, folder: WorkFolder) -> Record:
    """Write the files of a shard, and return its record; raises CorpusError if that fails.

    Packed rows have exactly `row_tokens` ids: those after the last whole row are left out.
    """
    pieces = _find_pieces(task, folder)
    n_tokens = int(pieces["n_tokens"].sum())
    if task.row_tokens is None:
        documents = np.cumsum(pieces["begins"]) - 1
        lengths = np.bincount(documents, pieces["n_tokens"]).astype(np.int64)
    else:
        lengths = np.full(n_tokens // task.row_tokens, task.row_tokens)
    n_kept = int(lengths.sum())
    files: list[dict[str, Any]] = []
    if n_kept:
        urls = [folder.path(record["ids"]) for record in task.stretches]
        ids = _first(_read_pieces(pieces, urls, np.dtype(task.dtype)), n_kept)
        columns = read_columns(folder, task.stretches, pieces) if task.columns else None
        rows = Rows(ids, lengths, task.row_tokens, columns)
        written = write_shard(task.format, rows, task.dtype, task.place(task.name))
        files = [
            {"name": task.name + ending, "bytes": size, "sha256": sha256}
            for ending, (size, sha256) in written.items()
        ]
    record: Record = {
        "split": task.shard.split,
        "documents": task.shard.n_documents,
        "tokens": n_kept,
        "rows": len(lengths),
        "left_out_tokens": n_tokens - n_kept,
        "files": files,
        # Another run may write files of the same names before this record is used.
        "versions": {file["name"]: Location(task.place(file["name"])).version() for file in files},
    }
    return folder.finish(task.key, record)


def _find_pieces(task: ShardToWrite, folder: WorkFolder) -> NDArray[Any]:
    """Return the `_PIECE` rows of a shard, in the order in which they are written."""
    found = [np.empty(0, _PIECE)]
    for number, (part, record) in enumerate(zip(task.shard.slices, task.stretches, strict=True)):
        documents = read_documents(folder, record)
        is_held_out = find_held_out(documents, is_head_held_out=part.is_head_held_out)
        rows = np.flatnonzero(is_held_out == bool(SPLITS.index(task.shard.split)))
        rows = rows[(rows >= part.begin) & (rows < part.end)]
        ends = np.cumsum(documents["n_tokens"])
        pieces = np.zeros(len(rows), _PIECE)
        pieces["file"] = number
        pieces["row"] = rows
        pieces["n_tokens"] = documents["n_tokens"][rows]
        pieces["begin"] = ends[rows] - pieces["n_tokens"]
        pieces["begins"] = documents["begins"][rows]
        found.append(pieces)
    pieces = np.concatenate(found)
    if task.shuffle_seed is not None:
        documents = np.cumsum(pieces["begins"])
        pieces["order"] = scramble(documents, task.shuffle_seed, task.name)
        # Stable, so the parts of a document stay together and in order.
        pieces = pieces[np.argsort(pieces["order"], kind="stable")]
    return pieces


def scramble(numbers: NDArray[np.int64], seed: int, name: str) -> NDArray[np.uint64]:
    """Return a random-looking number for each number, different for each seed and shard.

    This is the finalizer of SplitMix64, because NumPy may change what its generators draw.

    >>> scramble(np.arange(2), 0, "train-00000").tolist() == [0, 0]
    False
    """
    offset = hashlib.sha256(f"{seed} {name}".encode()).digest()[:8]
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.frombuffer(offset, "<u8")
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _read_pieces(pieces: NDArray[Any], urls: Sequence[str], dtype: np.dtype[Any]) -> Iterator[Ids]:
    """Yield the ids of pieces in order; neighbours in a file are read together."""
    ends = pieces["begin"] + pieces["n_tokens"]
    follows = (pieces["file"][1:] == pieces["file"][:-1]) & (pieces["begin"][1:] == ends[:-1])
    firsts = np.append(0, np.flatnonzero(~follows) + 1)
    lasts = np.append(firsts[1:], len(pieces)) - 1
    spans = np.column_stack([pieces["file"][firsts], pieces["begin"][firsts], ends[lasts]])
    listed: list[list[int]] = spans.tolist()
    with ExitStack() as stack:
        opened: dict[int, BinaryIO] = {}
        for number, begin, end in listed:
            if number not in opened:
                if len(opened) == _MAX_OPEN:
                    stack.close()
                    opened.clear()
                opened[number] = stack.enter_context(Location(urls[number]).reading())
            opened[number].seek(begin * dtype.itemsize)
            for at in range(begin, end, _CHUNK_TOKENS):
                n = min(_CHUNK_TOKENS, end - at)
                yield np.frombuffer(opened[number].read(n * dtype.itemsize), dtype)


def _first(arrays: Iterator[Ids], n: int) -> Iterator[Ids]:
    """Yield the first n ids of arrays.

    >>> [ids.tolist() for ids in _first(iter([np.array([1, 2]), np.array([3, 4])]), 3)]
    [[1, 2], [3]]
    """
    for ids in arrays:
        yield ids[:n]
        n -= len(ids)
        if n <= 0:
            return


def find_held_out(documents: NDArray[Any], *, is_head_held_out: bool) -> NDArray[np.bool_]:
    """Return which of the `DOCUMENT` rows of a stretch are held out, as bool[n]."""
    # The rest of a document goes where its beginning went.
    return np.where(documents["begins"], documents["is_held_out"], is_head_held_out)


def deal(stretches: Iterable[NDArray[Any]], shard_tokens: int) -> list[Shard]:
    """Return the shards of a corpus, whose stretches have these `DOCUMENT` rows.

    The tokens of a split, in order, are cut every `shard_tokens`, and a document is whole in the
    shard in which it begins. A shard in which none begins is left out.

    >>> from bpe_scale.shards import DOCUMENT
    >>> rows = np.array([(4, True, False), (9, True, False), (2, True, True)], DOCUMENT)
    >>> [(shard.split, shard.number, shard.n_tokens) for shard in deal([rows], 4)]
    [('train', 0, 4), ('train', 1, 9), ('val', 0, 2)]
    """
    dealt: dict[tuple[int, int], list[tuple[Slice, int, int]]] = {}
    reached = [0, 0]
    head = (0, 0)
    for stretch, documents in enumerate(stretches):
        is_held_out = find_held_out(documents, is_head_held_out=bool(head[0]))
        next_head = head
        for split in (0, 1):
            rows = np.flatnonzero(is_held_out == split)
            if not rows.size:
                continue
            begins, n_tokens = documents["begins"][rows], documents["n_tokens"][rows]
            ends = reached[split] + np.cumsum(n_tokens)
            shards = np.where(begins, (ends - n_tokens) // shard_tokens, head[1])
            reached[split] = int(ends[-1])
            firsts = np.flatnonzero(np.diff(shards, prepend=-1)).tolist()
            for first, after in pairwise([*firsts, len(rows)]):
                these = slice(first, after)
                found = Slice(stretch, int(rows[first]), int(rows[after - 1]) + 1, bool(head[0]))
                dealt.setdefault((split, int(shards[first])), []).append(
                    (found, int(begins[these].sum()), int(n_tokens[these].sum()))
                )
            if rows[-1] == len(documents) - 1:
                next_head = (split, int(shards[-1]))
        head = next_head
    numbers = [count(), count()]
    return [
        Shard(
            SPLITS[split],
            next(numbers[split]),
            tuple(found for found, _, _ in dealt[split, shard]),
            sum(n_documents for _, n_documents, _ in dealt[split, shard]),
            sum(n_tokens for _, _, n_tokens in dealt[split, shard]),
        )
        for split, shard in sorted(dealt)
    ]
