"""Train in AppTest: choose a corpus and settings, press Train, wait for the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, NumberInput

from tests.app.pages import in_address
from tests.waiting import MAX_WAIT_SECONDS, Manager, S, wait_until
from ui.storage import Trained, store_run_to_show
from ui.work import WorkKind, jobs, queue


@contextmanager
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Delay storing runs until the block ends; yield what is set once one would be stored."""
    reached, may_end = Event(), Event()

    def store(trained: Trained, **more: Any) -> str:
        reached.set()
        assert may_end.wait(MAX_WAIT_SECONDS)
        return store_run_to_show(trained, **more)

    monkeypatch.setattr(jobs, "store_run_to_show", store)
    try:
        yield reached
    finally:
        may_end.set()


def exact_size(app: AppTest) -> NumberInput:
    """Return the field for a size: its key tells how often the size was moved."""
    (field,) = (each for each in app.number_input if str(each.key).startswith("settings_exact"))
    return field


def amounts(app: AppTest) -> ButtonGroup[str]:
    """Return the sizes with a name."""
    (each,) = (each for each in app.segmented_control if each.label == "Amount of pieces")
    return each


def train(app: AppTest) -> AppTest:
    """Press Train and wait until its job has ended."""
    app.button(key="train").click().run()
    return until_ended(app)


def until_ended(app: AppTest) -> AppTest:
    if "job" in app.query_params:
        draw_after(app, jobs, in_address(app, "job"))
    return app


def draw_after(app: AppTest, manager: Manager[S], id: str) -> S:
    """Wait for work, draw the page again, as it does by itself, and return the work’s status."""
    status = wait_until(manager, id)
    app.run()
    return status


def choose(app: AppTest, *, source: str = "Sample", preset: str = "GPT-2") -> AppTest:
    app.segmented_control(key="corpus_source").set_value(source)
    app.radio(key="settings_preset").set_value(preset)
    return app.run()


def assert_press_is_refused(app: AppTest, key: str = "train") -> None:
    """Press the button of a form that is not complete: nothing begins, and the page says so."""
    app.button(key=key).click().run()
    assert any(text.value.endswith(" first.]") for text in app.markdown)
    assert "job" not in app.query_params


def known_work(kind: WorkKind[Any, Any]) -> str:
    """Return the id of the only work of a kind that is known."""
    (id,) = known_ids(kind)
    return id


def known_ids(kind: WorkKind[Any, Any]) -> list[str]:
    """Return the ids of the work of a kind that is known."""
    return [piece.id for piece in queue._of(kind)]  # pyright: ignore[reportPrivateUsage]
