"""Compare the vocabulary's table, trees and trie with plain loops over all tokens."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.tokenizer import Trie, merge_symbols
from bpe_core.unicode import NO_LETTERS
from bpe_core.vocabulary import Derivations, PrefixTree, Query, Vocabulary, count_uses
from ui.storage import SAMPLE_RUN_ID, load_run


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary(bpe.gpt2(), count_uses(bpe.gpt2(), load_run(SAMPLE_RUN_ID).run.pretokens))


def found(query: Query) -> list[bytes]:
    return [vocabulary().tokens[row] for row in vocabulary().find(query)]


def tokens_with(condition) -> list[bytes]:
    return [token for _, token in sorted(bpe.gpt2().vocab.items()) if condition(token)]


@pytest.mark.parametrize("text", ["hugg", " The", "é", ".*", "\n", "<|endoftext|>", "no such one"])
def test_text_search_matches_the_exact_characters(text: str) -> None:
    assert found(Query(text)) == tokens_with(lambda token: text.encode() in token)


@pytest.mark.parametrize("text", ["e6 97", "E697", "0xe6 0x97", "\\xe6\\x97", "E6,97"])
def test_hex_search_accepts_every_common_notation(text: str) -> None:
    assert found(Query(text, by="bytes")) == tokens_with(lambda token: b"\xe6\x97" in token)


def test_hex_search_matches_whole_bytes_not_digits() -> None:
    assert b"\x0e" not in found(Query("e6", by="bytes"))
    assert b"ni" not in found(Query("e6 96", by="bytes"))  # 6e 69 contains the digits e 6


@pytest.mark.parametrize("pattern", ["^ [A-Z].{12,}[0-9]?$", "(?i)hugg", "^..$"])
def test_regex_search_matches_each_token_separately(pattern: str) -> None:
    def matches(token: bytes) -> bool:
        return bool(re.search(pattern, token.decode("utf-8", "surrogateescape")))

    assert found(Query(pattern, by="regex")) == tokens_with(matches)


def test_regex_search_can_name_a_byte_outside_a_whole_character() -> None:
    pattern = r"^\udce6$"
    assert found(Query(pattern, by="regex")) == [b"\xe6"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        (
            Query("zz", by="bytes"),
            bpe.SearchError,
            "Expected bytes in hex, got 'zz'. Write two digits",
        ),
        (Query("abc", by="bytes"), bpe.SearchError, "Expected bytes in hex, got 'abc'."),
        (Query("a(", by="regex"), bpe.PatternError, "not a valid regular expression"),
        (Query("(?R)", by="regex"), bpe.PatternError, "calls itself"),
        (Query("(?<=b{e<=1}|a)*", by="regex"), bpe.PatternError, "no text can be matched with it"),
        (Query("(.|..|...|....)+$(?<!.)", by="regex"), bpe.PatternTimeoutError, "of 50,257 tokens"),
    ],
)
def test_an_invalid_search_raises_an_error_with_the_reason(
    query: Query, error: type, message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        vocabulary().find(query)


def test_filters_combine() -> None:
    rows = vocabulary().find(
        Query("a", script="Latin", shortest=5, longest=7, leading_space=True, special=False)
    )
    expected = tokens_with(
        lambda token: b"a" in token and 5 <= len(token) <= 7 and token.startswith(b" ")
    )
    assert [vocabulary().tokens[row] for row in rows] == [
        token for token in expected if any(c.isalpha() for c in token.decode())
    ]


def test_partial_utf8_tokens_are_those_that_do_not_decode() -> None:
    def is_undecodable(token: bytes) -> bool:
        try:
            token.decode()
        except UnicodeDecodeError:
            return True
        return False

    assert found(Query(partial_utf8=True)) == tokens_with(is_undecodable)


def test_script_counts_add_up_and_match_the_filter() -> None:
    scripts = vocabulary().scripts
    assert sum(scripts.values()) == 50_257
    assert {"Latin", "Cyrillic", "Katakana", "Han", NO_LETTERS} <= scripts.keys()
    for script, count in scripts.items():
        assert len(found(Query(script=script))) == count
    assert "の".encode() in found(Query(script="Hiragana"))


def test_special_tokens_and_given_ids_can_be_filtered() -> None:
    assert found(Query(special=True)) == [b"<|endoftext|>"]
    assert found(Query(only=(262, 50256, 0))) == [b"!", b" the", b"<|endoftext|>"]


@pytest.mark.parametrize("sort", ["id", "length", "use"])
@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_sorted_and_equal_rows_are_in_order_of_id(sort, descending: bool) -> None:
    table = vocabulary()
    rows = table.find(Query("th", sort=sort, descending=descending))
    column = {"id": table.ids, "length": table.lengths, "use": table.uses}[sort]
    keys = [(-int(column[r]) if descending else int(column[r]), int(table.ids[r])) for r in rows]
    assert all(a < b for a, b in pairwise(keys))
    assert len(keys) == len(tokens_with(lambda token: b"th" in token))


def test_lengths_are_counted_without_special_tokens() -> None:
    counts = vocabulary().length_counts
    assert counts.sum() == 50_256
    assert counts[1] == 256
    assert len(counts) - 1 == max(map(len, tokens_with(lambda t: t != b"<|endoftext|>")))


def test_lengths_are_counted_separately_for_each_kind() -> None:
    table = vocabulary()
    kinds = table.length_kinds
    assert kinds.sum(axis=0).tolist() == table.length_counts.tolist()
    for length in (1, 5, 12):
        of_length = tokens_with(lambda t, n=length: len(t) == n and t != b"<|endoftext|>")
        partial = found(Query(partial_utf8=True, special=False, shortest=length, longest=length))
        spaced = [t for t in of_length if t[:1] == b" " and t not in partial]
        n_others = len(of_length) - len(spaced) - len(partial)
        assert kinds[:, length].tolist() == [len(spaced), n_others, len(partial)]


def test_tokens_built_on_a_token_are_those_merged_from_it() -> None:
    tokenizer = bpe.gpt2().truncated(5_000)
    derivations = Derivations(tokenizer)
    inside = {id: {id} for id in tokenizer.vocab}
    for merge in tokenizer.merges:
        inside[merge.id] |= inside[merge.left] | inside[merge.right]
    for id in (258, 262, 64, 4_000):
        everything = {other for other, parts in inside.items() if id in parts and other != id}
        assert derivations.all_built_on(id) == everything
        direct = [merge.id for merge in tokenizer.merges if id in merge.pair]
        assert list(derivations.built_on(id)) == direct
        row = int(np.flatnonzero(Vocabulary(tokenizer).ids == id)[0])
        n_parts = sum(merge.pair.count(id) for merge in tokenizer.merges)
        assert Vocabulary(tokenizer).n_built_on[row] == n_parts


def test_the_leaves_of_a_derivation_tree_spell_its_token() -> None:
    derivations = Derivations(bpe.gpt2())
    for id in (262, 30212, 50_000, 5):
        tree = derivations.tree(id)

        def spelled(place: int, tree=tree) -> bytes:
            parts = tree[place].parts
            if parts is None:
                assert tree[place].rank is None
                return bpe.gpt2().vocab[tree[place].id]
            return spelled(parts[0]) + spelled(parts[1])

        assert spelled(0) == bpe.gpt2().vocab[id]
        assert derivations.n_symbols(id) == sum(node.parts is None for node in tree)


def test_the_tree_of_a_token_of_a_million_letters_is_cut_off() -> None:
    vocab = {rank: b"a" * (1 << rank) for rank in range(21)}
    merges = [(rank, rank, rank + 1) for rank in range(20)]
    tokenizer = bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer="none")
    tree = Derivations(tokenizer).tree(20)
    assert 100 < len(tree) < 130
    assert tree[-1].rank == 13
    assert Derivations(tokenizer).n_symbols(20) == 1 << 20
    assert tree[-1].parts is None


def test_a_tree_is_cut_off_below_folded_tokens_except_at_its_root() -> None:
    tree = Derivations(bpe.gpt2()).tree(262, folded={262, bpe.gpt2().encode("he")[0]})
    assert [(bpe.gpt2().vocab[node.id], node.parts) for node in tree] == [
        (b" the", (1, 2)),
        (b" t", (3, 4)),
        (b"he", None),
        (b" ", None),
        (b"t", None),
    ]


@pytest.mark.parametrize("prefix", [b"", b" th", b"\xe6", b"\xff", b" the", b"zzzz", b"A" * 9])
def test_a_prefix_tree_node_counts_the_tokens_that_begin_with_its_prefix(prefix: bytes) -> None:
    vocab = bpe.gpt2().vocab
    node = PrefixTree(vocab).node(prefix)
    below = {id: token for id, token in vocab.items() if token.startswith(prefix)}
    assert node.n_tokens == len(below)
    assert node.ids == tuple(id for id, token in below.items() if token == prefix)
    assert sum(b.n_tokens for b in node.branches) + len(node.ids) == len(below)
    by_next_byte: dict[bytes, list[bytes]] = defaultdict(list)
    for token in below.values():
        by_next_byte[token[: len(prefix) + 1]].append(token)
    for branch in node.branches:
        beyond = by_next_byte[branch.prefix[: len(prefix) + 1]]
        assert branch.n_tokens == len(beyond)
        assert all(token.startswith(branch.prefix) for token in beyond)
        # A branch runs to the first point where a token ends or the tokens diverge.
        ends = any(token == branch.prefix for token in beyond)
        next_bytes = {token[len(branch.prefix) : len(branch.prefix) + 1] for token in beyond}
        assert ends or len(next_bytes) > 1
    counts = [branch.n_tokens for branch in node.branches]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("prefix", [b"", b" ther", b"\xe6\x97\xa5", b"zzzzz", b" hugged"])
def test_the_path_to_a_prefix_follows_branches(prefix: bytes) -> None:
    tree = PrefixTree(bpe.gpt2().vocab)
    path = tree.path(prefix)
    assert (path[0], path[-1]) == (b"", prefix)
    for above, below in pairwise(path[:-1]):
        assert below in [branch.prefix for branch in tree.node(above).branches]
    *_, above, last = path if len(path) > 1 else (b"", b"")
    branches = [branch.prefix for branch in tree.node(above).branches]
    assert not [branch for branch in branches if prefix.startswith(branch) and branch != last]


@pytest.mark.parametrize("data", [b" thermometer", b"\xe6\x97\xa5\xe6\x9c\xac", b"", b"zq"])
def test_the_longest_match_is_the_longest_token_that_starts_the_text(data: bytes) -> None:
    beginning = [t for t in bpe.gpt2().vocab.values() if data.startswith(t)]
    match = PrefixTree(bpe.gpt2().vocab).longest_match(data)
    assert (None if match is None else bpe.gpt2().vocab[match]) == max(
        beginning, key=len, default=None
    )


def test_bpe_does_not_always_take_the_longest_match_of_the_trie() -> None:
    ranks, made = {(0, 1): 0, (1, 2): 1, (2, 3): 2, (4, 2): 3}, [4, 5, 6, 7]
    trie = Trie(ranks, made)
    assert trie.longest_match([0, 1, 2, 3]) == (7, 3)
    assert trie.encode([0, 1, 2, 3]) == merge_symbols([0, 1, 2, 3], ranks, made) == [4, 6]
