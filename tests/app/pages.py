"""Open pages in AppTest, fill their shared fields and read what they show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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


def all_sent(app: AppTest) -> list[dict[str, Any]]:
    """Return the data sent to each component."""
    protos = [component.proto for component in app.get("bidi_component")]
    return [json.loads(proto.json) for proto in protos if proto.json]


def sent(app: AppTest, field: str) -> dict[str, Any]:
    """Return the data sent to the first component that takes a field."""
    return next(data for data in all_sent(app) if field in data)


def sent_table(app: AppTest, caption: str) -> dict[str, Any]:
    """Return the data sent to the first table whose caption begins so."""
    return next(data for data in all_sent(app) if data.get("caption", "").startswith(caption))


def sentence(app: AppTest) -> str:
    """Return the verdict on Compare."""
    return "".join(text for text, _ in sent(app, "sentence")["sentence"])
