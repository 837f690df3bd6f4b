"""What a tokenizer was trained on, as hashes, and how much of another text that is."""

from __future__ import annotations

import codecs
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from bpe_core.corpus.corpus import Corpus, in_pieces
from bpe_core.corpus.filed_texts import FileTexts
from bpe_core.corpus.held_out import Split, check_split_by
from bpe_core.corpus.urls import Location
from bpe_core.errors import FormatError

_MAX_HASHES: Final = 1 << 16
"""Of more documents, only those with the smallest hashes are stored: at most 0.7 MB in base64."""
_PIECE: Final = 1 << 20
_HASH: Final = np.dtype("<u8")


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """What a tokenizer was trained on."""

    corpus_sha256: str
    """The `sha256` of the training text."""
    n_bytes: int
    """Its size."""
    split: Split | None = None
    """How it was divided from a corpus; None if it was all of the text given."""
    held_out_sha256: str | None = None
    """The `sha256` of the text that was held out of that corpus, if it is known."""
    documents: bytes | None = field(default=None, repr=False)
    """The hashes of the documents of which it saw at least a part, sorted, 8 bytes each; of many
    documents, the smallest ones. None if they are not known."""

    @staticmethod
    def hash_texts(text: Corpus, left_out: Corpus | None = None) -> bytes:
        """Return `documents` for a text, but for documents that `left_out` has too."""
        without = hash_documents(() if left_out is None else left_out.documents)
        return pack_hashes({*hash_documents(text.documents)}.difference(without))

    @staticmethod
    def hash_files(paths: Iterable[Path]) -> bytes:
        """Return `documents` for text files, each of which is one document."""
        hashes: list[int] = []
        for path in paths:
            with Location(str(path)).reading() as file:
                first = file.read(_PIECE).removeprefix(codecs.BOM_UTF8)
                pieces = chain([first], iter(lambda: file.read(_PIECE), b""))
                hashes.append(hash_pieces(pieces))
        return pack_hashes(hashes)

    def share_of(self, corpus: Corpus) -> float | None:
        """Return the share of a text, by bytes, that is of documents that training saw.

        A document counts if training saw a part of it. None if that is not known.

        >>> seen = TrainedOn("", 9, documents=pack_hashes(hash_documents(["hug", "pug"])))
        >>> seen.share_of(Corpus.from_documents(["hug", "hugging"]))
        0.3
        """
        divided, split = corpus.divided, self.split
        is_part = divided is not None and not divided.by.startswith("file:")
        whole = divided.corpus_sha256 if divided is not None and is_part else corpus.sha256
        if self.corpus_sha256 in (corpus.sha256, whole):
            return 1.0
        if corpus.sha256 == self.held_out_sha256 or (split is not None and divided == split):
            return 0.0
        if split is not None and corpus.sha256 == split.corpus_sha256:
            return self.n_bytes / corpus.n_bytes
        if self.documents is None or corpus.word_counts is not None:
            return None
        share = self._share_of_documents(corpus)
        if split is not None and whole == split.corpus_sha256 and corpus.how is not None:
            # Held out in another way: training saw most of the documents that are cut.
            share = min(1.0, (share or 0.0) + corpus.how.share_within)
        return share

    def _share_of_documents(self, corpus: Corpus) -> float | None:
        known = np.frombuffer(self.documents or b"", _HASH)
        hashes = np.array(hash_documents(corpus.documents), _HASH)
        sizes = np.array([len(text.encode()) for text in corpus.documents], np.int64)
        # Of many documents, nothing is known of those whose hashes are larger.
        can_tell = hashes <= known[-1] if len(known) == _MAX_HASHES else hashes >= 0
        total = int(sizes[can_tell].sum())
        return int(sizes[can_tell & np.isin(hashes, known)].sum()) / total if total else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values.

        >>> TrainedOn.from_dict(TrainedOn("ab", 3).to_dict())
        TrainedOn(corpus_sha256='ab', n_bytes=3, split=None, held_out_sha256=None)
        """
        return {
            "corpus_sha256": self.corpus_sha256,
            "corpus_bytes": self.n_bytes,
            "split": None if self.split is None else asdict(self.split),
            "held_out_sha256": self.held_out_sha256,
            "documents": None if self.documents is None else b64encode(self.documents).decode(),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> TrainedOn:
        """Return what `to_dict`, or that of a run, returned; raises FormatError."""
        try:
            split = found["split"] and Split(**found["split"])
            if split is not None:
                check_split_by(split.by)
            documents = found.get("documents")
            packed = None if documents is None else b64decode(documents, validate=True)
            np.frombuffer(packed or b"", _HASH)
            return cls(
                str(found["corpus_sha256"]),
                int(found["corpus_bytes"]),
                split,
                found.get("held_out_sha256"),
                packed,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"The record of a training is damaged: {error}.") from None


def hash_documents(texts: Iterable[str]) -> list[int]:
    """Return the first 8 bytes of the SHA-256 of each text; 100 MB take 0.1 s.

    >>> hash_documents(["hug", "hug"])
    [8280380719837777762, 8280380719837777762]
    """
    if isinstance(texts, FileTexts):
        files = map(texts.pieces, range(len(texts)))
        return [hash_pieces(piece for piece, _ in pieces) for pieces in files]
    return [hash_pieces(in_pieces(text)) for text in texts]


def hash_pieces(pieces: Iterable[bytes]) -> int:
    """Return the hash of one document that is read in pieces."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return int.from_bytes(digest.digest()[:8], "little")


def pack_hashes(hashes: Iterable[int]) -> bytes:
    """Return the hashes of documents as `TrainedOn` stores them."""
    return np.array(sorted(set(hashes))[:_MAX_HASHES], _HASH).tobytes()
