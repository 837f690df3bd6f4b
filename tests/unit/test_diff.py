"""`bpe diff`: proofs hold, witnesses are minimal, and every mutant of a tokenizer is decided."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.diagnosis import diff, merge_differences
from bpe_core.diagnosis.differences import describe_spaces
from bpe_core.diagnosis.merge_differences import LiveMerges, MergeDifferences
from bpe_core.formats import dumps, list_live_merges
from bpe_core.pretokenizers import Spaces, compare_cuts, get_pretokenizer
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import TokenChains
from tests.commands import run
from tests.conftest import MEASURED
from tests.oracles import opened_by_name

Triple = tuple[int, int, int]
LETTERS = {0: b"a", 1: b"b", 2: b"c"}


def make(*made: str, cut: str = "none", **settings: Any) -> Tokenizer:
    """Return a tokenizer over a, b, c and others, with merges written as "a+b"."""
    symbols = sorted({*"abc", *"".join(made)} - {"+"})
    vocab = {place: symbol.encode() for place, symbol in enumerate(symbols)}
    ids = {token: id for id, token in vocab.items()}
    merges: list[Triple] = []
    for each in made:
        left, right = (part.encode() for part in each.split("+"))
        id = ids.setdefault(left + right, len(vocab))
        vocab[id] = left + right
        merges.append((ids[left], ids[right], id))
    return Tokenizer(vocab=vocab, merges=merges, pretokenizer=cut, **settings)


def cut_into(tokenizer: bpe.Encoder, text: str) -> list[bytes]:
    return [tokenizer.vocab[id] for id in tokenizer.encode(text)]


def random_merges(seed: random.Random, n_letters: int) -> Tokenizer:
    vocab = {id: LETTERS[id] for id in range(n_letters)}
    merges: dict[tuple[int, int], int] = {}
    for _ in range(seed.randrange(3, 12)):
        left, right = seed.choice([*vocab]), seed.choice([*vocab])
        token = vocab[left] + vocab[right]
        if (left, right) not in merges and len(token) <= 5:
            ids = {token: id for id, token in vocab.items()}
            merges[left, right] = ids.get(token, len(vocab))
            vocab[merges[left, right]] = token
    triples = [(*pair, id) for pair, id in merges.items()]
    return Tokenizer(vocab=vocab, merges=triples, pretokenizer="none")


def with_another_merge(tokenizer: Tokenizer, seed: random.Random) -> Tokenizer:
    """Return a tokenizer with one merge moved, dropped or added, or the same tokenizer."""
    for _ in range(30):
        merges, vocab = list(tokenizer.table.triples), dict(tokenizer.vocab)
        place, kind = seed.randrange(len(merges)), seed.choice(["move", "drop", "add"])
        if kind == "add":
            left, right = seed.choice([*vocab]), seed.choice([*vocab])
            token = vocab[left] + vocab[right]
            id = {token: id for id, token in vocab.items()}.get(token, max(vocab) + 1)
            vocab[id] = token
            merges.insert(seed.randrange(len(merges) + 1), (left, right, id))
        else:
            moved = merges.pop(place)
            if kind == "move":
                merges.insert(seed.randrange(len(merges) + 1), moved)
            elif moved[2] not in {id for *_, id in merges}:
                del vocab[moved[2]]
        try:
            return tokenizer.with_changes(vocab=vocab, merges=merges, counts=None)
        except bpe.ConfigError:
            continue
    return tokenizer


def words(n_letters: int) -> Iterator[str]:
    letters = "abc"[:n_letters]
    for length in range(1, 10 if n_letters == 2 else 7):
        yield from map("".join, product(letters, repeat=length))


@pytest.mark.parametrize(
    "first",
    [0, *(pytest.param(first, marks=pytest.mark.more) for first in range(100, 1_000, 100))],
)
def test_a_witness_is_as_short_as_brute_force_finds(first: int) -> None:
    answers = Counter[str]()
    for number in range(first, first + (60 if first == 0 else 100)):
        seed = random.Random(number)
        n_letters = seed.choice([2, 2, 3])
        one = random_merges(seed, n_letters)
        if not one.merges:
            continue
        other = with_another_merge(one, seed)
        differing = next(
            (w for w in words(n_letters) if cut_into(one, w) != cut_into(other, w)), ""
        )
        found = diff(one, other).tokens
        answers[found.verdict] += 1
        if found.equal:
            assert not differing
        elif found.equal is False:
            assert found.witness is not None
            text = found.witness.text
            assert cut_into(one, text) != cut_into(other, text)
            assert not differing or len(text) == len(differing)
        else:
            assert not differing
    assert answers["different (witness)"] > 10
    assert answers["equal (proved)"] > 5
    assert answers["no difference found"] < 5


def test_live_tokens_are_those_that_their_own_bytes_are_merged_to() -> None:
    for number in range(60):
        seed = random.Random(number)
        for each in (with_another_merge(random_merges(seed, 3), seed), random_merges(seed, 2)):
            alone = {
                id for id, token in each.vocab.items() if cut_into(each, token.decode()) == [token]
            }
            live = LiveMerges(each)
            assert {*live.ids.values()} == alone
            chains = [TokenChains(each), TokenChains(each, alone)]
            reasons = [[every.obstacle_to(id) for id in each.vocab] for every in chains]
            assert reasons[0] == reasons[1]


PROBE = [
    line
    for name in ("alice", "multilingual")
    for line in "".join(load_sample(name).documents)[:12_000].splitlines(keepends=True)
]
CLASSES = {
    r"\p{N}": "[0-9]",
    r"\p{L}": "[A-Za-z]",
    r"\s+(?!\S)": r"\s+",
    "[sdmt]": "[sdm]",
    " ?": "",
}


@cache
def base() -> Tokenizer:
    """Return GPT-2's tokenizer with its first merges only, which a test has time for."""
    return bpe.gpt2().truncated(400)


