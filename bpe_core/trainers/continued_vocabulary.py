"""The vocabulary that training continues from: all tokens of an existing tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bpe_core.trainers.forbidden_pairs import ForbiddenPairs


class ContinuedVocabulary:
    """A vocabulary during continued training: the base's tokens at first, then one per merge.

    New ids follow the highest id in use; ids that the base skips stay free. A pair whose bytes
    spell a token of the base, one that is `left_out` or one of `reviving` (see
    `runs.continuation.reviving_tokens`) is forbidden. The trainers use this class
    in the same way as `base_vocabulary.GrowingVocabulary`.

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
    ) -> None:
        self.tokens = [b""] * (1 + max(vocab))
        """tokens[id]: the bytes of a token; empty for an id that is not in use."""
        for id, token in vocab.items():
            self.tokens[id] = token
        self._n_free = len(self.tokens) - len(vocab)
        self.forbidden = ForbiddenPairs(self.tokens, vocab, left_out, reviving)
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
