"""Run byte-pair encoding here, after the parts of a tokenizer.json that change or cut the text.

`tokenizers` finds added tokens in the text as it is, normalizes what is between them, finds others
in that, and encodes the rest. All steps but the last are a small part of the work: `re` looks for
added tokens, and the kernels encode.

Bytes that are not tokens are left out of a pre-token before its merges, which then join what was on
both sides, as in the library. The library itself gets a text only if such a byte is not ASCII, and
to place tokens in a text that has any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.formats.running.base_encoders import OwnEncoder
from bpe_core.formats.running.before_merging import AddedToken, build_finder
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.pretokenizers import (
    AddedTokenFinder,
    AllowedSpecial,
    Change,
    align,
    allowed_tokens,
    check_text,
    cut_text,
)
from bpe_core.tokenizer import Kernels, TokenColumns, Tokenizer
from bpe_core.types import Explanation

_NEVER_IN_UTF8: Final = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
_NO_IDS: Final = np.empty(0, np.int32)


class NativeTokenizer(OwnEncoder):
    """A tokenizer.json whose merges run here, after normalizer and added tokens; immutable.

    `tokenizer` holds the merges, with every added token as a special one. `source` is the file as
    `for_library` returns it, which is needed if some bytes are not tokens. Raises `FormatError` if
    the texts that the library must encode cannot be told by their characters, and for added tokens
    that the normalizer may change.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.tokenizer import with_changes
    >>> native = NativeTokenizer(with_changes(gpt2(), pretokenizer="NFC+gpt2"), b"")
    >>> native.encode("e\\u0301") == gpt2().encode("é"), native.engine
    (True, 'bpe_core')
    """

    def __init__(
        self, tokenizer: Tokenizer, source: bytes, added: Sequence[AddedToken] = ()
    ) -> None:
        super().__init__(tokenizer, added)
        # Pieces are normalized before they get there.
        self._complete = _complete(tokenizer)
        self.source = source
        for each in self.added:
            if each.is_normalized and self.normalized(each.text) != each.text:
                raise FormatError(f"Its normalizer changes the added token {each.text!r:.60}.")
        normalizer = tokenizer.pretokenizer.normalizer
        self.normalizer_name = "" if normalizer is None else normalizer.name
        self._lacking = _lacking(tokenizer)
        self.may_lack_bytes = self._lacking is not None
        self.drops_text = self.may_lack_bytes
        self._left_out = _left_out(tokenizer)

    def __reduce__(self) -> tuple[object, ...]:
        return NativeTokenizer, (self.tokenizer, self.source, self.added)

    @property
    def kernels(self) -> Kernels:
        """Those that encode, or those of the merges if some bytes are not tokens."""
        is_whole = self._complete.table is self.tokenizer.table
        return (self._complete if is_whole else self.tokenizer).encoder.kernels

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `InvalidTextError` for a lone surrogate.

        Added tokens that are not special are found in any text.
        """
        return self.encode_to_numpy(text, allowed_special).tolist()

    def encode_to_numpy(self, text: str, allowed_special: AllowedSpecial = ()) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises."""
        check_text(text)
        allowed = allowed_tokens(self.special_tokens, allowed_special)
        found: list[NDArray[np.int32]] = []
        for piece, id in self._pieces(text, allowed):
            if id is not None:
                found.append(np.array([id], np.int32))
                continue
            ids = self._complete.encode_to_numpy(piece)
            if self._left_out and self._lacks_some(ids):
                ids = self._complete.encoder.encode_without(piece, self._left_out)
            if self._lacks_some(ids):
                return self._foreign.encode_to_numpy(text, allowed_special)
            found.append(ids)
        # Most texts are one piece, which need not be copied.
        return found[0] if len(found) == 1 else np.concatenate([_NO_IDS, *found])

    def explain(self, text: str) -> list[Explanation]:
        """Return the symbols of each word and the merges applied to them, in order.

        Places are those in the normalized text, and added tokens are left out. Raises
        `UnknownSymbolError` for a byte that is not a token.
        """
        check_text(text)
        explained: list[Explanation] = []
        start = 0
        for piece, id in self._pieces(text, frozenset()):
            if id is None:
                words = self.tokenizer.explain(piece)
                explained += [replace(word, start=start + word.start) for word in words]
            start += len(piece)
        return explained

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises."""
        return [self._placed(text, allowed_special) for text in texts]

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text where its ids don't change; each part but the last has `size` characters.

        >>> from bpe_core.tokenizer import gpt2
        >>> list(NativeTokenizer(gpt2(), b"").parts("one two three", 3))
        ['one', ' two', ' three']
        """
        cuts = self.tokenizer.pretokenizer.ends_before_space and not any(
            character.isspace() for each in self.added for character in each.text
        )
        return cut_text(text, size if cuts else len(text))

    def normalized(self, text: str) -> str:
        """Return the text as its normalizer changes it, before it is cut."""
        return self.tokenizer.pretokenizer.normalized(text)

    def _lacks_some(self, ids: NDArray[np.int32]) -> bool:
        """Return True if some ids are those of bytes that are not tokens."""
        return self.may_lack_bytes and bool((ids > self._last_id).any())

    @cached_property
    def _last_id(self) -> int:
        return max(self.vocab, default=-1)

    def _placed(self, text: str, allowed_special: AllowedSpecial) -> TokenColumns:
        check_text(text)
        if self._lacking and self._lacking.search(text):
            return self._foreign.place_tokens([text], allowed_special)[0]
        ids = self.encode_to_numpy(text, allowed_special).astype(np.int64)
        in_bytes = align(text, self._changes(text, allowed_special))[1]
        byte_ends = in_bytes(np.cumsum(self.widths[ids]))
        byte_starts = np.concatenate([np.zeros(1, np.int64), byte_ends])[:-1]
        return TokenColumns(ids, byte_starts, byte_ends)

    def _changes(self, text: str, allowed_special: AllowedSpecial) -> list[Change]:
        """Return what is normalized between the added tokens that are found before."""
        normalizer = self.tokenizer.pretokenizer.normalizer
        if normalizer is None or text.isascii():
            return []
        found: list[Change] = []
        start = 0
        allowed = allowed_tokens(self.special_tokens, allowed_special)
        for piece, id in self._finders[0].split(text, allowed):
            changes = normalizer.changes(piece) if id is None else []
            found += [Change(start + a, start + b, normal) for a, b, normal in changes]
            start += len(piece)
        return found

    @cached_property
    def _foreign(self) -> ForeignTokenizer:
        """The library's tokenizer; building a large one takes seconds, and few texts need it."""
        return ForeignTokenizer(self.source.decode(), self.special_tokens)

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
        raw = build_finder(each for each in self.added if not each.is_normalized)
        return raw, build_finder(each for each in self.added if each.is_normalized)


