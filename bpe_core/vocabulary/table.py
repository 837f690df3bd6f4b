"""A vocabulary as a table: its tokens in columns, searched, filtered and sorted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.errors import PatternTimeoutError, SearchError
from bpe_core.pretokenizers.pretokenizers import MATCH_FAILURES, compile_pattern, failed_match
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import read_only
from bpe_core.unicode.token_scripts import script_of_token
from bpe_core.vocabulary.reachability import is_partial_utf8

if TYPE_CHECKING:
    from bpe_core.tokenizer.protocol import Encoder

SearchBy = Literal["text", "bytes", "regex"]
SortBy = Literal["id", "length", "use"]
Rows = NDArray[np.int64]

_SECONDS: Final = 1.0
_MOST_HEX: Final = 2_000
_FEW_CHARACTERS: Final = 12
_SEARCHES_BETWEEN_LOOKS: Final = 32


@dataclass(frozen=True, slots=True)
class Query:
    """Which tokens are wanted, all conditions together, and in which order."""

    text: str = ""
    """What a token has in it; every token has nothing in it."""
    by: SearchBy = "text"
    """text: these characters, as they are. bytes: these bytes, in hex. regex: a match anywhere in
    the token's text, where a byte that is no whole character is U+DC80 to U+DCFF."""
    script: str | None = None
    """One of `Vocabulary.scripts`."""
    shortest: int = 0
    longest: int | None = None
    """Lengths are in bytes."""
    leading_space: bool | None = None
    partial_utf8: bool | None = None
    special: bool | None = None
    """None: with and without."""
    only: tuple[int, ...] | None = None
    """Only these ids, such as those an audit found."""
    sort: SortBy = "id"
    descending: bool = False
    """Equals are in the order of ids either way."""


