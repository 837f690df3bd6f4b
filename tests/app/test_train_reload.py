"""The forms on Train after a reload: they hold the open run's corpus and settings."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.files import Store
from bpe_core.trainers import train as train_run
from tests.app.pages import (
    OpenApp,
    errors,
    in_address,
    page_text,
    paste,
    read_query,
    unescaped_text,
    upload,
)
from tests.app.training import (
    amounts,
    assert_press_is_refused,
    choose,
    draw_after,
    exact_size,
    held_back,
    train,
)
from tests.waiting import MAX_WAIT_SECONDS
from ui.shell import workspace
from ui.shell.open_run import GivenCorpus
from ui.storage import (
    Trained,
    keep_uploaded,
    load_run,
    run_store,
    store_run,
)
from ui.work import jobs

RHYME = "the cat sat on the mat and the rat sat on the hat\n" * 40


def assert_same_run(open_app: OpenApp, app: AppTest) -> AppTest:
    """Fail unless the reloaded forms hold the run's corpus and settings, and train it again."""
    first = load_run(in_address(app, "run"))
    again = open_app(run=in_address(app, "run"))
    assert not again.error
    assert "Trained" in [header.value for header in again.header]
    assert "The form now has" not in page_text(again)
    train(again)
    second = load_run(in_address(again, "run"))
    assert second.id != first.id
    assert second.title == first.title
    assert second.run.corpus_sha256 == first.run.corpus_sha256
    assert second.run.config == first.run.config
    assert second.held_out == first.held_out
    return again


def test_a_pasted_text_and_an_exact_size_come_back(open_app: OpenApp) -> None:
    text = f"  first\r\n\n{RHYME}é 日本 🧩"
    app = paste(open_app(), text)
    app.slider(key="corpus_held_out").set_value(20)
    app.number_input(key="settings_exact_byte_size_4096").set_value(275).run()
    train(app)
    again = assert_same_run(open_app, app)
    assert again.text_area(key="corpus_pasted").value == text
    assert again.select_slider(key="settings_byte_size").value == 257
    assert again.number_input(key="settings_exact_byte_size_257").value == 275
    assert again.slider(key="corpus_held_out").value == 20


def test_a_sample_comes_back_by_its_name_with_the_preset(open_app: OpenApp) -> None:
    app = choose(open_app(), preset="Custom")
    app.selectbox(key="corpus_sample").set_value("notebook").run()
    train(app)
    again = assert_same_run(open_app, app)
    assert again.selectbox(key="corpus_sample").value == "notebook"
    # Custom's first fields are those of this preset.
    assert again.radio(key="settings_preset").value == "GPT-2"


