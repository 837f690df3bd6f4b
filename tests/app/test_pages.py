"""Each page opens on the sample run, and with whatever the address holds for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.web.server.app_discovery import discover_asgi_app

import bpe_core as bpe
from bpe_core.files import Entry
from tests.app.pages import (
    OpenApp,
    all_sent,
    in_address,
    paste,
    picker_label,
    press,
    sent,
    unescaped_text,
)
from tests.app.stored import NOTHING_HELD_OUT, store, store_hugs
from tests.app.training import train
from tests.app_pages import PAGES, PAGES_OF_A_RUN, START
from tests.new_process import ROOT, run_python
from tests.plurals import ONE_OF_MANY
from ui.components import MAX_SENTENCE_LENGTH
from ui.shell import workspace
from ui.shell.open_run import MAX_RECENT_RUNS, OwnKeys
from ui.storage import SAMPLE_RUN_ID, Trained, run_store, store_run


@pytest.mark.parametrize(("page", "title"), [("start", START), *PAGES.items()])
def test_a_page_opens_on_the_sample_run(
    open_app: Callable[..., AppTest], page: str, title: str
) -> None:
    app = open_app(page)
    assert [each.value for each in app.title] == [title]
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize(("page", "is_of_page"), [("merge_loop", True), ("train", False)])
def test_the_address_keeps_a_step_only_on_pages_with_steps(
    open_app: Callable[..., AppTest], page: str, is_of_page: bool
) -> None:
    app = open_app(page, step="7")
    assert ("step" in app.query_params) is is_of_page


@pytest.mark.parametrize("run_id", ["a" * 32, "../\0<b>" + "x" * 3_000])
def test_an_unknown_run_is_reported(open_app: Callable[..., AppTest], run_id: str) -> None:
    app = open_app("train", run=run_id)
    assert "The example run is shown instead" in app.error[0].value
    # The error stays after a rerun, as long as the address names no run.
    app.run()
    assert "The example run is shown instead" in app.error[0].value


def test_an_unknown_run_leaves_the_open_one_open(open_app: Callable[..., AppTest]) -> None:
    app = open_app("merge_loop")
    app.query_params["run"] = store_hugs()
    app.run()
    app.query_params["run"] = "a" * 32
    app.run()
    assert "The run that was open is shown instead" in app.error[0].value
    assert picker_label(app).startswith("Run: Hugs")
    del app.query_params["run"]
    app.run()
    assert not app.error
    assert picker_label(app).startswith("Run: Hugs")


def test_the_picker_names_runs_without_reading_them(
    open_app: Callable[..., AppTest], tmp_path: Path
) -> None:
    app = open_app("merge_loop")
    ids = []
    for n in range(MAX_RECENT_RUNS + 1):
        ids.append(store_hugs(f"Hugs {n}", 257 + n % 3))
        app.query_params["run"] = ids[-1]
        app.run()
    run_store._loaded.clear()
    for run_id in ids[:-1]:
        (tmp_path / "runs" / run_id / "run.npz").unlink()
    app.run()
    names = list(app.menu_button[0].options)
    assert len(names) == 1 + MAX_RECENT_RUNS
    assert any(name.startswith(f"Hugs {MAX_RECENT_RUNS} ") for name in names)
    assert not any(name.startswith("Hugs 0 ") for name in names)


CHOICES = [
    ("lessons", "lesson", "You against BPE", "Four documents"),
    ("lessons", "step_of_1", "Words", "Pairs"),
    ("vocabulary", "vocabulary_of", "The example", "GPT-2"),
    ("vocabulary", "seen_as", "Table", "Trie"),
    ("token_boundaries", "tokenizer", "The example", "GPT-2"),
    ("lab", "lab_tokenizer", "The example", "GPT-2"),
    ("compare", "measure", "Parity", "Tokens per word"),
    ("compare", "part", "Verdict", "Figures"),
    ("compare", "on", "Held-out text", "Your own text"),
]


@pytest.mark.parametrize(("page", "key", "first", "other"), CHOICES)
def test_an_unknown_option_counts_as_the_first(
    open_app: Callable[..., AppTest], page: str, key: str, first: str, other: str
) -> None:
    app = open_app(page, **{key: "<b>nothing of ours\u202e"})
    assert app.segmented_control(key=key).value == first
    assert not app.query_params.get(key)
    for _ in range(2):
        (warning,) = app.warning
        assert warning.value.replace("\\", "") == (
            "This address names “<b>nothing of oursU+202E”, which is not a choice here."
        )
        app.run()
    app.segmented_control(key=key).set_value(other).run()
    assert app.segmented_control(key=key).value == other
    assert not app.warning
    assert not open_app(page, **{key: first}).warning


STEP = "not a step of this run, from 0 to 3,839."
PAIR = "“1-x”, which is not a pair of this run’s tokens"
UNREAD = [
    ("train", {"sample": "alicia"}, "no sample “alicia”"),
    ("experiments", {"corpus": "sample", "sample": "alicia"}, "no sample “alicia”"),
    ("train", {"corpus": "cloud"}, "no source of text “cloud”"),
    ("adapt", {"held_out": "99"}, "no share of 0 to 50 percent “99”"),
    ("train", {"held_out": "<b>8"}, "no share of 0 to 50 percent “<b>8”"),
    ("train", {"held_by": "folder:7"}, "nothing to hold out by “folder:7”"),
    (
        "train",
        {"sample": "a", "held_out": "x"},
        "no sample “a” and no share of 0 to 50 percent “x”",
    ),
    ("train", {"settings": "[]"}, "The settings in this address were not used."),
    ("train", {"corpus": "upload", "upload": "x"}, "The id in this address is malformed"),
    ("train", {"corpus": "paste", "pasted_id": "x"}, "The id in this address is malformed"),
    ("train", {"job": "x"}, "does not know the training in this address"),
    ("train", {"run": "x"}, "The run id in this address is malformed"),
    ("adapt", {"base": "gpt9"}, "“gpt9”, which is not among these tokenizers"),
    ("lab", {"with": "gpt9,gpt2"}, "“gpt9”, which is not a tokenizer"),
    ("lab", {"encoding": "x"}, "This work is no longer known"),
    ("compare", {"sentences": "x"}, "The id in this address is malformed"),
    ("token_boundaries", {"text_id": "x"}, "The id in this address is malformed"),
    ("merge_loop", {"step": "x", "words": "w" * 300}, STEP, "a text of at most 200 characters"),
    ("pair_frequencies", {"step": "999999", "pair": "1-x"}, f"{STEP} 3,839 is shown.", PAIR),
    ("pair_frequencies", {"merges": "x"}, "a number of merges from 0 to 3,839. 1,807 is shown."),
    ("compare", {"against": "gpt9"}, "“gpt9”, which is not one of these tokenizers"),
    ("compare", {"word": "w" * 300}, "a text of at most "),
    ("compare", {"reference": "x"}, "“x”, which is not a choice here."),
    ("compare", {"terms": "a", "terms_of": "x"}, "“x”, which is not a choice here."),
    ("compare", {"terms": "a", "price": "x"}, "“x”, which is not a number."),
    ("compare", {"own": "x"}, "The id in this address is malformed"),
    (
        "token_boundaries",
        {"special": "x", "text": "a<|endoftext|>b", "dropout": "7", "dropout_seed": "y"},
        "“x”, which is not a choice here.",
        "“7”, which is not a number from 0 to 1.",
        "“y”, which is not a number.",
    ),
    ("token_boundaries", {"text": "x" * 1_001}, "a text of at most 1,000 characters"),
    (
        "token_boundaries",
        {"chat": '[["user", "hi"], 1]', "answer": "x"},
        "not a list of up to 50 messages. 1 message of it can be read.",
        "“x”, which is not a choice here.",
    ),
    (
        "vocabulary",
        {
            "find": "x" * 301,
            "sort": "up",
            "script": "Klingon",
            "page": "99999",
            "token": "y",
            "prefix": "zz",
            "uses_on": "nowhere",
            "min_uses": "7",
        },
        "a search of at most 300 characters",
        "“up”, which is not a value of “sort” here",
        "“Klingon”, which is not a value of “script” here",
        "“y”, which is not an id of this vocabulary",
        "“zz”, which is not bytes in hexadecimal digits",
        "“nowhere”, which is not a choice here",
        "“7”, which is not a choice here",
    ),
    ("vocabulary", {"page": "99999"}, "“99999”, which is not a page of this table"),
    ("lab", {"lab_text": "x"}, "“x”, which is not a choice here."),
    ("lessons", {"lesson": "Hug words", "marker": "x"}, "“x”, which is not a choice here."),
    (
        "lessons",
        {"lesson": "Why token counts differ between languages", "taught_language": "x"},
        "“x”, which is not a choice here.",
    ),
    ("train", {"held_file": "x"}, "The id in this address is malformed"),
    ("adapt", {"adapt_tokens": "x"}, "“x”, which is not a number."),
]


@pytest.mark.parametrize(("page", "query", "said"), [(*each[:2], each[2:]) for each in UNREAD])
def test_what_an_address_names_and_a_page_does_not_have_is_said_once(
    open_app: Callable[..., AppTest], page: str, query: dict[str, str], said: tuple[str, ...]
) -> None:
    app = open_app(page, **query)
    shown = [each.value.replace("\\", "") for each in (*app.error, *app.warning, *app.info)]
    for sentence in said:
        assert len([each for each in shown if sentence in each]) == 1, (sentence, shown)


READ = [
    ("merge_loop", {"step": "7", "words": "hug"}),
    ("pair_frequencies", {"step": "7", "pair": "98-99"}),
    ("pair_frequencies", {"merges": "100"}),
    ("compare", {"against": "gpt2"}),
    ("compare", {"word": "hug"}),
    ("token_boundaries", {"special": "false", "text": "a<|endoftext|>b", "dropout": "0.5"}),
    ("token_boundaries", {"chat": '[["user","hi"]]', "answer": "true"}),
    ("vocabulary", {"find": "th", "sort": "-use", "script": "Latin"}),
    ("vocabulary", {"token": "300", "prefix": "74", "min_uses": "5 ×"}),
    ("lab", {"lab_text": "Your text"}),
    ("adapt", {"adapt_tokens": "100"}),
]


@pytest.mark.parametrize(("page", "query"), READ)
def test_what_a_page_has_of_its_address_is_read_without_a_word(
    open_app: Callable[..., AppTest], page: str, query: dict[str, str]
) -> None:
    app = open_app(page, **query)
    assert not app.warning
    assert not app.error
    assert app.query_params.items() >= query.items()


def test_what_a_page_could_not_read_is_not_said_again_on_another_page(open_app: OpenApp) -> None:
    app = open_app("merge_loop", step="999999")
    assert len(app.warning) == 1
    app.switch_page("pages/train.py").run()
    assert not app.warning
    app.switch_page("pages/merge_loop.py").run()
    assert not app.warning


def test_what_was_not_read_is_said_until_another_text_is_chosen(open_app: OpenApp) -> None:
    app = open_app(sample="alicia").run()
    assert len(app.warning) == 1
    assert "sample" not in app.query_params
    app.selectbox(key="corpus_sample").set_value("alice").run()
    assert not app.warning


def test_a_link_to_the_first_tokenizer_opens_it_for_any_run(open_app: OpenApp) -> None:
    app = open_app("lab", lab_tokenizer="Your tokenizer")
    assert app.segmented_control(key="lab_tokenizer").value == "The example"
    assert not app.warning


# Plotly is not in `heavy`, because Streamlit itself imports it.
_IMPORTS = """
import sys
import ui.components.start_loop, ui.shell.frame, ui.shell.open_run
import ui.corpus.own_texts, ui.serving.upkeep
heavy = ("pandas", "numba", "tokenizers", "tiktoken")
print([name for name in heavy if name in sys.modules])
"""


def open_start(**query: str) -> AppTest:
    """Open the bare address as a new visitor."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def titles(app: AppTest) -> list[str]:
    return [title.value for title in app.title]


