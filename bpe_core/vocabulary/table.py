"""Search, filter and sort the tokens of a vocabulary, held in columns."""

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
from bpe_core.pretokenizers import MATCH_FAILURES, compile_pattern, failed_match
from bpe_core.types import read_only
from bpe_core.unicode import are_whole_characters, token_script

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder

SearchBy = Literal["text", "bytes", "regex"]
SortBy = Literal["id", "length", "use"]
Rows = NDArray[np.int64]

_SECONDS: Final = 1.0
_MAX_HEX: Final = 2_000
_FEW_CHARACTERS: Final = 12
_SEARCHES_BETWEEN_CHECKS: Final = 32


@dataclass(frozen=True, slots=True)
class Query:
    """The conditions that tokens must all meet, and the order of the result."""

    text: str = ""
    """The text to search for in each token; every token matches the empty text."""
    by: SearchBy = "text"
    """text: these exact characters. bytes: these bytes, in hex. regex: a match anywhere in the
    token's text, in which a byte outside a whole character is U+DC80 to U+DCFF."""
    script: str | None = None
    """One of `Vocabulary.scripts`."""
    shortest: int = 0
    """In bytes."""
    longest: int | None = None
    """In bytes; None for no limit."""
    leading_space: bool | None = None
    partial_utf8: bool | None = None
    special: bool | None = None
    """True: only these. False: none of these. None: no condition."""
    only: tuple[int, ...] | None = None
    """The ids to choose from, such as those found by an audit; None for all."""
    sort: SortBy = "id"
    descending: bool = False
    """Equal tokens are in ascending order of id either way."""