@cache
def probe_texts() -> list[str]:
    tokens = [token.decode(errors="ignore") for token in base().vocab.values()]
    return [*PROBE, *tokens, *(f"{one}{two}" for one, two in zip(tokens, tokens[7:], strict=False))]


def mutant(number: int) -> tuple[str, bpe.Encoder, bpe.Encoder]:
    """Return what was changed, the tokenizer, and the changed one."""
    seed = random.Random(number)
    kind = ("merge", "merge", "merge", "class", "special", "normalizer")[number % 6]
    whole = base()
    if kind == "merge":
        return kind, whole, with_another_merge(whole, seed)
    if kind == "class":
        pattern = get_pretokenizer("gpt2").pattern or ""
        part = seed.choice([each for each in CLASSES if each in pattern])
        places = [at for at in range(len(pattern)) if pattern.startswith(part, at)]
        at = seed.choice(places)
        changed = pattern[:at] + CLASSES[part] + pattern[at + len(part) :]
        own = whole.with_changes(pretokenizer=f"regex:{pattern}")
        return kind, own, whole.with_changes(pretokenizer=f"regex:{changed}")
    written = json.loads(dumps(whole, "huggingface")["tokenizer.json"])
    plain = opened(written)
    if kind == "special":
        flag = seed.choice(["special", "normalized", "content"])
        entry = written["added_tokens"][0]
        entry[flag] = "<|end|>" if flag == "content" else not entry[flag]
        if flag == "content":
            written["model"]["vocab"]["<|end|>"] = written["model"]["vocab"].pop("<|endoftext|>")
    else:
        written["normalizer"] = {"type": seed.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase"])}
    return kind, plain, opened(written)


def opened(written: dict[str, Any]) -> bpe.Encoder:
    from bpe_core.formats.opening.opening import open_files

    return open_files({"tokenizer.json": json.dumps(written).encode()})


@pytest.mark.parametrize(
    "first",
    [0, *(pytest.param(first, marks=pytest.mark.more) for first in range(100, 1_100, 100))],
)
def test_every_mutant_is_decided(
    first: int, record_property: Callable[[str, object], None]
) -> None:
    table = Counter[tuple[str, str]]()
    for number in range(first, first + (24 if first == 0 else 100)):
        kind, one, other = mutant(number)
        found = diff(one, other)
        table[kind, found.ids.verdict] += 1
        if found.ids.witness is not None:
            text, allowed = found.ids.witness.text, found.ids.witness.with_special_tokens
            assert outcome(one, text, allowed) != outcome(other, text, allowed)
            continue
        for special in (False, True):
            differing = [
                text
                for text in probe_texts()
                if outcome(one, text, special) != outcome(other, text, special)
            ]
            assert not differing, (number, kind, found.ids)
    assert sum(n for (_, verdict), n in table.items() if verdict == "different (witness)") > 11
    decided = ", ".join(f"{kind} {verdict} {n}" for (kind, verdict), n in sorted(table.items()))
    record_property(MEASURED, f"changed copies from {first:,}: {decided}")


def outcome(encoder: bpe.Encoder, text: str, special: bool) -> list[int] | None:
    try:
        return encoder.encode(text, "all" if special else ())
    except bpe.BpeError:
        return None


def test_the_four_answers_and_why() -> None:
    one = make("a+b", "b+c")
    assert diff(one, one).ids.words == "equal (same file form)"
    found = diff(one, one.with_changes(merges=one.table.triples[::-1]))
    assert found.witness == "abc"
    assert "No shorter text differs." in found.why
    # A merge that never applies changes nothing, and where two merges never meet, order doesn't.
    dead = diff(make("a+b", "b+c", "ab+c"), make("a+b", "b+c", "a+bc", "ab+c"))
    assert (dead.equal, dead.proved, dead.witness) == (True, True, None)
    assert diff(make("a+b", "c+c"), make("c+c", "a+b")).tokens.words == "equal (proved)"


def test_a_marker_at_the_end_of_words_is_a_symbol() -> None:
    trained = bpe.train(["hug hugs hugging bun"], vocab_size=270, end_of_word="</w>").tokenizer
    assert list_live_merges(trained) == list(trained.table.triples)
    for n in (1, 5):
        shorter = trained.truncated(trained.n_merges - n)
        found = diff(trained, shorter)
        assert found.witness is not None
        assert cut_into(trained, found.witness) != cut_into(shorter, found.witness)


def test_a_space_in_front_of_a_text_is_a_difference() -> None:
    trained = bpe.train(
        ["hug hugs hugging bun"], vocab_size=275, base="characters", alphabet="seen",
        byte_fallback=True, pretokenizer="llama2", special_tokens=(),
    ).tokenizer  # fmt: skip
    other = trained.with_changes(pretokenizer="sentencepiece")
    assert compare_cuts(trained.pretokenizer, other.pretokenizer).equal is True
    found = diff(trained, other)
    assert (found.equal, [name for name, _, _ in found.steps]) == (
        False,
        ["pre-tokenizer", "spaces"],
    )


def test_steps_are_said_in_words_and_of_added_tokens_only_those_that_changed() -> None:
    more = {f"<|{n:02}|>": 10 + n for n in range(40)}
    one, other = (
        make("a+b").with_changes(
            vocab={**make("a+b").vocab, **{id: text.encode() for text, id in added.items()}},
            special_tokens=added,
        )
        for added in ({"<s>": 9}, {"<s>": 9, **more})
    )
    listed = ", ".join(f"{text} {id}" for text, id in more.items())
    assert diff(one, other).steps == (("added tokens", "none", listed),)
    for spaces, said in (
        (Spaces("always"), "one put in front of a text and after each added token"),
        (Spaces("first", if_missing=True), "one put in front of a text that does not begin with"),
        (Spaces(), "none put in front of a text, and ▁ read as one"),
    ):
        found = describe_spaces(spaces, is_added=False)
        assert (found.startswith(said), "Spaces" in found) == (True, False)


def test_the_same_tokens_with_other_ids_are_told_apart() -> None:
    one = make("a+b", "b+c")
    vocab = {id + 5: token for id, token in one.vocab.items()}
    merges = [(left + 5, right + 5, id + 5) for left, right, id in one.table.triples]
    found = diff(one, Tokenizer(vocab=vocab, merges=merges, pretokenizer="none"))
    assert (found.equal, found.tokens.equal, found.tokens.proved) == (False, True, True)
    assert found.ids.witness is not None
    assert (found.ids.witness.text, found.ids.witness.ids) == ("a", ((0,), (5,)))


def test_no_pairs_are_looked_for_among_words_of_one_byte() -> None:
    live = [LiveMerges(each) for each in (make("a+b", "b+c"), make("b+c", "a+b"))]
    found = MergeDifferences(live[0], live[1])
    for most, words, looked in ((1, [], False), (3, [b"abc"], True)):
        candidates = found.up_to(most, with_ids=False)
        assert [each.word for each in candidates][:1] == words
        assert ("moved" in vars(found)) == looked


def test_merges_are_put_in_order_once_for_ids_tokens_and_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def counted(numbers: list[int]) -> list[int]:
        calls.append(len(numbers))
        return rise(numbers)

    rise = merge_differences._longest_rise
    monkeypatch.setattr(merge_differences, "_longest_rise", counted)
    found = diff(make("a+b", "b+c"), make("b+c", "a+b"))
    assert (found.tokens.equal, found.merges and found.merges.n_moved, calls) == (False, 1, [2])


def test_a_comparison_says_how_far_it_is_and_ends_when_asked() -> None:
    one, other = make("a+b", "b+c"), make("b+c", "a+b")
    told: list[tuple[int, int]] = []
    diff(one, other, should_stop=lambda done, of: bool(told.append((done, of))))
    assert {of for _, of in told} == {4}
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, 4), (4, 4))
    for n in (0, 4):
        with pytest.raises(CancelledError):
            diff(one, other, should_stop=lambda done, _, n=n: done == n)


