"""The vocabulary that continued training begins with, and the pairs that never merge there.

The user leaves out tokens that should not be made. Merging a pair that spells a token of the base
would make a second token with the same bytes; files that name tokens by their text could not tell
the two apart, and the base's merges would apply to the wrong one. Such pairs are rare: in an
encoded word, they spell a special token, or a token that no merges reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.trainers.pair_rules import NO_RULE, PairRule

# An odd factor, so that a hash keeps all its bits: 2**64 divided by the golden ratio.
FACTOR: Final = 0x9E3779B97F4A7C15
_BITS: Final = (1 << 64) - 1


class ForbiddenPairs:
    """Recognises pairs of ids whose joined bytes are a token of the base, or were left out.

    `tokens` are the bytes of each id. The sequence is kept and may grow. `reviving` are further
    bytes that no merge may make, for the sake of tokens that no merge makes. Nor may a merge join a
    byte that is `apart` with one that is not, or a pair that the `rule` forbids.

    >>> forbidden = ForbiddenPairs([b"h", b"u", b"hu", b"hug", b"g"], [3])
    >>> forbidden.has(2, 4), forbidden.has(0, 1)
    (True, False)
    >>> forbidden.mask(np.array([2, 0]), np.array([4, 1])).tolist()
    [True, False]
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        base_ids: Iterable[int],
        left_out: Sequence[bytes] = (),
        reviving: Iterable[bytes] = (),
        apart: bytes = b"",
        rule: PairRule = NO_RULE,
    ) -> None:
        self._tokens = tokens
        self.rule = rule
        """Forbids pairs by the bytes of the two tokens."""
        self._weights = np.zeros(0, np.int32)
        self.apart = apart
        """The bytes that merge only with one another."""
        self._are_apart = np.zeros(0, np.bool_)
        self.left_out = frozenset(left_out)
        """The bytes that the user left out."""
        self.reviving = frozenset(reviving)
        """The bytes that would make one of the tokens that no merge makes."""
        ids = list(base_ids)
        others = [*self.left_out, *self.reviving]
        self._spelled = frozenset([*map(tokens.__getitem__, ids), *others])
        self._hashes, self._factors = hash_tokens(tokens)
        self.spelled_hashes = np.sort(np.append(self._hashes[ids], hash_tokens(others)[0]))
        """uint64[n], ascending: the hashes of the bytes that no merge may make."""

    @property
    def heaviest(self) -> int:
        """The rule may forbid pairs whose weights are together more than this."""
        return self.rule.heaviest

    def spells(self, token: bytes) -> bool:
        """Return True if no merge may make a token with these bytes."""
        return token in self._spelled

    def has(self, left: int, right: int) -> bool:
        """Return True if a pair must not merge."""
        first, second = self._tokens[left], self._tokens[right]
        if self.spells(first + second) or self._is_apart(first) != self._is_apart(second):
            return True
        return self.rule.forbids(first, second)

    def _is_apart(self, token: bytes) -> bool:
        return token[:1] in self.apart if token and self.apart else False

    def mask(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return bool[n]: which of many pairs must not merge; no id may be negative."""
        hashes, factors = self.hashes()
        joined = hashes[left] * factors[right] + hashes[right]
        # As np.isin does, but that sorts both arrays.
        known = self.spelled_hashes
        found = known[np.minimum(np.searchsorted(known, joined), len(known) - 1)] == joined
        # Different bytes can have equal hashes, so the few that are found are compared.
        for place in np.flatnonzero(found).tolist():
            found[place] = self.has(int(left[place]), int(right[place]))
        if self.apart:
            if new := self._tokens[len(self._are_apart) :]:
                self._are_apart = np.append(self._are_apart, [*map(self._is_apart, new)])
            found |= self._are_apart[left] != self._are_apart[right]
        weights = self.weights()
        heavy = weights[left] + weights[right] > self.heaviest
        for place in np.flatnonzero(heavy & ~found).tolist():
            found[place] = self.has(int(left[place]), int(right[place]))
        return found

    def weights(self) -> NDArray[np.int32]:
        """Return int32[n]: the weight of each token by the rule; see `PairRule`."""
        if new := self._tokens[len(self._weights) :]:
            found = np.fromiter(map(self.rule.weight, new), np.int32, len(new))
            self._weights = np.append(self._weights, found)
        return self._weights

    def hashes(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the hashes and factors of all tokens, as `hash_tokens` does."""
        if new := self._tokens[len(self._hashes) :]:
            hashes, factors = hash_tokens(new)
            self._hashes = np.concatenate([self._hashes, hashes])
            self._factors = np.concatenate([self._factors, factors])
        return self._hashes, self._factors


class AllowedPairs:
    """Recognises pairs that may merge: their token is not too long, and not forbidden.

    `tokens` are the bytes of each id. The sequence is kept and may grow.

    >>> allowed = AllowedPairs([b"h", b"u", b"hu"], max_token_bytes=2)
    >>> allowed.has(0, 1), allowed.has(0, 2)
    (True, False)
    >>> allowed.mask(np.array([0, 0]), np.array([1, 2])).tolist()
    [True, False]
    """

    def __init__(
        self,
        tokens: Sequence[bytes] = (),
        max_token_bytes: int | None = None,
        forbidden: ForbiddenPairs | None = None,
    ) -> None:
        self._tokens = tokens
        self._max_token_bytes = max_token_bytes
        self._forbidden = forbidden
        self._lengths = np.zeros(0, np.int64)

    def has(self, left: int, right: int) -> bool:
        """Return True if a pair may merge."""
        longest = self._max_token_bytes
        if longest is not None and len(self._tokens[left]) + len(self._tokens[right]) > longest:
            return False
        return self._forbidden is None or not self._forbidden.has(left, right)

    def mask(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return bool[n]: which of many pairs may merge; no id may be negative."""
        allowed = np.ones(len(left), np.bool_)
        if self._max_token_bytes is not None:
            if len(self._lengths) < len(self._tokens):
                self._lengths = np.array(list(map(len, self._tokens)), np.int64)
            allowed = self._lengths[left] + self._lengths[right] <= self._max_token_bytes
        if self._forbidden is not None:
            allowed[allowed] = ~self._forbidden.mask(left[allowed], right[allowed])
        return allowed


class ContinuedVocabulary:
    """A vocabulary during continued training: the base's tokens at first, then one per merge.

    New ids follow the highest id in use; ids that the base skips stay free. A pair whose bytes
    spell a token of the base, one that is `left_out` or one of `reviving` (see
    `runs.special_runs.reviving_tokens`) is forbidden, and so is one that joins a byte that is
    `apart` with another, or that the `rule` forbids. The trainers use this class in the same way as
    `base_vocabulary.GrowingVocabulary`.

    >>> vocabulary = ContinuedVocabulary({0: b"h", 1: b"u", 5: b"hu"})
    >>> len(vocabulary), vocabulary.next_id
    (3, 6)
    >>> vocabulary.forbidden.has(0, 1), vocabulary.join(5, 5), vocabulary.tokens[6]
    (True, 6, b'huhu')
    """

    def __init__(
        self,
        vocab: Mapping[int, bytes],
        left_out: Sequence[bytes] = (),
        reviving: Iterable[bytes] = (),
        apart: bytes = b"",
        rule: PairRule = NO_RULE,
    ) -> None:
        self.tokens = [b""] * (1 + max(vocab))
        """tokens[id]: the bytes of a token; empty for an id that is not in use."""
        for id, token in vocab.items():
            self.tokens[id] = token
        self._n_free = len(self.tokens) - len(vocab)
        self.forbidden = ForbiddenPairs(self.tokens, vocab, left_out, reviving, apart, rule)
        """The pairs that must not merge."""

    def __len__(self) -> int:
        return len(self.tokens) - self._n_free

    @property
    def next_id(self) -> int:
        """The id of the next new token."""
        return len(self.tokens)

    def join(self, left: int, right: int) -> int:
        """Add the token that a pair makes; return its id."""
        self.tokens.append(self.tokens[left] + self.tokens[right])
        return len(self.tokens) - 1

    def join_new(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Add a token for each pair; return their number."""
        before = len(self.tokens)
        for left, right in pairs:
            self.join(left, right)
        return len(self.tokens) - before


def hash_tokens(tokens: Sequence[bytes]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the hash of each token, and the factor by which the hash before it is multiplied.

    The hash of two tokens joined is `hash(left) * factor(right) + hash(right)`, modulo 2**64.

    >>> hashes, factors = hash_tokens([b"hu", b"g", b"hug"])
    >>> (hashes[:1] * factors[1:2] + hashes[1:2] == hashes[2:]).tolist()
    [True]
    """
    widths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    powers = powers_up_to(int(widths.max(initial=0)))
    ends = np.cumsum(widths)
    letters = np.frombuffer(b"".join(tokens), np.uint8).astype(np.uint64) + np.uint64(1)
    letters *= powers[np.repeat(ends, widths) - 1 - np.arange(len(letters))]
    hashes = np.zeros(len(tokens), np.uint64)
    filled = widths > 0  # an id that is not in use has no bytes
    if filled.any():
        hashes[filled] = np.add.reduceat(letters, (ends - widths)[filled])
    return hashes, powers[widths]


def powers_up_to(exponent: int) -> NDArray[np.uint64]:
    """Return uint64[exponent + 1]: the powers of the hash's factor, modulo 2**64.

    >>> powers_up_to(1).tolist() == [1, FACTOR]
    True
    """
    powers = [1]
    for _ in range(exponent):
        powers.append(powers[-1] * FACTOR & _BITS)
    return np.array(powers, np.uint64)
