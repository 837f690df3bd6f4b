"""Terms become tokens before any others, with their cost, or are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.trainers import merge_terms, reference
from tests.extending import spell_in_base

TEXT = (
    """A Kubernetes cluster; Kubernetes clusters. The kubelet of Kubernetes: Kubernetes-like.
Orchestrating microservices, autoscaling nodepools, untolerated taints, kubectl and kubeadm.
Straßenbahnhaltestelle, Straßenbahnfahrplan, Donaudampfschifffahrtsgesellschaft.
"""
    * 3
)
LETTERS = bpe.Tokenizer(
    vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab"}, merges=[(0, 1, 3)], pretokenizer="none"
)


def extended(
    *terms: str | bytes, text: str = TEXT, n_tokens: int = 9, **options: object
) -> list[bpe.TermCost]:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(text), n_tokens, terms=terms, **options)  # pyright: ignore[reportArgumentType]
    return list(run.terms)


def of_letters(words: dict[str, int], *terms: str | bytes, **options: object) -> bpe.TrainingRun:
    corpus = bpe.Corpus.from_word_counts(words)
    return extend(LETTERS, corpus, 9, terms=terms, **options)  # pyright: ignore[reportArgumentType]


def test_terms_become_the_first_new_tokens_in_their_order() -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 9, terms=["kubelet", "Kubernetes"])
    kubelet, kubernetes = run.terms
    assert run.n_term_merges == kubelet.tokens_added + kubernetes.tokens_added
    made = [run.tokenizer.vocab[merge.id] for merge in run.merges]
    assert made[kubelet.tokens_added - 1] == kubelet.token == b" kubelet"
    assert made[run.n_term_merges - 1] == kubernetes.token == b" Kubernetes"
    assert run.tokenizer.encode(" Kubernetes") == [run.merges[run.n_term_merges - 1].id]
    saved = -np.diff(run.tokens_after)
    assert kubelet.tokens_saved == saved[: kubelet.tokens_added].sum() == 3 * kubelet.tokens_added
    assert run.stop_reason == "vocab-size"
    assert len(run.merges) == 9


def test_a_term_is_written_as_the_text_writes_it_most() -> None:
    (with_space,) = extended("Kubernetes")
    assert with_space.token == b" Kubernetes"
    (without,) = extended("Kubernetes", text="Kubernetes\n" * 5 + " Kubernetes")
    assert without.token == b"Kubernetes"
    (as_given,) = extended(" Kubernetes", text="Kubernetes\n" * 5 + " Kubernetes")
    assert as_given.token == b" Kubernetes"


def test_bytes_may_be_a_part_of_words_and_of_characters() -> None:
    cut, whole = extended("नम".encode()[:5], "न", text="नमस्ते नमन\n" * 3)
    assert cut.token == "नम".encode()[:5]
    assert (whole.token, whole.tokens_added) == ("न".encode(), 1)
    (part,) = of_letters({"acbcca": 2}, b"bcc").terms
    assert part == bpe.TermCost(b"bcc", b"bcc", 2, 4, occurrences=2)
    assert of_letters({"acbcca": 2}, "bcc").terms[0].token == b"bcc"


def test_a_token_that_exists_costs_nothing() -> None:
    the, again, made = extended(" the", "Kubernetes", "Kubernetes")
    assert (the.token, the.tokens_added, the.tokens_saved, the.reason) == (b" the", 0, 0, None)
    assert again.tokens_added > 0
    assert (made.token, made.tokens_added, made.reason) == (b" Kubernetes", 0, None)


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("New York", "The pre-tokenizer cuts it into 2 words: 'New', ' York'."),
        ("a b c d e", "cuts it into 5 words: 'a', ' b', ' c', ' d', ..."),
        ("<|endoftext|>", "cuts it into"),
        ("Zq" * 150, "tokens of the base; at most 100 can be joined."),
    ],
)
def test_what_cannot_be_a_token_is_told_and_costs_nothing(term: str, reason: str) -> None:
    cost, kubernetes = extended(term, "Kubernetes")
    assert cost.token is None
    assert reason in (cost.reason or "")
    assert cost.tokens_added == cost.tokens_saved == 0
    assert kubernetes.token == b" Kubernetes"


def test_a_term_that_the_text_does_not_contain_is_a_token_with_0_occurrences() -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 9, terms=["Zookeeper", "Kubernetes"])
    zookeeper, kubernetes = run.terms
    assert zookeeper.token == b" Zookeeper"
    assert len(bpe.gpt2().encode(" Zookeeper")) == zookeeper.tokens_added + 1
    assert (zookeeper.tokens_saved, zookeeper.occurrences, zookeeper.is_absent) == (0, 0, True)
    assert (kubernetes.occurrences, kubernetes.is_absent) == (12, False)
    assert len(run.tokenizer.encode(" Zookeeper")) == 1
    assert [m.count for m in run.merges[: zookeeper.tokens_added]] == [0] * zookeeper.tokens_added
    for text in (TEXT, "Zookeeper Zookeepers", " Zookeeper's"):
        ids = run.tokenizer.encode(text)
        assert spell_in_base(run, ids) == bpe.gpt2().encode(text)


def test_pairs_that_occur_are_merged_before_those_that_do_not() -> None:
    run = of_letters({"xcb": 1, "cb": 9, "bb": 2}, "acb", "ca")
    acb, ca = run.terms
    assert [merge.pair for merge in run.merges[:3]] == [(2, 1), (0, 4), (2, 0)]
    assert [merge.count for merge in run.merges[:3]] == [10, 0, 0]
    assert acb == bpe.TermCost("acb", b"acb", 2, 10, occurrences=0)
    assert ca == bpe.TermCost("ca", b"ca", 1, 0, occurrences=0)


def test_a_form_that_the_text_contains_comes_before_one_that_it_does_not() -> None:
    (cost,) = extended("Kubernetes", text="(Kubernetes) xKubernetes")
    assert (cost.token, cost.is_absent) == (b"Kubernetes", False)


def test_a_pretokenizer_that_drops_text_is_named() -> None:
    base = bpe.Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="whitespace")
    run = extend(base, bpe.Corpus.from_text("aa"), 3, terms=["  ", " aa"])
    assert [cost.reason for cost in run.terms] == [
        "The pre-tokenizer drops it.",
        "The pre-tokenizer keeps only 'aa' of it.",
    ]


def test_a_term_that_is_left_out_or_has_a_token_without_merges_is_refused() -> None:
    (cost,) = extended("Kubernetes", left_out=[b" Kubernetes", b"Kubernetes"])
    assert cost.reason == merge_terms.LEFT_OUT
    base = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"ba"}, merges=[], pretokenizer="none", special_tokens={"ba": 2}
    )
    run = extend(base, bpe.Corpus.from_word_counts({"ba": 2, "bb": 1}), 3, terms=["ba", "bb", "bé"])
    assert [cost.reason for cost in run.terms] == [
        merge_terms.NO_MERGES,
        None,
        merge_terms.NO_SYMBOL,
    ]


def test_another_way_is_taken_around_a_token_that_is_left_out() -> None:
    # The most frequent pair of "bcc" is "b" and "c". If "bc" is left out, "c" and "c" merge first.
    words = {"bcc": 5, "bc": 9}
    assert [m.pair for m in of_letters(words, "bcc").merges[:2]] == [(1, 2), (4, 2)]
    run = of_letters(words, "bcc", left_out=[b"bc"])
    assert [merge.pair for merge in run.merges[:2]] == [(2, 2), (1, 4)]
    assert run.terms[0] == bpe.TermCost("bcc", b"bcc", 2, 10, occurrences=5)
    blocked = of_letters(words, "bcc", left_out=[b"bc", b"cc"])
    assert blocked.terms[0].reason == merge_terms.NO_WAY
    assert not blocked.n_term_merges


def test_ties_between_the_parts_of_a_term_follow_the_rule() -> None:
    words = {"cb": 9, "bac": 4, "cba": 4}
    assert of_letters(words, "cba").merges[0].pair == (2, 1)
    assert of_letters({"cba": 4}, "cba", tie_break="smallest-pair").merges[0].pair == (1, 0)
    assert of_letters({"cba": 4}, "cba", tie_break="first-seen").merges[0].pair == (2, 1)


def test_a_term_that_does_not_fit_changes_nothing_and_a_shorter_one_may_fit() -> None:
    words = {"cacb": 5, "cc": 1}
    run = extend(
        LETTERS, bpe.Corpus.from_word_counts(words), 2, terms=["cacb", "cc", "cb", "bb", "cacb"]
    )
    assert [(cost.token, cost.reason) for cost in run.terms] == [
        (None, "It takes 3 more tokens, and 2 are left."),
        (b"cc", None),
        (b"cb", None),
        (None, "It takes 1 more token, and 0 are left."),
        (None, "It takes 2 more tokens, and 0 are left."),
    ]
    assert run.stop_reason == "vocab-size"
    assert run.tokens_after.tolist() == [22, 21, 16]


def test_a_term_longer_than_the_longest_token_is_refused() -> None:
    run = of_letters({"cacb": 5}, "cacb", "cac", max_token_bytes=3)
    assert run.terms[0].reason == "It has 4 bytes, and the limit is 3."
    assert run.terms[1] == bpe.TermCost("cac", b"cac", 2, 10, occurrences=5)


def test_learned_merges_need_the_frequency_and_terms_do_not() -> None:
    run = of_letters({"cb": 2, "ba": 5, "cc": 4}, "cb", min_frequency=5)
    assert [merge.count for merge in run.merges] == [2, 5]
    assert run.stop_reason == "min-frequency"


def test_a_cancelled_run_says_that_terms_were_not_tried() -> None:
    run = extend(
        bpe.gpt2(), bpe.Corpus.from_text(TEXT), 9, terms=["Kubernetes"], should_stop=lambda: True
    )
    assert run.terms == (bpe.TermCost("Kubernetes", None, reason=merge_terms.CANCELLED),)
    assert run.stop_reason == "cancelled"


def test_a_run_is_cancelled_in_the_middle_of_a_long_term(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[int] = []

    def apply_merge(symbols: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
        joined.append(len(symbols))
        return reference.apply_merge(symbols, pair, new_id)

    monkeypatch.setattr(merge_terms, "apply_merge", apply_merge)
    term = "qxzjkvwqzxjvkwzqxjwvk"
    text = f"{term * 50} cat"
    asked_to_stop = iter([False] * 5)
    (cost,) = extended(term, text=text, should_stop=lambda: next(asked_to_stop, True))
    assert cost.reason == merge_terms.CANCELLED
    until_cancelled = len(joined)
    joined.clear()
    (cost,) = extended(term, text=text, n_tokens=30)
    assert cost.tokens_added
    assert until_cancelled < len(joined) / 2


def test_terms_that_take_too_long_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_terms, "MAX_WORK", 8)
    first, second = of_letters({"cb": 5, "bccb": 5}, "cb", "bccb").terms
    assert (first.token, second.token) == (b"cb", None)
    assert second.reason == merge_terms.TOO_MUCH


def test_progress_counts_the_merges_for_terms() -> None:
    done: list[int] = []
    run = extend(
        bpe.gpt2(),
        bpe.Corpus.from_text(TEXT),
        9,
        lambda progress: done.append(progress.merges_done),
        terms=["Kubernetes"],
    )
    assert done[-1] == len(run.merges) == 9
    assert done == sorted(done)


def test_the_base_keeps_its_encoding_where_terms_are_tokens() -> None:
    run = extend(
        bpe.gpt2(), bpe.Corpus.from_text(TEXT), 40, terms=["Kubernetes", "kubelet", "clusters"]
    )
    for text in (TEXT, TEXT[::-1], "xKubernetesKubernetes clustersters kubeletkube"):
        ids = run.tokenizer.encode(text)
        assert spell_in_base(run, ids) == bpe.gpt2().encode(text)
        assert len(ids) <= len(bpe.gpt2().encode(text))


def test_the_pair_of_a_term_comes_first_and_the_others_by_their_counts() -> None:
    run = of_letters({"bcc": 4, "cab": 9, "bb": 9}, "bcc")
    first, *others = run.top_pairs(0, 10)
    assert (first, first.tied) == ((1, 2, 4), False)
    assert others == [(1, 1, 9), (2, 3, 9), (2, 2, 4)]
    assert not any(pair.tied for pair in others)
    assert run.top_pairs(0, 1) == [(1, 2, 4)]
    assert run.top_pairs(run.n_term_merges, 1)[0].tied


def test_the_race_to_open_at_is_one_that_was_run() -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 9, terms=["Kubernetes"])
    assert run.n_term_merges <= run.opening_step


@pytest.mark.parametrize(
    "terms", ["Kubernetes", b"Kubernetes", {"Kubernetes"}, [3], [""], [b""], None]
)
def test_terms_must_be_a_list_of_texts(terms: object) -> None:
    with pytest.raises(bpe.ConfigError, match=r"Expected .*terms, got"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 9, terms=terms)  # pyright: ignore[reportArgumentType]