def _complete(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer with ids for the bytes that are not tokens, because kernels need all 256.

    It normalizes nothing. Ids of a text that has such bytes are not used.
    """
    first = max(tokenizer.vocab, default=-1) + 1
    missing, cut = _missing_bytes(tokenizer), tokenizer.pretokenizer
    if not missing:
        return tokenizer if cut.name == cut.cut else Tokenizer.from_table(tokenizer.table, cut.cut)
    new = {first + place: bytes([byte]) for place, byte in enumerate(missing)}
    return Tokenizer(
        vocab={**tokenizer.vocab, **new},
        merges=[(merge.left, merge.right, merge.id) for merge in tokenizer.merges],
        pretokenizer=cut.cut,
        special_tokens=tokenizer.special_tokens,
        whole_words_first=tokenizer.table.whole_words_first,
    )


def _missing_bytes(tokenizer: Tokenizer) -> list[int]:
    return [byte for byte in range(256) if bytes([byte]) not in tokenizer.base_ids]


def _left_out(tokenizer: Tokenizer) -> bytes:
    """Return the bytes that are not tokens and can be left out of pre-tokens here.

    Only those of ASCII: a step that cuts between bytes, as Falcon's does, keeps apart what was on
    both sides of another, such as B2 and B3 around the F2 in U+1F4B2 U+B3000. Empty if whole words
    are looked up first, because a word would be looked up without them.
    """
    if tokenizer.table.whole_words_first:
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
