import json
from dataclasses import replace
from itertools import pairwise
from typing import cast

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.views import (
    PlayedRun,
    Ribbon,
)
from bpe_core.views.packing import MAX_WORD_LENGTH, N_GIVEN, WHOLE_RUN, own_words

HUG_WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
CLASSROOM = bpe.TrainingConfig(
    20,
    pretokenizer="none",
    base="characters",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)


def unpacked(message: bytes) -> dict:
    """Decode a message as the player's script does."""
    length = int.from_bytes(message[:4], "little")
    content = json.loads(message[4 : 4 + length])
    for name, (kind, offset, (size,)) in content["arrays"].items():
        assert offset % 64 == 0
        assert (4 + length) % 64 == 0
        content[name] = np.frombuffer(message, kind, size, 4 + length + offset)
    return content


def packed(run: bpe.TrainingRun) -> dict:
    """Return the message that is sent once per run."""
    return unpacked(PlayedRun(run, "p").pack(opening=0, starts=[0]))


def block(run: bpe.TrainingRun, start: int = 0, stop: int | None = None) -> dict:
    """Return the message for some of a run's merges."""
    stop = len(run.merges) if stop is None else stop
    return unpacked(PlayedRun(run, "p").pack_merges(start, stop))


@pytest.fixture(scope="module")
def hug_run() -> bpe.TrainingRun:
    return bpe.train(bpe.Corpus.from_word_counts(HUG_WORDS), CLASSROOM)


def word_in(content: dict, word: int) -> list[int]:
    start, stop = content["word_starts"][word : word + 2]
    return content["word_symbols"][start:stop].tolist()


def test_the_message_holds_the_merges_with_their_counts(hug_run: bpe.TrainingRun) -> None:
    content = packed(hug_run)
    columns = (content[f"merge_{name}"].tolist() for name in ("left", "right", "id", "count"))
    assert list(zip(*columns, strict=True)) == [
        (merge.left, merge.right, merge.id, merge.count) for merge in hug_run.merges
    ]


def test_the_end_holds_what_was_saved_and_by_which_merges(hug_run: bpe.TrainingRun) -> None:
    text = "hug pug, bun: the hug of a pug, naïve 🧩 " * 9
    learned = bpe.train([text], bpe.TrainingConfig(300))
    for run, texts in ((hug_run, HUG_WORDS), (learned, {text: 1})):
        end = packed(run)["end"]
        steps = [run.tokenizer.truncated(step) for step in range(len(run.merges) + 1)]
        lengths = [sum(n * len(step.encode(each)) for each, n in texts.items()) for step in steps]
        assert (end["before"], end["after"]) == (lengths[0], lengths[-1])
        saved = [(a - b, -rank) for rank, (a, b) in enumerate(pairwise(lengths)) if a > b]
        most = sorted(saved, reverse=True)[:10]
        assert end["savers"] == [[-rank, n] for n, rank in most]


def test_the_message_names_each_language_once(hug_run: bpe.TrainingRun) -> None:
    texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
    message = packed(bpe.train_parity(texts, bpe.TrainingConfig(259, special_tokens=())))
    assert [message["languages"][each] for each in message["picked"]] == ["xx", "en", "xx"]
    assert packed(hug_run)["languages"] is None


def test_no_token_of_a_ribbon_spans_two_documents() -> None:
    run = bpe.train(["hug hug hug"], bpe.TrainingConfig(258, special_tokens=()))
    ids = [run.tokenizer.encode(text) for text in ("h", "ug")]
    ribbon = Ribbon.pack(run.tokenizer, "h", "ug")
    assert (ribbon["text"], ribbon["ids"]) == ("hug", [*ids[0], *ids[1]])
    assert run.tokenizer.encode("hug") != ribbon["ids"]
    learned = Ribbon.before(run.config, "h", "ug")
    assert learned is not None
    learned.join([(merge.left, merge.right, merge.id) for merge in run.merges])
    assert learned.packed() == ribbon


