"""Run SentencePiece's family of BPE here: characters merged across words, spelled in bytes if rare.

Llama 2, Mistral 7B and Gemma write spaces as ▁ and merge a text whole. Its tokens don't change if
it is cut before each space that follows something else, except where the merges themselves join
across; the pre-tokenizer of the merges does that, so words repeat and kernels and caches serve.

Here ▁ is a space in texts and tokens alike, so the text need not be changed for it. `merge_whole`
in the tests does what the files say, without any cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.formats.across_words import find_plain_cut
from bpe_core.formats.running.base_encoders import OwnEncoder
from bpe_core.formats.running.before_merging import (
    AddedToken,
    Spaces,
    build_finder,
    find_isolated,
)
from bpe_core.pretokenizers import (
    AddedTokenFinder,
    AllowedSpecial,
    IsolatingPretokenizer,
    allowed_tokens,
    check_text,
    cut_text,
)
from bpe_core.tokenizer import Kernels, TextEncoder, TokenColumns, Tokenizer
from bpe_core.types import Explanation
from bpe_core.unicode import META

_LONG: Final = 10_000
"""The average length of parts, in characters, from which each is encoded by a call of its own."""


_Finders = tuple[AddedTokenFinder, AddedTokenFinder]
"""For the tokens in a text as it is, and for those in the normalized text."""


class _Part(NamedTuple):
    """A part of a text: an added token, or what is between two of them."""

    text: str
    """With a space for each ▁, and the space that is put in front; the added token itself."""
    n_in_front: int
    """How many characters were put in front."""
    start: int
    """In characters of the text that was given, as `end`."""
    end: int
    id: int | None
    """The id of an added token."""


class AcrossWordsTokenizer(OwnEncoder):
    """A tokenizer of SentencePiece's family whose merges run here; immutable.

    `tokenizer` has a space for ▁, and as special tokens those added tokens that its merges cannot
    make.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" ", 257: b"a", 258: b" a"}
    >>> merges = Tokenizer(
    ...     vocab=vocab, merges=[(256, 257, 258)], pretokenizer="sentencepiece",
    ...     base="characters", byte_fallback=range(256),
    ... )
    >>> llama = AcrossWordsTokenizer(merges, Spaces("always"))
    >>> llama.encode("a aé"), llama.written(258), llama.written(0xC3)
    ([258, 258, 195, 169], '▁a', '<0xC3>')
    >>> [(each.id, each.start, each.end) for each in llama.segments("a a")]
    [(258, 0, 1), (258, 1, 3)]
    """

    def __init__(
        self, tokenizer: Tokenizer, spaces: Spaces, added: Sequence[AddedToken] = ()
    ) -> None:
        super().__init__(tokenizer, added, [spaces.prefix, spaces.if_missing])
        self.spaces = spaces
        put_in_front = "" if spaces.prefix == "never" else ", one put in front"
        self.normalizer_name = f"spaces as ▁{put_in_front}"
        isolated = {each.text: each.id for each in find_isolated(self.added, spaces)}
        self._found_first = [each for each in self.added if each.text not in isolated]
        cut = IsolatingPretokenizer(tokenizer.pretokenizer.name, isolated)
        self.kernels = Kernels(tokenizer.table, cut)
        self._encoder = TextEncoder(tokenizer.table, cut, self.kernels)

    def __reduce__(self) -> tuple[object, ...]:
        return AcrossWordsTokenizer, (self.tokenizer, self.spaces, self.added)

    @property
    def adaptable(self) -> Tokenizer:
        """The merges as a `Tokenizer` that puts a space in front of a text itself, if possible."""
        table = self.tokenizer.table
        rights = (table.vocab[right] for _, right, _ in table.triples)
        cut = find_plain_cut(self.tokenizer.pretokenizer.name, rights, self.added, self.spaces)
        return self.tokenizer if cut is None else Tokenizer.from_table(table, cut)

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `InvalidTextError` for a lone surrogate.

        Added tokens that are not special are found in any text. What is between two of them is a
        text of its own.
        """
        pieces = list(self._pieces(text, allowed_special))
        texts = [piece for piece, id in pieces if id is None]
        if len(text) > _LONG * len(texts):
            encoded = [self._encoder.encode(piece, frozenset(), "strict") for piece in texts]
        else:  # together, because a call of kernels costs more than encoding a line
            encoded = self._encoder.encode_batch(texts, frozenset(), "strict")
        if len(texts) == len(pieces):  # most texts are one piece, whose list need not be copied
            return encoded[0] if encoded else []
        of_texts = iter(encoded)
        ids: list[int] = []
        for _, id in pieces:
            if id is None:
                ids += next(of_texts)
            else:
                ids.append(id)
        return ids

    def encode_to_numpy(self, text: str, allowed_special: AllowedSpecial = ()) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises."""
        pieces = list(self._pieces(text, allowed_special))
        if [id for _, id in pieces] == [None]:
            return self._encoder.encode_to_numpy(pieces[0][0], frozenset(), "strict")
        return super().encode_to_numpy(text, allowed_special)

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises."""
        return [self._place(text, allowed_special) for text in texts]

    def explain(self, text: str) -> list[Explanation]:
        """Return the characters of each word and the merges applied to them, in order.

        Words are what is merged on its own, with the space that is put in front; added tokens are
        left out.
        """
        explained: list[Explanation] = []
        for part in self._parts(text, (), self._all_finders):
            if part.id is None:
                for word in self.tokenizer.explain(part.text):
                    start = part.start + max(0, word.start - part.n_in_front)
                    explained.append(replace(word, start=start))
        return explained

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        One space at the start is left out if one is put in front of a text, as its library does.
        """
        decoded = self.tokenizer.decode_bytes(ids)
        if self._adds_meta:
            decoded = decoded.replace(META.encode(), b" ")
        return decoded if self.spaces.prefix == "never" else decoded.removeprefix(b" ")

    def word_around(self, text: str, place: int) -> str:
        """Return the word that the merges get at a place in a text, which an added token is not."""
        for part in self._parts(text, (), self._all_finders):
            if part.start <= place < part.end and part.id is None:
                at = place - part.start + part.n_in_front
                for start, end in self.tokenizer.pretokenizer.spans(part.text):
                    if start <= at < end:
                        return part.text[start:end]
        return ""

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text where its ids don't change, or not at all if its parts get a space in front.

        Each part but the last has `size` characters.
        """
        cuts = self.spaces.prefix == "never" and not any(
            character.isspace() or character == META
            for each in self.added
            for character in each.text
        )
        return cut_text(text, size if cuts else len(text))

    def normalized(self, text: str) -> str:
        """Return the text as it is merged, with ▁ for spaces."""
        return self.spaces.written(text).replace(" ", META)

    def written(self, id: int) -> str | None:
        """Return a token as its file writes it, with ▁ for spaces and <0xE2> for a byte."""
        token = self.vocab.get(id, b"")
        if self.tokenizer.table.byte_ids.get(token) == id:
            return f"<0x{token[0]:02X}>"
        return token.decode().replace(" ", META)

    def _pieces(
        self, text: str, allowed_special: AllowedSpecial
    ) -> Iterable[tuple[str, int | None]]:
        """Return the text and the id of each part, without its place, which takes longer."""
        raw, normalized = self._finders
        if self.spaces == Spaces() and not normalized and META not in text:
            check_text(text)
            return raw.split(text, allowed_tokens(self.special_tokens, allowed_special))
        return ((part.text, part.id) for part in self._parts(text, allowed_special, self._finders))

    def _parts(
        self, text: str, allowed_special: AllowedSpecial, finders: _Finders
    ) -> Iterator[_Part]:
        check_text(text)
        allowed = allowed_tokens(self.special_tokens, allowed_special)
        raw, normalized = finders
        start = 0
        for piece, id in raw.split(text, allowed):
            end = start + len(piece)
            if id is not None:
                yield _Part(piece, 0, start, end, id)
            elif self.spaces.if_missing:
                at = start
                for inner, inner_id in normalized.split(piece, allowed):
                    yield self._written(inner, at, inner_id)
                    at += len(inner)
            else:
                whole = self._written(piece, start, None)
                at = -whole.n_in_front
                for inner, inner_id in normalized.split(whole.text, allowed):
                    n_in_front = max(0, min(len(inner), -at))
                    first, last = start + at + n_in_front, start + at + len(inner)
                    yield _Part(inner, n_in_front, first, last, inner_id)
                    at += len(inner)
            start = end

    def _written(self, text: str, start: int, id: int | None) -> _Part:
        end = start + len(text)
        if id is not None:
            return _Part(text, 0, start, end, id)
        written = self.spaces.written(text, at_start=start == 0)
        return _Part(written, len(written) - len(text), start, end, None)

    def _place(self, text: str, allowed_special: AllowedSpecial) -> TokenColumns:
        ids: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        byte_start = 0
        for part in self._parts(text, allowed_special, self._finders):
            given = text[part.start : part.end]
            n_bytes = len(given.encode())
            if part.id is not None:
                ids.append(np.array([part.id]))
                ends.append(np.array([byte_start + n_bytes]))
            else:
                found = self._encoder.encode_to_numpy(part.text, frozenset(), "strict").astype(
                    np.int64
                )
                reached = np.cumsum(self.widths[found]) - part.n_in_front
                if META in given:  # three bytes, where the merges have one
                    places = _find_meta(given)
                    reached += 2 * np.searchsorted(places, reached)
                ids.append(found)
                ends.append(byte_start + reached)
            byte_start += n_bytes
        all_ends = np.concatenate(ends)
        return TokenColumns(np.concatenate(ids), all_ends[:-1], all_ends[1:])

    @cached_property
    def _adds_meta(self) -> bool:
        """True if an added token has a ▁, which its library decodes as a space."""
        return any(META in text for text in self.tokenizer.special_tokens)

    @cached_property
    def _finders(self) -> _Finders:
        """What finds the added tokens that the pre-tokenizer does not isolate."""
        return self._build_finders(self._found_first)

    @cached_property
    def _all_finders(self) -> _Finders:
        return self._build_finders(self.added)

    def _build_finders(self, added: Sequence[AddedToken]) -> _Finders:
        normalized = (each for each in added if each.is_normalized)
        if not self.spaces.if_missing:
            normalized = (each._replace(text=each.text.replace(META, " ")) for each in normalized)
        return build_finder(each for each in added if not each.is_normalized), build_finder(
            normalized
        )


def _find_meta(text: str) -> NDArray[np.int64]:
    """Return where the bytes of each ▁ begin in a text in which it is written in one byte."""
    before = text.split(META)[:-1]
    return np.cumsum([len(each.encode()) + 1 for each in before], dtype=np.int64) - 1
