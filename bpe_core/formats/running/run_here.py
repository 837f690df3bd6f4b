"""Run byte-pair encoding here, after the parts of a tokenizer.json that change or cut the text.

`tokenizers` finds added tokens in the text as it is, normalizes what is between them, finds others
in that, and encodes the rest. All steps but the last are a small part of the work: the library's
own normalizer is called, `re` looks for added tokens, and the kernels encode.

Bytes that are not tokens are left out of a pre-token before its merges, which then join what was on
both sides, as in the library. The library itself gets a text only if such a byte is not ASCII, and
to place tokens in a text that has any or that the normalizer changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.formats.running.added_tokens import AddedToken, build_finder
from bpe_core.formats.running.normal_forms import normalize_by_library
from bpe_core.formats.running.offsets_to_segments import columns_to_segments
from bpe_core.formats.running.own_encoder import OwnEncoder
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.pretokenizers.added_tokens import AddedTokenFinder
from bpe_core.pretokenizers.pretokenizers import cut_text
from bpe_core.pretokenizers.special_tokens import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer.protocol import TokenColumns
from bpe_core.tokenizer.segment_arrays import token_widths
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Segment

_NEVER_IN_UTF8: Final = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})


class NativeTokenizer(OwnEncoder):
    """A tokenizer.json whose merges run here, after normalizer and added tokens; immutable.

    `tokenizer` holds the merges, with every added token as a special one, and `source` is the file
    as `for_library` returns it. Raises `FormatError` if the texts that the library must encode
    cannot be told by their characters, and for added tokens that the normalizer may change.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> native = NativeTokenizer(gpt2(), b"", normalizer={"type": "NFC"})
    >>> native.encode("e\\u0301") == gpt2().encode("é"), native.engine
    (True, 'bpe_core')
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        source: bytes,
        added: Sequence[AddedToken] = (),
        normalizer: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(tokenizer, added, normalizer)
        self._complete = _complete(tokenizer)
        self._source = source
        self._normalizer = normalizer
        self._normalized = None if normalizer is None else normalize_by_library(normalizer)
        if self._normalized is not None:
            for each in self._added:
                if each.is_normalized and self._normalized(each.text) != each.text:
                    raise FormatError(f"Its normalizer changes the added token {each.text!r:.60}.")
        self._lacking = _lacking(tokenizer)
        self._left_out = _left_out(tokenizer)

    def __reduce__(self) -> tuple[object, ...]:
        return NativeTokenizer, (self._tokenizer, self._source, self._added, self._normalizer)

    @property
    def source(self) -> bytes:
        """The tokenizer.json that `tokenizers` is given."""
        return self._source

    @property
    def normalizer(self) -> Mapping[str, Any] | None:
        """The part of tokenizer.json that changes a text first, or None."""
        return self._normalizer

    @property
    def normalizer_name(self) -> str:
        """The name of the normalizer; empty if there is none."""
        return "" if self._normalizer is None else str(self._normalizer["type"])

    @property
    def may_lack_bytes(self) -> bool:
        """True if some text has a byte that is not a token."""
        return self._lacking is not None

    @property
    def drops_text(self) -> bool:
        """True if a normalizer may drop text, or if bytes that are not tokens are left out."""
        return bool(self.normalizer_name) or self.may_lack_bytes

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `InvalidTextError` for a lone surrogate.

        Added tokens that are not special are found in any text.
        """
        check_text(text)
        allowed = allowed_tokens(self._special, allowed_special)
        ids: list[int] = []
        for piece, id in self._pieces(text, allowed):
            if id is not None:
                ids.append(id)
                continue
            of_piece = self._complete.encode_to_numpy(piece)
            if self._left_out and self._lacks_some(of_piece):
                of_piece = self._complete.encoder.encode_without(piece, self._left_out)
            if self._lacks_some(of_piece):
                return self._foreign.encode(text, allowed_special)
            if ids:
                ids += of_piece.tolist()
            else:  # most texts are one piece, whose list need not be copied
                ids = of_piece.tolist()
        return ids

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their places in a text; raises what `encode` raises.

        `tokenizers` places the tokens of a text that its normalizer changes.
        """
        (columns,) = self.place_tokens([text], allowed_special)
        return columns_to_segments(text, columns, self.vocab)

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises."""
        return [self._placed(text, allowed_special) for text in texts]

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text where its ids don't change; each part but the last has `size` characters.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> list(NativeTokenizer(gpt2(), b"").parts("one two three", 3))
        ['one', ' two', ' three']
        """
        cuts = self._tokenizer.pretokenizer.ends_before_space and not any(
            character.isspace() for each in self._added for character in each.text
        )
        return cut_text(text, size if cuts else len(text))

    def normalized(self, text: str) -> str:
        """Return the text as its normalizer changes it, before it is cut."""
        return text if self._normalized is None else self._normalized(text)

    def _lacks_some(self, ids: NDArray[np.int32]) -> bool:
        """Return True if some ids are those of bytes that are not tokens."""
        return self._lacking is not None and bool((ids > self._last_id).any())

    @cached_property
    def _last_id(self) -> int:
        return max(self.vocab, default=-1)

    def _placed(self, text: str, allowed_special: AllowedSpecial) -> TokenColumns:
        check_text(text)
        if self.normalized(text) != text or (self._lacking and self._lacking.search(text)):
            return self._foreign.place_tokens([text], allowed_special)[0]
        ids = np.array(self.encode(text, allowed_special), np.int64)
        byte_ends = np.cumsum(self._widths[ids])
        return TokenColumns(ids, byte_ends - self._widths[ids], byte_ends)

    @cached_property
    def _widths(self) -> NDArray[np.int64]:
        """int64[largest id + 1]: the number of bytes of each token."""
        return token_widths(self.vocab)

    @cached_property
    def _foreign(self) -> ForeignTokenizer:
        """The library's tokenizer; building a large one takes seconds, and few texts need it."""
        return ForeignTokenizer(self._source.decode(), self._special)

    def _pieces(self, text: str, allowed: frozenset[str]) -> Iterator[tuple[str, int | None]]:
        """Yield added tokens with their ids, and what is between them, normalized, without one."""
        raw, normalized = self._finders
        for piece, id in raw.split(text, allowed):
            if id is not None:
                yield piece, id
            else:
                yield from normalized.split(self.normalized(piece), allowed)

    @cached_property
    def _finders(self) -> tuple[AddedTokenFinder, AddedTokenFinder]:
        raw = build_finder(each for each in self._added if not each.is_normalized)
        return raw, build_finder(each for each in self._added if each.is_normalized)


