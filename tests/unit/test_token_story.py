"""The story of a chosen token agrees with the core on its pre-token and its training text."""

from __future__ import annotations

import itertools

import pytest

import bpe_core as bpe
from ui.compare.passage import Excerpt, excerpts, typical_excerpt
from ui.corpus import OwnReading, own_texts
from ui.corpus.own_texts import joined, read_own_text
from ui.storage import SAMPLE_RUN_ID, Trained, load_run, store_run
from ui.token_boundaries import index_chosen, token_story
from ui.token_boundaries.token_story import origin_in_run, word_steps

TEXT = "unbelievably 漢字 <|endoftext|> small's  end"
NOTHING = bpe.Corpus.from_text("x").split(0.0)[1]

pytestmark = pytest.mark.usefixtures("store")


def read(text: str, tokenizer: bpe.Tokenizer) -> OwnReading:
    return read_own_text(text, tokenizer, tuple(tokenizer.special_tokens))


def test_each_token_has_the_steps_of_its_pretoken() -> None:
    reading = read(TEXT, bpe.gpt2())
    words = [word_steps(reading, bpe.gpt2(), index).word for index in range(len(reading.found.ids))]
    special = reading.found.ids.tolist().index(50256)
    assert words[special] == ""
    seen = list(dict.fromkeys(word for word in words if word))
    before, after = TEXT.split("<|endoftext|>")
    split = [*bpe.gpt2().pretokenizer.split(before), *bpe.gpt2().pretokenizer.split(after)]
    assert seen == list(dict.fromkeys(split))
    story = word_steps(reading, bpe.gpt2(), 0)
    (explained,) = bpe.gpt2().explain("unbelievably")
    assert len(story.rows) == len(explained.steps) + 1
    assert story.note.startswith("Each step merges the ringed pair")
    for row, step in zip(story.rows[1:], explained.steps, strict=True):
        assert [tile.token for tile in row.cells[0].tiles] == [
            bpe.gpt2().vocab[id] for id in step.symbols
        ]
        assert row.note == f"merge {step.merge.rank + 1:,}"


@pytest.mark.parametrize("start", ["", " ", "▁", "漢", "<s>"])
def test_words_have_the_space_that_is_put_in_front_of_a_text(start: str) -> None:
    config = bpe.TrainingConfig(
        300,
        base="characters",
        byte_fallback=True,
        pretokenizer="metaspace",
        special_tokens=("<unk>", "<s>"),
    )
    tokenizer = bpe.train(bpe.Corpus.from_text("hug hugs pug"), config).tokenizer
    text = f"{start}hug▁hugs  漢<s>pug x"
    reading = read(text, tokenizer)
    words = [word_steps(reading, tokenizer, index).word for index in range(len(reading.found.ids))]
    parts = [tokenizer.pretokenizer.written(part) for part in text.split("<s>") if part]
    split = [word for part in parts for word in tokenizer.pretokenizer.split(part)]
    assert set(words) - {""} == set(split)
    for word, id in zip(words, reading.found.ids.tolist(), strict=True):
        if word:
            assert id in tokenizer.encoder.encode_words([word.encode()])[0]


def test_each_ring_marks_what_the_next_step_merges() -> None:
    reading = read("aaaa unbelievably", bpe.gpt2())
    for index in (0, len(reading.found.ids) - 1):
        rows = word_steps(reading, bpe.gpt2(), index).rows
        for row, after in itertools.pairwise(rows):
            tokens = [tile.token for tile in row.cells[0].tiles]
            for start, end in reversed(row.cells[0].rings):
                tokens[start:end] = [b"".join(tokens[start:end])]
            assert tokens == [tile.token for tile in after.cells[0].tiles]
        assert rows[-1].cells[0].rings == ()


