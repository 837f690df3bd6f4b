"""Run tokenizers that are not plain byte-pair encoding with Hugging Face's `tokenizers`.

These are Unigram and WordPiece models, BPE behind a normalizer, and everything else that the
library can load. Tokens are placed in the text by the offsets that the library reports.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from bpe_core.errors import FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.immutable import Immutable
from bpe_core.pretokenizers.special_tokens import AllowedSpecial, allowed_tokens, check_text
from bpe_core.types import Segment
from bpe_core.unicode.byte_alphabet import from_printable

if TYPE_CHECKING:
    import tokenizers

_FALLBACK_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_META: Final = "▁"
# These add ids or drop some, after the text has been cut into tokens.
_LEFT_OUT: Final = ("post_processor", "truncation", "padding")

Placed = tuple[int, int, int]
"""A token with its place by the library: id, start and end in characters."""


class ForeignTokenizer(Immutable):
    """A tokenizer.json as the `tokenizers` library encodes with it; immutable.

    Post-processor, truncation, padding and dropout are ignored. Raises `FormatError` if the library
    cannot read it, and `MissingExtraError` if the library is not installed.

    >>> import tokenizers
    >>> model = tokenizers.models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]")
    >>> foreign = ForeignTokenizer(json.loads(tokenizers.Tokenizer(model).to_str()))
    >>> foreign.encode("ab"), foreign.model, foreign.unknown_id
    ([1, 2], 'WordPiece', 0)
    >>> [(each.token, each.byte_start, each.byte_end) for each in foreign.segments("ab")]
    [(b'a', 0, 1), (b'##b', 1, 2)]
    """

    def __init__(self, described: Mapping[str, Any]) -> None:
        with needs_extra("formats", "Encoding with Hugging Face's tokenizers"):
            import tokenizers

        self._engine = f"tokenizers {tokenizers.__version__}"
        model = described.get("model")
        plain = {**described, **dict.fromkeys(_LEFT_OUT)}
        if isinstance(model, dict) and "dropout" in model:
            plain["model"] = {**cast("dict[str, Any]", model), "dropout": None}
        # Two of them, because finding special tokens is a setting of the whole object: changing it
        # for one call would affect calls in other threads.
        self._with_special = _built(tokenizers.Tokenizer, json.dumps(plain))
        self._without_special = _built(tokenizers.Tokenizer, json.dumps(plain))
        self._without_special.encode_special_tokens = True
        self._described: dict[str, Any] = json.loads(self._with_special.to_str())
        self._vocab = MappingProxyType(self._bytes_by_id())
        added = self._with_special.get_added_tokens_decoder().items()
        self._special_tokens = MappingProxyType(
            {token.content: id for id, token in added if token.special}
        )
        # The version is included because other versions of the library may give other ids.
        everything = json.dumps([self.engine, self._described], sort_keys=True)
        self._fingerprint = hashlib.sha256(everything.encode()).hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        return ForeignTokenizer, (self._described,)

    @property
    def model(self) -> str:
        """BPE, Unigram, WordPiece or WordLevel."""
        return str(self._described["model"]["type"])

    @property
    def engine(self) -> str:
        """The library and its version."""
        return self._engine

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes; marks that stand for no text, such as WordPiece's ##, are kept."""
        return self._vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return len(self._vocab)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Each special token's id; added tokens that are not special are found in any text."""
        return self._special_tokens

    @property
    def unknown_id(self) -> int | None:
        """The id of the token for text that the vocabulary cannot spell."""
        model = self._described["model"]
        if isinstance(model.get("unk_id"), int):
            return int(model["unk_id"])
        unknown = model.get("unk_token")
        return self._with_special.token_to_id(unknown) if isinstance(unknown, str) else None

    @property
    def drops_text(self) -> bool:
        """True: many drop white space between words, and the file does not show which."""
        return True

    @property
    def fingerprint(self) -> str:
        """The SHA-256, in hexadecimal, of its description and the library's version."""
        return self._fingerprint

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text, with all special tokens allowed or none.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the library
        fails or if only some special tokens are allowed.
        """
        return [id for id, _, _ in self._place(text, allowed_special)]

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their places in a text; raises what `encode` raises.

        If a normalizer makes several tokens of one character, the last one gets it and the others
        are empty. A token for a space that was put in front of the text is empty too.
        """
        placed = self._place(text, allowed_special)
        byte_at = [0]
        for character in text:
            byte_at.append(byte_at[-1] + len(character.encode()))
        found: list[Segment] = []
        at = first = 0
        while first < len(placed):
            last, end = first, placed[first][2]
            while last + 1 < len(placed) and placed[last + 1][1] < end:
                last += 1
                end = max(end, placed[last][2])
            _close_gap(found, text, byte_at, at, placed[first][1])
            at = max(at, placed[first][1])
            self._share_out(found, text, byte_at, placed[first : last + 1], at, max(at, end))
            at, first = max(at, end), last + 1
        _close_gap(found, text, byte_at, at, len(text))
        return found

    def _bytes_by_id(self) -> dict[int, bytes]:
        described = json.dumps(
            [self._described.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")]
        )
        by_bytes = '"ByteLevel"' in described
        by_meta = '"Metaspace"' in described or json.dumps(_META) in described
        fallback = bool(self._described["model"].get("byte_fallback"))
        added = self._with_special.get_added_tokens_decoder()
        return {
            id: text.encode()
            if id in added
            else _token_bytes(text, by_bytes=by_bytes, by_meta=by_meta, fallback=fallback)
            for text, id in sorted(self._with_special.get_vocab().items(), key=itemgetter(1))
        }

    def _place(self, text: str, allowed_special: AllowedSpecial) -> list[Placed]:
        check_text(text)
        special = self.special_tokens
        allowed = allowed_tokens(special, allowed_special)
        if allowed and len(allowed) < len(special):
            raise TokenizationError(
                f"{self.engine} recognises either all special tokens or none, and {len(allowed):,} "
                f"of {len(special):,} are allowed. Allow 'all' or none."
            )
        peer = self._with_special if allowed else self._without_special
        try:
            encoding = peer.encode(text, add_special_tokens=False)
        except BaseException as error:
            # tokenizers raises bare Exceptions, and its panics derive from BaseException.
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            raise TokenizationError(
                f"{self.engine} cannot encode this text with this tokenizer: {str(error)[:200]}."
            ) from None
        return [
            (id, start, end)
            for id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
        ]

    def _share_out(
        self,
        found: list[Segment],
        text: str,
        byte_at: Sequence[int],
        placed: Sequence[Placed],
        start: int,
        end: int,
    ) -> None:
        """Divide the bytes of characters that several tokens share among these tokens."""
        vocab = self.vocab
        byte_start, byte_end = byte_at[start], byte_at[end]
        tokens = [vocab.get(id, b"") for id, _, _ in placed]
        cuts = [byte_start]
        if len(placed) == 1:
            cuts.append(byte_end)
        elif b"".join(tokens).endswith(text[start:end].encode()):
            # From the end, because text put in front by the tokenizer has no bytes here.
            left = byte_end
            for token in reversed(tokens):
                cuts.insert(1, left)
                left = max(byte_start, left - len(token))
        else:
            for _, following, _ in placed[1:]:
                cuts.append(max(cuts[-1], byte_at[min(max(following, start), end)]))
            cuts.append(byte_end)
        for (id, _, _), token, a, b in zip(placed, tokens, cuts, cuts[1:], strict=False):
            first = bisect_right(byte_at, a) - 1
            found.append(
                Segment(id, token, first, bisect_left(byte_at, b) if a < b else first, a, b)
            )


def _built(peer: type[tokenizers.Tokenizer], described: str) -> tokenizers.Tokenizer:
    try:
        return peer.from_str(described)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise FormatError(
            f"Hugging Face's tokenizers cannot read this as a tokenizer.json: {str(error)[:200]}. "
            f"Use the file as it was saved."
        ) from None


def _token_bytes(text: str, *, by_bytes: bool, by_meta: bool, fallback: bool) -> bytes:
    if by_bytes:
        try:
            return from_printable(text)
        except KeyError:
            return text.encode()
    if fallback:
        byte = _FALLBACK_BYTE.fullmatch(text)
        if byte:
            return bytes([int(byte[1], 16)])
    return (text.replace(_META, " ") if by_meta else text).encode()


def _close_gap(
    found: list[Segment], text: str, byte_at: Sequence[int], start: int, end: int
) -> None:
    if start < end:
        lost = text[start:end].encode()
        found.append(Segment(None, lost, start, end, byte_at[start], byte_at[end]))
