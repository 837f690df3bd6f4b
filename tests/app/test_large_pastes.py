"""A large paste is opened like a file: it has a name, a size and limits, and can be closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import OpenApp, paste, sent
from ui.components.live_text import MAX_EDITED
from ui.corpus import own_texts
from ui.shell import workspace

LINE = "a line of a pasted text\n"


def field(app: AppTest) -> dict[str, Any]:
    """Return what is sent to the text field."""
    return sent(app, "excerpt_note")


def message(text: str, before: str = "", **changes: object) -> dict[str, object]:
    sizes = {"n_characters": len(text), "n_bytes": len(text.encode(errors="replace"))}
    return {"text": text, "before": before, **sizes, **changes}


@pytest.fixture
def browser_says(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return a function that sets the message that a component's callback reads."""

    def say(value: object) -> None:
        monkeypatch.setattr(workspace, "component_value", lambda *_: value)

    return say


def after(app: AppTest, act: Callable[[], object]) -> AppTest:
    """Run a callback in the app's session, as Streamlit does before a rerun, and rerun."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace.st, "session_state", app.session_state)
        act()
    return app.run()


def open_pasted() -> None:
    own_texts.open_pasted("boundaries_text", "text", own_texts.MAX_CHARACTERS)


def open_large(key: str) -> None:
    own_texts.open_pasted(f"paste_{key}", key, 50_000_000)


def test_a_large_paste_is_shown_with_its_name_and_size_and_closed_again(
    open_app: OpenApp, browser_says: Callable[[object], None]
) -> None:
    app = open_app("token_boundaries", text="typed before")
    assert field(app)["opened"] is None
    text = LINE * 30_000
    browser_says(message(text, "typed before, and more"))
    after(app, open_pasted)
    assert field(app)["opened"] == ["Pasted text", "720 kB"]
    assert field(app)["text"] == text[:2_000]
    assert f"{len(text):,} characters, too many to edit" in field(app)["excerpt_note"]
    assert "text_id" in app.query_params
    after(app, lambda: own_texts.close_text("first"))
    assert field(app)["text"] == "typed before, and more"
    assert field(app)["opened"] is None


def test_closing_returns_to_the_text_before_all_that_was_opened(
    open_app: OpenApp, browser_says: Callable[[object], None]
) -> None:
    app = open_app("token_boundaries", text="mine")
    opener = app.file_uploader(key="boundaries_file")
    opener.upload("one <b>.txt", b"a file", "text/plain").run()
    assert field(app)["opened"] == ["one <b>.txt", "6 B"]
    browser_says(message(LINE * 10_000, "a file"))
    after(app, open_pasted)
    assert field(app)["opened"] == ["Pasted text", "240 kB"]
    assert field(app)["text"] == LINE * 10_000
    after(app, lambda: own_texts.close_text("first"))
    assert field(app)["text"] == "mine"
    opener = app.file_uploader(key="boundaries_file")
    opener.upload("a.txt", b"a file", "text/plain").run()
    after(app, lambda: own_texts.set_own_text("a file, edited"))
    assert field(app)["opened"] is None
    assert field(app)["text"] == "a file, edited"
    # A long text from an address can be closed too.
    after(app, lambda: own_texts.update_text(text="x" * (MAX_EDITED + 1)))
    assert field(app)["opened"] == ["Long text", "500 kB"]
    after(app, lambda: own_texts.close_text("first"))
    assert field(app)["text"] == "first"


def test_only_what_is_read_of_a_paste_is_kept_and_the_rest_is_counted(
    open_app: OpenApp, browser_says: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_texts, "MAX_CHARACTERS", 1_000)
    app = open_app("token_boundaries")
    browser_says(message(LINE * 100, n_characters=9_000_000, n_bytes=9_500_000))
    after(app, open_pasted)
    assert field(app)["limits"]["sent"] == 1_000
    assert field(app)["text"] == (LINE * 100)[:1_000]
    assert field(app)["opened"] == ["Pasted text", "9.5 MB"]
    (warning,) = app.warning
    told = warning.value
    assert told == "The text has 9,000,000 characters. Only the first 1,000 are read."


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "text",
        {},
        {"text": 1, "before": ""},
        {"text": "a", "before": None},
        message("\ud83e"),
        message("a", "\ud83e"),
    ],
)
def test_a_message_that_is_no_paste_changes_nothing(
    open_app: OpenApp, browser_says: Callable[[object], None], wrong: object
) -> None:
    app = open_app("token_boundaries", text="mine")
    browser_says(wrong)
    after(app, open_pasted)
    assert field(app)["text"] == "mine"


def test_a_large_paste_on_train_is_the_corpus_until_it_is_closed(
    open_app: OpenApp, browser_says: Callable[[object], None]
) -> None:
    app = open_app("train")
    # A paste that is sent again once its field has left changes nothing.
    after(app, lambda: open_large("corpus_pasted"))
    assert not app.exception
    paste(app, "typed before")
    text = LINE * 22_000  # more than can be edited
    browser_says(message(text, "typed before, and more"))
    after(app, lambda: open_large("corpus_pasted"))
    assert any(part.value == "**Pasted text** :gray[528 kB]" for part in app.markdown)
    excerpt = app.text_area(key="corpus_pasted_excerpt")
    assert excerpt.value == text[:2_000]
    assert excerpt.disabled
    app.slider(key="corpus_held_out").set_value(0).run()
    sent = [c.proto.json for c in app.get("bidi_component") if "pre-tokens" in c.proto.json]
    assert any(f"{len(text):,}" in data for data in sent)
    app.segmented_control(key="corpus_source").set_value("Sample").run()
    app.segmented_control(key="corpus_source").set_value("Paste").run()
    app.button(key="corpus_pasted_close").click().run()
    assert app.text_area(key="corpus_pasted").value == "typed before, and more"
    app.segmented_control(key="corpus_source").set_value("Weighted words").run()
    browser_says(message("\n".join(f"word{n} {n + 1}" for n in range(2_000)), "hug 10"))
    after(app, lambda: open_large("corpus_words"))
    assert not app.error
    app.button(key="corpus_words_close").click().run()
    assert app.text_area(key="corpus_words").value == "hug 10"
