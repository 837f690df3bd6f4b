"""Draw the choices of an experiment, and follow it."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import streamlit as st

from bpe_core.experiments import ALPHABETS
from ui.corpus import ChosenCorpus, choose_corpus, fill_corpus_once
from ui.experiments.results import draw_results
from ui.experiments.work import (
    MAX_BYTES,
    MAX_BYTES_OF_ROWS,
    MAX_ROWS,
    Order,
    begin_measuring,
    count_rows,
    measuring,
)
from ui.look import counted, size_text, tooltip
from ui.shell import work_form
from ui.storage import HELD_OUT_SEED, StoredRun, upload_held_out

SIZES: Final = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
CUTS: Final = {
    "gpt2": "GPT-2 (gpt2)",
    "cl100k": "GPT-4 (cl100k)",
    "o200k": "GPT-4o (o200k)",
    "llama3": "Llama 3 (llama3)",
    "whitespace": "at white space",
    "words-punctuation": "words and punctuation",
}
_ALPHABETS: Final = {
    "full": "all 256 bytes (full)",
    "seen": "bytes of the text (seen)",
    "characters": "characters",
}
BASES: Final = {"gpt2": "GPT-2"}
NEW_TOKENS: Final = (250, 500, 1_000, 2_000, 4_000)
_HELD_OUT: Final = 0.08


def draw_experiment(stored: StoredRun) -> None:
    """Draw the result first, then the form and the work in progress."""
    fill_corpus_once(stored)
    room = st.container()
    places = work_form()
    with places.form:
        chosen, _ = choose_corpus()
        settings = _choose()
        order = None
        if chosen is not None and settings is not None:
            order = _order(chosen, settings)
    status = None if order is None else measuring(order)
    begin = None
    is_whole = status is not None and (status.result is None or not status.result.lacks_runs)
    if order is not None and not is_whole:
        begin = partial(begin_measuring, order)
    places.end(
        "Measure",
        begin,
        status,
        _explain,
        unit="Measuring",
        what="experiment",
        keys=("experiment", "experiment_work"),
        written=lambda n: f"{n / 10:.0f}%",
    )
    if status is not None and status.result is not None:
        with room:
            draw_results(status.result)
            st.divider()


def _choose() -> dict[str, Any] | None:
    """Draw the combinations; return the settings, None if there is nothing to try."""
    st.header("Combinations", anchor=False)
    sizes = st.pills(
        "Vocabulary sizes",
        SIZES,
        selection_mode="multi",
        default=SIZES[:4],
        format_func="{:,}".format,
        key="experiment_sizes",
        persist_state="session",
    )
    cuts = st.pills(
        "Cuts",
        list(CUTS),
        selection_mode="multi",
        default=list(CUTS)[:2],
        format_func=CUTS.__getitem__,
        help="The rule that cuts the text into pre-tokens, as the named model’s tokenizer does. "
        + tooltip("Pre-token"),
        key="experiment_cuts",
        persist_state="session",
    )
    alphabets = st.pills(
        "Alphabets",
        ALPHABETS,
        selection_mode="multi",
        default=ALPHABETS[:1],
        format_func=_ALPHABETS.__getitem__,
        help="What merging begins with. With all 256 bytes a tokenizer can spell any text; with "
        "bytes or characters of the text alone it cannot, but has more room for merges.",
        key="experiment_alphabets",
        persist_state="session",
    )
    bases = st.pills(
        "Tokenizers to extend",
        list(BASES),
        selection_mode="multi",
        format_func=BASES.__getitem__,
        help="Tokens learned from your text are added to the tokenizer, which keeps its own.",
        key="experiment_bases",
        persist_state="session",
    )
    new_tokens: list[int] = []
    if bases:
        new_tokens = st.pills(
            "New tokens",
            NEW_TOKENS,
            selection_mode="multi",
            default=NEW_TOKENS[1:3],
            format_func="{:,}".format,
            key="experiment_new_tokens",
            persist_state="session",
        )
    bases = bases if new_tokens else []
    is_own = bool(sizes and cuts and alphabets)
    settings = {
        "vocab_sizes": list(sizes) if is_own else [],
        "pretokenizers": list(cuts) if is_own else ["gpt2"],
        "alphabets": list(alphabets) if is_own else ["full"],
        "extend": list(bases),
        "new_tokens": list(new_tokens) if bases else [],
    }
    n_rows = count_rows(settings)
    if not n_rows:
        st.markdown(":orange[Choose at least one size, cut and alphabet.]")
        return None
    if n_rows > MAX_ROWS:
        st.markdown(f":orange[These are {n_rows} combinations; the limit is {MAX_ROWS}.]")
        return None
    st.markdown(f":gray[:small[{counted(n_rows, 'tokenizer')}, all on one held-out text.]]")
    return settings


def _order(chosen: ChosenCorpus, settings: dict[str, Any]) -> Order | None:
    if chosen.corpus.n_bytes > MAX_BYTES:
        st.markdown(
            f":orange[This page takes texts up to {size_text(MAX_BYTES)}. For larger ones, use "
            "`bpe experiment`.]"
        )
        return None
    n_rows = count_rows(settings)
    if chosen.corpus.n_bytes * n_rows > MAX_BYTES_OF_ROWS:
        st.markdown(
            f":orange[{n_rows} combinations of {size_text(chosen.corpus.n_bytes)} are too much for "
            f"this page. Choose at most {MAX_BYTES_OF_ROWS // chosen.corpus.n_bytes}, or a shorter "
            "text. For more, use `bpe experiment`.]"
        )
        return None
    if chosen.corpus.word_counts is not None:
        st.markdown(":orange[Weighted words have no order to predict. Choose a text.]")
        return None
    by, share = chosen.held_out_by or "", chosen.held_out_share
    if upload_held_out(by) is not None:
        st.markdown(
            f":orange[Your own held-out files are not used on this page. {_HELD_OUT:.0%} of the "
            "text is held out instead.]"
        )
        by, share = "", _HELD_OUT
    elif not share:
        st.markdown(
            f":orange[Tokenizers are measured on held-out text, so {_HELD_OUT:.0%} of the text is "
            "held out here, although you chose 0%.]"
        )
        share = _HELD_OUT
    return Order(
        {
            **settings,
            "held_out": share,
            "held_out_by": by,
            "seed": HELD_OUT_SEED,
        },
        chosen.corpus,
        chosen.title,
    )


def _explain() -> None:
    with st.container(border=True, key="experiment_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "A sentence that says which size and cut to take. Below it, charts of what each "
            "further size saves and of how predictable the text stays, and a table. Each row of "
            "the table is a run of yours that all pages can open. You may leave the page: "
            "measuring goes on."
        )
