"""Encode the documents of one stretch, and keep their ids in the work folder.

Workers get the tokenizer through that folder, or by its path or name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a
from bpe_core.corpus import reading, shown
from bpe_core.counting import split_runs
from bpe_core.errors import ArgumentTypeError, TokenizationError
from bpe_core.formats import dumps, loads, open_plainest
from bpe_core.kernels import wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers import SCANNERS, Section, get_pretokenizer, sections
from bpe_core.scale import Record, Stretch, StretchReading, WorkFolder, key_for
from bpe_core.tokenizer import Encoded, Encoder, Tokenizer
from bpe_core.training_data.kept_columns import Values, writing_columns
from bpe_core.training_data.manifest import TOKENIZER_NAME

DOCUMENT: Final = np.dtype([("n_tokens", "<i8"), ("begins", "?"), ("is_held_out", "?")])
"""What is kept of a document, or of the part of one that a stretch holds."""

_ENDED: Final = np.dtype([("part", "i8"), ("begins", "?"), ("is_held_out", "?"), ("is_open", "?")])

# A change to what is kept makes stretches in older work folders unusable.
_VERSION: Final = 1
_RUN_BYTES: Final = 4 << 20
"""The text whose ids are in memory at a time."""


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
        with reading(folder.path(_file_name(self.fingerprint))) as file:
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
        return key_for(_VERSION, self.stretch.key, self.tokenizer.fingerprint, *self[2:])


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
    with reading(folder.path(record["documents"])) as file:
        return np.frombuffer(file.read(), DOCUMENT)


def _choose_way(
    encoder: Encoder, documents: _Documents, stretch: Stretch, n_threads: int | None
) -> tuple[Callable[[Iterator[Section]], Encoded], Iterator[Section]]:
    """Return a function that encodes sections, and the sections: by kernels if that is faster."""
    if isinstance(encoder, Tokenizer):
        kernels = encoder.encoder.kernels.worth(stretch.n_bytes)
        if kernels is not None and stretch.pretokenizer != "none":
            cut = partial(sections, pretokenizer=get_pretokenizer(stretch.pretokenizer))
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
        return shown(self._task.stretch.parts[self._reader.part].source.url)

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
    shared = SharedTokenizer(encoder.fingerprint, "" if isinstance(encoder, Tokenizer) else path)
    if isinstance(encoder, Tokenizer):
        (data,) = dumps(encoder, "native").values()
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
    if isinstance(encoder, Tokenizer):
        cut = encoder.pretokenizer
        # A space in front of the text must not be put in front of its later parts too.
        if cut.name in SCANNERS and not cut.adds_space:
            return cut.name
    return "none"


def _file_name(fingerprint: str) -> str:
    return f"{fingerprint[:32]}.tokenizer"
