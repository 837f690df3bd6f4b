"""Look through a vocabulary: a table to search, filter and sort, and two trees.

The table holds tokens in columns. The trees are of the parts that each token was merged from, and
of the tokens that it begins.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, Literal, get_args

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.errors import PatternTimeoutError, SearchError
from bpe_core.pretokenizers import compile_pattern, failed_match, match_failures
from bpe_core.types import read_only
from bpe_core.unicode import are_whole_characters, token_script

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder, Tokenizer

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

    SEARCH_BY: ClassVar[Mapping[str, SearchBy]] = {each: each for each in get_args(SearchBy)}
    SORT_BY: ClassVar[Mapping[str, SortBy]] = {each: each for each in get_args(SortBy)}
    """The ways to search and to sort, by their names."""

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
        removed = frozenset[int]() if own is None else own.table.removed
        self._removed = np.array([id in removed for id in ids], np.bool_)
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
        end-of-word marker. Vowel signs and accents belong to their letters. A token that
        training took out again has none.

        >>> from bpe_core.tokenizer import gpt2
        >>> vocabulary = Vocabulary(gpt2())
        >>> dict(zip(vocabulary.tokens[262:267], vocabulary.letters[262:267].tolist()))
        {b' the': 3, b'er': 2, b' s': 0, b'at': 2, b' w': 0}
        """
        marker = regex.escape(self._end_of_word)
        pattern = regex.compile(rf"(?:[ ▁]|##)?((?:\p{{L}}\p{{M}}*){{2,}})(?:{marker})?")
        found = (pattern.fullmatch(text) for text in self._texts)
        counts = [0 if each is None else len(regex.findall(r"\p{L}", each[1])) for each in found]
        return read_only(np.where(self.special | self._removed, 0, np.array(counts, np.int64)))

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
        except match_failures() as error:
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


@dataclass(frozen=True, slots=True)
class Branch:
    """An edge from a node down to where a token ends or the tokens diverge."""

    prefix: bytes
    """The node's own bytes followed by those of this branch."""
    n_tokens: int
    """The number of tokens that begin with the prefix."""
    ids: tuple[int, ...]
    """The ids whose token equals the prefix; two ids may have the same bytes."""


@dataclass(frozen=True, slots=True)
class Node:
    """A prefix: how many tokens begin with it, which equal it, and how they continue."""

    prefix: bytes
    n_tokens: int
    ids: tuple[int, ...]
    """The ids whose token equals the prefix."""
    branches: tuple[Branch, ...]
    """The branch with the most tokens first."""