def test_a_ribbon_covers_every_byte_of_its_text() -> None:
    text = "naïve 🧩 hug hug"
    whitespace = replace(CLASSROOM, pretokenizer="whitespace")
    for config in (CLASSROOM, whitespace, bpe.TrainingConfig(270)):
        run = bpe.train([text], config)
        ribbon = Ribbon.pack(run.tokenizer, text)
        assert sum(cast("list[int]", ribbon["lengths"])) == len(text.encode())
        ids = [id for id in cast("list[int]", ribbon["ids"]) if id >= 0]
        assert ids == run.tokenizer.encode(text)


def test_the_message_holds_the_trace_number_for_number(hug_run: bpe.TrainingRun) -> None:
    content, trace = block(hug_run, 2, 7), hug_run.trace(2, 7)
    assert (content["start"], content["stop"]) == (2, 7)
    for name in ("top_left", "top_right", "top_count", "n_pairs", "n_tied", "n_overlapping"):
        assert content[name].tolist() == getattr(trace, name).ravel().tolist()
    assert content["widths"]["given"] == N_GIVEN
    assert content["touched_given"].tolist() == trace.touched_given[:, :N_GIVEN].ravel().tolist()
    for name in ("n_words", "risen_by", "fallen_by", "risen_left", "fallen_right"):
        assert content[name].tolist() == getattr(trace, name).ravel().tolist()


def test_each_touched_word_arrives_as_its_base_symbols_and_marker(hug_run: bpe.TrainingRun) -> None:
    content, trace = block(hug_run), hug_run.trace(0, len(hug_run.merges))
    vocab = hug_run.tokenizer.vocab
    for place, index in zip(content["touched"].tolist(), trace.touched.ravel(), strict=True):
        if index < 0:
            assert place == -1
            continue
        spelled = b"".join(vocab[id] for id in word_in(content, place))
        assert spelled == hug_run.pretokens.words[index] + b"</w>"
        assert content["word_counts"][place] == hug_run.pretokens.counts[index]


def test_the_frequent_words_are_in_order_of_count(hug_run: bpe.TrainingRun) -> None:
    content = packed(hug_run)
    assert content["word_counts"].tolist() == [12, 10, 5, 5, 4]


def test_words_of_one_symbol_are_not_among_the_frequent_words() -> None:
    run = bpe.train(
        bpe.Corpus.from_text("a a a a bb"), bpe.TrainingConfig(258, pretokenizer="whitespace")
    )
    content = packed(run)
    assert word_in(content, 0) == [run.tokenizer.base_ids[b"b"]] * 2
    assert len(content["word_counts"]) == 1


def test_counts_over_32_bits_are_exact() -> None:
    count = 2**40 + 1
    run = bpe.train(bpe.Corpus.from_word_counts({"hug": count}), bpe.TrainingConfig(258))
    content = packed(run)
    assert content["merge_count"].tolist() == [count]
    assert block(run)["top_count"].tolist()[:2] == [count, count]


def test_only_the_start_of_a_very_long_word_is_sent() -> None:
    run = bpe.train(
        bpe.Corpus.from_text("ab" * 5_000), bpe.TrainingConfig(258, pretokenizer="none")
    )
    content = packed(run)
    assert len(word_in(content, 0)) == MAX_WORD_LENGTH
    assert content["word_cut"].tolist() == [1]


def test_a_run_without_merges_can_be_packed() -> None:
    run = bpe.train(bpe.Corpus.from_text("hello there"), bpe.TrainingConfig(257))
    content = packed(run)
    assert content["n_merges"] == 0
    assert len(content["word_counts"]) == 2
    assert content["last_count"][0] == 2
    assert (block(run)["start"], block(run)["stop"]) == (0, 0)


def test_a_token_that_is_not_valid_utf8_is_sent_as_bytes() -> None:
    run = bpe.train(bpe.Corpus.from_text("日日日日"), bpe.TrainingConfig(258))
    assert packed(run)["tokens"][-1] == [0xE6, 0x97]


