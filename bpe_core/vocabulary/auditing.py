"""Audit a vocabulary on a corpus, and remove tokens that it rarely uses.

A token is *used* if it occurs in the encoding of the corpus. An unused token may still be needed:
if a used token is merged from it, it is a *scaffold*, a term of Lian, Dong et al. ("Scaffold-BPE:
Enhancing Byte Pair Encoding for Large Language Models with Simple and Effective Scaffold Token
Removal", AAAI 2025). Bostrom and Durrett described such tokens earlier ("Byte Pair Encoding is
Suboptimal for Language Model Pretraining", 2020, section 4).
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import count_pretokens
from bpe_core.errors import ConfigError
from bpe_core.kernels import BETWEEN
from bpe_core.tokenizer import Tokenizer, find_own
from bpe_core.trainers import count_ids
from bpe_core.types import PretokenCounts, read_only
from bpe_core.unicode import are_whole_characters
from bpe_core.vocabulary.reachability import ShouldStop

if TYPE_CHECKING:
    from bpe_core.corpus import Corpus
    from bpe_core.tokenizer import Encoder
    from bpe_core.trainers import TrainingRun


_WORDS_BETWEEN_CHECKS = 4_096


MAX_RESIDUE: Final = 0.05
"""The largest share of its first occurrences with which a token is a residue."""


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """The tokens of a tokenizer classified by their use on one corpus; ids ascend in each tuple.

    No tuple contains special tokens, since no text encodes to them.
    """

    uses: NDArray[np.int64]
    """int64[largest id + 1]: occurrences of each id in the encoding of the corpus; read-only."""
    never_used: tuple[int, ...]
    scaffolds: tuple[int, ...]
    """Unused tokens that a used token is merged from, directly or indirectly."""
    partial_utf8: tuple[int, ...]
    """Tokens whose bytes are not whole characters."""

    @classmethod
    def of(cls, tokenizer: Encoder, uses: NDArray[np.int64]) -> Self:
        """Classify a tokenizer's tokens by how often each is used on a corpus.

        `uses` is int64[largest id + 1], as returned by `count_uses`. A tokenizer without merges has
        no scaffolds. To find the tokens that no text can use, see `Reachability.of`.

        >>> from bpe_core.tokenizer import Tokenizer
        >>> tokenizer = Tokenizer(
        ...     vocab={0: b"h", 1: b"u", 2: b"g", 3: b"ug", 4: b"hug", 5: b"gh"},
        ...     merges=[(1, 2, 3), (0, 3, 4), (2, 0, 5)],
        ...     pretokenizer="none",
        ... )
        >>> uses = count_uses(tokenizer, PretokenCounts((b"hug",), np.array([3])))
        >>> audited = Audit.of(tokenizer, uses)
        >>> audited.never_used, audited.scaffolds
        ((0, 1, 2, 3, 5), (0, 1, 2, 3))
        """
        own = tokenizer.merged_by
        others = set(tokenizer.special_tokens.values())
        if own is not None:
            others |= own.table.removed  # no text encodes to what training took out again
        ids = sorted(id for id in tokenizer.vocab if id not in others)
        used = {id for id in ids if uses[id]}
        needed = used if own is None else with_parts(own, used)
        marker = None if own is None else own.table.end_of_word_id
        never_used = tuple(id for id in ids if id not in used)
        return cls(
            uses=read_only(uses),
            never_used=never_used,
            scaffolds=tuple(id for id in never_used if id in needed),
            partial_utf8=tuple(
                id for id in ids if id != marker and not are_whole_characters(tokenizer.vocab[id])
            ),
        )

    def residues(self, tokenizer: Tokenizer, max_share: float = MAX_RESIDUE) -> tuple[int, ...]:
        """Return the tokens that were frequent while training and are rare in its final encoding.

        Later merges took most of their occurrences. Such tokens are the "residues" of LiteToken
        (2026, arXiv 2602.04706): a token's uses in the training text, divided by the count of its
        pair when it was merged, are at most `max_share`. The uses are to be those of
        `TrainingRun.count_uses`. Tokens whose merges have no counts, as in files of other tools,
        are left out. Ids ascend.

        >>> from bpe_core.corpus import Corpus
        >>> from bpe_core.trainers import train
        >>> from bpe_core.types import TrainingConfig
        >>> corpus = Corpus.from_word_counts({"hug": 99, "hub": 1})
        >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
        >>> audited = Audit.of(run.tokenizer, run.count_uses())
        >>> [run.tokenizer.vocab[id] for id in audited.residues(run.tokenizer)]
        [b'hu']
        """
        counts: dict[int, int] = {}
        for merge in tokenizer.merges:
            counts.setdefault(merge.id, merge.count or 0)
        return tuple(sorted(id for id, n in counts.items() if n and self.uses[id] <= max_share * n))


def count_uses(
    tokenizer: Tokenizer, pretokens: PretokenCounts, should_stop: ShouldStop | None = None
) -> NDArray[np.int64]:
    """Count the occurrences of each id in the encoding of pre-tokens: int64[largest id + 1].

    The pre-tokens are not cut again, so they should come from the tokenizer's own pre-tokenizer.
    A symbol missing from the alphabet is left out, and no merge crosses the gap.
    Raises CancelledError once `should_stop`, called with the number of pre-tokens done and their
    total, returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> uses = count_uses(gpt2(), PretokenCounts((b"the", b" the"), np.array([2, 5])))
    >>> {gpt2().vocab[id]: int(uses[id]) for id in np.flatnonzero(uses)}
    {b' the': 5, b'the': 2}
    """
    uses = np.zeros(max(tokenizer.vocab) + 1, np.int64)
    spelling = [*tokenizer.table.byte_ids.values()]  # these bytes stand for missing characters
    for begin in range(0, pretokens.n_words, _WORDS_BETWEEN_CHECKS):
        if should_stop is not None and should_stop(begin, pretokens.n_words):
            raise CancelledError
        part = slice(begin, begin + _WORDS_BETWEEN_CHECKS)
        ids, ends = tokenizer.encoder.encode_words(pretokens.words[part])
        counts = np.repeat(pretokens.counts[part], np.diff(ends, prepend=0))
        is_token = (ids >= 0) & ~np.isin(ids, spelling)
        # np.bincount with weights would sum floats, which are inexact above 2**53.
        np.add.at(uses, ids[is_token], counts[is_token])
    return uses


def uses_in_corpus(
    tokenizer: Encoder, corpus: Corpus, should_stop: ShouldStop | None = None
) -> NDArray[np.int64]:
    """Count the occurrences of each id in the encoding of a corpus: int64[largest id + 1].

    Documents are cut by the tokenizer's own pre-tokenizer. Words with counts are taken as
    pre-tokens, or as texts if another library encodes. Special tokens are read as text, and symbols
    missing from the alphabet are left out. Raises CancelledError once `should_stop`, called with
    the number of characters (or distinct words) done and their total, returns True.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.tokenizer import gpt2
    >>> uses = uses_in_corpus(gpt2(), Corpus.from_documents(["the", "the the"]))
    >>> {gpt2().vocab[id]: int(uses[id]) for id in np.flatnonzero(uses)}
    {b' the': 1, b'the': 2}
    """
    uses = np.zeros(max(tokenizer.vocab) + 1, np.int64)
    done = 0
    if corpus.word_counts is not None:
        counts = corpus.word_counts
        own = tokenizer.merged_by
        if own is not None and own is tokenizer:
            pretokens = count_pretokens(corpus, own.pretokenizer)
            return count_uses(own, pretokens, should_stop)
        for done, (word, count) in enumerate(counts.items()):
            if done % _WORDS_BETWEEN_CHECKS == 0 and should_stop and should_stop(done, len(counts)):
                raise CancelledError
            np.add.at(uses, tokenizer.encode(word), count)
        return uses
    for document in corpus.documents:
        if should_stop is not None and should_stop(done, corpus.n_characters):
            raise CancelledError
        if (own := find_own(tokenizer)) is not None:
            uses += count_ids(own, [document])
        else:
            uses += np.bincount(tokenizer.encode(document), minlength=len(uses))
        done += len(document)
    return uses


def with_parts(tokenizer: Tokenizer, ids: set[int]) -> set[int]:
    """Return ids and every token they are merged from, down to the alphabet.

    If several merges make a token, the parts of each are included.

    >>> from bpe_core.tokenizer import gpt2
    >>> sorted(gpt2().vocab[id] for id in with_parts(gpt2(), {262}))
    [b' ', b' t', b' the', b'e', b'h', b'he', b't']
    """
    parts: dict[int, set[int]] = defaultdict(set)
    for merge in tokenizer.merges:
        parts[merge.id].update(merge.pair)
    needed = set(ids)
    waiting = list(needed)
    while waiting:
        new = parts[waiting.pop()] - needed
        needed |= new
        waiting += new
    return needed


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A pruned tokenizer, with the old id of each token."""

    tokenizer: Tokenizer
    old_ids: NDArray[np.int32] = field(repr=False)
    """int32[vocab_size]: the old id of each new id, which is the embedding row to keep."""
    removed: tuple[int, ...] = field(repr=False)
    """The old ids of the removed tokens, ascending."""
    n_kept_as_parts: int
    """The number of rarely used tokens kept because other kept tokens are merged from them."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, uses: NDArray[np.int64], min_uses: int = 1) -> Self:
        """Remove the tokens used fewer than `min_uses` times, except those that other tokens need.

        Special tokens, the whole alphabet and the end-of-word marker are kept, so every text that
        could be encoded still can be. The parts of a kept token are kept too. Ids are renumbered
        from 0 in the old order, and merges stay in their order.

        With `min_uses=1`, the text on which uses were counted is encoded to the same tokens as
        before, because every merge applied there made a used token or a part of one. Other text may
        take more tokens.

        Raises `ConfigError` if `uses` does not cover every id of the vocabulary.

        >>> from bpe_core.tokenizer import gpt2
        >>> uses = np.zeros(50257, np.int64)
        >>> uses[gpt2().encode("hugging")] = 1
        >>> pruned = Pruned.of(gpt2(), uses)
        >>> pruned.tokenizer.vocab_size, [pruned.tokenizer.vocab[i] for i in (257, 258, 259, 260)]
        (261, [b'ing', b'ug', b'ging', b'<|endoftext|>'])
        """
        vocab = tokenizer.vocab
        if len(uses) <= max(vocab):
            raise ConfigError(
                f"Expected a count of uses for each id up to {max(vocab):,}, got {len(uses):,}. "
                "Pass 0 for an unused id."
            )
        always = {
            *tokenizer.special_tokens.values(),
            *tokenizer.base_ids.values(),
            *tokenizer.table.byte_ids.values(),
        }
        if tokenizer.table.end_of_word_id is not None:
            always.add(tokenizer.table.end_of_word_id)
        often = {id for id in vocab if uses[id] >= min_uses}
        kept = with_parts(tokenizer, always | often)
        smaller, old_ids = tokenizer.keep_only(kept)
        return cls(
            tokenizer=smaller,
            old_ids=old_ids,
            removed=tuple(sorted(set(vocab) - kept)),
            n_kept_as_parts=len(kept - always - often),
        )

    def added_in(self, run: TrainingRun) -> int:
        """Return how many more tokens a run's training text takes with it.

        Only words that contain a removed token are encoded again: no merge of the others was
        removed.

        >>> from bpe_core.corpus import Corpus
        >>> from bpe_core.trainers import train
        >>> from bpe_core.types import TrainingConfig
        >>> corpus = Corpus.from_word_counts({"hug": 9, "pun": 1})
        >>> run = train(corpus, TrainingConfig(260, special_tokens=()))
        >>> Pruned.of(run.tokenizer, run.count_uses(), min_uses=2).added_in(run)
        2
        """
        layout = run.layout_at(len(run.merges))
        words = np.cumsum(layout.ids == BETWEEN) - 1
        removed = np.isin(layout.ids, np.array(self.removed, np.int32))
        changed: list[int] = np.unique(words[removed]).tolist()
        is_changed = (layout.ids >= 0) & np.isin(words, changed)
        before = int(layout.weights()[is_changed].sum())
        texts = run.pretokens.words
        again = PretokenCounts(
            tuple(texts[word] for word in changed), run.pretokens.counts[changed]
        )
        return int(count_uses(self.tokenizer, again).sum()) - before
