"""Draw the frame of each page: its styles, heading and run picker; show a failure of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bpe_core.errors import BpeError
from ui.components import page_fixes, theme_watch
from ui.host import error_boundary, errors_shown
from ui.look import plain_markdown
from ui.shell import workspace
from ui.shell.form_fields import begin_page
from ui.shell.open_run import (
    ACTIONS,
    Followed,
    begin_action,
    draw_picker_failure,
    draw_run_dialog,
    find_run,
    has_one_run,
    newest_own,
    open_run,
    remember_run,
    run_picker,
    shown_instead,
    start_over,
)
from ui.storage import SAMPLE_RUN_ID, StoredRun, load_run
from ui.work import jobs

_ROOT = Path(__file__).parent.parent
FAVICON = str(_ROOT / "ui" / "data" / "favicon.png")


_LOST_HERE: Final = (
    "The server on this computer does not answer. If it was stopped, start it again as before, for "
    "example with bpe explore or make run. This page then connects by itself."
)
_LOST_ELSEWHERE: Final = (
    "The server does not answer. Check your connection to it. This page connects by itself once "
    "it can."
)
_WITH_CORPUS: Final = ("Train", "Adapt", "Experiments")
_TEXTS_ON_PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "chat": ("Token boundaries",),
    "terms": ("Compare",),
    "pasted": _WITH_CORPUS,
    "weighted": _WITH_CORPUS,
    "adapt_terms": ("Adapt",),
    "replace_terms": ("Adapt",),
    "replace_choices": ("Adapt",),
    "adapt_keep": ("Adapt",),
}
_ON_PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "step": ("Merge loop", "Pair frequencies"),
    "merges": ("Pair frequencies", "Adapt"),
    "pair": ("Pair frequencies",),
    "with": ("Compare", "Vocabulary", "Adapt", "Token boundaries", "Detective", "Lab"),
    "base": ("Adapt",),
    "own": ("Compare",),
    "against": ("Compare",),
    "sentences": ("Compare",),
    "sentence": ("Start",),
    "print": ("Lessons",),
    **dict.fromkeys(
        ("corpus", "sample", "upload", "held_out", "held_by", "held_file"), _WITH_CORPUS
    ),
    **_TEXTS_ON_PAGES,
    # Of a long text, the address holds the id of its copy.
    **{f"{name}_id": pages for name, pages in _TEXTS_ON_PAGES.items()},
}
"""Query parameters that no widget is bound to, and the pages that use them."""


def run_page(page: StreamlitPage) -> None:
    """Run the script of a page; if it fails, show an error above what it has drawn."""
    top = st.container()

    def draw_failure(message: str) -> None:
        with top:
            st.error(
                f"{message} Your runs are kept. Try again, open another page, or start over with "
                "the example run."
            )
            with st.container(horizontal=True):
                st.button("Try again", key="try_again")
                st.button("Start over", on_click=_start_over, key="start_over")
        follow_theme()
        # Streamlit forgets the values of widgets that a script did not draw, unless it is stopped.
        st.stop()

    with error_boundary("This page", draw_failure):
        page.run()


def page_frame(
    title: str, lead: str = "", *, help: str | None = None, names_run: bool = False
) -> StoredRun | None:
    """Draw a page's heading and run picker, and return the run that the page shows.

    `lead` is a sentence on what the page shows, unless its first sentence is the result itself.
    `help` is a tooltip that explains the terms of the page. A page that `names_run` itself has no
    picker while there is only one run. Returns None if there is nothing to show, because even the
    sample run could not be read.
    """
    _prepare_page(title)
    stored, problem = find_run()
    with st.container(horizontal=True, vertical_alignment="center", key="page_heading"):
        st.title(title, anchor=False, width="content")
        st.space("stretch")
        if stored is not None and not (names_run and has_one_run(stored)):
            _draw_picker(stored)
    if lead:
        st.markdown(f":gray[{lead}]", help=help)
    if problem is not None:
        st.error(plain_markdown(str(problem), 400) + shown_instead(stored))
    return stored


def show_page(
    draw: Callable[[StoredRun], None], title: str, lead: str = "", *, help: str | None = None
) -> None:
    """Draw a page's frame, and what it shows of its run, if there is one to show."""
    stored = page_frame(title, lead, help=help)
    if stored is not None:
        own = newest_own()
        if stored.id == SAMPLE_RUN_ID and own is not None:
            st.markdown(
                ":gray[:small[This page shows the example run. Choose your own, "
                f"{plain_markdown(own.title, 60)}, under Run.]]"
            )
        with errors_shown():
            draw(stored)


def plain_page_frame(title: str, lead: str, *, page: str | None = None) -> None:
    """Draw the heading of a page that shows no run.

    `page` is its name in the navigation if the heading is another.
    """
    _prepare_page(page or title)
    with st.container(horizontal=True, vertical_alignment="center", key="page_heading"):
        st.title(title, anchor=False, width="content")
    st.markdown(f":gray[{lead}]")


def theme_type() -> Literal["light", "dark"]:
    """Return the visitor's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def style_pages() -> None:
    """Style what all pages share."""
    st.html(Path(__file__).with_suffix(".css"))


def follow_theme() -> None:
    """Redraw the page when the visitor switches the theme."""
    theme_watch(theme_type(), key="theme_watch")


def fix_page() -> None:
    """Correct what Streamlit's page does with presses, fields, the menu and the history."""
    page_fixes(menu="Menu", lost_here=_LOST_HERE, lost_elsewhere=_LOST_ELSEWHERE, key="page_fixes")


def _prepare_page(title: str) -> None:
    _guard_cold_link(title)
    workspace.prepare()
    begin_page(title)
    _hold_finished_run()
    # After the browser's Back, the address can hold parameters of the page that was left.
    workspace.set_query(**{name: None for name, pages in _ON_PAGES.items() if title not in pages})


def _hold_finished_run() -> None:
    """Remember a run that finished while its visitor was on another page."""
    job_id = workspace.get(Followed).job_id
    if job_id is None:
        return
    # Train reports these errors.
    with suppress(BpeError):
        stored = jobs.status(job_id).result
        if stored is not None:
            remember_run(load_run(stored.run_id))


def _guard_cold_link(title: str) -> None:
    # If the first request to a server is for /merge_loop, Streamlit runs that page without app.py.
    # Switch to app.py, which draws the navigation and returns to the page.
    if not workspace.navigation_is_drawn():
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        query["goto"] = [title.lower().replace(" ", "_")]
        st.switch_page("app.py", query_params=query)


def _start_over() -> None:
    start_over()
    st.query_params.clear()


def _draw_picker(stored: StoredRun) -> None:
    with error_boundary("The list of runs", draw_picker_failure):
        picked = run_picker(stored)
        if picked == SAMPLE_RUN_ID:
            open_run(SAMPLE_RUN_ID)
            st.rerun()
        if picked in ACTIONS:
            begin_action(picked, stored)
        elif picked is not None:
            # The open run changes only once the new one can be read. Steps and pairs belong to
            # one run, so they are removed from the address.
            workspace.set_query(run=picked, step=None, merges=None, pair=None)
            st.rerun()
        draw_run_dialog(stored)
