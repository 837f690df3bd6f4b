"""Find the files that a tokenizer of the shelf was opened from."""

from __future__ import annotations

from collections.abc import Mapping

from bpe_core.formats.load_save import dumps
from bpe_core.published.cache import cached_path, cached_state, read_cached
from bpe_core.published.catalogue import CATALOGUE
from bpe_core.published.hub_names import is_hub_name, parse_hub_name
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.storage.base_tokenizer import BaseName
from ui.storage.upload_store import tokenizer_files
from ui.tokenizers.by_name import hub_files
from ui.tokenizers.shelf import FILE_PREFIX, GPT2


def read_base_files(base: BaseName, tokenizer: Tokenizer) -> Mapping[str, bytes]:
    """Return a tokenizer's own files, as file name -> bytes.

    A run has none, and gets a tokenizer.json. Raises BpeError if files are damaged or missing.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> list(read_base_files(BaseName("gpt2", "GPT-2"), gpt2()))
    ['vocab.json', 'merges.txt']
    """
    if base.key == GPT2:
        return dumps(tokenizer, "gpt2")
    return stored_files(base.key) or dumps(tokenizer, "huggingface")


def stored_files(key: str) -> Mapping[str, bytes]:
    """Return the files kept under a key of the shelf; none for a run or GPT-2.

    Raises BpeError if files are damaged or missing.

    >>> stored_files("gpt2")
    {}
    """
    if key.startswith(FILE_PREFIX):
        return tokenizer_files(key.removeprefix(FILE_PREFIX))
    if is_hub_name(key):
        return hub_files(parse_hub_name(key))
    found = CATALOGUE.get(key)
    if key == GPT2 or found is None or found.encoding or cached_state(found) == "missing":
        return {}
    return {cached_path(found).name: read_cached(found)}
