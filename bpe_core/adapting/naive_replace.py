"""The twin of `replace` in plain Python: the naive removals, then the naive extension."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bpe_core.adapting.naive_extend import NaiveExtension, encode_word, extend_naively
from bpe_core.adapting.naive_shrink import naive_removals
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.vocabulary.pruning import keep_only


def replace_naively(
    base: Tokenizer,
    word_counts: Mapping[str, int],
    n_tokens: int,
    *,
    pinned: Collection[int] = (),
    scripts: Collection[str] | None = None,
    terms: Sequence[str] = (),
    left_out: Collection[bytes] = (),
) -> tuple[list[int], NaiveExtension] | None:
    """Return the ids of the removed tokens, and the extension of the others; None if too few go.

    A term that is one token of the base, after a space or without one, stays.

    >>> base = Tokenizer(
    ...     vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab"}, merges=[(0, 1, 3)], pretokenizer="none"
    ... )
    >>> removed, extension = replace_naively(base, {"cab": 1}, 1, terms=["ca"])
    >>> removed, [merge.pair for merge in extension.merges]
    ([3], [(2, 0)])
    """
    forms = [form for term in terms for form in (term, f" {term}")]
    words = [form for form in forms if base.pretokenizer.split(form) == [form]]
    whole = [ids[0] for ids in (encode_word(base, word) for word in words) if len(ids) == 1]
    order, _ = naive_removals(
        base,
        Corpus.from_word_counts(word_counts),
        pinned=[*pinned, *whole],
        scripts=scripts,
    )
    if len(order) < n_tokens:
        return None
    removed = order[:n_tokens]
    smaller, _ = keep_only(base, base.vocab.keys() - set(removed))
    return removed, extend_naively(smaller, word_counts, n_tokens, terms=terms, left_out=left_out)
