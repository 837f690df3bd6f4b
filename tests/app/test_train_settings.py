"""The settings on Train: an exact size, the largest that the corpus reaches, and the cuts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Button, Markdown, Radio

import bpe_core as bpe
from bpe_core.pretokenizers import SPACE_ADDING
from bpe_core.trainers import check_config, tokens_by_cut, training
from bpe_core.trainers import train as train_run
from tests.app.pages import OpenApp, in_address, page_text, sent
from tests.app.training import amounts, choose, exact_size, train
from tests.waiting import OfKind, wait_until
from ui.run import corpus_summary
from ui.shell import workspace
from ui.storage import HELD_OUT_SEED, load_run
from ui.train.cuts import CHECK, CutCheck, find_better
from ui.train.presets import CONFIGS, CUSTOM, CUTS, DIVISIONS, LLAMA, with_cut
from ui.work.background import queue

RHYME = "The cat sat on the mat,\nand the rat sat on the hat.\n" * 40


def paste(app: AppTest, text: str, preset: str = "GPT-2") -> AppTest:
    choose(app, source="Paste", preset=preset)
    return app.text_area(key="corpus_pasted").set_value(text).run()


def cuts(app: AppTest) -> list[str]:
    return sent(app, "pretokens")["pretokens"]


def test_an_exact_size_is_used_and_the_slider_goes_to_the_nearest(open_app: OpenApp) -> None:
    app = paste(open_app(), RHYME)
    for size, nearest in ((5_000, 4_096), (30_000, 32_768), (299, 300)):
        exact_size(app).set_value(size).run()
        assert f"Vocabulary size **{size:,}**" in page_text(app)
        assert app.select_slider[0].value == nearest
        assert exact_size(app).value == size
    train(app)
    assert load_run(in_address(app, "run")).run.config.vocab_size == 299
    # Moving the slider sets the size again, even at a place that had an exact size.
    for size in (4_096, 300, 32_768):
        app.select_slider[0].set_value(size).run()
        assert f"Vocabulary size **{size:,}**" in page_text(app)
        assert exact_size(app).value == size


def test_a_size_stays_when_another_text_changes_the_alphabet(open_app: OpenApp) -> None:
    app = paste(open_app(), RHYME, "Classroom")
    exact_size(app).set_value(44).run()
    names = "我的名字 zebras\n" * 40 + RHYME
    for text in ("zebras\n" * 40 + RHYME, "hug hugs\n" * 40, RHYME):
        paste(app, text, "Classroom")
        assert exact_size(app).value == 44
    # What was chosen by a number of merges stays at that number.
    amounts(app).set_value("Balanced").run()
    before = exact_size(app).value or 0
    paste(app, names, "Classroom")
    assert amounts(app).value == "Balanced"
    assert exact_size(app).value != before
    # A size that the new alphabet is too large for is refused, and stays to be corrected.
    exact_size(app).set_value(30).run()
    paste(app, "".join(map(chr, range(0x4E00, 0x4E40))), "Classroom")
    assert exact_size(app).value == 30
    assert "A vocabulary starts with" in app.error[0].value
    app.button(key="reset").click().run()
    paste(app, RHYME, "Classroom")
    assert amounts(app).value == "Few pieces"


@pytest.mark.parametrize(
    ("preset", "sizes"),
    [("GPT-2", (512, 4_096, 16_384)), ("Classroom", (32, 117, 1_017))],
)
def test_a_size_is_chosen_by_what_it_gives(
    open_app: OpenApp, preset: str, sizes: tuple[int, ...]
) -> None:
    app = paste(open_app(), RHYME, preset)
    amount = amounts(app)
    assert amount.value == ("Few pieces" if preset == "Classroom" else "Balanced")
    names = ("Few pieces", "Balanced", "Long pieces")
    assert amount.options == [f"{n} ({size:,})" for n, size in zip(names, sizes, strict=True)]
    before = 17 if preset == "Classroom" else 257
    for name, size in zip(names, sizes, strict=True):
        amounts(app).set_value(name).run()
        (sentence,) = find_sizes(app)
        reached = next(
            int(found[1])
            for text in app.markdown
            if (found := re.search(r"With (\d+) tokens, this text has no pair left", text.value))
        )
        times = f"{min(size, reached) - before:,} times"
        assert sentence.startswith(f"Join the most frequent pair **{times}**.")
        assert f"Vocabulary size **{size:,}**" in sentence
        assert exact_size(app).value == size
        (slider,) = app.select_slider
        assert slider.value == size
        slider.set_value(before).run()
        assert amounts(app).value is None
        assert "**0 times**" in find_sizes(app)[0]


def test_each_division_does_what_it_is_called() -> None:
    text = "हिन्दी we've 12345!"
    pieces = {
        name: list((cut := bpe.get_pretokenizer(config.pretokenizer)).split(cut.written(text)))
        for name, config in CONFIGS.items()
    }
    assert DIVISIONS.keys() == {*CONFIGS, CUSTOM}
    for name, found in pieces.items():
        called = DIVISIONS[name]
        assert ("digits in threes" in called) <= ("123" in found and "45" in found)
        assert ("vowel signs stay" in called) <= ("हिन्दी" in found)
        assert ("numbers and signs apart" in called) <= ({" 12345", "!"} <= set(found))
        assert ("a space begins" in called) <= all(each.startswith(" ") for each in found)
        assert ("at spaces" in called) <= (found == text.split())
    assert "हिन्दी" not in pieces["GPT-2"]
    assert "हिन्दी" not in pieces["GPT-4"]


@pytest.mark.parametrize("typed", [5_000, 100_000, 299])
def test_an_emptied_size_returns_to_the_suggested_one(open_app: OpenApp, typed: int) -> None:
    app = open_app()
    exact_size(app).set_value(typed).run()
    field = exact_size(app)
    assert field.value == typed
    # The browser puts this into a field that is left empty.
    field.set_value(field.proto.default).run()
    assert "Vocabulary size **4,096**" in page_text(app)
    assert app.select_slider[0].value == 4_096
    assert exact_size(app).value == 4_096


def test_how_the_text_is_divided_comes_before_how_often_pairs_are_joined(
    open_app: OpenApp,
) -> None:
    """At the end of a phone's window the row of the button would cover it."""

    def texts(block: Block) -> Iterator[str]:
        for child in block.children.values():
            if isinstance(child, Block):
                yield from texts(child)
            elif isinstance(child, Radio):
                yield child.label
            elif isinstance(child, Markdown):
                yield child.value

    shown = list(texts(paste(open_app(), RHYME).main))
    starts = (
        "How the text is divided",
        "Join the most frequent pair **",
        ":gray[:small[With ",
    )
    places = [next(i for i, text in enumerate(shown) if text.startswith(one)) for one in starts]
    assert places == sorted(places)


