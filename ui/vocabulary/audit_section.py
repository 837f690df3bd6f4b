"""Draw the findings of the audit, and the lengths of the tokens; both filter the table."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.gguf.llama_cpp_cut import llama_cpp_cut
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.vocabulary.reachability import Reachability
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.vocabulary import finding_list
from ui.host.sized_cache import cached
from ui.look.chart_style import CONFIG
from ui.look.labels import file_stem, plain_markdown
from ui.shell import frame
from ui.vocabulary import background_work
from ui.vocabulary.address import toggle_finding, toggle_length
from ui.vocabulary.charts import length_bars
from ui.vocabulary.findings import list_findings
from ui.vocabulary.inspection import Inspection
from ui.vocabulary.search import Record, parse_lengths
from ui.work.task import Progress, Status
from ui.work.work_part import show_work


def draw_audit(
    inspection: Inspection, record: Record, search: Status[Progress, Reachability] | None
) -> None:
    """Draw the findings next to the lengths; `search` is None if the merges are not known."""
    findings, lengths = st.columns(2, gap="large")
    with findings:
        _draw_findings(inspection, record, search)
    with lengths:
        _draw_lengths(inspection, record)


def _draw_findings(
    inspection: Inspection, record: Record, search: Status[Progress, Reachability] | None
) -> None:
    st.header("Audit", anchor=False)
    text = plain_markdown(inspection.text.name)
    st.markdown(f":gray[Uses are counted in {text}. Press a finding to filter the table.]")
    finding_list(
        list_findings(inspection, None if search is None else search.result),
        record["finding"],
        key="findings",
        on_chosen=partial(toggle_finding, "findings"),
    )
    cut = _llama_cpp(inspection.encoder)
    st.markdown(f":gray[{plain_markdown(cut, 600)}]")
    if search is None:
        st.markdown(
            ":gray[Another library runs this tokenizer, or it changes text before it merges. So "
            "there are no derivation trees, and no search for unreachable tokens.]"
        )
    else:
        show_work(
            background_work.searches(),
            search,
            unit="Searching for unreachable tokens",
            what="search for unreachable tokens",
            key="search",
        )


@cached()
def _llama_cpp(encoder: Encoder) -> str:
    """Return what llama.cpp calls the tokenizer's cut, in a sentence."""
    try:
        return llama_cpp_cut(encoder).sentence
    except BpeError as error:
        return str(error)


def _draw_lengths(inspection: Inspection, record: Record) -> None:
    kinds = inspection.table.length_kinds
    chosen = parse_lengths(record["bytes"]) if record["bytes"] else None
    # A new key for each filter: a chart keeps its selection for as long as it keeps its key.
    key = f"lengths_{record['bytes']}"
    st.header("Lengths", anchor=False)
    st.markdown(":gray[In bytes, without special tokens. Click a bar to filter the table.]")
    st.plotly_chart(
        length_bars(kinds, chosen=chosen, theme=frame.theme_type()),
        key=key,
        on_select=partial(toggle_length, key, kinds.shape[1], record["bytes"]),
        selection_mode="points",
        theme=None,
        config=CONFIG,
        alt=f"Tokens by length, from 1 to {kinds.shape[1] - 1} bytes.",
    )
    picture = ChartPicture(
        key,
        "PNG",
        "Tokens by length in bytes",
        inspection.name,
        f"{file_stem(inspection.name)}-lengths.png",
    )
    chart_pictures([picture], key="lengths_picture")
