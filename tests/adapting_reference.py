"""Shrinking and replacing in plain Python: the whole corpus is encoded again after each removal.

Nothing is shared with the engine but the pre-tokenizer, the tables of the tokenizer and the names
of scripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import bpe_core as bpe
from bpe_core.trainers import encode_reference, encode_word
from bpe_core.unicode import token_script
from tests.extending_reference import TermExtension, extend_for_terms


def remove_reference(
    tokenizer: bpe.Tokenizer,
    corpus: bpe.Corpus,
    *,
    pinned: Collection[int] = (),
    last_learned: bool = False,
    scripts: Collection[str] | None = None,
) -> tuple[list[int], list[int]]:
    """Return the order in which leaves go, and the tokens of the corpus after each removal.

    With `scripts`, only tokens of these may go.
    """
    cut = tokenizer.pretokenizer
    words = Counter[str]()
    for word, count in (corpus.word_counts or {}).items():
        written = word if word.startswith(" ") else cut.written(word)
        for part in cut.split(written) if cut.adds_space else [word]:
            words[part] += count
    for document in corpus.documents:
        words.update(cut.split(cut.written(document)))
    stay = {
        *tokenizer.special_tokens.values(),
        *tokenizer.base_ids.values(),
        *tokenizer.table.byte_ids.values(),
        *pinned,
        tokenizer.table.end_of_word_id,
    }
    if scripts is not None:
        stay |= {id for id, token in tokenizer.vocab.items() if token_script(token) not in scripts}
    vocab = dict(tokenizer.vocab)
    merges = [(merge.left, merge.right, merge.id) for merge in tokenizer.merges]
    made = [id for _, _, id in merges]
    first_rank = {id: made.index(id) for id in made}
    order: list[int] = []
    sizes: list[int] = []
    while True:
        uses = _uses(tokenizer, vocab, merges, words)
        sizes.append(sum(uses.values()))
        parts = {part for left, right, _ in merges for part in (left, right)}
        leaves = [id for id in vocab if id not in parts and id not in stay]
        if not leaves:
            return order, sizes
        if last_learned:
            first = min(leaves, key=lambda id: (-first_rank.get(id, len(first_rank)), -id))
        else:
            first = min(leaves, key=lambda id: (uses[id], -id))
        del vocab[first]
        merges = [merge for merge in merges if merge[2] != first]
        order.append(first)


def _uses(
    tokenizer: bpe.Tokenizer,
    vocab: Mapping[int, bytes],
    merges: list[tuple[int, int, int]],
    words: Mapping[str, int],
) -> Counter[int]:
    special = set(tokenizer.special_tokens.values())
    whole = {token: id for id, token in sorted(vocab.items(), reverse=True) if id not in special}
    uses: Counter[int] = Counter()
    for word, count in words.items():
        if tokenizer.table.whole_words_first and word.encode() in whole:
            uses[whole[word.encode()]] += count
            continue
        symbols = word if tokenizer.base == "characters" else [bytes([b]) for b in word.encode()]
        ids: list[int] = []
        for each in symbols:
            symbol = each.encode() if isinstance(each, str) else each
            if symbol in tokenizer.base_ids or not tokenizer.table.byte_ids:
                ids.append(tokenizer.base_ids.get(symbol, -1))
            else:
                ids += [tokenizer.table.byte_ids[bytes([byte])] for byte in symbol]
        if tokenizer.table.end_of_word_id is not None:
            ids.append(tokenizer.table.end_of_word_id)
        if tokenizer.table.byte_ids:  # a merge may come before those that make its parts
            ranked = {(m[0], m[1]): bpe.Merge(rank, *m) for rank, m in enumerate(merges)}
            ids = encode_reference(ids, ranked)
        for left, right, made in merges:  # rank after rank, each from left to right
            place = 0
            while place < len(ids) - 1:
                if (ids[place], ids[place + 1]) == (left, right):
                    ids[place : place + 2] = [made]
                place += 1
        for id in ids:
            if id >= 0:
                uses[id] += count
    return uses


def replace_reference(
    base: bpe.Tokenizer,
    word_counts: Mapping[str, int],
    n_tokens: int,
    *,
    pinned: Collection[int] = (),
    scripts: Collection[str] | None = None,
    terms: Sequence[str] = (),
    left_out: Collection[bytes] = (),
) -> tuple[list[int], TermExtension] | None:
    """Return the ids of the removed tokens, and the extension of the others; None if too few go.

    A term that is one token of the base, after a space or without one, stays.
    """
    forms = [form for term in terms for form in (term, f" {term}")]
    words = [form for form in forms if base.pretokenizer.split(form) == [form]]
    whole = [ids[0] for ids in (encode_word(base, word) for word in words) if len(ids) == 1]
    order, _ = remove_reference(
        base,
        bpe.Corpus.from_word_counts(word_counts),
        pinned=[*pinned, *whole],
        scripts=scripts,
    )
    if len(order) < n_tokens:
        return None
    removed = order[:n_tokens]
    smaller, _ = base.keep_only(base.vocab.keys() - set(removed))
    return removed, extend_for_terms(smaller, word_counts, n_tokens, terms=terms, left_out=left_out)