@pytest.mark.parametrize("times", [1, 20])
def test_a_superword_has_its_own_steps_however_long_the_text(times: int) -> None:
    words = " the end of the day and the end of the week"
    tokenizer = bpe.train([words * 9], vocab_size=290, superwords_from=275).tokenizer
    reading = read(words * times, tokenizer)
    index = next(n for n, id in enumerate(reading.found.ids) if b" of" in tokenizer.vocab[id])
    story = word_steps(reading, tokenizer, index)
    chosen = tokenizer.vocab[int(reading.found.ids[index])]
    assert story.word == words * times
    assert "only the steps of the chosen token are shown. Each step merges" in story.note
    assert [b"".join(tile.token for tile in row.cells[0].tiles) for row in story.rows] == [
        chosen
    ] * len(story.rows)
    assert [tile.token for tile in story.rows[-1].cells[0].tiles] == [chosen]


def test_a_note_explains_missing_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = read("a" * 100_000, bpe.gpt2())
    assert "100,000 bytes" in word_steps(long, bpe.gpt2(), 3).note
    assert "only the steps of the chosen token" in word_steps(long, bpe.gpt2(), 3).note
    lone = read("é", bpe.gpt2().truncated(0))
    assert word_steps(lone, bpe.gpt2().truncated(0), 0).note == "No merge applies to it."
    monkeypatch.setattr(own_texts, "MAX_TOKENS", 2)
    cut = read(" unbelievably", bpe.gpt2().truncated(2_000))
    assert "ends inside" in word_steps(cut, bpe.gpt2().truncated(2_000), 1).note


def test_dropped_white_space_belongs_to_no_pretoken() -> None:
    config = bpe.TrainingConfig(20, "whitespace", base="characters", special_tokens=())
    classroom = bpe.train(bpe.Corpus.from_text("hug hugs"), config).tokenizer
    reading = read("hug  hugs", classroom)
    stories = [word_steps(reading, classroom, n) for n in range(len(reading.found.ids))]
    assert [story.word for story in stories] == ["hug", "", "hugs"]
    assert "in no token" in stories[1].note


@pytest.mark.parametrize(
    "message", [None, 3, "x", {}, {"stamp": "other", "index": 0}, {"stamp": "", "index": 1e999}]
)
def test_a_choice_in_another_text_is_ignored(message: object) -> None:
    reading = read("one unbelievably two", bpe.gpt2())
    assert index_chosen(message, reading) == reading.first_chosen == 1
    assert index_chosen({"stamp": reading.stamp, "index": 0}, reading) == 0
    for index in (-1, len(reading.found.ids), 0.5, "0", None, float("inf")):
        assert index_chosen({"stamp": reading.stamp, "index": index}, reading) == 1


def test_a_token_of_the_sample_run_has_words_and_lines() -> None:
    run = load_run(SAMPLE_RUN_ID).run
    ids = {token: id for id, token in run.tokenizer.vocab.items()}
    origin = origin_in_run(SAMPLE_RUN_ID, ids[b" iterator"])
    merge = next(merge for merge in run.merges if merge.id == ids[b" iterator"])
    words = zip(run.pretokens.words, run.pretokens.counts.tolist(), strict=True)
    n_times = sum(count * word.count(b" iterator") for word, count in words)
    assert f"{n_times} times" in origin.sentence
    assert f"{merge.count} times" in origin.sentence
    assert origin.words[0].pieces == ((" iterator", True),)
    assert origin.note == ""
    assert len(origin.lines) == 6
    for line in origin.lines:
        assert any(inside and " iterator".endswith(piece) for piece, inside in line.pieces)
    assert "not learned" in origin_in_run(SAMPLE_RUN_ID, ids[b"<|endoftext|>"]).sentence
    assert "does not occur" in origin_in_run(SAMPLE_RUN_ID, ids[b"\xff"]).sentence
    assert "alphabet" in origin_in_run(SAMPLE_RUN_ID, ids[b"e"]).sentence