def test_merges_that_the_cut_keeps_apart_are_no_difference() -> None:
    vocab = {id: bytes([id]) for id in range(256)}
    made = {256: b"a b", 257: b" b", 258: b"a "}
    merges = [(97, 32, 258), (32, 98, 257), (258, 98, 256)]
    one = Tokenizer(vocab=vocab | made, merges=merges, pretokenizer="gpt2")
    # "a " can't be in a word of GPT-2's, so the place of its merge does not matter.
    moved = [merges[1], merges[0], merges[2]]
    found = diff(one, Tokenizer(vocab=vocab | made, merges=moved, pretokenizer="gpt2"))
    assert (found.equal, found.proved) == (True, True), found
    assert "the pre-tokenizer always cuts them" in found.why
    assert diff(one, one.with_changes(pretokenizer="none")).witness == "a "


def test_bytes_that_no_text_has_are_no_difference() -> None:
    vocab = {id: bytes([id]) for id in range(256)}
    one = Tokenizer(vocab=vocab, merges=[], pretokenizer="none")
    other = Tokenizer(
        vocab=vocab | {256: b"\xff\xfe"}, merges=[(255, 254, 256)], pretokenizer="none"
    )
    found = diff(one, other)
    assert (found.equal, found.proved) == (True, True)
    assert "no text has their bytes" in found.why
    part = Tokenizer(
        vocab=vocab | {256: b"\xa9\xc3"}, merges=[(0xA9, 0xC3, 256)], pretokenizer="none"
    )
    witness = diff(one, part).witness
    assert witness is not None
    assert b"\xa9\xc3" in witness.encode()