class Vocabulary:
    """A tokenizer's tokens in columns of one length, in the order of ids; arrays are read-only.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> vocabulary = Vocabulary(gpt2())
    >>> rows = vocabulary.find(Query("hugg"))
    >>> vocabulary.ids[rows].tolist(), vocabulary.tokens[rows[0]]
    ([41130, 46292], b' hugged')
    """

    def __init__(self, tokenizer: Encoder, uses: NDArray[np.int64] | None = None) -> None:
        """Lay a tokenizer out; `uses` is int64[largest id + 1], all 0 where it is None.

        Where another library encodes, no merge is known: none makes a token or takes one.
        """
        vocab = tokenizer.vocab
        ids = sorted(vocab)
        special = set(tokenizer.special_tokens.values())
        tokens = [vocab[id] for id in ids]
        self.tokens: tuple[bytes, ...] = tuple(tokens)
        self.ids = read_only(np.array(ids, np.int64))
        """int64[n]"""
        self.lengths = read_only(np.array([len(token) for token in tokens], np.int64))
        """int64[n]: in bytes."""
        self.uses = read_only(
            np.zeros(len(ids), np.int64) if uses is None else uses[self.ids].astype(np.int64)
        )
        """int64[n]"""
        self.leading_space = read_only(np.array([token[:1] == b" " for token in tokens], np.bool_))
        """bool[n]"""
        self.partial_utf8 = read_only(np.array([is_partial_utf8(token) for token in tokens]))
        """bool[n]: bytes that are no whole characters."""
        self.special = read_only(np.array([id in special for id in ids], np.bool_))
        """bool[n]"""
        merges = tokenizer.merges if isinstance(tokenizer, Tokenizer) else ()
        ranks = {merge.id: merge.rank for merge in reversed(merges)}
        self.ranks = read_only(np.array([ranks.get(id, -1) for id in ids], np.int64))
        """int64[n]: the rank of the merge that first makes a token; -1 where none does."""
        parts = np.array([part for merge in merges for part in merge.pair], np.int64)
        self.n_built_on = read_only(np.bincount(parts, minlength=ids[-1] + 1)[self.ids])
        """int64[n]: how many merges take a token as a part."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(token.decode("utf-8", "surrogateescape") for token in self.tokens)

    @cached_property
    def _n_characters(self) -> NDArray[np.int64]:
        return np.array([len(text) for text in self._texts], np.int64)

    @cached_property
    def _script_of_each(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        numbers: dict[str, int] = {}
        each = [numbers.setdefault(script_of_token(token), len(numbers)) for token in self.tokens]
        return np.array(each, np.int64), tuple(numbers)

    @cached_property
    def scripts(self) -> Mapping[str, int]:
        """How many tokens `script_of_token` counts for each script, most first."""
        each, names = self._script_of_each
        counts = np.bincount(each, minlength=len(names)).tolist()
        return dict(sorted(zip(names, counts, strict=True), key=lambda item: (-item[1], item[0])))

    @cached_property
    def length_counts(self) -> NDArray[np.int64]:
        """int64[longest + 1]: how many tokens have each length in bytes, special ones left out."""
        return read_only(np.bincount(self.lengths[~self.special]))

    @cached_property
    def length_kinds(self) -> NDArray[np.int64]:
        """int64[3, longest + 1]: `length_counts` of three kinds, which no token is two of.

        With a leading space, without one, and partial UTF-8, in this order.
        """
        kinds = np.where(self.partial_utf8, 2, np.where(self.leading_space, 0, 1))
        n_lengths = len(self.length_counts)
        places = (kinds * n_lengths + self.lengths)[~self.special]
        return read_only(np.bincount(places, minlength=3 * n_lengths).reshape(3, n_lengths))

    def find(self, query: Query) -> Rows:
        """Return the rows of the tokens that a query asks for, in its order: int64[n_found].

        Raises `SearchError` for what is not hex, `PatternError` for a regular expression that does
        not compile or match, and `PatternTimeoutError` for one that takes over a second.
        """
        fits = self._filtered(query)
        if query.text:
            rows = np.flatnonzero(fits)
            fits[rows] = self._searched(query, rows)
        rows = np.flatnonzero(fits)
        if query.sort != "id" or query.descending:
            keys = {"id": self.ids, "length": self.lengths, "use": self.uses}[query.sort][rows]
            rows = rows[np.argsort(-keys if query.descending else keys, kind="stable")]
        return rows

    def _filtered(self, query: Query) -> NDArray[np.bool_]:
        fits = self.lengths >= query.shortest
        if query.longest is not None:
            fits &= self.lengths <= query.longest
        for wanted, column in (
            (query.leading_space, self.leading_space),
            (query.partial_utf8, self.partial_utf8),
            (query.special, self.special),
        ):
            if wanted is not None:
                fits &= column == wanted
        if query.script is not None:
            each, names = self._script_of_each
            fits &= each == (names.index(query.script) if query.script in names else -1)
        if query.only is not None:
            fits &= np.isin(self.ids, np.array(query.only, np.int64))
        return fits

    def _searched(self, query: Query, rows: Rows) -> NDArray[np.bool_]:
        if query.by == "regex":
            return self._matched(query.text, rows)
        if query.by == "bytes":
            needle = _bytes_of_hex(query.text)
        else:
            # What no UTF-8 exists for is in no token.
            needle = query.text.encode("utf-8", "surrogatepass")
        return self._with_bytes(needle)[rows]

    @cached_property
    def _joined(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All tokens' bytes in one row, and where each token ends."""
        return np.frombuffer(b"".join(self.tokens), np.uint8), np.cumsum(self.lengths)

    def _with_bytes(self, needle: bytes) -> NDArray[np.bool_]:
        """bool[n]: whether each token has some bytes in it.

        On all tokens at once: asking each of 200,000 takes 80 ms, this takes 11.
        """
        data, ends = self._joined
        found = np.full(len(self), not needle)
        if not 0 < len(needle) <= len(data):
            return found
        starts = np.flatnonzero(data[: len(data) - len(needle) + 1] == needle[0])
        for place, byte in enumerate(needle[1:], 1):
            starts = starts[data[starts + place] == byte]
        rows = np.searchsorted(ends, starts, side="right")
        found[rows[starts + len(needle) <= ends[rows]]] = True
        return found

    def _matched(self, pattern: str, rows: Rows) -> NDArray[np.bool_]:
        compiled = compile_pattern(pattern, remedy="Correct it, or search for text")
        search, texts = compiled.search, self._texts
        # Of this thread's own work: a busy machine makes a search slow, not wrong.
        deadline = time.thread_time() + _SECONDS
        # With a limit of its own a match takes 2 microseconds more, ten times as long. In few
        # characters not even nested repeats find many ways to go.
        is_few = self._n_characters[rows] <= _FEW_CHARACTERS
        found = np.zeros(len(rows), np.bool_)
        asked: list[int] = rows.tolist()
        done = 0
        try:
            few: list[int] = np.flatnonzero(is_few).tolist()
            for start in range(0, len(few), _SEARCHES_BETWEEN_LOOKS):
                places = few[start : start + _SEARCHES_BETWEEN_LOOKS]
                found[places] = [search(texts[asked[place]]) is not None for place in places]
                done += len(places)
                # A look at the clock takes as long as a search of a few characters.
                if time.thread_time() > deadline:
                    raise TimeoutError
            for place in np.flatnonzero(~is_few).tolist():
                found[place] = search(texts[asked[place]], timeout=_SECONDS) is not None
                done += 1
                if time.thread_time() > deadline:
                    raise TimeoutError
        except TimeoutError:
            raise PatternTimeoutError(
                f"The regular expression was not done within {_SECONDS:g} second, after "
                f"{done:,} of {len(rows):,} tokens. Make it simpler: one repeat in place of "
                f"nested ones such as (a+)+, or filter first."
            ) from None
        except MATCH_FAILURES as error:
            raise failed_match(pattern, error) from None
        return found


def _bytes_of_hex(text: str) -> bytes:
    digits = regex.sub(r"0[xX]|[\s,:\\x]+", "", text[:_MOST_HEX])
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise SearchError(
            f"{text[:40]!r} is not bytes in hex. Write two digits from 0 to F for each byte, such "
            f"as E6 97 A5."
        ) from None
