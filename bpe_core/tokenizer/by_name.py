"""Tokenizers given by a path or a name, opened by the public function above this package."""

from __future__ import annotations

import os

import bpe_core
from bpe_core.tokenizer.protocol import Encoder


def to_encoder(given: Encoder | str | os.PathLike[str]) -> Encoder:
    """Return an encoder as it is, and open one given by a path or a name as `open_encoder` does.

    >>> to_encoder("gpt2").encode("The quick")
    [464, 2068]
    """
    return bpe_core.open_encoder(given) if isinstance(given, (str, os.PathLike)) else given
