"""Deal documents to shards by their place in the corpus, and write one shard.

The ids of its documents are gathered from the work folder, whoever encoded them, in its order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count, pairwise
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import reading, version_at
from bpe_core.scale import Record, WorkFolder, key_for
from bpe_core.training_data.kept_columns import read_columns
from bpe_core.training_data.shard_formats import Format, Ids, Rows, write_shard
from bpe_core.training_data.stretch_ids import read_documents

_VERSION: Final = 1
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
        return key_for(_VERSION, self.shard, files, *self[2:])


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
        "versions": {file["name"]: version_at(task.place(file["name"])) for file in files},
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
                opened[number] = stack.enter_context(reading(urls[number]))
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

    >>> from bpe_core.training_data.stretch_ids import DOCUMENT
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
