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


def metrics(app: AppTest) -> dict[str, str]:
    """Return the values of metrics by their labels."""
    return {metric.label: metric.value for metric in app.metric}


def errors(app: AppTest) -> str:
    """Return the errors of a page, without their escapes."""
    return "\n".join(error.value for error in app.error).replace("\\", "")


def press(app: AppTest, label: str) -> AppTest:
    """Press the first button with a label."""
    return next(button for button in app.button if button.label == label).click().run()


def upload(app: AppTest, key: str, *files: tuple[str, bytes]) -> AppTest:
    """Give files to an uploader."""
    given = [(name, data, "application/octet-stream") for name, data in files]
    return app.file_uploader(key=key).set_value(given).run()


def read_query(app: AppTest) -> dict[str, str]:
    """Return the address's parameters, except for the one that leads to the page."""
    return {name: in_address(app, name) for name in app.query_params if name != "goto"}


def in_address(app: AppTest, name: str) -> str:
    """Return a query parameter, which AppTest holds as a string or as a list of one."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def picker_label(app: AppTest) -> str:
    """Return the label of the run picker."""
    return app.menu_button[0].label


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
