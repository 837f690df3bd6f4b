"""Bring a tokenizer to all workers: through the work folder, or by its path or name."""

from __future__ import annotations

import os
from typing import NamedTuple

from bpe_core.checks import describe, is_a
from bpe_core.corpus.urls import reading
from bpe_core.errors import ArgumentTypeError
from bpe_core.formats.load_save import dumps, loads
from bpe_core.formats.opening.open_encoder import open_plainest
from bpe_core.pretokenizers.scanners import SCANNERS
from bpe_core.scale.work_folder import WorkFolder
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.training_data.manifest import TOKENIZER_NAME


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
    """Put a tokenizer's file into the work folder; others are opened by their path or name."""
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

    >>> from bpe_core.tokenizer.gpt2 import gpt2
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
