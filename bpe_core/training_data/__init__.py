"""Encode a corpus of any size into files of token ids that training loops read.

In: a tokenizer, and files by path or URL. Out: a folder of shards and a manifest. The same input
gives the same bytes, whatever the number of workers and however often the run was interrupted.

Open `encode_corpus` first, the steps in order: `preparing` opens the tokenizer and divides the
text, `stretch_ids` encodes a stretch of it into the work folder, `shard_files` says which documents
each shard holds and writes one in a format of `shard_formats`. `kept_columns` keeps columns of rows
next to the ids. `manifest` describes the folder, and checks it.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.training_data import encoding
    from bpe_core.training_data.encoding import EncodingProgress, encode_corpus
    from bpe_core.training_data.manifest import (
        EosFacts,
        Manifest,
        is_encoded_folder,
        read_first_document,
        read_manifest,
        verify_files,
    )
    from bpe_core.training_data.preparing import Estimate, estimate_corpus, find_eos
    from bpe_core.training_data.shard_formats import Format
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