def test_two_patterns_are_followed_together() -> None:
    pattern = get_pretokenizer("gpt2").pattern
    assert pattern is not None
    own = get_pretokenizer(f"regex:{pattern}")
    same = pattern.replace("ll|ve|re", "re|ve|ll")
    assert compare_cuts(own, get_pretokenizer(f"regex:{same}")).equal is True
    changed = get_pretokenizer(f"regex:{pattern.replace('ll|ve|re', 'll|ve')}")
    found = compare_cuts(own, changed)
    assert (found.equal, found.texts[0]) == (False, "'re")
    assert own.split("'re") != changed.split("'re")
    # Engines know other versions of Unicode, so this is no proof.
    assert compare_cuts(own, get_pretokenizer("gpt2")).equal is None
    llama3, qwen2 = get_pretokenizer("llama3"), get_pretokenizer("qwen2")
    found = compare_cuts(llama3, qwen2)
    assert found.texts[0] == "00"
    assert all(llama3.split(text) != qwen2.split(text) for text in found.texts)


def test_a_library_is_only_tried_on_texts() -> None:
    written = json.loads(dumps(base(), "huggingface")["tokenizer.json"])
    found = diff(opened({**written, "normalizer": replaced("\u2400", "qq")}), base())
    assert (found.equal, found.witness) == (False, "\u2400")
    found = diff(opened({**written, "normalizer": replaced("qzqzqzq", "q")}), base())
    assert (found.equal, found.proved) == (None, False)
    assert found.ids.words.startswith("no difference found (")
    assert found.ids.n_texts > 1_000