def find_train_button(app: AppTest) -> tuple[int, ...]:
    """Return the button's place in the page: its index in each block around it."""

    def search(block: Block, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for at, child in block.children.items():
            if isinstance(child, Block):
                yield from search(child, (*path, at))
            elif isinstance(child, Button) and child.key == "train":
                yield (*path, at)

    (place,) = search(app.main, ())
    return place


def test_an_error_above_the_train_button_does_not_move_it(open_app: OpenApp) -> None:
    # Streamlit shows an element that moves twice until the page is drawn.
    app = paste(open_app(), RHYME)
    before = find_train_button(app)
    app.number_input(key="settings_exact_byte_size_4096").set_value(100).run()
    assert len(app.error) == 1
    assert find_train_button(app) == before


@pytest.mark.parametrize("preset", ["Classroom", LLAMA])
def test_the_largest_size_is_shown_before_training_and_then_reached(
    open_app: OpenApp, preset: str
) -> None:
    app = paste(open_app(), RHYME, preset)
    if preset == "Classroom":
        config = bpe.TrainingConfig(
            500, "whitespace", "characters", "seen", "</w>", (), tie_break="first-seen"
        )
        key = next(k for f in app.number_input if (k := str(f.key)).startswith("settings_exact_"))
        app.number_input(key=key).set_value(500).run()
    else:
        config = replace(CONFIGS[LLAMA], vocab_size=4_096)
    training, _ = bpe.Corpus.from_text(RHYME).split(0.08, seed=HELD_OUT_SEED)
    reached = train_run(training, replace(config, vocab_size=10_000)).tokenizer.vocab_size
    assert reached < config.vocab_size
    assert f"With {reached:,} tokens, this text has no pair left to join." in page_text(app)
    assert f"Training will stop at {reached:,} tokens" in page_text(app)
    train(app)
    assert load_run(in_address(app, "run")).run.tokenizer.vocab_size == reached


def test_of_a_large_text_a_bound_is_shown(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "MAX_SLOTS_TRAINED", 0)
    monkeypatch.setattr(training, "MAX_SLOTS_IN_PYTHON", 0)
    corpus_summary._largest_size.clear()
    app = paste(open_app(), "hug hugs\n" * 40)
    # "hug" has 2 pairs, "␣hugs" has 4 and "⏎" has none, so 6 merges are possible at most.
    assert "With 263 tokens or fewer, this text has no pair left to join." in page_text(app)
    assert "Training will stop before 264 tokens" in page_text(app)
    corpus_summary._largest_size.clear()


def test_the_cuts_are_those_of_the_beginning_of_the_visitors_text(open_app: OpenApp) -> None:
    own = "\n\n  Zwölf Boxkämpfer jagen Viktor\nquer über den Sylter Deich. " * 20
    app = paste(open_app(), own)
    shown = cuts(app)
    whole = list(bpe.get_pretokenizer("gpt2").split(own.lstrip("\n")))
    assert len(shown) > 8
    assert shown == whole[: len(shown)]
    choose(app, source="Paste", preset="Classroom")
    assert cuts(app)[:3] == ["Zwölf", "Boxkämpfer", "jagen"]
    choose(app, source="Upload")
    assert "The pieces that training begins with, in a line of code." in page_text(app)
    paste(app, RHYME, preset="Custom")
    for line, expected in (("hug hugs", ["hug", " hugs"]), ("", ["The", " cat"])):
        app.text_area(key="settings_line").set_value(line).run()
        assert cuts(app)[:2] == expected
    app.selectbox(key="settings_pretokenizer").set_value("none").run()
    assert cuts(app) == [RHYME[:72]]
    assert "Only the beginning of this pre-token is shown." in page_text(app)
    # A cut that adds a space takes characters, and bytes for the others.
    app.selectbox(key="settings_pretokenizer").set_value(min(SPACE_ADDING)).run()
    assert not app.error
    assert app.number_input(key="settings_coverage").value is not None
    assert "256 bytes" in find_sizes(app)[0]
    check_config(with_cut(CONFIGS["GPT-2"], min(SPACE_ADDING)))


def headings(app: AppTest) -> list[str]:
    return [header.value for header in app.header]


def test_the_sample_run_is_an_example_whatever_the_form_holds(open_app: OpenApp) -> None:
    app = open_app()
    for _ in range(2):
        assert "Example" in headings(app)
        assert "The form now has" not in page_text(app)
        assert "✓ finished" not in page_text(app)
        app.select_slider(key="settings_byte_size").set_value(512).run()


def test_the_card_is_marked_as_another_runs_while_the_form_differs(open_app: OpenApp) -> None:
    app = paste(open_app(), RHYME)
    app.select_slider(key="settings_byte_size").set_value(512).run()
    train(app)
    assert "Trained" in headings(app)
    assert "✓ finished" in page_text(app)
    assert "The form now has" not in page_text(app)
    app.slider(key="corpus_held_out").set_value(20).run()
    assert "Previous run" in headings(app)
    assert "The form now has another training text." in page_text(app)
    app.slider(key="corpus_held_out").set_value(8).run()
    assert "Trained" in headings(app)
    paste(app, "")
    assert "The form now has no text." in page_text(app)
    paste(app, RHYME, preset="Custom")
    assert "Trained" in headings(app)
    app.number_input(key="settings_vocab_size").set_value(513).run()
    assert "The form now has other settings." in page_text(app)
    app.number_input(key="settings_vocab_size").set_value(512).run()
    assert "Trained" in headings(app)
    app.number_input(key="settings_vocab_size").set_value(1).run()
    assert "The form now has invalid settings." in page_text(app)


@pytest.mark.parametrize("preset", ["Classroom", LLAMA])
def test_custom_begins_with_the_settings_that_were_shown(open_app: OpenApp, preset: str) -> None:
    app = choose(open_app(), source="Weighted words", preset=preset)
    size = exact_size(app)
    size.set_value(int(size.value or 0) + 7).run()
    (sentence,) = find_sizes(app)
    app.radio(key="settings_preset").set_value("Custom").run()
    assert not app.error
    assert find_sizes(app) == [sentence]
    shown = {
        "Classroom": ("whitespace", "characters", "</w>"),
        LLAMA: ("metaspace", "characters", ""),
    }[preset]
    assert shown == (
        app.selectbox(key="settings_pretokenizer").value,
        app.segmented_control(key="settings_base").value,
        app.text_input(key="settings_end_of_word").value,
    )


def test_the_size_of_a_llama_begins_with_its_characters_and_all_bytes(open_app: OpenApp) -> None:
    app = paste(open_app(), RHYME + "漢" * 3, LLAMA)
    training, _ = bpe.Corpus.from_text(RHYME + "漢" * 3).split(0.08, seed=HELD_OUT_SEED)
    run = train_run(training, replace(CONFIGS[LLAMA], vocab_size=400))
    n_characters = len(run.tokenizer.base_ids)
    assert f"{n_characters:,} characters + 256 bytes + 3 special" in find_sizes(app)[0]
    app.radio(key="settings_preset").set_value("Custom").run()
    assert app.number_input(key="settings_coverage").value == 0.9995
    app.number_input(key="settings_coverage").set_value(0.5).run()
    assert f"{n_characters:,} characters" not in find_sizes(app)[0]
    app.selectbox(key="settings_pretokenizer").set_value("gpt2").run()
    assert not app.error
    assert "256 bytes" not in find_sizes(app)[0]


def find_sizes(app: AppTest) -> list[str]:
    return [text.value for text in app.markdown if ":gray[Vocabulary size **" in text.value]


# GPT-2's cut sets no limit to the length of a number, so every one of these is a token of its own.
NUMBERS = "".join(
    f"{n * 7_919 % 1_000_003:06} and {n * 104_729 % 1_000_003:06}\n" for n in range(900)
)


def measure_cuts(app: AppTest) -> AppTest:
    """Wait for the check of the cuts that the page began, and draw the page again."""
    check = app.session_state[workspace.state_key(CutCheck)]
    wait_until(OfKind(CHECK), check.id)
    return app.run()


def test_a_better_cut_is_named_and_used_at_a_press(open_app: OpenApp) -> None:
    app = paste(open_app(), NUMBERS)
    app.select_slider(key="settings_byte_size").set_value(1_536).run()
    measure_cuts(app)
    training, held_out = bpe.Corpus.from_text(NUMBERS).split(0.08, seed=HELD_OUT_SEED)
    tokens = tokens_by_cut(training, held_out, bpe.TrainingConfig(1_536, min_frequency=2), CUTS)
    assert tokens is not None
    better = find_better(tokens, "gpt2")
    assert better is not None
    cut, saved = better
    assert 0.03 < saved < 0.095
    assert f"Divided as for {CUTS[cut]}: {saved:.1%} fewer tokens." in page_text(app)
    app.button(key="settings_use_cut").click().run()
    assert app.radio(key="settings_preset").value == CUTS[cut]
    assert app.number_input(key="settings_exact_byte_size_1536").value == 1_536
    assert "fewer tokens." not in page_text(app)


def test_custom_keeps_its_other_settings_when_it_uses_a_better_cut(open_app: OpenApp) -> None:
    app = paste(open_app(), NUMBERS)
    app.select_slider(key="settings_byte_size").set_value(1_536).run()
    app.radio(key="settings_preset").set_value("Custom").run()
    app.number_input(key="settings_min_frequency").set_value(2).run()
    measure_cuts(app).button(key="settings_use_cut").click().run()
    assert app.radio(key="settings_preset").value == "Custom"
    assert app.selectbox(key="settings_pretokenizer").value in set(CUTS) - {"gpt2"}
    assert app.number_input(key="settings_min_frequency").value == 2


def test_nothing_is_measured_where_no_other_cut_could_be_used(open_app: OpenApp) -> None:
    app = open_app()
    wait_until(OfKind(CHECK), app.session_state[workspace.state_key(CutCheck)].id)
    before = queue.count(CHECK, "finished")
    app.radio(key="settings_preset").set_value("Classroom").run()
    app.segmented_control(key="corpus_source").set_value("Weighted words").run()
    app.radio(key="settings_preset").set_value("GPT-2").run()
    assert queue.count(CHECK, "finished") == before
    assert queue.count(CHECK, "queued") == queue.count(CHECK, "running") == 0
    assert "fewer tokens." not in page_text(app)