class Vocabulary:
    """The tokens of a tokenizer in columns, in order of id; arrays are read-only.

    >>> from bpe_core.tokenizer import gpt2
    >>> vocabulary = Vocabulary(gpt2())
    >>> rows = vocabulary.find(Query("hugg"))
    >>> vocabulary.ids[rows].tolist(), vocabulary.tokens[rows[0]]
    ([41130, 46292], b' hugged')
    """

    def __init__(self, tokenizer: Encoder, uses: NDArray[np.int64] | None = None) -> None:
        """Build the columns; `uses` is int64[largest id + 1], or None for all zeros.

        An encoder of another library has no known merges, so its `ranks` are all -1.
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
        self.partial_utf8 = read_only(
            np.array([not are_whole_characters(token) for token in tokens])
        )
        """bool[n]: whether a token's bytes are not whole characters."""
        self.special = read_only(np.array([id in special for id in ids], np.bool_))
        """bool[n]"""
        own = tokenizer.merged_by
        self._end_of_word = (own.end_of_word if own is not None else None) or ""
        merges = () if own is None else own.merges
        ranks = {merge.id: merge.rank for merge in reversed(merges)}
        self.ranks = read_only(np.array([ranks.get(id, -1) for id in ids], np.int64))
        """int64[n]: the rank of the merge that first makes a token; -1 if none does."""
        parts = np.array([part for merge in merges for part in merge.pair], np.int64)
        self.n_built_on = read_only(np.bincount(parts, minlength=ids[-1] + 1)[self.ids])
        """int64[n]: the number of merges that have a token as a part."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(token.decode("utf-8", "surrogateescape") for token in self.tokens)

    @cached_property
    def _n_characters(self) -> NDArray[np.int64]:
        return np.array([len(text) for text in self._texts], np.int64)

    @cached_property
    def _find_scripts(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        numbers: dict[str, int] = {}
        each = [numbers.setdefault(token_script(token), len(numbers)) for token in self.tokens]
        return np.array(each, np.int64), tuple(numbers)

    @cached_property
    def scripts(self) -> Mapping[str, int]:
        """The number of tokens in each script, by `token_script`; most first."""
        each, names = self._find_scripts
        counts = np.bincount(each, minlength=len(names)).tolist()
        return dict(sorted(zip(names, counts, strict=True), key=lambda item: (-item[1], item[0])))

    @cached_property
    def letters(self) -> NDArray[np.int64]:
        """int64[n]: the letters of each token that is made of two or more of them, else 0.

        A space or another mark of a word's beginning counts as none, and neither does the
        end-of-word marker. Vowel signs and accents belong to their letters.

        >>> from bpe_core.tokenizer import gpt2
        >>> vocabulary = Vocabulary(gpt2())
        >>> dict(zip(vocabulary.tokens[262:267], vocabulary.letters[262:267].tolist()))
        {b' the': 3, b'er': 2, b' s': 0, b'at': 2, b' w': 0}
        """
        marker = regex.escape(self._end_of_word)
        pattern = regex.compile(rf"(?:[ ▁]|##)?((?:\p{{L}}\p{{M}}*){{2,}})(?:{marker})?")
        found = (pattern.fullmatch(text) for text in self._texts)
        counts = [0 if each is None else len(regex.findall(r"\p{L}", each[1])) for each in found]
        return read_only(np.where(self.special, 0, np.array(counts, np.int64)))

    def longest_words(self, most: int) -> list[int]:
        """Return the ids of the tokens with the most letters, of equal ones the lower id first.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().vocab[Vocabulary(gpt2()).longest_words(8)[-1]]
        b' telecommunications'
        """
        rows = np.argsort(-self.letters, kind="stable")[:most]
        return self.ids[rows[self.letters[rows] > 0]].tolist()

    @cached_property
    def length_counts(self) -> NDArray[np.int64]:
        """int64[longest + 1]: the number of ordinary tokens of each length in bytes."""
        return read_only(np.bincount(self.lengths[~self.special]))

    @cached_property
    def length_kinds(self) -> NDArray[np.int64]:
        """int64[3, longest + 1]: `length_counts` of three disjoint kinds.

        In order: with a leading space, without one, partial UTF-8.
        """
        kinds = np.where(self.partial_utf8, 2, np.where(self.leading_space, 0, 1))
        n_lengths = len(self.length_counts)
        places = (kinds * n_lengths + self.lengths)[~self.special]
        return read_only(np.bincount(places, minlength=3 * n_lengths).reshape(3, n_lengths))

    def find(self, query: Query) -> Rows:
        """Return the rows of the tokens that match a query, in its order: int64[n_found].

        Raises `SearchError` for invalid hex, `PatternError` for a regular expression that fails to
        compile or to match, and `PatternTimeoutError` for one that takes over a second.
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
            each, names = self._find_scripts
            fits &= each == (names.index(query.script) if query.script in names else -1)
        if query.only is not None:
            fits &= np.isin(self.ids, np.array(query.only, np.int64))
        return fits

    def _searched(self, query: Query, rows: Rows) -> NDArray[np.bool_]:
        if query.by == "regex":
            return self._matched(query.text, rows)
        if query.by == "bytes":
            needle = _parse_hex(query.text)
        else:
            # A lone surrogate has no valid UTF-8, so its bytes match no token.
            needle = query.text.encode("utf-8", "surrogatepass")
        return self._with_bytes(needle)[rows]

    @cached_property
    def _joined(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of all tokens in a row, and the end of each token in it."""
        return np.frombuffer(b"".join(self.tokens), np.uint8), np.cumsum(self.lengths)

    def _with_bytes(self, needle: bytes) -> NDArray[np.bool_]:
        """Return whether each token contains some bytes: bool[n].

        All tokens are searched at once: for 200,000 tokens this takes 11 ms, a loop 80 ms.
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
        # The limit is on this thread's processor time: a busy machine must not fail a search.
        deadline = time.thread_time() + _SECONDS
        # A timeout adds 2 microseconds to a match, which is then ten times as slow. Short tokens
        # don't need one: even nested repeats can't backtrack far in a few characters.
        is_few = self._n_characters[rows] <= _FEW_CHARACTERS
        found = np.zeros(len(rows), np.bool_)
        searched: list[int] = rows.tolist()
        done = 0
        try:
            few: list[int] = np.flatnonzero(is_few).tolist()
            for start in range(0, len(few), _SEARCHES_BETWEEN_CHECKS):
                places = few[start : start + _SEARCHES_BETWEEN_CHECKS]
                found[places] = [search(texts[searched[place]]) is not None for place in places]
                done += len(places)
                # Reading the clock takes as long as searching a few characters.
                if time.thread_time() > deadline:
                    raise TimeoutError
            for place in np.flatnonzero(~is_few).tolist():
                found[place] = search(texts[searched[place]], timeout=_SECONDS) is not None
                done += 1
                if time.thread_time() > deadline:
                    raise TimeoutError
        except TimeoutError:
            raise PatternTimeoutError(
                f"The regular expression exceeded {_SECONDS:g} second after {done:,} of "
                f"{len(rows):,} tokens. Simplify it (avoid nested repeats such as (a+)+), or "
                f"filter first."
            ) from None
        except MATCH_FAILURES as error:
            raise failed_match(pattern, error) from None
        return found


def _parse_hex(text: str) -> bytes:
    digits = regex.sub(r"0[xX]|[\s,:\\x]+", "", text[:_MAX_HEX])
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise SearchError(
            f"Expected bytes in hex, got {text[:40]!r}. Write two digits from 0 to F for each "
            f"byte, such as E6 97 A5."
        ) from None