class PrefixTree:
    """The tokens of a vocabulary, looked up by prefix.

    >>> tree = PrefixTree({0: b"h", 1: b"hu", 2: b"hug", 3: b"hugs", 4: b"the"})
    >>> node = tree.node(b"h")
    >>> node.n_tokens, node.ids, [(b.prefix, b.n_tokens, b.ids) for b in node.branches]
    (4, (0,), [(b'hu', 3, (1,))])
    """

    __slots__ = ("_ids", "_tokens")

    def __init__(self, vocab: Mapping[int, bytes]) -> None:
        entries = sorted((token, id) for id, token in vocab.items())
        self._tokens = [token for token, _ in entries]
        self._ids = [id for _, id in entries]

    def node(self, prefix: bytes = b"") -> Node:
        """Return the node of a prefix; it has no tokens if none begins with the prefix.

        >>> PrefixTree({0: b"a"}).node(b"b")
        Node(prefix=b'b', n_tokens=0, ids=(), branches=())
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        own = self._find_own_end(prefix, start, stop)
        branches: list[Branch] = []
        at = own
        while at < stop:
            first = self._tokens[at][: len(prefix) + 1]
            _, end = self._range(first, at, stop)
            # In a sorted range, a prefix shared by the first and the last token is shared by all.
            shared = _shared_beginning(self._tokens[at], self._tokens[end - 1])
            ids = tuple(self._ids[at : self._find_own_end(shared, at, end)])
            branches.append(Branch(shared, end - at, ids))
            at = end
        branches.sort(key=lambda branch: (-branch.n_tokens, branch.prefix))
        return Node(prefix, stop - start, tuple(self._ids[start:own]), tuple(branches))

    def path(self, prefix: bytes) -> tuple[bytes, ...]:
        """Return the prefixes of the nodes from the root to a prefix, both included.

        >>> PrefixTree({0: b"hu", 1: b"hug", 2: b"hut"}).path(b"hug")
        (b'', b'hu', b'hug')
        """
        found = [b""]
        start, stop = 0, len(self._tokens)
        while len(found[-1]) < len(prefix):
            at = len(found[-1])
            start, stop = self._range(prefix[: at + 1], start, stop)
            if start == stop:
                break
            shared = _shared_beginning(self._tokens[start], self._tokens[stop - 1])
            if not prefix.startswith(shared):
                break
            found.append(shared)
        if found[-1] != prefix:
            found.append(prefix)
        return tuple(found)

    def starting_with(self, prefix: bytes, most: int) -> list[int]:
        """Return the ids of at most `most` tokens that begin with a prefix, in byte order.

        >>> PrefixTree({0: b"hug", 1: b"hu", 2: b"a"}).starting_with(b"h", 5)
        [1, 0]
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        return self._ids[start : min(stop, start + most)]

    def longest_match(self, data: bytes) -> int | None:
        """Return the id of the longest token that `data` begins with; BPE may choose another.

        >>> PrefixTree({0: b"h", 1: b"hug", 2: b"hugs"}).longest_match(b"hugging")
        1
        """
        start, stop = 0, len(self._tokens)
        found: int | None = None
        for length in range(1, len(data) + 1):
            start, stop = self._range(data[:length], start, stop)
            if start == stop:
                break
            if len(self._tokens[start]) == length:
                found = self._ids[start]
        return found

    def _range(self, prefix: bytes, low: int, high: int) -> tuple[int, int]:
        start = bisect_left(self._tokens, prefix, low, high)
        # No suffix of 0xFF bytes is an upper bound for a prefix, so keys are compared truncated.
        length = len(prefix)
        return start, bisect_right(
            self._tokens, prefix, start, high, key=lambda token: token[:length]
        )

    def _find_own_end(self, prefix: bytes, start: int, stop: int) -> int:
        return bisect_right(self._tokens, prefix, start, stop)


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A token at its place in a derivation tree."""

    id: int
    rank: int | None
    """The rank of the merge that first makes it; None for a symbol."""
    parts: tuple[int, int] | None
    """The indices of its two parts in the tree; None for a symbol or where the tree is cut off."""


class Derivations:
    """The merges of a tokenizer, indexed by the token they make and by its parts.

    >>> from bpe_core.tokenizer import gpt2
    >>> derivations = Derivations(gpt2())
    >>> tree = derivations.tree(262)
    >>> [(gpt2().vocab[node.id], node.rank, node.parts) for node in tree[:3]]
    [(b' the', 6, (1, 2)), (b' t', 0, (3, 4)), (b'he', 2, (5, 6))]
    >>> [gpt2().vocab[id] for id in derivations.built_on(262)[:3]]
    [b' they', b' their', b' them']
    """

    __slots__ = ("_built_on", "_table")

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._table = tokenizer.table
        built: dict[int, dict[int, None]] = defaultdict(dict)
        for left, right, made in self._table.triples:
            for part in (left, right):
                built[part][made] = None
        self._built_on = {id: tuple(made) for id, made in built.items()}

    def tree(
        self, id: int, most: int = 127, *, folded: Container[int] = ()
    ) -> tuple[TreeNode, ...]:
        """Return the derivation tree of a token level by level, the token itself first.

        The tree is cut off at about `most` nodes: twenty merges make a token of a million equal
        letters, but its tree has two million nodes. It is also cut off below the ids in `folded`,
        but not below the token itself.
        """
        ids = [id]
        nodes: list[TreeNode] = []
        # The loop appends to the list that it iterates over.
        for own in ids:
            pair = self._table.parts.get(own)
            rank = None if pair is None else self._table.ranks[pair]
            parts = None
            is_open = not nodes or own not in folded
            if pair is not None and is_open and len(ids) < most:
                parts = (len(ids), len(ids) + 1)
                ids += pair
            nodes.append(TreeNode(own, rank, parts))
        return tuple(nodes)

    def n_symbols(self, id: int) -> int:
        """Return the number of symbols in a token; one merge fewer joins them.

        >>> from bpe_core.tokenizer import gpt2
        >>> Derivations(gpt2()).n_symbols(262)
        4
        """
        counts: dict[int, int] = {}
        waiting = [id]
        while waiting:
            own = waiting[-1]
            parts = self._table.parts.get(own, ())
            if missing := [part for part in parts if part not in counts]:
                waiting += missing
            else:
                counts[own] = sum(counts[part] for part in parts) or 1
                waiting.pop()
        return counts[id]

    def built_on(self, id: int) -> tuple[int, ...]:
        """Return the tokens that a single merge makes from this one, in rank order."""
        return self._built_on.get(id, ())

    def all_built_on(self, id: int) -> frozenset[int]:
        """Return all tokens merged from this one, directly or indirectly."""
        found: set[int] = set()
        waiting = [id]
        while waiting:
            new = [made for made in self.built_on(waiting.pop()) if made not in found]
            found.update(new)
            waiting += new
        return frozenset(found)

    def families(self, words: Collection[int], most: int) -> list[tuple[int, tuple[int, ...]]]:
        """Return the words on which the most other words are built, each with these, in id order.

        A word that is itself built on one of them gets no family of its own.

        >>> from bpe_core.tokenizer import gpt2
        >>> words = [id for id, token in gpt2().vocab.items() if token.strip().startswith(b"port")]
        >>> [(root, members), *_] = Derivations(gpt2()).families(words, 3)
        >>> gpt2().vocab[root], [gpt2().vocab[id] for id in members[:3]]
        (b' port', [b' portion', b' portray', b' portfolio'])
        """
        among = frozenset(words)
        built = {id: self.all_built_on(id) & among for id in words}
        found: list[tuple[int, tuple[int, ...]]] = []
        taken: set[int] = set()
        for root in sorted(words, key=lambda id: (-len(built[id]), id)):
            if len(found) == most or not built[root]:
                break
            if root not in taken:
                found.append((root, tuple(sorted(built[root]))))
                taken |= built[root]
        return found


def _shared_beginning(first: bytes, second: bytes) -> bytes:
    length = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first[:length]
