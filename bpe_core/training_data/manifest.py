"""Describe a folder of encoded shards, check its files, and read its beginning back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Final

import numpy as np

from bpe_core.checks import counted
from bpe_core.corpus import names_in, reading, shown
from bpe_core.errors import FormatError, IntegrityError, NewerFormatError
from bpe_core.extras import import_arrow, needs_extra
from bpe_core.formats import loads
from bpe_core.training_data.shard_formats import Dtype, Format

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

    def __repr__(self) -> str:
        return (
            f"Manifest({counted(self.tokens, 'token')} in {counted(len(self.shards), 'shard')}, "
            f"{self.format}, {self.dtype})"
        )

    def to_json(self) -> bytes:
        """Return it as JSON for people to read too."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def is_encoded_folder(folder: str) -> bool:
    """Return True for a folder with a manifest.

    >>> is_encoded_folder("/no/such/folder")
    False
    """
    return NAME in names_in(folder)


def read_manifest(folder: str) -> Manifest:
    """Read the manifest of a folder, by path or URL.

    Raises FormatError if it is not one, NewerFormatError for one of a later version, and
    MissingFileError.
    """
    with reading(f"{folder.rstrip('/')}/{NAME}") as file:
        data = file.read()
    try:
        version = msgspec.json.decode(data, type=dict[str, object]).get("bpe_core")
        if isinstance(version, int) and version > _VERSION:
            raise NewerFormatError(
                f"The {NAME} of {shown(folder)} has version {version}, and this program reads "
                f"version {_VERSION}. Update it."
            )
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise FormatError(
            f"The {NAME} of {shown(folder)} does not describe an encoded corpus ({error}). Encode "
            "it again with bpe encode-corpus."
        ) from None


def verify_files(folder: str, manifest: Manifest) -> None:
    """Check that all files of a manifest are there, unchanged.

    Raises IntegrityError that names the first that is not.
    """
    names = set(names_in(folder))
    for described in (file for shard in manifest.shards for file in shard.files):
        place = f"{folder.rstrip('/')}/{described.name}"
        if described.name not in names:
            raise _changed(place, "is missing")
        digest, size = hashlib.sha256(), 0
        with reading(place) as file:
            while data := file.read(_PIECE):
                digest.update(data)
                size += len(data)
        if size != described.bytes:
            raise _changed(place, f"has {counted(size, 'byte')} instead of {described.bytes:,}")
        if digest.hexdigest() != described.sha256:
            raise _changed(place, "has the right size, and another SHA-256 than its manifest says")


def _changed(place: str, problem: str) -> IntegrityError:
    return IntegrityError(f"{shown(place)} {problem}. Copy it again, or encode the corpus again.")


def read_first_document(
    folder: str, manifest: Manifest, n: int
) -> tuple[list[int], Mapping[int, bytes]]:
    """Return the first ids of the first document, at most `n`, and the bytes of each id.

    Without the tokenizer's file in the folder, the bytes are not known. Raises CorpusError if they
    cannot be read, FormatError for Parquet of another kind, IntegrityError for another tokenizer,
    and what opening the tokenizer raises.
    """
    place = f"{folder.rstrip('/')}/"
    with reading(place + manifest.shards[0].files[0].name) as file:
        if manifest.format == "parquet":
            parquet = import_arrow("Reading parquet", "parquet").parquet
            try:
                batch = next(parquet.ParquetFile(file).iter_batches(1, columns=["input_ids"]))
                ids = [int(id) for id in batch["input_ids"][0].as_py()[:n]]
            except (LookupError, TypeError, StopIteration):
                raise FormatError(
                    f"The Parquet files in {shown(folder)} have no ids in rows of input_ids. "
                    "Encode the corpus again with bpe encode-corpus."
                ) from None
        else:
            if manifest.format == "npy":
                np.lib.format.read_magic(file)
                np.lib.format.read_array_header_1_0(file)
            dtype = np.dtype(manifest.dtype)
            ids = np.frombuffer(file.read(n * dtype.itemsize), dtype).tolist()
    if manifest.eos is not None and manifest.eos.id in ids:
        ids = ids[: ids.index(manifest.eos.id) + 1]
    if manifest.tokenizer.file != TOKENIZER_NAME:
        # A manifest may come from anyone, so no other file that it names is opened.
        return ids, {}
    with reading(place + TOKENIZER_NAME) as file:
        tokenizer = loads({TOKENIZER_NAME: file.read()})
    if tokenizer.fingerprint != manifest.tokenizer.fingerprint:
        raise IntegrityError(
            f"{shown(place + TOKENIZER_NAME)} is not the tokenizer whose fingerprint the manifest "
            "has. Copy it again, or encode the corpus again."
        )
    return ids, tokenizer.vocab