def test_the_bare_address_shows_the_loop_and_three_doors() -> None:
    app = open_start(sentence="Ada Ada")
    assert titles(app) == [START]
    assert app.query_params["sentence"] == "Ada Ada"
    given = sent(app, "longest")
    assert given["longest"] == MAX_SENTENCE_LENGTH
    assert 0 < len(given["sentence"]) <= MAX_SENTENCE_LENGTH
    assert [door["path"] for door in given["doors"]] == ["train", "token_boundaries", "lessons"]
    assert all((ROOT / "pages" / f"{door['path']}.py").is_file() for door in given["doors"])
    # A run left in the address by Back leads nowhere, and other pages remove the sentence.
    app.query_params["run"] = "sample"
    app.run()
    assert titles(app) == [START]
    assert "run" not in app.query_params
    app.switch_page("pages/lessons.py").run()
    assert "sentence" not in app.query_params


def test_a_cold_link_to_each_page_leads_there(monkeypatch: pytest.MonkeyPatch) -> None:
    # Streamlit runs the page's file without app.py, which then returns to the page named in goto.
    asked: list[str] = []

    def switch(_: str, query_params: dict[str, list[str]]) -> None:
        asked.extend(query_params["goto"])
        st.stop()

    monkeypatch.setattr(st, "switch_page", switch)
    for name in PAGES:
        AppTest.from_file(str(ROOT / "pages" / f"{name}.py")).run()
    assert asked == [*PAGES]


