"""The Train page: corpora, settings, jobs, and errors in each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import FOLDER, find_reader
from bpe_core.pretokenizers import pretokenizers
from tests.app.pages import OpenApp, errors, in_address, page_text, paste, upload
from tests.app.training import (
    assert_press_is_refused,
    choose,
    draw_after,
    held_back,
    train,
    until_ended,
)
from tests.waiting import MAX_WAIT_SECONDS, wait_until
from ui.look.labels import GLOSSARY
from ui.run import downloads
from ui.storage import HELD_OUT_SEED, SAMPLE_RUN_ID, CorpusOrigin, Trained, load_run, store_run
from ui.storage.run_store import MAX_UNCLAIMED
from ui.work import jobs

RHYME = "the cat sat on the mat and the rat sat on the hat\n" * 40
SMALL = bpe.TrainingConfig(260, min_frequency=2)


def component(app: AppTest, name: str) -> dict[str, Any]:
    (found,) = (c.proto for c in app.get("bidi_component") if c.proto.component_name == name)
    return json.loads(found.json)


def test_the_page_first_shows_the_samples_result_and_explains_its_terms(open_app: OpenApp) -> None:
    app = open_app(job="never-heard-of")
    assert "then train again" in app.warning[0].value
    assert "job" not in app.query_params
    assert "= 256 bytes + 1 special + 3,839 merges" in page_text(app)
    run = load_run("sample").run
    # The figures are from the end of the run, not from its start.
    assert app.metric[1].value == f"{int(run.tokens_after[-1]):,}"
    assert app.metric[0].value == f"{run.corpus_bytes / run.tokens_after[-1]:.2f}"
    tokens = load_run("sample").held_out_tokens_after
    assert tokens is not None
    held_out = load_run("sample").held_out.n_bytes / tokens[-1]
    assert f"{held_out:.2f} on text it never saw" in page_text(app)
    tokenizer = run.tokenizer
    for ribbon in component(app, "bpe.ribbons")["texts"]:
        assert ribbon["ids"] == tokenizer.encode(ribbon["text"])
        assert sum(ribbon["lengths"]) == len(ribbon["text"].encode()) == 300
        assert ribbon["made"] == [len(tokenizer.vocab[id]) > 1 for id in ribbon["ids"]]
    helps = [each.proto.help for each in (*app.markdown, *app.header, *app.radio)]
    explained = set("\n\n".join(helps).split("\n\n"))
    assert explained >= set(GLOSSARY.values()) - {GLOSSARY["Mark"], GLOSSARY["Chat template"]}


def test_the_card_says_what_was_learned_by_heart_and_no_preset_does_so(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Paste", preset="GPT-2")
    essay = load_sample("alice").documents[0][:3_000]
    app.text_area(key="corpus_pasted").set_value(essay).run()
    assert "no pair is left that occurs twice" in page_text(app)
    assert "Learned by heart: " not in page_text(train(app))
    app.radio(key="settings_preset").set_value("Custom").run()
    app.number_input(key="settings_min_frequency").set_value(0).run()
    assert "no pair is left that may merge" in page_text(app)
    assert "Learned by heart: a token spells " in page_text(train(app))


def test_a_run_on_weighted_words_is_there_on_another_page_and_after_a_refresh(
    open_app: OpenApp,
) -> None:
    app = choose(open_app(), source="Weighted words", preset="Classroom")
    train(app)
    run_id = in_address(app, "run")
    run = load_run(run_id).run
    vocab = run.tokenizer.vocab
    first = run.merges[0]
    assert (vocab[first.left], vocab[first.right], first.count) == (b"u", b"g", 20)
    app.switch_page("pages/pair_frequencies.py").run()
    assert in_address(app, "run") == run_id
    again = open_app("merge_loop", run=run_id)
    assert not again.error
    assert in_address(again, "run") == run_id


def test_the_forms_say_how_large_the_vocabulary_is_and_that_nothing_is_held_out(
    open_app: OpenApp,
) -> None:
    app = choose(open_app(), source="Weighted words", preset="Classroom")
    # b g h n p s u, the marker, and 15 merges, more than the words have pairs for.
    assert "= 7 characters + 1 end-of-word marker + room for 15" in page_text(app)
    assert "Too little text to hold any back." in page_text(app)
    assert list(bars(app, 0)["By script, in characters"]) == ["Training text"]
    app.button(key="reset").click().run()
    assert "= 256 bytes + 1 special + 3,839 merges" in page_text(app)
    source, preset = app.segmented_control("corpus_source"), app.radio("settings_preset")
    for control, first in ((source, "Sample"), (preset, "GPT-2")):
        assert control.value == first
        assert control.proto.set_value, f"{control.key} still shows the old choice in the browser"


def test_an_invalid_pattern_shows_an_error_and_prevents_training(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Weighted words", preset="Custom")
    app.selectbox(key="settings_pretokenizer").set_value("your own regular expression").run()
    for pattern in ("(", ""):
        app.text_input(key="settings_pattern").set_value(pattern).run()
        assert len(app.error) == 1
    assert_press_is_refused(app)


def test_a_runaway_pattern_shows_an_error_and_keeps_the_text(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretokenizers, "_SECONDS", 0.5)  # instead of four
    app = choose(open_app(), source="Paste", preset="Custom")
    app.text_area(key="corpus_pasted").set_value("a" * 5_000 + "!")
    app.selectbox(key="settings_pretokenizer").set_value("your own regular expression").run()
    app.text_input(key="settings_pattern").set_value(r"(a|aa|a?)+$").run()
    assert any("second" in error.value for error in app.error)
    assert_press_is_refused(app)
    assert app.text_area(key="corpus_pasted").value == "a" * 5_000 + "!"


def test_an_uploaded_corpus_is_kept_when_the_page_is_left_and_its_name_stays_text(
    open_app: OpenApp,
) -> None:
    name = "<script>alert(1)</script> *b* $x$ :red[r].txt"
    app = choose(open_app(), source="Upload")
    upload(app, "corpus_uploads", (name, RHYME.encode()))
    app.select_slider(key="settings_byte_size").set_value(300).run()
    train(app)
    assert load_run(in_address(app, "run")).title == name
    assert "<script>" not in page_text(app)
    assert "\\<script\\>" in page_text(app)
    app.switch_page("pages/pair_frequencies.py").run()
    app.switch_page("pages/train.py").run()
    assert "Uploaded before: **\\<script\\>" in page_text(app)
    assert not app.button(key="train").disabled
    upload(app, "corpus_uploads", ("rhyme.txt", RHYME.encode()))
    upload(app, "corpus_uploads")
    assert "Uploaded before" not in page_text(app)
    assert_press_is_refused(app)


def bars(app: AppTest, number: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return the shares in a set of bars, keyed by the group's title, the text and the part."""
    protos = [c.proto for c in app.get("bidi_component")]
    drawn = [proto for proto in protos if proto.component_name == "bpe.share_bars"][number]
    return {
        group["title"]: {
            bar["text"]: {part["name"]: part["share"] for part in bar["shares"]}
            for bar in group["bars"]
        }
        for group in json.loads(drawn.json)["groups"]
    }


