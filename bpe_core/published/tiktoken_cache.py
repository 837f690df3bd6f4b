"""OpenAI's two files by tiktoken's names, and whether they are here, without the network."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from bpe_core.published.cache import state_of
from bpe_core.published.catalogue import CATALOGUE, Published

EncodingName = Literal["cl100k_base", "o200k_base"]
ENCODINGS: Final[Mapping[str, EncodingName]] = MappingProxyType(
    {"gpt4": "cl100k_base", "gpt4o": "o200k_base"}
)
"""tiktoken's names for OpenAI's tokenizers, by their names in the catalogue."""
_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_FOLDER_VARIABLES: Final = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def of_encoding(encoding: EncodingName) -> Published:
    """Return the published tokenizer that tiktoken knows by a name.

    >>> of_encoding("cl100k_base").title
    'GPT-4'
    """
    return next(CATALOGUE[name] for name in ENCODINGS if ENCODINGS[name] == encoding)


def is_cached(encoding: EncodingName) -> bool:
    """Return True if a tokenizer's file was fetched or tiktoken has it; none is downloaded.

    Looks at the name and size of the file in both caches, and never at the network.

    >>> is_cached("cl100k_base") in (True, False)
    True
    """
    found = of_encoding(encoding)
    if state_of(found) == "here":
        return True
    folder = next((os.environ[key] for key in _FOLDER_VARIABLES if key in os.environ), None)
    if folder is None:
        folder = Path(tempfile.gettempdir()) / "data-gym-cache"
    elif not folder:
        # tiktoken takes an empty name to mean no cache.
        return False
    # tiktoken names the file by a hash of its address; nothing here depends on its strength.
    file = hashlib.sha1(_ADDRESS.format(encoding).encode(), usedforsecurity=False).hexdigest()
    try:
        return (Path(folder) / file).stat().st_size == found.n_bytes
    except OSError:
        return False