def test_weighted_words_and_custom_fields_come_back(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Weighted words", preset="Custom")
    app.text_area(key="corpus_words").set_value("hugs 5\nhug 900\npug 5\nhug 10")
    app.selectbox(key="settings_pretokenizer").set_value("your own regular expression").run()
    app.text_input(key="settings_pattern").set_value(r"\w+")
    app.segmented_control(key="settings_base").set_value("characters")
    app.segmented_control(key="settings_tie_break").set_value("first-seen")
    app.number_input(key="settings_min_frequency").set_value(5)
    app.number_input(key="settings_max_token_bytes").set_value(9)
    app.text_area(key="settings_special_tokens").set_value("[CLS]\n[SEP]")
    app.text_input(key="settings_end_of_word").set_value("</w>")
    app.number_input(key="settings_vocab_size").set_value(14).run()
    train(app)
    again = assert_same_run(open_app, app)
    assert again.text_area(key="corpus_words").value == "hugs 5\nhug 910\npug 5"
    config = load_run(in_address(app, "run")).run.config
    assert config.pretokenizer == r"regex:\w+"
    assert (config.alphabet, config.tie_break) == ("characters", "first-seen")
    assert (config.min_frequency, config.max_token_bytes, config.vocab_size) == (5, 9, 14)
    assert (config.special_tokens, config.end_of_word) == (("[CLS]", "[SEP]"), "</w>")


def test_superwords_seeds_and_vetoes_come_back_and_every_page_opens(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Paste", preset="Custom")
    app.text_area(key="corpus_pasted").set_value(RHYME).run()
    assert "superwords" not in app.selectbox(key="settings_pretokenizer").options
    app.number_input(key="settings_vocab_size").set_value(290)
    app.selectbox(key="settings_trainer").set_value("Superwords (SuperBPE)").run()
    app.number_input(key="settings_superwords_from").set_value(300).run()
    assert "superwords_from" in errors(app)
    app.number_input(key="settings_superwords_from").set_value(200).run()
    assert "before the vocabulary has 257 tokens" in errors(app)
    app.slider(key="settings_superwords_slider").set_value(270).run()
    assert app.number_input(key="settings_superwords_from").value == 270
    # The slider ends at the vocabulary's size, and stays where it was as that changes.
    app.number_input(key="settings_vocab_size").set_value(289).run()
    slider = app.slider(key="settings_superwords_slider")
    assert (slider.max, slider.value) == (289, 270)
    app.number_input(key="settings_vocab_size").set_value(290)
    app.number_input(key="settings_min_frequency").set_value(0)
    app.text_area(key="settings_seeds").set_value("mat\nNew York\n \n")
    app.text_area(key="settings_vetoes").set_value(" hat\nregex:[0-9]")
    app.toggle(key="settings_whole_characters").set_value(True).run()
    assert "no pair left to join" not in page_text(app)
    train(app)
    again = assert_same_run(open_app, app)
    assert "that may join words, after 13 merges within words" in page_text(again)
    assert "“New York” did not become a token" in unescaped_text(again)
    assert "“mat” did not" not in unescaped_text(again)
    assert again.text_area(key="corpus_pasted").value == RHYME
    run_id = in_address(again, "run")
    run = load_run(run_id).run
    assert (run.config.seeds, run.config.vetoes) == (("mat", "New York"), (" hat", "regex:[0-9]"))
    assert run.config.whole_characters
    assert any(b" " in run.tokenizer.vocab[merge.id].strip() for merge in run.merges)
    for page in ("merge_loop", "pair_frequencies", "token_boundaries", "vocabulary", "compare"):
        app = open_app(page, run=run_id)
        assert not errors(app)
        if page == "merge_loop":
            assert "13 merges within words came first, up to 270 tokens" in page_text(app)
            assert f"Trained with {run.config.ways}. 13" in unescaped_text(app)
    app = open_app("adapt", run=run_id)
    # The seeds were made in training: the form to extend begins empty, and no result is shown.
    assert app.text_area(key="adapt_terms").value == ""
    assert "What you will get" in [header.value for header in app.header]


def test_removals_come_back_and_every_page_opens(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Paste", preset="Custom")
    app.text_area(key="corpus_pasted").set_value(RHYME * 3).run()
    app.selectbox(key="settings_trainer").set_value("Removals (PickyBPE)").run()
    app.text_area(key="settings_vetoes").set_value("mat").run()
    assert "picky and vetoes do not go together" in errors(app)
    app.text_area(key="settings_vetoes").set_value("")
    app.number_input(key="settings_min_frequency").set_value(0)
    app.number_input(key="settings_picky").set_value(0.6)
    app.number_input(key="settings_vocab_size").set_value(266).run()
    # More merges than tokens: each removal makes room for one more.
    assert "and once more for each token taken out again" in page_text(app)
    train(app)
    again = assert_same_run(open_app, app)
    run_id = in_address(again, "run")
    run = load_run(run_id).run
    assert run.config.picky == 0.6
    assert run.tokenizer.table.removals
    assert "removals of tokens" in page_text(again)
    assert "Trained with removal of tokens above 0.6 of their uses (PickyBPE)." in page_text(again)
    assert "the format huggingface is a plain list of merges" in unescaped_text(again)
    for page in ("merge_loop", "pair_frequencies", "token_boundaries", "vocabulary", "compare"):
        app = open_app(page, run=run_id)
        assert not errors(app), page
        if page == "vocabulary":
            assert "of its 266 tokens** are made of" in page_text(app)


def test_languages_that_take_turns_come_back_and_every_page_opens(open_app: OpenApp) -> None:
    texts = {
        "de.txt": "das Meer und der Weg ins Meer " * 9,
        "en.txt": "the sea and the way to the sea " * 30,
    }
    app = choose(open_app(), source="Upload", preset="Custom")
    app = upload(app, "corpus_uploads", ("de.txt", texts["de.txt"].encode()))
    app.selectbox(key="settings_trainer").set_value("Parity between languages").run()
    app.number_input(key="settings_min_frequency").set_value(0)
    app.number_input(key="settings_vocab_size").set_value(290).run()
    assert "needs a folder, or a file, for each language" in unescaped_text(app)
    train(app)
    assert "this text has only 'de'. Add a file for each other language" in errors(app)
    assert "Traceback" not in unescaped_text(app)
    app = upload(app, "corpus_uploads", *((name, texts[name].encode()) for name in texts))
    assert app.number_input(key="settings_vocab_size").value == 290
    train(app)
    run_id = in_address(app, "run")
    run = load_run(run_id).run
    assert run.config.parity
    assert run.parity is not None
    assert run.parity.languages == ("de", "en")
    assert len(run.parity.plain) == 2
    assert run.picked_by is not None
    assert set(run.picked_by.tolist()) == {"de", "en"}
    again = open_app(run=run_id)
    assert run.parity.sentence() in unescaped_text(again)
    for page in ("merge_loop", "pair_frequencies", "token_boundaries", "vocabulary", "compare"):
        app = open_app(page, run=run_id)
        assert not errors(app), page
        if page == "merge_loop":
            assert run.parity.sentence() in unescaped_text(app)
            assert "most often in the language whose turn it is." in unescaped_text(app)
            headings = [header.value for header in app.header]
            assert headings[-2:] == ["Which language picked each merge", "What each language costs"]
            assert len(app.get("plotly_chart")) == 2


def give(app: AppTest, **files: str) -> AppTest:
    """Upload text files on Train."""
    choose(app, source="Upload")
    given = [(f"{name}.txt", text.encode()) for name, text in files.items()]
    return upload(app, "corpus_uploads", *given)


@pytest.mark.parametrize("source", ["Upload", "Paste"])
def test_a_corpus_that_is_not_kept_is_named_and_not_replaced(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(run_store, "MAX_CHARACTERS_KEPT", 3)
    app = open_app()
    if source == "Upload":
        give(app, **{"<b>manual</b>": RHYME})
    else:
        paste(app, RHYME)
    train(app)
    for folder in Store().folder.glob("upload-*"):
        shutil.rmtree(folder)
    again = open_app(run=in_address(app, "run"))
    assert again.segmented_control(key="corpus_source").value == source
    (info,) = again.info
    assert "which is not kept with it" in info.value
    assert "<b>" not in info.value
    assert_press_is_refused(again)
    assert "The form now has no text." in page_text(again)
    again.segmented_control(key="corpus_source").set_value("Sample").run()
    assert not again.info


@pytest.mark.parametrize(
    ("source", "preset"),
    [("Paste", "Classroom"), ("Sample", "GPT-4")],
)
def test_the_forms_hold_a_training_that_is_running(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, source: str, preset: str
) -> None:
    with held_back(monkeypatch) as reached:
        app = choose(open_app(), source=source, preset=preset)
        if source == "Paste":
            app.text_area(key="corpus_pasted").set_value(RHYME).run()
        else:
            app.selectbox(key="corpus_sample").set_value("notebook").run()
        app.slider(key="corpus_held_out").set_value(20).run()
        size = exact_size(app)
        size.set_value(int(size.value or 0) + 7).run()
        app.button(key="train").click().run()
        assert reached.wait(MAX_WAIT_SECONDS)
        job_id = in_address(app, "job")
        again = open_app(**read_query(app))
        assert not again.error
        assert again.button(key="train").disabled
    forms = form_values(again)
    assert forms == form_values(app)
    assert (forms["corpus_source"], forms["settings_preset"]) == (source, preset)
    draw_after(again, jobs, job_id)
    assert "Trained" in [header.value for header in again.header]
    assert "The form now has" not in page_text(again)
    assert form_values(again) == forms


def test_a_training_that_a_restart_ended_is_named_and_its_forms_stay(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_back(monkeypatch) as reached:
        app = paste(choose(open_app(), preset="Classroom"), RHYME)
        app.slider(key="corpus_held_out").set_value(20).run()
        size = exact_size(app)
        size.set_value(int(size.value or 0) + 7).run()
        app.button(key="train").click().run()
        assert reached.wait(MAX_WAIT_SECONDS)
        query = read_query(app)
        assert "job" in query
    again = open_app(**{**query, "job": "f" * 32})
    assert "does not know the training" in again.warning[0].value
    assert "job" not in again.query_params
    assert form_values(again) == form_values(app)
    train(again)
    assert load_run(in_address(again, "run")).run.config.vocab_size == size.value


def form_values(app: AppTest) -> dict[str, object]:
    kinds = ("segmented_control", "radio", "selectbox", "select_slider", "slider", "text_area")
    widgets: list[Any] = [w for kind in (*kinds, "number_input") for w in app.get(kind)]
    values = {str(w.key): w.value for w in widgets}
    # A size keeps its value if it was moved, but not its key.
    return {
        re.sub("(_moved|(?<=amount))_[0-9]+$", "", key): value
        for key, value in values.items()
        if key.startswith(("corpus_", "settings_"))
    }


def test_a_run_without_its_corpus_brings_back_its_settings_alone(open_app: OpenApp) -> None:
    corpus = bpe.Corpus.from_text(RHYME)
    config = bpe.TrainingConfig(300, pretokenizer="cl100k", min_frequency=2)
    run_id = store_run(Trained("Old", train_run(corpus, config), corpus.split(0)[1]))
    app = open_app(run=run_id)
    assert app.radio(key="settings_preset").value == "GPT-4"
    assert app.select_slider(key="settings_byte_size").value == 300
    assert "Old" in app.info[0].value
    assert_press_is_refused(app)


def test_an_upload_comes_back_before_it_is_trained_on(open_app: OpenApp) -> None:
    app = give(open_app(), **{"<b>a</b>": RHYME})
    app.slider(key="corpus_held_out").set_value(20).run()
    again = open_app(**read_query(app))
    assert not again.error
    assert "Uploaded before: **" in page_text(again)
    assert "<b>" not in page_text(again)
    assert form_values(again) == form_values(app)
    train(app)
    train(again)
    first, second = (load_run(in_address(each, "run")) for each in (app, again))
    assert second.run.corpus_sha256 == first.run.corpus_sha256
    assert second.held_out == first.held_out


def test_a_corpus_that_the_browser_names_stays_when_an_older_message_arrives(
    open_app: OpenApp,
) -> None:
    kept = keep_uploaded(bpe.Corpus.from_text(RHYME), "rhyme.txt")
    app = open_app()
    app.session_state[workspace.state_key(GivenCorpus)] = GivenCorpus(f"upload={kept}", True)
    app.run()
    for _ in range(2):
        assert app.segmented_control(key="corpus_source").value == "Upload"
        assert "Uploaded before" in page_text(app)
        # As the browser sends it that has not drawn the filled form yet.
        app.checkbox(key="shows_given_corpus").set_value(False)
        app.segmented_control(key="corpus_source").set_value("Sample").run()
    app.segmented_control(key="corpus_source").set_value("Sample").run()
    assert app.segmented_control(key="corpus_source").value == "Sample"
    assert "Uploaded before" not in page_text(app)
    app.checkbox(key="shows_given_corpus").set_value(False).run()
    assert app.segmented_control(key="corpus_source").value == "Sample"


def test_uploads_come_back_with_their_run(open_app: OpenApp) -> None:
    files = {"a": RHYME * 1_100, "b": "hug\nhugs\n", "c": "x"}
    app = give(open_app(), **files)
    app.select_slider(key="settings_byte_size").set_value(300).run()
    train(app)
    again = assert_same_run(open_app, app)
    assert "Uploaded before: **a.txt, b.txt, c.txt**" in unescaped_text(again)
    # Another run in the address leaves the forms alone.
    other = paste(open_app(), RHYME)
    other.query_params["run"] = in_address(app, "run")
    other.run()
    assert other.text_area(key="corpus_pasted").value == RHYME
    assert "Previous run" in [header.value for header in other.header]


def test_an_upload_that_only_the_disk_holds_comes_back(open_app: OpenApp) -> None:
    app = give(open_app(), a=RHYME * 11_000)
    again = open_app(**read_query(app))
    assert not again.error
    assert "more bytes are held out" in page_text(again)
    assert form_values(again) == form_values(app)
    train(again)
    assert load_run(in_address(again, "run")).run.corpus_sha256


@pytest.mark.parametrize("text", ["hug hugs\n" * 3, "hug hugs\n" * 30_000])
def test_a_typed_text_comes_back_before_it_is_trained_on(open_app: OpenApp, text: str) -> None:
    app = paste(open_app(), text)
    again = open_app(**read_query(app))
    assert again.segmented_control(key="corpus_source").value == "Paste"
    shown = "corpus_pasted" if len(text) < 100_000 else "corpus_pasted_excerpt"
    assert again.text_area(key=shown).value == text[:2_000]
    train(app)
    train(again)
    first, second = (load_run(in_address(each, "run")) for each in (app, again))
    assert second.run.corpus_sha256 == first.run.corpus_sha256


def test_words_and_a_sample_come_back_before_they_are_trained_on(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Weighted words")
    assert set(read_query(app)) == {"corpus"}
    app.text_area(key="corpus_words").set_value("ab 3\ncd 2").run()
    again = open_app(**read_query(app))
    assert again.text_area(key="corpus_words").value == "ab 3\ncd 2"
    again.segmented_control(key="corpus_source").set_value("Sample").run()
    assert not set(read_query(again))
    again.selectbox(key="corpus_sample").set_value("notebook").run()
    assert open_app(**read_query(again)).selectbox(key="corpus_sample").value == "notebook"


@pytest.mark.parametrize("upload_id", ["f" * 32, "../x"])
def test_an_upload_that_is_no_longer_kept_is_named(open_app: OpenApp, upload_id: str) -> None:
    app = open_app(corpus="upload", upload=upload_id)
    assert app.segmented_control(key="corpus_source").value == "Upload"
    assert app.info
    assert_press_is_refused(app)


@pytest.mark.parametrize("preset", ["Classroom", "Custom"])
def test_settings_come_back_before_they_are_trained_with(open_app: OpenApp, preset: str) -> None:
    app = choose(open_app(), source="Weighted words", preset=preset)
    (size,) = (w for w in app.number_input if "size" in str(w.key))
    size.set_value(int(size.value or 0) + 7).run()
    if preset == "Custom":
        app.selectbox(key="settings_pretokenizer").set_value("your own regular expression").run()
        app.text_input(key="settings_pattern").set_value('[^\\p{L}]|<ü">&+ ').run()
        app.text_area(key="settings_special_tokens").set_value("[CLS]\n<b>").run()
    again = open_app(**read_query(app))
    assert form_values(again) == form_values(app)
    if preset == "Custom":
        assert again.text_input(key="settings_pattern").value == '[^\\p{L}]|<ü">&+ '
    train(again)
    reloaded = open_app(**read_query(again))
    assert form_values(reloaded) == form_values(app)
    assert "settings" not in read_query(reloaded)
    reloaded.button(key="reset").click().run()
    after = open_app(**read_query(reloaded))
    assert form_values(after) == form_values(open_app())


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("[]", "Expected names and values, got"),
        ("{vocab", "They are not JSON"),
        ('{"start":1,"special_tokens":5}', "Expected a list as special_tokens"),
        ('{"start":1,"vocab_sise":300}', "There is no setting 'vocab_sise'."),
        ('{"start":1,"vocab_size":"<b>"}', "Expected vocab_size as a whole number"),
        ('{"vocab_size":300}', "Expected an integer as start"),
        ('"' + "x" * 2_000, "They have more than 2,000 characters."),
    ],
)
def test_settings_in_an_address_that_cannot_be_used_are_named(
    open_app: OpenApp, settings: str, why: str
) -> None:
    app = open_app(settings=settings)
    (warning,) = app.warning
    assert warning.value.startswith("The settings in this address were not used\\. ")
    assert why in warning.value.replace("\\", "")
    assert "<b>" not in warning.value
    assert form_values(app) == form_values(open_app())
    assert "settings" not in read_query(app)
    amounts(app).set_value("Few pieces").run()
    assert not app.warning


def test_a_cut_that_normalizes_first_stays_chosen(open_app: OpenApp) -> None:
    app = open_app(settings='{"vocab_size":300,"pretokenizer":"NFC+gpt2","start":257}')
    for page in (app, open_app(**read_query(train(app)))):
        assert page.selectbox(key="settings_pretokenizer").value == "NFC+gpt2"


@pytest.mark.parametrize("steps", [(), (512,), (300, 2048)])
@pytest.mark.parametrize("is_typed", [True, False])
def test_a_size_typed_or_named_stays_when_older_messages_arrive(
    open_app: OpenApp, steps: tuple[int, ...], is_typed: bool
) -> None:
    app = open_app()
    for step in steps:
        app.select_slider[0].set_value(step).run()
    shown: list[Any] = [app.select_slider[0], exact_size(app), amounts(app)]
    for each in shown:
        each.set_value(each.value)  # otherwise these would tell what the server holds
    field = exact_size(app).set_value(400) if is_typed else amounts(app).set_value("Long pieces")
    undrawn = app._tree
    field.run()
    for _ in range(2):
        # As the browser sends it that has not drawn the new size yet.
        app._tree = undrawn
        app.run()
        assert exact_size(app).value == app.select_slider[0].value == (400 if is_typed else 16_384)
    app.select_slider[0].set_value(1024).run()
    assert (exact_size(app).value, amounts(app).value) == (1024, None)
    amounts(app).set_value("Few pieces").run()
    assert exact_size(app).value == 512