def test_held_out_text_is_shown_to_be_like_the_training_text(open_app: OpenApp) -> None:
    files = {
        "english.txt": "".join(f"{n:05} some words of a line\n" for n in range(2_000)),
        "russian.md": "".join(f"{n:05} слова одной строки\n" for n in range(1_500)),
        "code.py": "".join(f"value_{n:05} = {n:05}\n" for n in range(1_000)),
    }
    app = choose(open_app(), source="Upload")
    upload(app, "corpus_uploads", *((name, text.encode()) for name, text in files.items()))
    drawn = bars(app, 0)
    assert list(drawn) == ["By script, in characters", "By file type, in bytes"]
    for group in drawn.values():
        assert list(group) == ["Training text", "Held out"]
        for name, share in group["Training text"].items():
            assert group["Held out"][name] == pytest.approx(share, rel=0.1), name
    corpus = bpe.Corpus.from_documents(list(files.values()), list(files))
    _, held_out = corpus.split(0.08, seed=HELD_OUT_SEED)
    assert f"{held_out.n_bytes:,} more bytes from 3 documents are held out." in page_text(app)
    train(app)
    assert bars(app, 1) == drawn


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("pug 5\nhug ten", "Line 2"),
        ("\n".join(f"{'a' * 99}{n} {'9' * 15}" for n in range(99)), "more than 64 bits can count"),
    ],
)
def test_weighted_words_that_cannot_be_counted_are_refused(
    open_app: OpenApp, words: str, problem: str
) -> None:
    app = choose(open_app(), source="Weighted words")
    app.text_area(key="corpus_words").set_value(words).run()
    (error,) = app.error
    assert problem in error.value
    assert_press_is_refused(app)


