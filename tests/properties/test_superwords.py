"""Superwords are learned as by the plain twin, and their files are read alike by `tokenizers`."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from pathlib import Path
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]
from typing import get_args

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import bpe_core as bpe
from bpe_core.formats import dumps
from bpe_core.kernels import indexing, learning
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import Continuation, Watch, fastest, is_superword
from bpe_core.trainers.superwords import train_superwords_reference
from bpe_core.trainers.training import continue_run
from bpe_core.types import TieBreak, TrainingConfig

RELEASED = regex.compile(r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)")
TEXTS = [text for text in topics.values() if len(text) > 2_000]
texts = st.lists(
    st.lists(
        st.sampled_from(["by", " the", " way", ":", " a", "  ", "é", "\n", "12"]), max_size=30
    ).map("".join),
    min_size=1,
    max_size=4,
)
by_engine = pytest.mark.parametrize("with_kernels", [False, True])


def force(monkeypatch: pytest.MonkeyPatch, *, with_kernels: bool) -> None:
    monkeypatch.setattr(fastest, "use_kernels", lambda n_bytes: with_kernels)
    # As for millions of pairs: those that are too rare by a sketch are not counted.
    monkeypatch.setattr(learning, "_MANY_PAIRS", 1)
    monkeypatch.setattr(indexing, "_SKETCHED", 16)


def spelled(run: bpe.TrainingRun) -> list[tuple[int, int, int | None]]:
    counts = [m.count for m in run.merges]
    merges = run.tokenizer.merges
    known = [None] * (len(merges) - len(counts)) + counts
    return [(m.left, m.right, n) for m, n in zip(merges, known, strict=True)]


def test_superwords_are_told_from_white_space_and_signs() -> None:
    cases = json.loads((Path(__file__).parents[1] / "superwords.json").read_text("utf-8"))
    for token, expected in cases:
        spelled = token.encode() if isinstance(token, str) else bytes(token)
        assert is_superword(spelled) is expected, token
    # Merges that stay within the words of a cut make none.
    assert not any(is_superword(token) for token in bpe.gpt2().vocab.values())


def test_the_cut_is_that_of_the_released_tokenizers() -> None:
    cut = get_pretokenizer("superwords")
    for length in range(6):
        for letters in product("aé1 \n.", repeat=length):
            text = "".join(letters)
            pieces = [piece for piece in regex.split(f"({RELEASED.pattern})", text) if piece]
            assert cut.split(text) == pieces, text


@by_engine
@pytest.mark.parametrize("tie_break", ["smallest-pair", "first-seen"])
def test_it_learns_what_the_plain_twin_learns(
    monkeypatch: pytest.MonkeyPatch, *, with_kernels: bool, tie_break: TieBreak
) -> None:
    force(monkeypatch, with_kernels=with_kernels)

    @given(texts, st.integers(1, 12), st.integers(0, 25))
    def check(documents: list[str], first: int, more: int) -> None:
        config = TrainingConfig(
            256 + first + more, superwords_from=256 + first, special_tokens=(), tie_break=tie_break
        )
        if not any(documents):
            return
        run = bpe.train(documents, config)
        cuts = [get_pretokenizer(name).split for name in ("gpt2", "superwords")]
        twin = train_superwords_reference(documents, config, cuts[0], cuts[1])
        assert [merge.pair for merge in run.tokenizer.merges] == [m.pair for m in twin.merges]
        assert [m.count for m in run.merges] == [
            m.count for m in twin.merges[len(twin.merges) - len(run.merges) :]
        ]
        assert run.stop_reason == twin.stop_reason
        tokens = [run.tokenizer.vocab[merge.id] for merge in run.merges]
        assert all(len(token.split()) <= 4 and b": " not in token for token in tokens)
        for document in documents:
            assert run.tokenizer.decode(run.tokenizer.encode(document)) == document

    check()


def test_prose_gives_superwords_and_tokenizers_encodes_alike(tmp_path: Path) -> None:
    training, held_out = TEXTS[::2], TEXTS[1::2]
    plain = bpe.train(training, vocab_size=2_000)
    runs = [bpe.train(training, vocab_size=2_000, superwords_from=t) for t in (600, 1_200, 1_800)]
    shares = [
        sum(is_superword(run.tokenizer.vocab[merge.id]) for merge in run.merges) / 2_000
        for run in runs
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.05
    assert b" of the" in runs[1].tokenizer.vocab.values()
    lengths = [len(plain.tokenizer.encode(text)) for text in held_out]
    fewer = [len(runs[1].tokenizer.encode(text)) for text in held_out]
    assert sum(fewer) < 0.95 * sum(lengths)
    tokenizer = runs[1].tokenizer
    bpe.save(tokenizer, tmp_path / "tokenizer.json")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in held_out:
        assert theirs.encode(text, add_special_tokens=False).ids == tokenizer.encode(text)
    again = bpe.load(tmp_path / "tokenizer.json")
    assert again.pretokenizer.name == "superwords"
    assert again == tokenizer


def test_the_run_is_stored_and_shows_each_step(tmp_path: Path) -> None:
    run = bpe.train(TEXTS[:3], vocab_size=500, superwords_from=400)
    bpe.save_run(run, f"{tmp_path}/mine.bpe-run")
    again = bpe.load_run(f"{tmp_path}/mine.bpe-run")
    assert again.tokenizer == run.tokenizer
    assert again.config == run.config
    for step in (0, len(run.merges) // 2):
        left, right, count = run.top_pairs(step, 1)[0]
        assert (left, right, count) == (*run.merges[step].pair, run.merges[step].count)
    assert run.tokens_after[-1] == sum(len(run.tokenizer.encode(text)) for text in TEXTS[:3])


@by_engine
def test_whole_characters_come_first(
    monkeypatch: pytest.MonkeyPatch, *, with_kernels: bool
) -> None:
    force(monkeypatch, with_kernels=with_kernels)
    text = "नमस्ते दुनिया 你好世界 été 👩‍👩‍👧 " * 9
    run = bpe.train([text], vocab_size=400, whole_characters=True)
    plain = bpe.train([text], vocab_size=400)

    def cut_tokens(tokenizer: bpe.Tokenizer) -> list[str]:
        made = [tokenizer.vocab[merge.id] for merge in tokenizer.merges]
        return [text for token in made if "�" in (text := token.decode(errors="replace"))]

    # Characters of three bytes are made in two merges, but no part of one joins another.
    assert {text.strip("�") for text in cut_tokens(run.tokenizer)} == {""}
    assert any(text.strip("�") for text in cut_tokens(plain.tokenizer))


@by_engine
def test_seeds_are_made_and_vetoes_are_not(
    monkeypatch: pytest.MonkeyPatch, *, with_kernels: bool
) -> None:
    force(monkeypatch, with_kernels=with_kernels)
    documents = ["mov eax, ebx\nadd eax, 10\nmov ebx, 2024\n"] * 5
    run = bpe.train(
        documents, vocab_size=290, seeds=["mov", "cmpxchg", "mo ve"], vetoes=[" eax", "regex:[0-9]"]
    )
    made = {run.tokenizer.vocab[merge.id] for merge in run.tokenizer.merges}
    assert {b"mov", b" cmpxchg"} <= made
    assert b" eax" not in made
    assert not any(regex.search(rb"[0-9]", token) for token in made)
    assert [cost.tokens_added for cost in run.terms] == [2, 7, 0]
    assert run.terms[2].reason is not None
    assert [merge.count for merge in run.merges[2:9]] == [0] * 7
    files = dumps(run.tokenizer, "huggingface")
    theirs = Tokenizer.from_str(files["tokenizer.json"].decode())
    assert theirs.encode(documents[0]).ids == run.tokenizer.encode(documents[0])


@given(
    texts,
    st.sampled_from(["a", "^ ?w", "th|y$", "[^é]{3}", "."]),
    st.sampled_from([1, 2, 64]),
    st.sampled_from(get_args(TieBreak)),
)
def test_patterns_veto_the_same_merges_however_many_pairs_are_judged_together(
    documents: list[str], pattern: str, judged: int, tie_break: TieBreak
) -> None:
    config = TrainingConfig(280, vetoes=[f"regex:{pattern}", " way"], tie_break=tie_break)
    runs: list[bpe.TrainingRun] = []
    for with_kernels in (False, True):
        with pytest.MonkeyPatch.context() as patched:
            force(patched, with_kernels=with_kernels)
            patched.setattr(learning, "_JUDGED", judged)
            runs.append(bpe.train([*documents, "a way by the way"], config))
    plain, fast = runs
    assert (plain.merges, plain.stop_reason) == (fast.merges, fast.stop_reason)
    assert plain.joined_at.tolist() == fast.joined_at.tolist()


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"superwords_from": 500}, "superwords_from"),
        ({"superwords_from": 290, "pretokenizer": "whitespace"}, "keeps spaces"),
        ({"superwords_from": 290, "end_of_word": "</w>"}, "end-of-word marker"),
        ({"seeds": "mov"}, "tuple of str"),
        ({"seeds": [""]}, "empty"),
        ({"vetoes": ["regex:("]}, "not closed"),
        ({"seeds": ["a"], "vetoes": ["a"]}, "both a seed and a veto"),
        ({"whole_characters": 1}, "True or False"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], found: str) -> None:
    with pytest.raises(bpe.BpeError, match=found):
        bpe.train(["hug hugs"], vocab_size=300, **settings)  # pyright: ignore[reportArgumentType]


def test_counted_words_give_no_superwords() -> None:
    with pytest.raises(bpe.BpeError, match="counted words"):
        bpe.train(bpe.Corpus.from_word_counts({"hug": 3}), vocab_size=300, superwords_from=280)


def test_a_cancelled_first_stage_has_no_superwords() -> None:
    run = bpe.train(["hug hugs"], vocab_size=300, superwords_from=280, should_stop=lambda: True)
    assert run.stop_reason == "cancelled"
    assert run.config.superwords_from is None
    stopped = partial(Watch, 1, 0.0, None)
    words = bpe.count_words(["hug hugs"])
    run = continue_run(
        Continuation(bpe.gpt2()), words, TrainingConfig(50_300), stopped(lambda: True)
    )
    assert run.stop_reason == "cancelled"


def test_a_run_with_superwords_is_read_back_and_extended(tmp_path: Path) -> None:
    texts = [f"{text[:9_000]} cmpxchg" for text in TEXTS[:12]]
    config = TrainingConfig(
        440, superwords_from=380, seeds=["cmpxchg", "New York"], vetoes=["regex:[0-9]"]
    )
    run = bpe.train(texts, config)
    made, cut = run.terms
    assert (made.token, made.tokens_added, made.occurrences) == (b" cmpxchg", 7, 12)
    assert cut.token is None
    assert "cuts it into 2 words" in str(cut.reason)
    assert run.n_term_merges == 0  # the first stage made them
    assert run.given_base is None
    assert run.to_dict()["base_fingerprint"] is None
    bpe.save_run(run, tmp_path / "mine.bpe-run")
    again = bpe.load_run(tmp_path / "mine.bpe-run")
    assert (again.tokenizer, again.config, again.terms) == (run.tokenizer, config, run.terms)
    assert again.merges == run.merges
    assert again.top_pairs(0, 1)[0][:2] == run.merges[0].pair

    longer = bpe.extend(run.tokenizer, texts, n_tokens=300, terms=["kubelet"])
    assert longer.given_base == run.tokenizer
    assert longer.n_term_merges == longer.terms[0].tokens_added > 0
    tokens = [longer.tokenizer.vocab[id] for id in longer.new_tokens]
    assert any(b" " in token.strip() for token in tokens)


def test_an_extension_keeps_the_rules_of_superwords() -> None:
    repeated = ["answer: one two three four five six seven " * 30]
    base = bpe.train(repeated, vocab_size=290, superwords_from=280).tokenizer
    run = bpe.extend(base, repeated, n_tokens=40)
    new = [run.tokenizer.vocab[id] for id in run.new_tokens]
    assert any(is_superword(token) for token in new)
    assert all(len(token.split()) <= 4 and b": " not in token for token in new)
