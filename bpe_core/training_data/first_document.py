"""Read the beginning of an encoded corpus back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bpe_core.corpus.urls import reading, shown
from bpe_core.errors import FormatError, IntegrityError
from bpe_core.extras import import_arrow
from bpe_core.formats.load_save import loads
from bpe_core.training_data.manifest import TOKENIZER_NAME, Manifest


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
