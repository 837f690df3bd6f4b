"""Run tokenizers that are not plain byte-pair encoding with Hugging Face's `tokenizers`.

These are Unigram and WordPiece models, BPE behind a normalizer, and everything else that the
library can load. Tokens are placed in the text by the offsets that the library reports.

A long text is given to the library in parts if its description proves that its ids do not change
there. A part ends between a letter and a space that another letter follows; no part of a known
tokenizer looks at more than neighbouring characters before it splits at that space.
"""

from __future__ import annotations

import hashlib
import json
import string
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from bpe_core.errors import FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.json_files import flat_steps
from bpe_core.formats.patterns import find_pretokenizer
from bpe_core.formats.running.run_by_library import (
    LibraryEncoder,
    library_failures,
    listed_texts,
    locate_tokens,
)
from bpe_core.formats.sentencepiece_model import BYTE_PIECES
from bpe_core.pretokenizers import cut_text
from bpe_core.tokenizer import AllowedSpecial, TokenColumns, allowed_tokens, check_ids, check_text
from bpe_core.unicode import META, from_printable

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
    from numpy.typing import NDArray

# Every letter between spaces, to see what a normalizer makes of it.
_LETTERS: Final = " ".join(string.ascii_letters)
_LOCAL_NORMALIZERS: Final = frozenset(
    {
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Lowercase",
        "BertNormalizer",
        "StripAccents",
        "Precompiled",
        "ByteLevel",
        "Nmt",
    }
)
_LOCAL_PRETOKENIZERS: Final = frozenset({"Digits", "Punctuation"})
_SPLIT_AT_SPACES: Final = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit"})
_NAMED: Final = ("gpt2", "cl100k", "o200k")
_RUNS_OF_SPACES: Final = " {2,}"