def test_a_token_made_before_the_words_joined_is_not_called_a_letter() -> None:
    run = bpe.train(["of the cat, " * 20], bpe.TrainingConfig(270, superwords_from=264))
    run_id = store_run(Trained("Words join", run, NOTHING))
    before = [merge.id for merge in run.tokenizer.merges[: -len(run.merges)]]
    sentences = [origin_in_run(run_id, id).sentence for id in before]
    assert not any("alphabet" in sentence for sentence in sentences)
    assert any("A merge from before" in sentence for sentence in sentences)
    after = origin_in_run(run_id, run.merges[0].id).sentence
    assert f"Merge 1 of {len(run.merges)}" in after


def test_a_note_explains_missing_lines() -> None:
    training = bpe.Corpus.from_text("hug hugs\nmug")
    run = bpe.train(training, bpe.TrainingConfig(258))
    old = store_run(Trained("Hugs", run, NOTHING))
    origin = origin_in_run(old, run.merges[0].id)
    assert "not kept with this run" in origin.note
    assert origin.words
    assert origin.lines == ()
    new = store_run(Trained("Hugs", run, NOTHING, training=training))
    origin = origin_in_run(new, run.merges[0].id)
    assert [line.place for line in origin.lines] == ["text, line 1", "text, line 2"]
    assert origin.lines[0].pieces == (
        ("h", False),
        ("ug", True),
        (" h", False),
        ("ug", True),
        ("s", False),
    )
    words = bpe.Corpus.from_word_counts({"hug": 10, "pug": 5})
    weighted = bpe.train(words, bpe.TrainingConfig(258))
    origin = origin_in_run(
        store_run(Trained("Words", weighted, NOTHING, training=words)), weighted.merges[0].id
    )
    assert "weighted words" in origin.note


def test_a_note_says_how_much_of_the_training_text_was_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui.storage.run_store.MAX_KEPT", 10)
    monkeypatch.setattr(token_story, "MAX_KEPT", 10)
    training = bpe.Corpus.from_text("mug\n" * 40 + "zz zz zz zz zz")
    run = bpe.train(training, bpe.TrainingConfig(259))
    run_id = store_run(Trained("Hugs", run, NOTHING, training=training))
    notes = [origin_in_run(run_id, merge.id).note for merge in run.merges]
    assert all("the first 10 characters of the training text are kept" in note for note in notes)


# Readings


LINES = "".join(f"line {n} of a document of some length\n" for n in range(100))


def test_an_excerpt_of_a_long_document_ends_at_the_end_of_a_line() -> None:
    ((name, text, is_whole),) = excerpts(
        bpe.Corpus.from_documents(["short", LINES], names=["a", "b"])
    )
    assert (name, is_whole) == ("b", False)
    assert LINES.startswith(text)
    assert text.endswith("\n")
    # One more line would exceed the limit.
    assert len(text) <= 1_500 < len(text) + len("line 40 of a document of some length\n")


def test_an_excerpt_without_a_line_end_is_cut_at_the_limit() -> None:
    assert excerpts(bpe.Corpus.from_text("x" * 5_000)) == [Excerpt("text", "x" * 1_500, False)]


def test_a_short_document_is_its_own_excerpt() -> None:
    hugs = bpe.Corpus.from_documents(["hug", "pug"], names=["a", "b"])
    assert excerpts(hugs) == [Excerpt("a", "hug", True)]
    assert excerpts(bpe.Corpus.from_word_counts({"hug": 1})) == [Excerpt("", "", True)]


def test_the_typical_excerpt_has_the_same_gain_as_the_whole_corpus() -> None:
    corpus = bpe.Corpus.from_documents(["漢" * 500, "the " * 200, "the漢" * 200], names=list("abc"))
    encoders = [bpe.gpt2(), bpe.gpt2().truncated(0)]
    for document, text in zip("abc", corpus.documents, strict=True):
        percent = bpe.compare(text, encoders).verdict().percent_fewer_tokens
        assert typical_excerpt(corpus, encoders, percent) == Excerpt(document, text, True)


@pytest.mark.parametrize("most", range(9))
def test_documents_are_joined_up_to_the_limit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(own_texts, "MAX_CHARACTERS", most)
    assert joined(bpe.Corpus.from_documents(["ab", "", "cde"])) == "ab\n\ncde"[:most]
