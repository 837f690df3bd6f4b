"""Run ranks with `tiktoken`, where their pattern is not one that `bpe_core` knows by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from bpe_core.errors import FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.library_encoder import LibraryEncoder
from bpe_core.formats.library_errors import library_failures
from bpe_core.pretokenizers.special_tokens import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer.segments import segments_of_ids
from bpe_core.types import Segment


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

        self._pattern = pattern
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
        return TiktokenTokenizer, (self._ranks, self._pattern, dict(self._special_tokens))

    @property
    def model(self) -> str:
        """The model: "BPE"."""
        return "BPE"

    @property
    def unknown_id(self) -> None:
        """None: every byte is a token."""
        return

    @property
    def drops_text(self) -> bool:
        """False: a text that the pattern would drop raises an error."""
        return False

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the library
        fails, as it does on very long runs of one character.
        """
        check_text(text)
        allowed = set(allowed_tokens(self._special_tokens, allowed_special))
        with library_failures(
            lambda _: TokenizationError(
                f"{self._engine} cannot encode this text; a very long word is a known cause."
            )
        ):
            return self._peer.encode(text, allowed_special=allowed, disallowed_special=())

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their places in a text; raises what `encode` raises.

        Raises `TokenizationError` too if the pattern drops a part of the text.
        """
        ids = np.array(self.encode(text, allowed_special), np.int32)
        vocab = self._vocab
        if sum(len(vocab[id]) for id in ids.tolist()) != len(text.encode()):
            raise TokenizationError("The tokenizer's pattern drops a part of this text.")
        return segments_of_ids(text, ids, vocab)
