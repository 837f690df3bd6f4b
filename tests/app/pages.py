"""Open pages in AppTest, fill their shared fields and read what they show."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

OpenApp = Callable[..., AppTest]
"""The type of the fixture `open_app`."""


def page_text(app: AppTest) -> str:
    """Return the Markdown of a page, with its escapes."""
    return "\n".join(element.value for element in app.markdown)


def unescaped_text(app: AppTest) -> str:
    """Return the Markdown of a page, without its escapes."""
    return page_text(app).replace("\\", "")


def paste(app: AppTest, text: str) -> AppTest:
    """Paste a text as the corpus."""
    app.segmented_control(key="corpus_source").set_value("Paste").run()
    return app.text_area(key="corpus_pasted").set_value(text).run()