@pytest.mark.parametrize("name", ["run", "job", "goto"])
def test_a_link_to_a_run_at_the_bare_address_leads_to_train(name: str) -> None:
    app = open_start(**{name: "sample"})
    assert titles(app) == ["Train"]
    assert "goto" not in app.query_params


def test_the_page_imports_nothing_heavy() -> None:
    assert run_python(_IMPORTS) == "[]\n"


_FIRST_VISITS = """
import sys
from streamlit.testing.v1 import AppTest
from ui.run.corpus_summary import pretoken_figures
from ui.serving.upkeep import warm_up_rest, warm_up_start

warm_up_start()
warm_up_rest()
before = set(sys.modules)
for page in ("train", "merge_loop"):
    app = AppTest.from_file("ROOT/app.py", default_timeout=120).run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
ours = ("ui.", "bpe_core.", "plotly.graph_objects", "pandas.core", "numba.core")
print(sorted(name for name in set(sys.modules) - before if name.startswith(ours)))
"""


def test_first_visits_import_no_module_after_warming_up() -> None:
    code = _FIRST_VISITS.replace("ROOT", str(ROOT))
    assert run_python(code).splitlines()[-1] == "[]"


def test_streamlit_finds_the_server() -> None:
    assert discover_asgi_app(ROOT / "app.py").import_string == "app:app"


