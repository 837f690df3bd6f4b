"""PickyBPE learns, at every step, what the plain twin learns, and encodes as it was trained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.cli.commands import main
from bpe_core.corpus import Layout
from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats import dumps, loads, run_to_bytes
from bpe_core.tokenizer import replace_all
from bpe_core.trainers import GrowingVocabulary, PairLives, fastest, train_picky_reference
from bpe_core.types import Format, Pair, PretokenCounts, TrainingConfig
from bpe_core.vocabulary import Audit, Reachability, count_uses
from ui.vocabulary import CountedText, inspect_vocabulary
from ui.vocabulary.audit_section import leading_sentence, list_findings

configs = st.builds(
    TrainingConfig,
    vocab_size=st.integers(4, 30),
    base=st.just("characters"),
    pretokenizer=st.just("none"),
    special_tokens=st.just(()),
    tie_break=st.sampled_from(["smallest-pair", "first-seen"]),
    max_token_bytes=st.sampled_from([None, 5]),
    min_frequency=st.sampled_from([0, 3]),
    picky=st.sampled_from([0.3, 0.5, 0.7, 0.9]),
)
words = st.dictionaries(
    st.text("abc", min_size=1, max_size=12), st.integers(1, 30), min_size=1, max_size=25
)
# What the authors' code learns: the package pickybpe_bauwenst 1.3.1, but with the counts of pairs
# brought up to date before a removal and the token forgotten after it, as it was published first.
# The pairs of these merges tie with none.
WORDS = {
    "gehog": 40,
    "green": 17,
    "edgehog": 90,
    "hogger": 8,
    "dog": 52,
    "ledger": 29,
    "reed": 186,
    "ogre": 126,
    "hedger": 184,
}
EVENTS = [
    *("+ e d", "+ g e", "+ r e", "+ o g", "+ ed ge", "- e d", "- g e", "+ edge r", "- e d g e"),
    *("+ e d", "+ re ed", "- e d", "+ h edger", "- e d g e r", "+ g e", "+ h og", "+ ge hog"),
    *("- g e", "- h og", "+ og re", "- o g", "- r e", "+ e d", "+ ed gehog", "- e d"),
    *("- g e h o g", "+ o g", "+ g e", "+ d og"),
]


@pytest.fixture(autouse=True, scope="module", params=[False, True])
def with_kernels(request: pytest.FixtureRequest) -> Iterator[bool]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fastest, "use_kernels", lambda n_bytes: request.param)
        yield request.param


def train(counts: dict[str, int], config: TrainingConfig) -> bpe.TrainingRun:
    return bpe.train(bpe.Corpus.from_word_counts(counts), config)


@given(words, configs)
def test_every_step_is_that_of_the_plain_twin(
    counts: dict[str, int], config: TrainingConfig
) -> None:
    run = train(counts, config)
    vocabulary = GrowingVocabulary(config, {letter.encode() for word in counts for letter in word})
    state = [vocabulary.start(word.encode()) for word in counts]
    merges, removals, splits, reason = train_picky_reference(
        state, [*counts.values()], vocabulary, config
    )
    table = run.tokenizer.table
    assert (list(run.merges), list(table.removals)) == (merges, removals)
    assert run.stop_reason == reason
    trace = run.trace(0, len(merges), 1)
    counted: list[dict[Pair, int]] = []
    tokens: list[int] = []
    waiting = [*table.events]
    for step in range(len(merges) + 1):
        layout = Layout.of_words(state, counts.values())
        tokens.append(layout.n_symbols)
        assert run.layout_at(step).ids.tolist() == layout.ids.tolist()
        counted.append(run.pair_counts(step))
        if step < len(merges):
            winner = trace.top_left[step, 0], trace.top_right[step, 0], trace.top_count[step, 0]
            assert winner == (*merges[step].pair, merges[step].count)
            state = [replace_all(word, waiting[0]) for word in state]
            del waiting[0]
        while waiting and len(waiting[0][0]) == 1:
            state = [replace_all(word, waiting[0]) for word in state]
            del waiting[0]
    assert state == splits
    lives = PairLives(run)
    for pair in {pair for pairs in counted for pair in pairs}:
        assert lives.find(pair).counts.tolist() == [pairs.get(pair, 0) for pairs in counted]
    assert run.tokens_after.tolist() == tokens
    repeated = [word for word, n in counts.items() for _ in range(n)]
    assert run.tokens_after_on(repeated).tolist() == tokens


@given(words, configs)
def test_it_encodes_as_it_was_trained_and_is_saved_whole(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], config: TrainingConfig
) -> None:
    run = train(counts, config)
    tokenizer = run.tokenizer
    final = run.layout_at(len(run.merges)).ids.tolist()
    encoded = [id for word in counts for id in (*tokenizer.encode(word), -1)]
    assert [-1, *encoded] == final
    assert not tokenizer.table.removed & {*encoded}
    for word in counts:
        assert [id for part in tokenizer.explain(word) for id in part.ids] == tokenizer.encode(word)
    assert loads(dumps(run, "native")) == tokenizer
    path = tmp_path_factory.mktemp("run") / "mine.bpe-run"
    path.write_bytes(run_to_bytes(run))
    again = bpe.load_run(path)
    assert (again.tokenizer, again.undone.tolist()) == (tokenizer, run.undone.tolist())
    assert again.tokens_after.tolist() == run.tokens_after.tolist()
    for size in (config.vocab_size // 2 + 2, config.vocab_size - 1):
        if size >= len(tokenizer.base_ids):
            shorter = train(counts, replace(config, vocab_size=size))
            cut = run.cut(size)
            assert cut.tokenizer == shorter.tokenizer
            assert cut.joined_at.tolist() == shorter.joined_at.tolist()
            assert sorted(cut.undone.tolist()) == sorted(shorter.undone.tolist())


def test_it_learns_what_the_authors_code_learns() -> None:
    config = TrainingConfig(
        60, base="characters", pretokenizer="none", special_tokens=(), picky=0.6
    )
    tokenizer = train(WORDS, config).tokenizer
    spelled = [
        ("+ " if len(old) == 2 else "- ")
        + " ".join(tokenizer.vocab[id].decode() for id in (old if len(old) == 2 else new))
        for old, new in tokenizer.table.events
    ]
    assert spelled[: len(EVENTS)] == EVENTS


def test_only_the_native_format_holds_it(tmp_path: Path) -> None:
    text = ["the hedgehog and the hedge, hedgehogs and hedges " * 9]
    run = bpe.train(text, vocab_size=262, picky=0.6)
    removed = run.tokenizer.table.removed
    assert removed
    assert run.tokenizer.vocab_size == 262 == len(run.tokenizer.vocab) - len(removed)
    for format in get_args(Format):
        if format != "native":
            with pytest.raises(ConfigError, match=f"the format {format} is a plain list"):
                dumps(run, format)
    run.tokenizer.save(tmp_path / "mine.bpe.json")
    loaded = bpe.open_encoder(tmp_path / "mine.bpe.json")
    sentence = text[0] + "A hedgerow."
    assert loaded.encode(sentence) == run.tokenizer.encode(sentence)
    assert run.tokenizer.decode(loaded.encode(sentence)) == sentence
    joined = "".join(segment.token.decode() for segment in loaded.segments(sentence))
    assert joined == sentence
    with pytest.raises(FormatError, match="removed tokens again"):
        bpe.extend(run.tokenizer, text, n_tokens=1)


def test_what_reasons_about_merges_knows_of_removals() -> None:
    vocab = {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"abc"}
    merges = [(0, 1, 3), (3, 2, 4)]
    one = bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer="none", removals=[(2, 3)])
    other = bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer="none")
    assert one.encode("ababc") == [0, 1, 4]
    assert bpe.diff(one, one).equal
    found = bpe.diff(one, other)
    assert (found.equal, found.proved) == (False, True)
    assert found.witness is not None
    assert one.encode(found.witness) != other.encode(found.witness)
    assert dict(Reachability.of(one).unreachable) == {3: "removed"}
    assert Reachability.of(other).unreachable == {}
    assert bpe.encode_by(one, "ababc", "fewest-tokens") == [0, 1, 4]
    audited = Audit.of(one, count_uses(one, PretokenCounts((b"ababc",), np.array([1]))))
    assert (audited.never_used, audited.scaffolds) == ((2,), (2,))  # the removed 3 is neither


def test_commands_know_of_removals(tmp_path: Path) -> None:
    words = "hug pug bun thing nothing something other another reader number 1234 fortune merging"
    draw = Random(1)
    text = " ".join(draw.choices(words.split(), k=4_000))
    (tmp_path / "text.txt").write_text(text)
    tokenizer = bpe.train([text], vocab_size=300, picky=0.7).tokenizer
    path = str(tmp_path / "mine.bpe.json")
    tokenizer.save(path)
    plain = bpe.train([text], vocab_size=300).tokenizer
    n_removed = len(tokenizer.table.removed)
    assert n_removed > 5

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.output

    shown = run("inspect", path)
    assert f"removed again   {n_removed} tokens (PickyBPE): " in shown
    assert "removed again" not in run("inspect", "gpt2")
    names = {each["name"] for each in json.loads(run("check", path, "--json"))["findings"]}
    assert names == {"unused-bytes"}  # not that rows are never trained, or undecided
    found = json.loads(run("diff", path, path, "--json"))
    assert (found["equal"], found["merges"]) == (True, None)
    assert found["vocabulary"]["n_kept"] == tokenizer.vocab_size
    gone = bpe.diff(tokenizer, plain).vocabulary.gone
    assert not {tokenizer.vocab[id] for id in tokenizer.table.removed} & {*gone}
    compared = json.loads(run("compare", str(tmp_path / "text.txt"), "-t", path, "--json"))
    assert compared["n_shared"] == tokenizer.vocab_size - 1  # all but the special token
    text_file = tmp_path / "text.txt"
    samples = "--sample", f"a={text_file}", "--sample", f"b={text_file}"
    assert "Training removed tokens" in run("mixture", path, *samples)
    # On Vocabulary, they are a finding of their own.
    inspection = inspect_vocabulary("Mine", tokenizer, CountedText("text", "the text"), None)
    listed = list_findings(inspection, Reachability.of(tokenizer))
    counts = {each.key: each.n for each in listed}
    assert counts["removed"] == n_removed
    assert counts["unreachable"] == 13  # bytes that UTF-8 has no use for
    assert "undecided" not in counts
    pieces, aside = leading_sentence(inspection)
    assert (f"{tokenizer.vocab_size - 1} tokens", True) in pieces  # all but the special token
    assert f"{n_removed} tokens taken out again in training are not counted." in aside
    gone = tokenizer.table.removed.union(tokenizer.special_tokens.values())
    longest = max(len(token) for id, token in tokenizer.vocab.items() if id not in gone)
    assert f"The longest has {longest} bytes" in aside
    # The form in which a tokenizer is given changes no figure.
    forms = [
        bpe.dead_tokens(each, ["the text"]) for each in (tokenizer, path, bpe.open_encoder(path))
    ]
    assert forms == [forms[0]] * 3
    assert not {*forms[0]} & tokenizer.table.removed
    gpt2 = inspect_vocabulary("GPT-2", bpe.gpt2(), CountedText("text", "the text"), None)
    assert "removed" not in {each.key for each in list_findings(gpt2, None)}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"picky": 1}, "picky is 1.0. Use a share above 0 and below 1"),
        ({"picky": 0.0}, "Use a share above 0"),
        ({"picky": float("nan")}, "Use a share above 0"),
        ({"picky": True}, "picky is True"),
        ({"picky": "0.9"}, "Use a share, such as 0.9"),
        ({"picky": 0.9, "superwords_from": 270}, "picky and superwords_from do not go together"),
        ({"picky": 0.9, "vetoes": ["a"]}, "picky and vetoes do not go together"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        bpe.train(["hug"], vocab_size=280, **settings)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("removals", [[(1, 0)], [(0, 2)], [(5, 2)], [("a", 2)], [(2, 3), (1, 2)]])
def test_removals_of_tokens_that_were_not_made_are_refused(removals: list[tuple[int, int]]) -> None:
    vocab = {0: b"a", 1: b"b", 2: b"ab", 3: b"aba"}
    merges = [(0, 1, 2), (2, 0, 3)]
    with pytest.raises(ConfigError, match="removed after"):
        bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer="none", removals=removals)