def test_an_impossible_vocabulary_size_shows_an_error_before_training(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Weighted words", preset="Custom")
    # b g h n p s u, and one special token.
    app.segmented_control(key="settings_base").set_value("characters")
    for size, problem in ((7, "at least 8"), (2_000_000, "expected at most 1,000,000")):
        app.number_input(key="settings_vocab_size").set_value(size).run()
        assert problem in errors(app)
        assert "0 merges" not in page_text(app)
        assert_press_is_refused(app)
        # The pre-tokens are still shown.
        assert component(app, "bpe.pretoken_strip")["pretokens"]
    app.number_input(key="settings_vocab_size").set_value(8).run()
    assert not app.error
    assert not app.button(key="train").disabled


def test_the_page_shows_how_the_special_tokens_were_read(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Paste", preset="Custom")
    app.text_area(key="corpus_pasted").set_value(RHYME).run()
    assert "Read as 1 special token: **\\<\\|endoftext\\|\\>**." in page_text(app)
    app.text_area(key="settings_special_tokens").set_value(" [CLS]\n   \n\nmy token").run()
    assert "Read as 2 special tokens: **\\[CLS\\]**, **my␣token**." in page_text(app)
    assert "Line 2 holds only spaces and is ignored." in page_text(app)
    assert "Spaces around the token on line 1 are ignored." in page_text(app)
    assert "256 bytes + 2 special" in page_text(app)
    app.text_input(key="settings_end_of_word").set_value("  ").run()
    assert "Only spaces, so there is no marker." in page_text(app)


def test_the_next_training_replaces_one_that_failed(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Paste", preset="Custom")
    app.text_area(key="corpus_pasted").set_value(" \n" * 40)
    app.selectbox(key="settings_pretokenizer").set_value("whitespace").run()
    train(app)
    assert "Training failed" in app.error[0].value
    # The card next to the error shows the sample, and its heading says so.
    assert "Example" in [header.value for header in app.header]
    assert "✓ finished" not in page_text(app)
    failed = in_address(app, "job")
    app.text_area(key="corpus_pasted").set_value(RHYME)
    app.number_input(key="settings_vocab_size").set_value(260).run()
    app.button(key="train").click().run()
    assert failed not in app.query_params.get("job", [])
    until_ended(app)
    assert not app.error
    assert load_run(in_address(app, "run")).run.tokenizer.vocab_size == 260


def test_the_card_of_a_stopping_training_states_that_and_is_replaced_by_the_result(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_back(monkeypatch) as reached:
        job_id = submit(RHYME, "rhyme")
        assert reached.wait(MAX_WAIT_SECONDS)
        app = open_app(job=job_id)
        assert "Stopping…" not in [header.value for header in app.header]
        # In a narrow window the card is far below the button that began the training.
        assert "[See its progress](#training-progress)" in page_text(app)
        assert "training-progress" in [header.anchor for header in app.header]
        app.button(key="cancel").click().run()
        assert "Stopping…" in [header.value for header in app.header]
        assert app.button(key="cancel").disabled
        # An element that replaced one of another kind would show the old one's parts until the
        # script ends. So each card has its own place, and empties the other's.
        assert find_outcome(app) == ["flex_container", "empty"]
    draw_after(app, jobs, job_id)
    assert find_outcome(app) == ["empty", "flex_container"]


def submit(text: str, title: str, config: bpe.TrainingConfig = SMALL) -> str:
    origin = CorpusOrigin("paste", "", 0)
    corpus = bpe.Corpus.from_text(text)
    return jobs.submit(corpus, config, title=title, held_out_share=0, origin=origin)


def find_outcome(app: AppTest) -> list[str]:
    """Return the kinds of elements in the two places of a training and its result."""
    (outcome,) = app.columns[2].children.values()
    assert isinstance(outcome, Block)
    return [element.type for element in outcome.children.values()][:2]


def widget_values(app: AppTest) -> dict[str, object]:
    """Return the value of each widget of the two forms by its key."""
    kinds = ("segmented_control", "radio", "selectbox", "select_slider", "slider", "text_area")
    kinds += ("text_input", "number_input")
    widgets: list[Any] = [widget for kind in kinds for widget in app.get(kind)]
    return {w.key: w.value for w in widgets if str(w.key).startswith(("corpus_", "settings_"))}


def test_reset_brings_back_the_first_choices_of_every_widget(open_app: OpenApp) -> None:
    def visit() -> Iterator[tuple[str, str, dict[str, object]]]:
        for source, preset in (
            ("Sample", "GPT-2"),
            ("Sample", "Custom"),
            ("Paste", "GPT-4"),
            ("Weighted words", "Classroom"),
        ):
            choose(app, source=source, preset=preset)
            yield source, preset, widget_values(app)

    app = open_app()
    first = list(visit())
    keys = {key for _, _, values in first for key in values}
    assert {"settings_base", "corpus_held_out", "settings_byte_size"} < keys
    assert any(key.startswith("settings_classroom_size_") for key in keys)
    for source, preset, values in first:
        choose(app, source=source, preset=preset)
        # The choice of own files hides the slider.
        for key in sorted(values, key=lambda key: (key == "corpus_held_by", key)):
            if key in widget_values(app):
                change(app, key)
        changed = widget_values(app)
        own = values.keys() - {"corpus_source", "settings_preset"}
        assert all(values[key] != changed.get(key) for key in own)
    app.button(key="reset").click().run()
    assert widget_values(app) == first[0][2]
    assert list(visit()) == first


def change(app: AppTest, key: str) -> None:
    """Change a widget from its first value."""
    # Moving the slider replaces the field of an exact size and chooses the size's name, so these
    # need no change here.
    if key in ("corpus_source", "settings_preset", "settings_amount") or key.startswith(
        "settings_exact_"
    ):
        return
    if key in ("corpus_sample", "corpus_held_by", "settings_pretokenizer", "settings_trainer"):
        others = {
            "corpus_sample": "notebook",
            "corpus_held_by": "file",
            "settings_trainer": "Removals (PickyBPE)",
        }
        app.selectbox(key=key).set_value(others.get(key, "none"))
    elif key in ("settings_base", "settings_alphabet", "settings_tie_break"):
        others = {"settings_base": "characters", "settings_alphabet": "seen"}
        app.segmented_control(key=key).set_value(others.get(key, "first-seen"))
    elif key == "corpus_words":
        # Change only a count, because the choices of the slider depend on the words.
        app.text_area(key=key).set_value("hug 11\npug 5\npun 12\nbun 4\nhugs 5")
    elif key == "corpus_held_out":
        app.slider(key=key).set_value(0)
    elif key.startswith(("settings_classroom_size_", "settings_byte_size")):
        slider = app.select_slider(key=key)
        slider.set_value(int(str(slider.options[3]).replace(",", "")))
    elif key.endswith(("_pasted", "_line", "_special_tokens", "_seeds", "_vetoes")):
        app.text_area(key=key).set_value("other")
    elif key == "settings_end_of_word":
        app.text_input(key=key).set_value("</w>")
    else:
        app.number_input(key=key).set_value(500)
    app.run()


def test_a_training_cancelled_in_the_queue_is_reported_once(open_app: OpenApp) -> None:
    words = " ".join(f"{n * 2_654_435_761 % 2**40:x}" for n in range(80_000))
    config = bpe.TrainingConfig(80_000, pretokenizer="whitespace")
    open_app()
    for_long, job_id = submit(words, "long", config), submit(RHYME, "short")
    app = open_app(job=job_id)
    assert "Waiting: 1 training run before yours." in page_text(app)
    app.button(key="cancel").click().run()
    assert "cancelled before the first merge" in app.info[0].value
    assert "job" not in app.query_params
    assert not app.run().info
    jobs.cancel(for_long)
    wait_until(jobs, for_long)


def others_train(n: int) -> None:
    """Store runs of other visitors, which stay in memory too if they cannot be saved."""
    words = bpe.Corpus.from_word_counts({"hug": 2})
    run = bpe.train(words, bpe.TrainingConfig(257, special_tokens=()))
    for _ in range(n):
        store_run(Trained("Hugs", run, words.split(0)[1]))


def test_other_visitors_runs_do_not_evict_the_run_of_an_open_session(
    open_app: OpenApp, tmp_path: Path
) -> None:
    app = paste(open_app(), RHYME)
    shutil.rmtree(tmp_path / "runs", ignore_errors=True)  # it has the pasted text
    (tmp_path / "runs").write_text("a file where the folder should be")
    train(app)
    others_train(2 * MAX_UNCLAIMED)
    app.run()
    assert not app.error
    assert "disk is full" in app.warning[0].value
    assert "this run is not saved" in app.warning[0].value
    assert "Pasted text" in page_text(app)
    assert app.get("download_button")
    # The same holds for a training that ends while its visitor is on another page.
    app.text_area(key="corpus_pasted").set_value(RHYME.upper()).run()
    app.button(key="train").click().run()
    job_id = in_address(app, "job")
    app.switch_page("pages/lessons.py").run()
    draw_after(app, jobs, job_id)
    others_train(2 * MAX_UNCLAIMED)
    app.switch_page("pages/train.py").run()
    assert not app.error
    assert load_run(in_address(app, "run")).run.corpus_bytes


FORMATS = ("huggingface", "transformers", "gpt2", "tiktoken", "gguf", "native")


def test_the_lines_that_load_a_download_are_beside_it(open_app: OpenApp) -> None:
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    app = open_app()
    shown = [code.value for code in app.code]
    for format in FORMATS:
        lines = find_reader(format).lines(tokenizer).code.strip()
        assert any(code.endswith(lines) for code in shown)
    assert "bpe encode-corpus corpus/ -t tokenizer.json --out tokens/" in shown
    assert "Tests open every format" in page_text(app)


def test_the_transformers_folder_unzips_to_the_folder_that_its_lines_open() -> None:
    (folder,) = (each for each in downloads(SAMPLE_RUN_ID) if each.format == "transformers")
    assert folder.data is not None
    with ZipFile(BytesIO(folder.data())) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {FOLDER}
    assert f'from_pretrained("{FOLDER}")' in folder.code