@pytest.mark.parametrize("page", PAGES_OF_A_RUN)
def test_the_example_is_nowhere_called_the_visitors_tokenizer(open_app: OpenApp, page: str) -> None:
    app = open_app(page)
    shown = [unescaped_text(app), *(json.dumps(each) for each in all_sent(app))]
    assert not [text for text in shown if "your tokenizer" in text.lower()]


def test_a_tokenizer_is_called_the_visitors_only_if_their_browser_trained_it(
    open_app: OpenApp,
) -> None:
    key = Entry.new_id()
    run = bpe.train(["hug hugs"], vocab_size=260)
    store_run(Trained("Hugs", run, NOTHING_HELD_OUT), run_id=Entry.owned_id(key))
    for keys, name in (((), "This tokenizer"), ((key,), "Your tokenizer")):
        app = open_app("lab", OwnKeys(keys), run=Entry.owned_id(key))
        assert app.segmented_control(key="lab_tokenizer").options[0] == name
    theirs = open_app("lab", run=Entry.owned_id(key), lab_tokenizer="Your tokenizer")
    assert theirs.segmented_control(key="lab_tokenizer").value == "This tokenizer"
    assert not theirs.warning


@pytest.mark.parametrize("page", PAGES_OF_A_RUN)
def test_one_of_anything_is_in_the_singular(open_app: OpenApp, page: str) -> None:
    run = bpe.train(["aa"], vocab_size=258, special_tokens=("<|endoftext|>",))
    assert (len(run.merges), run.corpus_bytes) == (1, 2)
    app = open_app(
        page, run=store(run, "One"), text="a", tokenizer="Your tokenizer", own="", step="0"
    )
    shown = [unescaped_text(app), *(json.dumps(each) for each in all_sent(app))]
    shown += [each.value for kind in (app.error, app.info, app.warning) for each in kind]
    for text in shown:
        assert not ONE_OF_MANY.search(text), ONE_OF_MANY.findall(text)


def test_a_corpus_of_one_byte_is_measured_in_the_singular(open_app: OpenApp) -> None:
    app = paste(open_app(), "x")
    assert "1 document · 1 byte · nothing set aside" in unescaped_text(app)
    figures = sent(app, "figures")["figures"]
    assert [(figure["value"], figure["name"]) for figure in figures] == [
        ("1", "document"),
        ("1", "byte"),
        ("1", "pre-token"),
        ("1", "distinct"),
    ]


def visit(app: AppTest, run_ids: Sequence[str]) -> None:
    for run_id in run_ids:
        app.query_params["run"] = run_id
        app.run()


def test_train_is_pressed_on_the_untouched_first_page_twice(open_app: OpenApp) -> None:
    app = open_app()
    runs = [in_address(train(app), "run") for _ in range(2)]
    assert len(set(runs)) == 2
    *labels, rename, delete = app.menu_button[0].options
    assert (rename, delete) == ("Rename this run…", "Delete this run…")
    assert len(set(labels)) == 3
    assert picker_label(app) == f"Run: {labels[1]}"
    for run_id, page in zip(cycle(runs), PAGES_OF_A_RUN, strict=False):
        again = open_app(page, run=run_id)
        assert not again.error, page