def test_a_short_run_is_one_block(hug_run: bpe.TrainingRun) -> None:
    assert PlayedRun(hug_run, "p").block_starts == [0]
    assert PlayedRun(
        bpe.train(bpe.Corpus.from_text("hello there"), bpe.TrainingConfig(257)), "p"
    ).block_starts == [0]


def test_the_first_blocks_of_a_long_run_have_fewer_merges() -> None:
    letters = "abcdefghij"
    words = {
        "".join(letters[(word // 10**place) % 10] for place in range(5)): 1 + 100_000 // (word + 1)
        for word in range(40_000)
    }
    config = bpe.TrainingConfig(20_000, pretokenizer="none", base="characters", special_tokens=())
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    assert len(run.merges) > WHOLE_RUN
    starts = PlayedRun(run, "p").block_starts
    sizes = np.diff([*starts, len(run.merges)])
    assert starts[0] == 0
    assert sizes.min() >= 1
    assert sizes.max() <= 170
    assert sizes[0] < sizes[-2] / 2


def test_blocks_hold_the_words_that_their_own_merges_touch(hug_run: bpe.TrainingRun) -> None:
    trace = hug_run.trace(3, 5)
    touched = set(trace.touched[trace.touched >= 0].tolist())
    assert set(block(hug_run, 3, 5)["word_index"].tolist()) == touched


def test_a_visitors_words_are_pretokenized_like_the_training_text() -> None:
    run = bpe.train(bpe.Corpus.from_text("don't panic"), bpe.TrainingConfig(258))
    words = own_words(run.tokenizer, "don't panic")
    vocab = run.tokenizer.vocab
    spelled = [b"".join(vocab[id] for id in word if isinstance(id, int)) for word in words]
    assert spelled == [b"don", b"'t", b" panic"]


def test_a_visitors_rare_characters_are_bytes_and_words_get_a_space() -> None:
    config = bpe.TrainingConfig(
        300, base="characters", byte_fallback=True, pretokenizer="metaspace"
    )
    tokenizer = bpe.train(bpe.Corpus.from_text("hug pug"), config).tokenizer
    words = own_words(tokenizer, "hug é")
    vocab = tokenizer.vocab
    assert [[vocab[id] for id in word if isinstance(id, int)] for word in words] == [
        [b" ", b"h", b"u", b"g"],
        [b" ", b"\xc3", b"\xa9"],
    ]


def test_an_unknown_symbol_in_a_visitors_words_stays_text(hug_run: bpe.TrainingRun) -> None:
    ids = hug_run.tokenizer.base_ids
    assert own_words(hug_run.tokenizer, "hé") == [
        [ids[b"h"], "é", hug_run.tokenizer.table.end_of_word_id]
    ]


def test_an_unknown_byte_is_shown_in_hex() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(6, alphabet="seen"))
    assert own_words(run.tokenizer, "é")[0] == ["C3", "A9"]


def test_an_extended_run_starts_from_the_tokens_of_its_base():
    text = "A tokenizer, tokenizers, untokenized text, a subword tokenizer"
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(text), n_tokens=4)
    message = packed(run)
    assert message["n_merges"] == 4
    starts = message["word_starts"]
    words = {
        run.pretokens.words[index]: message["word_symbols"][start:stop].tolist()
        for index, start, stop in zip(message["word_index"], starts, starts[1:], strict=False)
    }
    assert words[b" tokenizer"] == bpe.gpt2().encode(" tokenizer")
    assert all(len(symbols) > 1 for symbols in words.values())  # others never change
    assert block(run)["top_left"][0] == run.merges[0].left
    assert own_words(run.tokenizer, "A tokenizer", bpe.gpt2()) == [[32], [11241, 7509]]


def test_own_text_of_an_extended_run_names_symbols_that_the_base_lacks():
    base = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[(0, 1, 2)], pretokenizer="whitespace"
    )
    run = extend(base, bpe.Corpus.from_text("aba aba"), n_tokens=1)
    assert own_words(run.tokenizer, "abxa é", run.base) == [[2, "x", 0], ["C3", "A9"]]