def _complete(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer with ids for the bytes that are not tokens, because kernels need all 256.

    Ids of a text that has such bytes are not used.
    """
    first = max(tokenizer.vocab, default=-1) + 1
    missing = _missing_bytes(tokenizer)
    if not missing:
        return tokenizer
    new = {first + place: bytes([byte]) for place, byte in enumerate(missing)}
    return Tokenizer(
        vocab={**tokenizer.vocab, **new},
        merges=[(merge.left, merge.right, merge.id) for merge in tokenizer.merges],
        pretokenizer=tokenizer.pretokenizer.name,
        special_tokens=tokenizer.special_tokens,
        whole_words_first=tokenizer.whole_words_first,
    )


def _missing_bytes(tokenizer: Tokenizer) -> list[int]:
    return [byte for byte in range(256) if bytes([byte]) not in tokenizer.base_ids]


def _left_out(tokenizer: Tokenizer) -> bytes:
    """Return the bytes that are not tokens and can be left out of pre-tokens here.

    Only those of ASCII: a step that cuts between bytes, as Falcon's does, keeps apart what was on
    both sides of another, such as B2 and B3 around the F2 in U+1F4B2 U+B3000. Empty if whole words
    are looked up first, because a word would be looked up without them.
    """
    if tokenizer.whole_words_first:
        return b""
    return bytes(byte for byte in _missing_bytes(tokenizer) if byte < 0x80)


def _lacking(tokenizer: Tokenizer) -> re.Pattern[str] | None:
    """Return a pattern for characters with a byte that is not a token, or None."""
    ranges: list[str] = []
    for byte in _missing_bytes(tokenizer):
        if byte in _NEVER_IN_UTF8:
            continue
        if 0x80 <= byte < 0xC0:
            raise FormatError(
                f"The byte 0x{byte:02X}, which is in characters of every script, is not a token."
            )
        if byte < 0x80:
            first, n = byte, 1
        elif byte < 0xE0:
            first, n = (byte & 0x1F) << 6, 1 << 6
        elif byte < 0xF0:
            first, n = (byte & 0x0F) << 12, 1 << 12
        else:
            first, n = (byte & 0x07) << 18, 1 << 18
        last = min(first + n, 0x110000) - 1
        ranges.append(f"{re.escape(chr(first))}-{re.escape(chr(last))}")
    return re.compile(f"[{''.join(ranges)}]") if ranges else None
