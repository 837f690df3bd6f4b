"""BPE Explorer: its server and its navigation; each page is a file in pages/.

Streamlit imports this file once, to find the server, and then runs it for each page that it draws.
"""

import sys
from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.host import SettingError

try:
    from ui.serving import note_request, note_visit, server
    from ui.shell import frame, keep_runs, workspace
except SettingError as error:
    sys.exit(f"BPE Explorer did not start: {error}")

OF_TRAIN = ("run", "job")


def draw() -> None:
    """Draw the page that the address names, with the navigation."""
    note_request()
    note_visit()
    st.set_page_config(page_title="BPE Explorer", page_icon=frame.FAVICON, layout="wide")
    is_first = not workspace.navigation_is_drawn()
    workspace.note_navigation()
    # In three groups, which ui/shell/frame.css sets apart: to learn, for the visitor's tokenizer,
    # and for engineers. In sections of their own, Streamlit would hide the pages in menus.
    pages = {
        # At the bare address; the path, which nobody sees, leaves /start to the page below.
        "start": st.Page("pages/start.py", title="Start", default=True, url_path="first"),
        "lessons": st.Page("pages/lessons.py", title="Lessons"),
        "train": st.Page("pages/train.py", title="Train"),
        "merge_loop": st.Page("pages/merge_loop.py", title="Merge loop"),
        "pair_frequencies": st.Page("pages/pair_frequencies.py", title="Pair frequencies"),
        "token_boundaries": st.Page("pages/token_boundaries.py", title="Token boundaries"),
        "vocabulary": st.Page("pages/vocabulary.py", title="Vocabulary"),
        "compare": st.Page("pages/compare.py", title="Compare"),
        "adapt": st.Page("pages/adapt.py", title="Adapt"),
        "detective": st.Page("pages/detective.py", title="Detective"),
        "experiments": st.Page("pages/experiments.py", title="Experiments"),
        "lab": st.Page("pages/lab.py", title="Lab"),
    }

    def open_start() -> None:
        """Switch to Start, which Streamlit itself finds at the bare address alone."""
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        st.switch_page(pages["start"], query_params=query)

    start_by_name = st.Page(open_start, title="Start", url_path="start", visibility="hidden")
    page = st.navigation([*pages.values(), start_by_name], position="top")
    if page.url_path == pages["start"].url_path:
        follow_link(pages, is_first=is_first)
    frame.style_pages()
    # The fixes must run before the page writes into its address.
    frame.fix_page()
    frame.run_page(page)
    frame.follow_theme()
    keep_runs()


def follow_link(pages: Mapping[str, StreamlitPage], *, is_first: bool) -> None:
    """Switch from the bare address to the page that its query means, if it means one.

    `goto` is the page that a cold deep link named. A run or a training in the query dates from the
    time when the bare address was Train's; later in a visit, it is only a leftover of the browser's
    Back.
    """
    named = "goto" in st.query_params
    if named or (is_first and any(name in st.query_params for name in OF_TRAIN)):
        page = pages.get(st.query_params.get("goto", "train"), pages["train"])
        rest = {name: st.query_params.get_all(name) for name in st.query_params if name != "goto"}
        st.switch_page(page, query_params=rest)


if get_script_run_ctx(suppress_warning=True) is None:
    app = st.App(
        "app.py",
        lifespan=server.lifespan,
        routes=server.routes(),
        middleware=server.middleware(),
    )
else:
    draw()
