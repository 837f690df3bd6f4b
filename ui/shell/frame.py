"""What stands around each page: the guard, the heading, the run picker and the address."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bpe_core.compiling.background import compile_in_background
from bpe_core.errors import BpeError
from ui.components.theme_watch import theme_watch
from ui.failures.error_boundary import error_boundary
from ui.look.labels import plain_markdown
from ui.shell import workspace
from ui.shell.run_picker import draw_failure_of_picker, run_picker
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun, load_run, note_opened
from ui.storage.store import sweep_store
from ui.work import jobs

_ROOT = Path(__file__).parent.parent
FAVICON = str(_ROOT / "ui" / "data" / "favicon.png")

# Streamlit draws no ring around a link of the navigation that the keyboard is on.
_NAVIGATION_RING = """<style>
a[data-testid="stTopNavLink"]:focus-visible {
  outline: 2px solid light-dark(#1d5b8f, #7ab8ee);
  outline-offset: -2px;
}
</style>"""

# Streamlit writes white on the primary colour; on the dark theme's light blue that is 2.1:1.
_PRIMARY_TEXT = """<style>
[data-testid="stBaseButton-primary"]:not(:disabled),
[data-testid="stBaseButton-primary"]:not(:disabled) p { color: light-dark(#ffffff, #10202e); }
</style>"""

# In a row of widgets Streamlit scrolls a choice that is too wide, and so cuts off its last options.
_CHOICES_THAT_WRAP = """<style>
@media (max-width: 640px) {
  [data-testid="stButtonGroup"] [role="radiogroup"] { flex-wrap: wrap; }
}
</style>"""

# Streamlit writes an option on one line, however narrow the window: what tells two runs of one name
# apart comes last, and would be cut off.
_OPTIONS_THAT_WRAP = """<style>
[data-testid="stMenuButtonBody"] { max-width: calc(100vw - 1rem); }
[data-testid="stMenuButtonBody"] [role="menuitem"],
[data-testid="stMenuButtonBody"] [role="menuitem"] > div { height: auto; min-height: 2rem; }
[data-testid="stMenuButtonBody"] p { white-space: normal; overflow-wrap: anywhere; }
</style>"""

# Charts have the theme's ground for their PNG; on the page they let through what is below them.
_CHARTS_WITHOUT_GROUND = """<style>
.js-plotly-plot .main-svg { background: none !important; }
</style>"""

# A font that charts are the first to use comes when they are drawn, and Plotly draws all of them
# once more. Here it is asked for with the page's heading.
_FONT_OF_CHARTS = """<style>
[data-testid="stApp"]::before {
  content: "0";
  font-family: "Source Code Pro";
  position: absolute;
  visibility: hidden;
}
</style>"""


@st.cache_resource(show_spinner=False)
def settle_memory() -> None:
    """Keeps the imported modules out of garbage collection, once a server.

    Without the freeze each full collection walks all modules, tens of milliseconds with the
    interpreter's lock held. Streamlit's own after each rerun is off, in .streamlit/config.toml;
    Python's go on.
    """
    gc.collect()
    gc.freeze()


_ON_PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "step": ("Merge loop", "Pair frequencies"),
    "merges": ("Pair frequencies",),
    "pair": ("Pair frequencies",),
    "with": ("Compare", "Vocabulary"),
    "sentences": ("Compare",),
}
"""Parameters of the address that no widget is bound to, and the pages that they are of."""


@st.cache_resource(show_spinner=False)
def sweep_store_once() -> None:
    """Removes what nobody opens any more from the store, once a server."""
    sweep_store()


@st.cache_resource(show_spinner=False)
def prepare_engine() -> None:
    """Compiles the kernels in other processes where this machine has none yet, once a server."""
    compile_in_background()


def run_page(page: StreamlitPage) -> None:
    """Runs the script of a page; where that fails, says so above what is drawn of it."""
    room = st.container()

    def draw_failure(told: str) -> None:
        with room:
            st.error(
                f"{told} Your runs are kept. Try again, open another page, or start over with the "
                "sample run."
            )
            with st.container(horizontal=True):
                st.button("Try again", key="try_again")
                st.button("Start over", on_click=_start_over, key="start_over")
        follow_theme()
        # Streamlit forgets what was typed in fields that a script didn't draw, unless it stops.
        st.stop()

    with error_boundary("This page", draw_failure):
        page.run()


def page_frame(title: str, lead: str) -> StoredRun | None:
    """Draws a page's heading and run picker; gives the run that the page shows.

    None means that the page has nothing to show: even the sample run could not be read.
    """
    _prepare_page(title)
    stored, problem = _run_of_address()
    with st.container(horizontal=True, vertical_alignment="center", key="page_heading"):
        st.title(title, anchor=False, width="content")
        st.space("stretch")
        if stored is not None:
            _draw_picker(stored)
    st.markdown(f":gray[{lead}]")
    if problem is not None:
        st.error(plain_markdown(str(problem), 400) + _shown_instead(stored))
    return stored


def plain_page_frame(title: str, lead: str) -> None:
    """Draws the heading of a page that shows no run."""
    _prepare_page(title)
    with st.container(horizontal=True, vertical_alignment="center", key="page_heading"):
        st.title(title, anchor=False, width="content")
    st.markdown(f":gray[{lead}]")


def query_int(name: str, default: int, low: int, high: int) -> int:
    """A whole number from the address, held between `low` and `high`; else the default."""
    value = st.query_params.get(name, "")
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        return default
    return min(max(int(value), low), high)


def query_text(name: str, longest: int = 1_000) -> str | None:
    """A text from the address; None where there is none, or one too long to be ours."""
    value = st.query_params.get(name)
    return value if value is not None and len(value) <= longest else None


def set_query(**parameters: str | int | None) -> None:
    """Puts parameters in the address, where they differ from what it says; None removes one."""
    for name, value in parameters.items():
        if value is None:
            if name in st.query_params:
                del st.query_params[name]
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)


def theme_type() -> Literal["light", "dark"]:
    """The visitor's theme, "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def follow_theme() -> None:
    """Has the page drawn again for the other theme when the visitor switches to it."""
    st.html("<style>.st-key-theme_watch { display: none; }</style>")
    theme_watch(theme_type(), key="theme_watch")


def open_run(run_id: str) -> None:
    """Makes a run the one that all pages show, and puts it in the address."""
    workspace.update(run_id=run_id)
    set_query(run=None if run_id == SAMPLE_RUN_ID else run_id)


def _prepare_page(title: str) -> None:
    _guard_cold_link(title)
    _hold_finished_run()
    # Going back, a browser can bring along what the page before put in the address.
    set_query(**{name: None for name, pages in _ON_PAGES.items() if title not in pages})
    st.html(
        _PRIMARY_TEXT
        + _NAVIGATION_RING
        + _CHOICES_THAT_WRAP
        + _OPTIONS_THAT_WRAP
        + _CHARTS_WITHOUT_GROUND
        + _FONT_OF_CHARTS
    )


def _hold_finished_run() -> None:
    """Hold the run of a training that ended while its visitor was on another page."""
    job_id = workspace.current().job_id
    if job_id is None:
        return
    # What can't be had is said on Train.
    with suppress(BpeError):
        run_id = jobs.manager().status(job_id).run_id
        if run_id is not None:
            _remember(load_run(run_id))


def _remember(stored: StoredRun) -> None:
    workspace.remember_run(stored.name, unkept=stored if stored.not_kept else None)


def _guard_cold_link(title: str) -> None:
    # The first visitor of a server who opens /merge_loop gets the page without app.py around it:
    # go through app.py, which comes back here with the navigation drawn.
    if not workspace.navigation_is_drawn():
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        query["goto"] = [title.lower().replace(" ", "_")]
        st.switch_page("app.py", query_params=query)


def _run_of_address() -> tuple[StoredRun | None, BpeError | None]:
    """The run that the address names, else the workspace's, else the sample.

    An address that leads nowhere stays as it is, and so does the run that was open.
    """
    current = workspace.current().run_id
    problem: BpeError | None = None
    for run_id in dict.fromkeys((st.query_params.get("run") or current, current, SAMPLE_RUN_ID)):
        try:
            stored = load_run(run_id)
        except BpeError as error:
            problem = problem or error
            workspace.forget_run(run_id)
            continue
        if problem is None:
            open_run(run_id)
            note_opened(run_id)
            if run_id != SAMPLE_RUN_ID:
                _remember(stored)
        return stored, problem
    return None, problem


def _start_over() -> None:
    workspace.start_over()
    st.query_params.clear()


def _shown_instead(stored: StoredRun | None) -> str:
    if stored is None:
        return ""
    which = "The sample run" if stored.id == SAMPLE_RUN_ID else "The run that was open"
    return f" {which} is shown instead."


def _draw_picker(stored: StoredRun) -> None:
    with error_boundary("The list of runs", draw_failure_of_picker):
        picked = run_picker(stored)
        if picked == SAMPLE_RUN_ID:
            open_run(SAMPLE_RUN_ID)
            st.rerun()
        if picked is not None:
            # Opened when it is read: until then the run that is open stays. Steps and pairs of
            # another run mean nothing in this one.
            set_query(run=picked, step=None, merges=None, pair=None)
            st.rerun()