def replaced(text: str, by: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": by}


def command(tmp_path: Path, *options: str) -> Callable[[], Any]:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    bpe.save(base(), one)
    bpe.save(base().truncated(399), other)
    return lambda: run("diff", one, other, *options)


def test_the_command_ends_with_a_status_that_ci_can_use(tmp_path: Path) -> None:
    text, kept = tmp_path / "text.txt", tmp_path / "kept.json"
    text.write_text("".join(PROBE[:20]), encoding="utf-8")
    differs = command(tmp_path, "--json", "--on", str(text))()
    assert differs.exit_code == 1
    printed = json.loads(differs.stdout)
    assert (printed["equal"], printed["proved"], printed["vocabulary"]["n_gone"]) == (
        False,
        True,
        1,
    )
    assert base().encode(printed["witness"]) != base().truncated(399).encode(printed["witness"])
    assert printed["costs"]["tokens_b"] >= printed["costs"]["tokens_a"]
    assert command(tmp_path, "--on", str(text), "--fail-above", "50%")().exit_code == 0
    above = command(tmp_path, "--on", str(text), "--fail-above", "0%")()
    assert above.exit_code == int(printed["costs"]["change"] > 0)
    same = run("diff", tmp_path / "one.json", tmp_path / "one.json")
    assert (same.exit_code, "equal (same file form)" in same.stdout) == (0, True)
    first = command(tmp_path, "--baseline", str(kept))()
    assert (first.exit_code, kept.exists()) == (0, True), first.output
    assert command(tmp_path, "--baseline", str(kept))().exit_code == 0
    changed = json.loads(kept.read_text(encoding="utf-8")) | {"n_gone": 0}
    kept.write_text(json.dumps(changed), encoding="utf-8")
    now = command(tmp_path, "--baseline", str(kept))()
    assert (now.exit_code, "n_gone is 1, and was 0." in now.stdout) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-above", "2%"], "--fail-above needs text to count"),
        (["--on", "x.txt", "--fail-above", "two"], "Expected --fail-above as 2% or 0.02"),
        (["--on", "no such file"], "no such file"),
    ],
)
def test_an_error_ends_with_2(tmp_path: Path, options: list[str], message: str) -> None:
    failed = command(tmp_path, *options)()
    assert failed.exit_code == 2
    assert message in failed.output
    assert run("diff", "no-such-tokenizer", "gpt2").exit_code == 2


# Published tokenizers, as they are in the files that the tests fetch.
PUBLISHED = [
    ("gpt2", "gpt4", "\t\t", "\t\t"),
    ("llama3", "llama4", "!", "\x0c\n"),
    ("qwen2", "qwen3", "\u0340", "\u0340"),
]


@pytest.mark.more  # half a minute for each pair
@pytest.mark.parametrize(("a", "b", "witness", "of_tokens"), PUBLISHED)
def test_published_tokenizers_differ_on_known_texts(
    a: str, b: str, witness: str, of_tokens: str
) -> None:
    one, other = opened_by_name(a), opened_by_name(b)
    found = diff(one, other)
    assert (found.equal, found.witness) == (False, witness)
    assert found.tokens.witness is not None
    assert found.tokens.witness.text == of_tokens
    assert one.encode(witness) != other.encode(witness)
