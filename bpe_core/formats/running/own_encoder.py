"""What the encoders have in common whose merges run here, between other steps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property

from bpe_core.formats.running.added_tokens import AddedToken
from bpe_core.immutable import Immutable
from bpe_core.tokenizer.tokenizer import Tokenizer


class OwnEncoder(Immutable):
    """Base class of the encoders that change or cut a text here, and then merge it.

    `tokenizer` holds the merges, and `added` are the tokens that are found in a text first.
    `steps` is what else is done to a text, as a JSON value.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> encoder = OwnEncoder(gpt2(), ())
    >>> encoder.engine, encoder.vocab_size, encoder.special_tokens
    ('bpe_core', 50257, {})
    """

    def __init__(
        self, tokenizer: Tokenizer, added: Sequence[AddedToken], steps: object = None
    ) -> None:
        self._tokenizer = tokenizer
        self._steps = steps
        self._added = tuple(added)
        self._special = {each.text: each.id for each in self._added if each.is_special}

    @property
    def tokenizer(self) -> Tokenizer:
        """The merges alone."""
        return self._tokenizer

    @property
    def added(self) -> tuple[AddedToken, ...]:
        """The tokens that are found in a text before anything is merged."""
        return self._added

    @property
    def fingerprint(self) -> str:
        """The SHA-256, in hexadecimal, of everything that affects encoding."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        parts = [self._tokenizer.fingerprint, [list(each) for each in self._added], self._steps]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def model(self) -> str:
        """The model: "BPE"."""
        return "BPE"

    @property
    def engine(self) -> str:
        """The library that encodes: "bpe_core"."""
        return "bpe_core"

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes."""
        return self._tokenizer.vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including added ones."""
        return self._tokenizer.vocab_size

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each added token that is found only where special tokens are allowed."""
        return self._special

    @property
    def unknown_id(self) -> None:
        """None, because no token represents text outside the vocabulary."""
        return

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer changes it before it is cut.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> OwnEncoder(gpt2(), ()).normalized("ﬁ")
        'ﬁ'
        """
        return text