# Labels of any titles differ: tests/unit/test_labels.py.
def test_any_two_runs_of_one_name_are_listed_and_opened_by_their_labels(open_app: OpenApp) -> None:
    title = "<b>[a](b) :red[a]\u202egnp.exe\n:material/home:"
    app = open_app("merge_loop")
    runs = [store_hugs(title), store_hugs(title), store_hugs(title, tie_break="first-seen")]
    visit(app, runs)
    labels = app.menu_button[0].options
    assert len(set(labels)) == len(labels) == 4
    for run_id in (*runs, SAMPLE_RUN_ID):
        app.menu_button[0].click(run_id)
        app.run()
        assert app.query_params.get("run", [SAMPLE_RUN_ID]) in ([run_id], run_id)


def test_compare_offers_each_run_of_one_name_and_adds_the_chosen_one(
    open_app: OpenApp,
) -> None:
    app = open_app("compare")
    runs = [store_hugs("Hugs"), store_hugs("Hugs", tie_break="first-seen")]
    visit(app, runs)
    app.menu_button[0].click(SAMPLE_RUN_ID)
    app.run()
    assert len(set(app.menu_button(key="add_run").options)) == 2
    for run_id in runs:
        app.menu_button(key="add_run").click(run_id)
        app.run()
    assert in_address(app, "with") == ",".join(["gpt2", *(f"run-{run_id}" for run_id in runs)])


def _page_of_a_search() -> None:
    import streamlit as st

    from ui.shell import workspace

    workspace.prepare()
    st.button("Find the", on_click=workspace.set_query, kwargs={"find": "the"})
    st.button("Show all", on_click=workspace.set_query, kwargs={"find": None})
    both = {"find": "the", "page": "2"}
    st.button("Turn the page", on_click=workspace.set_query, kwargs=both)
    page = workspace.query_text("page")
    st.markdown((workspace.query_text("find") or "all") + (f", page {page}" if page else ""))


def _shown(app: AppTest) -> str:
    return app.markdown[0].value


def test_only_a_late_request_with_the_old_address_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = AppTest.from_function(_page_of_a_search)
    app.query_params["find"] = "the"
    app.run()
    press(app, "Show all")
    app.query_params["find"] = "the"
    app.run()
    assert _shown(app) == "all"
    assert "find" not in app.query_params
    press(app, "Find the")
    del app.query_params["find"]
    app.run()
    assert _shown(app) == "the"
    press(app, "Show all")
    app.query_params["find"] = "other"
    app.run()
    assert _shown(app) == "other"
    press(app, "Show all")
    # After some seconds it is no late request.
    monkeypatch.setattr(workspace, "_SECONDS_UNTIL_KNOWN", 0.0)
    app.query_params["find"] = "other"
    app.run()
    assert _shown(app) == "other"


@pytest.mark.parametrize("is_pending", [False, True])
def test_a_choice_of_several_is_kept_if_writing_breaks_off(
    is_pending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_function(_page_of_a_search).run()
    if is_pending:  # and the request that breaks off does not know of it
        press(app, "Find the")
        del app.query_params["find"]
    with monkeypatch.context() as broken:
        broken.setattr(workspace, "_write", _broken_off)
        with pytest.raises(AssertionError, match="encountered an error"):
            press(app, "Turn the page")
    app.query_params.clear()
    app.run()
    assert _shown(app) == "the, page 2"
    assert app.query_params["page"] == "2"


def _broken_off(name: str, value: str | None) -> None:
    raise InterruptedError


def test_only_what_a_link_wrote_is_said_to_be_unusable() -> None:
    def page() -> None:
        import streamlit as st

        from ui.shell import check_linked, show_unread, workspace

        if st.button("Open"):
            workspace.set_query(token="50000")
        check_linked("token", lambda _: False, "an id of this vocabulary")
        show_unread("token", 0)

    opened = AppTest.from_function(page).run().button[0].click().run()
    assert (opened.query_params["token"], len(opened.warning)) == ("50000", 0)
    linked = AppTest.from_function(page)
    linked.query_params["token"] = "50000"
    (warning,) = linked.run().warning
    said = "This address names “50000”, which is not an id of this vocabulary."
    assert warning.value.replace("\\", "") == said
