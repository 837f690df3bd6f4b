"""Run ranks with `tiktoken`, where their pattern is not one that `bpe_core` knows by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.running.base_encoders import (
    LibraryEncoder,
    library_failures,
    listed_texts,
)
from bpe_core.kernels import n_threads
from bpe_core.pretokenizers import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer import TokenColumns

# Below this the threads wait for the interpreter's lock, and one is as fast.
_MIN_CHARACTERS_PER_TEXT: Final = 200


class TiktokenTokenizer(LibraryEncoder):
    """Ranks, a pattern and special tokens as `tiktoken` encodes with them; immutable.

    `ranks` maps each token to its id. Raises `FormatError` if the library cannot take them, and
    `MissingExtraError` if it is not installed.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> TiktokenTokenizer(ranks, r"\\S+|\\s+", {}).encode("hugs")
    [257, 115]
    """

    def __init__(
        self, ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
    ) -> None:
        with needs_extra("formats", "Encoding with tiktoken"):
            import tiktoken

        self.pattern = pattern
        self._ranks = dict(ranks)
        if not all(bytes([byte]) in ranks for byte in range(256)):
            raise FormatError("The ranks lack some of the 256 bytes, so tiktoken cannot use them.")
        with library_failures(
            lambda _: FormatError(
                f"tiktoken cannot use these ranks with the pattern {pattern!r:.80}."
            )
        ):
            self._peer = tiktoken.Encoding(
                "from a file",
                pat_str=pattern,
                mergeable_ranks=self._ranks,
                special_tokens=dict(special_tokens),
            )
        by_id = {id: token for token, id in ranks.items()}
        by_id.update((id, text.encode()) for text, id in special_tokens.items())
        vocab = dict(sorted(by_id.items()))
        engine = f"tiktoken {tiktoken.__version__}"
        digest = hashlib.sha256(json.dumps([engine, pattern, dict(special_tokens)]).encode())
        for id, token in vocab.items():
            digest.update(b"%d:%d:%b" % (id, len(token), token))
        super().__init__(engine, vocab, special_tokens, digest.hexdigest())

    def __reduce__(self) -> tuple[object, ...]:
        return TiktokenTokenizer, (self._ranks, self.pattern, dict(self.special_tokens))

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the library
        fails, as it does on very long runs of one character.
        """
        return self._encoded([text], allowed_special)[0].tolist()

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts, by all cores; raises what `encode` raises."""
        return [ids.tolist() for ids in self._encoded(listed_texts(texts), allowed_special)]

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises.

        Raises `TokenizationError` too if the pattern drops a part of a text. The library encodes
        the texts on all cores and without the interpreter's lock, and makes no object per token.
        """
        ids_of_texts = self._encoded(texts, allowed_special)
        known, lengths = self._lengths
        placed: list[TokenColumns] = []
        for text, ids in zip(texts, ids_of_texts, strict=True):
            byte_ends = np.cumsum(lengths[np.searchsorted(known, ids)])
            n_bytes = len(text) if text.isascii() else len(text.encode())
            if (byte_ends[-1] if len(ids) else 0) != n_bytes:
                raise TokenizationError("The tokenizer's pattern drops a part of this text.")
            byte_starts = np.concatenate([np.zeros(min(len(ids), 1), np.int64), byte_ends[:-1]])
            placed.append(TokenColumns(ids, byte_starts, byte_ends))
        return placed

    @cached_property
    def _lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sorted ids, of which some numbers may be missing, and the bytes of each."""
        n = len(self._vocab)
        lengths = np.fromiter(map(len, self._vocab.values()), np.int64, n)
        return np.fromiter(self._vocab, np.int64, n), lengths

    def _encoded(
        self, texts: Sequence[str], allowed_special: AllowedSpecial
    ) -> list[NDArray[np.int64]]:
        for text in texts:
            check_text(text)
        allowed = set(allowed_tokens(self.special_tokens, allowed_special))

        def encode(text: str) -> NDArray[np.int64]:
            found = self._peer.encode_to_numpy(text, allowed_special=allowed, disallowed_special=())
            return found.astype(np.int64)

        with library_failures(
            lambda _: TokenizationError(
                f"{self.engine} cannot encode this text; a very long word is a known cause."
            )
        ):
            n_workers = min(n_threads(), len(texts))
            if n_workers < 2 or sum(map(len, texts)) < _MIN_CHARACTERS_PER_TEXT * len(texts):
                return list(map(encode, texts))
            with ThreadPoolExecutor(n_workers, thread_name_prefix="tiktoken") as pool:
                return list(pool.map(encode, texts))