class ForeignTokenizer(LibraryEncoder):
    """A tokenizer.json as the `tokenizers` library encodes with it; immutable.

    `source` is the file as `for_library` returns it, and `special` are the texts of the added
    tokens that are special; the others are found in any text. The bytes of `vocab` include marks
    that represent no text, such as WordPiece's ##. Raises `FormatError` if the library cannot read
    it, and `MissingExtraError` if the library is not installed.

    >>> import tokenizers
    >>> model = tokenizers.models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]")
    >>> foreign = ForeignTokenizer(tokenizers.Tokenizer(model).to_str())
    >>> foreign.encode("ab"), foreign.model, foreign.unknown_id
    ([1, 2], 'WordPiece', 0)
    >>> [(each.token, each.byte_start, each.byte_end) for each in foreign.segments("ab")]
    [(b'a', 0, 1), (b'##b', 1, 2)]
    """

    drops_text = True  # white space between words, perhaps: the file does not show it

    def __init__(self, source: str, special: Collection[str] = ()) -> None:
        with needs_extra("formats", "Encoding with Hugging Face's tokenizers"):
            import tokenizers

        self._source, self._special = source, frozenset(special)
        self._peer = _built(tokenizers.Tokenizer, source)
        written = self._peer.to_str()
        self.described: dict[str, Any] = json.loads(written)
        self._peer.encode_special_tokens = True
        normalizer = self._peer.normalizer
        self._is_cut_at_spaces = is_cut_at_spaces(
            self.described, None if normalizer is None else normalizer.normalize_str
        )
        model = self.described["model"]
        self.model = str(model["type"])
        unknown = model.get("unk_id")
        if not isinstance(unknown, int):
            named = model.get("unk_token")
            unknown = self._peer.token_to_id(named) if isinstance(named, str) else None
        self.unknown_id = unknown
        engine = f"tokenizers {tokenizers.__version__}"
        added = self._peer.get_added_tokens_decoder().items()
        super().__init__(
            engine,
            self._bytes_by_id(),
            {token.content: id for id, token in added if token.content in self._special},
            hashlib.sha256(f"{engine} {written}".encode()).hexdigest(),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return ForeignTokenizer, (self._source, self._special)

    @cached_property
    def _peer_with_special(self) -> tokenizers.Tokenizer:
        """The tokenizer that finds special tokens in a text; building a large one takes seconds.

        It is another object, because that is a setting of the whole object: changing it for one
        call would affect calls in other threads.
        """
        return _built(type(self._peer), self._source)

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text, with all special tokens allowed or none.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the library
        fails or if only some special tokens are allowed.
        """
        return self._encoded([text], allowed_special)[0].ids

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts, by all cores; raises what `encode` raises."""
        return [found.ids for found in self._encoded(listed_texts(texts), allowed_special)]

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        Where tokens are not written in printable bytes, the library joins them as the file's
        decoder says. Bytes that are not valid UTF-8 then become U+FFFD.
        """
        if self._by_bytes:
            return super().decode_bytes(ids)
        listed = check_ids(ids, self.vocab)
        with library_failures(
            lambda _: TokenizationError(f"{self.engine} cannot decode these ids.")
        ):
            return self._peer.decode(listed, skip_special_tokens=False).encode()

    def normalized(self, text: str) -> str:
        """Return a text as the file's normalizer changes it; raises what `encode` raises."""
        check_text(text)
        normalizer = self._peer.normalizer
        if normalizer is None:
            return text
        with _encoding_failures(self.engine):
            return normalizer.normalize_str(text)

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes; None where that is bytes."""
        return None if self._by_bytes else self._peer.id_to_token(id)

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises.

        The library encodes all texts in one call, on all cores and without the interpreter's lock,
        and no object is made for each token.
        """
        return [
            locate_tokens(text, encoding.ids, encoding.offsets, self.vocab)
            for text, encoding in zip(texts, self._encoded(texts, allowed_special), strict=True)
        ]

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text where its ids provably don't change; yield it whole where none can be proved.

        `size` is the number of characters that each part has at least.

        >>> import tokenizers
        >>> peer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
        >>> peer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        >>> list(ForeignTokenizer(peer.to_str()).parts("one two three", 3))
        ['one', ' two', ' three']
        """
        return cut_text(text, size if self._is_cut_at_spaces else len(text))

    def _bytes_by_id(self) -> dict[int, bytes]:
        described = json.dumps(
            [self.described.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")]
        )
        self._by_bytes = by_bytes = '"ByteLevel"' in described
        by_meta = '"Metaspace"' in described or json.dumps(META) in described
        fallback = bool(self.described["model"].get("byte_fallback"))
        added = self._peer.get_added_tokens_decoder()
        return {
            id: text.encode()
            if id in added
            else _token_bytes(text, by_bytes=by_bytes, by_meta=by_meta, fallback=fallback)
            for text, id in sorted(self._peer.get_vocab().items(), key=itemgetter(1))
        }

    def _encoded(
        self, texts: Sequence[str], allowed_special: AllowedSpecial
    ) -> list[tokenizers.Encoding]:
        for text in texts:
            check_text(text)
        special = self.special_tokens
        allowed = allowed_tokens(special, allowed_special)
        if allowed and len(allowed) < len(special):
            raise TokenizationError(
                f"{self.engine} recognises either all special tokens or none, and {len(allowed):,} "
                f"of {len(special):,} are allowed. Allow 'all' or none."
            )
        peer = self._peer_with_special if allowed else self._peer
        with _encoding_failures(self.engine):
            return peer.encode_batch(texts, add_special_tokens=False)


def encode_once(source: str, text: str, *, find_special: bool = False) -> list[int]:
    """Return the ids of one text, with or without special tokens, as `ForeignTokenizer` does.

    Raises what it raises. What that needs for other texts and its vocabulary is not built.

    >>> import tokenizers
    >>> peer = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "aa": 1}, [("a", "a")]))
    >>> encode_once(peer.to_str(), "aaa")
    [1, 0]
    """
    with needs_extra("formats", "Encoding with Hugging Face's tokenizers"):
        import tokenizers

    peer = _built(tokenizers.Tokenizer, source)
    peer.encode_special_tokens = not find_special
    with _encoding_failures(f"tokenizers {tokenizers.__version__}"):
        return peer.encode(text, add_special_tokens=False).ids


def _encoding_failures(engine: str) -> AbstractContextManager[None]:
    return library_failures(
        lambda _: TokenizationError(
            f"{engine} cannot encode this text with this tokenizer. Often the cause is an unknown "
            f"token that its vocabulary lacks: check its file."
        )
    )


def _built(peer: type[tokenizers.Tokenizer], described: str) -> tokenizers.Tokenizer:
    with library_failures(
        lambda place: FormatError(
            f"Hugging Face's tokenizers cannot read this as a tokenizer.json{place}. Use the file "
            f"as it was saved."
        )
    ):
        return peer.from_str(described)


def _token_bytes(text: str, *, by_bytes: bool, by_meta: bool, fallback: bool) -> bytes:
    if by_bytes:
        try:
            return from_printable(text)
        except KeyError:
            return text.encode()
    if fallback and text in BYTE_PIECES:
        return BYTE_PIECES[text]
    return (text.replace(META, " ") if by_meta else text).encode()


def is_cut_at_spaces(described: Mapping[str, Any], normalized: Callable[[str], str] | None) -> bool:
    """Return True if the ids of a text are those of its parts, one after another.

    `described` is a tokenizer.json without post-processor, truncation and padding; `normalized` is
    its normalizer, None if it has none.

    >>> is_cut_at_spaces({"pre_tokenizer": {"type": "BertPreTokenizer"}}, None)
    True
    >>> is_cut_at_spaces({"pre_tokenizer": None}, None)
    False
    """
    return (
        all(map(_is_local_token, described.get("added_tokens") or []))
        and all(map(_is_local_normalizer, flat_steps(described.get("normalizer"), "normalizers")))
        and (normalized is None or _keeps_letters(normalized(_LETTERS)))
        and _splits(list(flat_steps(described.get("pre_tokenizer"), "pretokenizers")))
    )


def _is_local_token(token: Mapping[str, Any]) -> bool:
    """Return True if an added token cannot reach across a cut, before or after normalization."""
    content = unicodedata.normalize("NFKC", token["content"])
    strips = token.get("lstrip") or token.get("rstrip")
    ends = content[:1] + content[-1:]
    return not any(map(str.isspace, content)) and not (
        strips and any(not end.isascii() or end.isalnum() for end in ends)
    )


def _is_local_normalizer(normalizer: Mapping[str, Any]) -> bool:
    kind = normalizer.get("type")
    if kind == "Strip":
        # The end of a part is a letter, but its beginning is a space.
        return not normalizer.get("strip_left", True)
    if kind != "Replace":
        return kind in _LOCAL_NORMALIZERS
    pattern: Mapping[str, str] = normalizer.get("pattern") or {}
    plain = pattern.get("String")
    if plain is None:
        return pattern.get("Regex") == _RUNS_OF_SPACES
    return not any(each.isspace() or each.isalpha() for each in plain)


def _keeps_letters(normalized: str) -> bool:
    """Return True if letters between spaces are still single letters between spaces."""
    return (
        len(normalized) == len(_LETTERS)
        and all(each.isascii() and each.isalpha() for each in normalized[::2])
        and set(normalized[1::2]) == {" "}
    )


def _splits(pretokenizers: list[Mapping[str, Any]]) -> bool:
    """Return True if the first step that is not local splits at a single space between letters.

    The steps after it get each piece by itself.
    """
    for each in pretokenizers:
        kind = each.get("type")
        if kind in _LOCAL_PRETOKENIZERS:
            continue
        if kind == "ByteLevel":
            return bool(each.get("use_regex", True))
        if kind == "Metaspace":
            return bool(each.get("split", True))
        if kind == "Split":
            pattern: Mapping[str, str] = each.get("pattern") or {}
            is_plain = each.get("behavior") == "Isolated" and not each.get("invert")
            return is_plain and find_pretokenizer(pattern.get("Regex", "")) in _NAMED
        return kind in _SPLIT_AT_SPACES
    return False
