"""Train in AppTest: choose a corpus and settings, press Train, wait for the run."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.waiting import wait_until
from ui.work import jobs


def train(app: AppTest) -> AppTest:
    """Press Train and wait until its job has ended."""
    app.button(key="train").click().run()
    return until_ended(app)


def in_address(app: AppTest, name: str) -> str:
    """Return a query parameter, which AppTest holds as a string or as a list of one."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def until_ended(app: AppTest) -> AppTest:
    if "job" in app.query_params:
        wait_until(jobs.manager(), in_address(app, "job"))
        app.run()
    return app


def choose(app: AppTest, *, source: str = "Sample", preset: str = "GPT-2") -> AppTest:
    app.segmented_control(key="corpus_source").set_value(source)
    app.segmented_control(key="settings_preset").set_value(preset)
    return app.run()


def assert_press_is_refused(app: AppTest, key: str = "train") -> None:
    """Press the button of a form that is not complete: nothing begins, and the page says so."""
    app.button(key=key).click().run()
    assert any(text.value.endswith(" first.]") for text in app.markdown)
    assert "job" not in app.query_params
