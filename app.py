"""BPE Explorer: set up the app and its navigation; each page is a file in pages/."""

import streamlit as st

from ui.shell import frame, workspace
from ui.shell.kept_runs import keep_runs
from ui.warm_up import note_request

PAGES = {
    "train": st.Page("pages/train.py", title="Train"),
    "merge_loop": st.Page("pages/merge_loop.py", title="Merge loop"),
    "pair_frequencies": st.Page("pages/pair_frequencies.py", title="Pair frequencies"),
    "token_boundaries": st.Page("pages/token_boundaries.py", title="Token boundaries"),
    "compare": st.Page("pages/compare.py", title="Compare"),
    "vocabulary": st.Page("pages/vocabulary.py", title="Vocabulary"),
    "lab": st.Page("pages/lab.py", title="Lab"),
    "lessons": st.Page("pages/lessons.py", title="Lessons"),
}


def root() -> None:
    """Switch from the bare address to Train, or to the page that a cold deep link named."""
    goto = st.query_params.get("goto", "train")
    rest = {name: st.query_params.get_all(name) for name in st.query_params if name != "goto"}
    st.switch_page(PAGES.get(goto, PAGES["train"]), query_params=rest)


note_request()
st.set_page_config(page_title="BPE Explorer", page_icon=frame.FAVICON, layout="wide")
frame.settle_memory()
frame.prepare_engine()
frame.sweep_store_once()
workspace.note_navigation()
home = st.Page(root, title="BPE Explorer", default=True, visibility="hidden")
frame.run_page(st.navigation([home, *PAGES.values()], position="top"))
frame.follow_theme()
keep_runs()
