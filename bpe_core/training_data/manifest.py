"""Describe a folder of encoded shards, and check that its files are the ones described."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Final

from bpe_core.corpus.urls import names_in, reading, shown
from bpe_core.errors import FormatError, IntegrityError, NewerFormatError
from bpe_core.extras import needs_extra
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
    """Its file in the folder, or the path or name of a tokenizer that another library runs."""


class EosFacts(msgspec.Struct, frozen=True):
    """The special token that follows each document."""

    token: str
    id: int


class SourceFacts(msgspec.Struct, frozen=True):
    """What a file contributed."""

    name: str
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
            f"Manifest({self.tokens:,} tokens in {len(self.shards):,} shards, {self.format}, "
            f"{self.dtype})"
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
            raise _changed(place, f"has {size:,} bytes instead of {described.bytes:,}")
        if digest.hexdigest() != described.sha256:
            raise _changed(place, "has the right size, and another SHA-256 than its manifest says")


def _changed(place: str, problem: str) -> IntegrityError:
    return IntegrityError(f"{shown(place)} {problem}. Copy it again, or encode the corpus again.")
