"""An unforeseen error stays within its page, part of a page, or run picker."""

from __future__ import annotations

import logging

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.errors import ConfigError
from tests.app.pages import OpenApp, errors, picker_label
from tests.app.stored import store_hugs
from tests.app_pages import PAGES, PAGES_OF_A_RUN, START
from tests.new_process import ROOT
from ui.run import run_figures
from ui.shell import frame, open_run

# Joined from two parts, because the log quotes the source line that raised.
TYPED = "what a visitor " + "typed"


def fail(*_: object, **__: object) -> None:
    raise RuntimeError(TYPED)


def titles(app: AppTest) -> list[str]:
    return [title.value for title in app.title]


@pytest.mark.parametrize(("page", "title"), [("start", START), *list(PAGES.items())[::3]])
def test_a_page_that_fails_shows_an_error_and_its_address_works_again_later(
    open_app: OpenApp,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    page: str,
    title: str,
) -> None:
    run_id = store_hugs()
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        for name in ("page_frame", "plain_page_frame"):
            patch.setattr(frame, name, fail)
        app = open_app(page, run=run_id)
        assert errors(app).startswith(
            "This page stopped because of an error in the app (RuntimeError)."
        )
        assert [button.label for button in app.button] == ["Try again", "Start over"]
        assert TYPED not in errors(app)
        assert TYPED not in caplog.text
        assert "in fail" in caplog.text
    # Nothing of the failure remains.
    app.switch_page(f"pages/{page}.py").run()
    assert not app.error
    assert titles(app) == [title]


def test_the_other_pages_work_when_one_fails(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store_hugs()
    monkeypatch.setattr("ui.train.show_result", fail)
    app = open_app("train", run=run_id)
    assert "This page stopped" in errors(app)
    assert picker_label(app).startswith("Run: Hugs")
    for page in list(PAGES)[1:]:
        app.switch_page(f"pages/{page}.py").run()
        assert not app.error, page
        if page in PAGES_OF_A_RUN:
            assert picker_label(app).startswith("Run: Hugs")


def page_that_fails_at_times() -> None:
    """Draw a page that can fail; AppTest runs this body as a script, so it imports all it needs."""
    import streamlit as st

    from ui.corpus import set_own_text
    from ui.shell import frame

    class Page:
        def run(self) -> None:
            if st.checkbox("Fail", key="fail"):
                raise RuntimeError
            st.text_input("Name", key="name")
            set_own_text("typed")

    frame.run_page(Page())  # pyright: ignore[reportArgumentType]


def test_text_typed_below_the_failure_is_kept() -> None:
    app = AppTest.from_function(page_that_fails_at_times).run()
    app.text_input(key="name").set_value("hug").run()
    app.checkbox(key="fail").check().run()
    assert errors(app).startswith("This page stopped")
    assert not app.text_input
    app.checkbox(key="fail").uncheck()
    app.button(key="try_again").click().run()
    assert not app.error
    assert app.text_input(key="name").value == "hug"


def test_starting_over_clears_the_choices_and_the_address() -> None:
    app = AppTest.from_function(page_that_fails_at_times)
    app.query_params["run"] = "a" * 32
    app.run()
    app.text_input(key="name").set_value("hug").run()
    app.checkbox(key="fail").check().run()
    app.button(key="start_over").click().run()
    assert not app.error
    assert not app.checkbox(key="fail").value
    assert app.text_input(key="name").value == ""
    assert not app.query_params


def test_an_error_of_the_package_is_shown_with_its_own_message(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConfigError("Choose <b>another</b> size.")

    monkeypatch.setattr("ui.train.show_result", refuse)
    app = open_app("train")
    assert errors(app).startswith("Choose <b>another</b> size.")
    assert "\\<b\\>" in app.error[0].value
    assert "unforeseen" not in caplog.text


def test_a_part_that_fails_leaves_the_rest_of_its_page_working(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_figures, "run_curves", fail)
        app = open_app("pair_frequencies", part="How large?")
        assert errors(app).startswith(
            "This part of the page stopped because of an error in the app"
        )
        # A header below the failed part.
        assert "Is there enough text?" in [header.value for header in app.header]
    app.button(key="try_again_draw_vocabulary_size").click().run()
    assert not app.error


def test_a_failure_of_the_picker_leaves_the_page_working(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = store_hugs(TYPED)
    with monkeypatch.context() as patch:
        patch.setattr(open_run, "run_labels", fail)
        app = open_app("merge_loop", run=run_id)
        assert errors(app).startswith("The list of runs stopped because of an error in the app")
        assert TYPED not in caplog.text
        assert titles(app) == ["Merge loop"]
        assert app.get("bidi_component")
    app.button(key="empty_runs").click().run()
    assert not app.error
    # The current run and the sample.
    assert len(app.menu_button[0].options) == 2


def test_every_fragment_has_a_boundary() -> None:
    for path in [ROOT / "app.py", *ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py")]:
        if path.name != "failures.py":
            assert "st.fragment" not in path.read_text(encoding="utf-8"), path
