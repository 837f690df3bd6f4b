"""A choice in the address survives a late request that still has the old address."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import press
from ui.shell import address


def _page() -> None:
    import streamlit as st

    from ui.shell import address

    address.prepare()
    st.button("Find the", on_click=address.set_query, kwargs={"find": "the"})
    st.button("Show all", on_click=address.set_query, kwargs={"find": None})
    both = {"find": "the", "page": "2"}
    st.button("Turn the page", on_click=address.set_query, kwargs=both)
    page = address.query_text("page")
    st.markdown((address.query_text("find") or "all") + (f", page {page}" if page else ""))


def _shown(app: AppTest) -> str:
    return app.markdown[0].value


def test_only_a_late_request_with_the_old_address_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = AppTest.from_function(_page)
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
    monkeypatch.setattr(address, "_SECONDS_UNTIL_KNOWN", 0.0)
    app.query_params["find"] = "other"
    app.run()
    assert _shown(app) == "other"


@pytest.mark.parametrize("is_pending", [False, True])
def test_a_choice_of_several_is_kept_if_writing_breaks_off(
    is_pending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_function(_page).run()
    if is_pending:  # and the request that breaks off does not know of it
        press(app, "Find the")
        del app.query_params["find"]
    with monkeypatch.context() as broken:
        broken.setattr(address, "_write", _broken_off)
        with pytest.raises(AssertionError, match="encountered an error"):
            press(app, "Turn the page")
    app.query_params.clear()
    app.run()
    assert _shown(app) == "the, page 2"
    assert app.query_params["page"] == "2"


def _broken_off(name: str, value: str | None) -> None:
    raise InterruptedError
