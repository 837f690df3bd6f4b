"""Help to choose how many tokens are worth adding: one run, cut at any number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from bpe_core.comparison.costs import Usage
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.pair_statistics import steps_to_draw
from ui.adapt import charts
from ui.adapt.charts import Curve
from ui.adapt.figures import (
    Gain,
    domain_gain,
    general_gain,
    general_titles,
    own_gain,
    rows_of_cut,
    usual_general,
)
from ui.adapt.judged import HELD_OUT
from ui.adapt.result import base_name
from ui.components.chart_pictures import ChartPicture
from ui.components.figures import figure_table
from ui.look.chart_style import CONFIG_WITHOUT_TOOLS
from ui.look.glossary import explain
from ui.look.labels import file_stem
from ui.own_text.field import own_text, text_field
from ui.run.page_parts import draw_figure, offer_pictures
from ui.shell import address, frame, workspace
from ui.storage.run_store import StoredRun
from ui.tokenizers.cost_fields import ask_for_rates
from ui.tokenizers.cost_rows import COSTS_SAY, embedding_table_rows, text_rows, window_rows

_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is not of your domain."


@dataclass(frozen=True, slots=True)
class Cut:
    """A run cut at a number of new tokens, with its figures."""

    kept: int
    domain: Gain
    general: Gain


def choose_cut(stored: StoredRun) -> Cut:
    """Draw the slider, its figures and the curves; return the cut."""
    n = len(stored.run.merges)
    key = f"tokens_kept_{stored.id}"
    kept = workspace.start_widget(key, address.query_int("merges", n, 0, n))
    address.set_query(merges=kept if kept != n else None)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How many tokens are worth adding?", anchor=False)
        st.markdown(
            ":small[:gray[Cut this run after any token, without extending again. The downloads "
            "below follow.]]"
        )
        st.markdown(
            f":small[Tokens added **{kept:,}** :gray[of {n:,}, "
            f"{stored.run.tokenizer.vocab_size - (n - kept):,} in all]]"
        )
        st.slider("Tokens added", 0, n, key=key, format="localized", label_visibility="collapsed")
        cut = Cut(kept, domain_gain(stored), _choose_general(stored))
        _draw_figures(cut)
    with picture:
        _draw_curves(stored, cut)
    return cut


def draw_costs(stored: StoredRun, cut: Cut) -> None:
    """Draw what the cut costs and saves, beside the base and the whole run."""
    st.subheader("What they cost, and save", anchor=False)
    st.markdown(
        ":small[:gray[Type what your model charges and holds: no prices are built in. What you "
        "leave empty is not shown.]]"
    )
    rates = ask_for_rates()
    run, domain, general = stored.run, cut.domain, cut.general
    base = base_name(stored)
    steps = (0, cut.kept, len(run.merges))
    heights = [rows_of_cut(run, step) for step in steps]
    usages = [
        Usage(int(domain.tokens[step]), domain.n_bytes, height)
        for step, height in zip(steps, heights, strict=True)
    ]
    rows = [
        *text_rows(domain.title, [int(domain.tokens[s]) for s in steps], rates, fair=False),
        *text_rows(general.title, [int(general.tokens[s]) for s in steps], rates, fair=False),
        *window_rows(usages, rates, (base, usages[0]), fair=False),
        *embedding_table_rows(heights, rates),
    ]
    names = [base, f"With {cut.kept:,} more", f"With all {steps[-1]:,}"]
    figure_table(names, rows, caption="What the new tokens cost and save", key="adapt_costs")
    st.markdown(f":small[:gray[{COSTS_SAY}]]")


def _choose_general(stored: StoredRun) -> Gain:
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    usual = usual_general(stored)
    ids = [usual, *(id for id in titles if id != usual)]
    picked = st.selectbox(
        "General text",
        ids,
        format_func=titles.__getitem__,
        key=f"adapt_general_{usual}",
        help="A text that is not of your domain: what the base already does well should stay so.",
    )
    if picked != _OWN_TEXT:
        return general_gain(stored.id, picked)
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key="adapt_text")
    if not text:
        return general_gain(stored.id, usual)
    corpus = Corpus.from_text(text)
    return own_gain(stored.id, corpus.sha256, corpus)


def _draw_figures(cut: Cut) -> None:
    kept, domain, general = cut.kept, cut.domain, cut.general
    is_held_out = domain.title == HELD_OUT
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        draw_figure(
            domain.title[0].upper() + domain.title[1:],
            f"{domain.fewer[kept]:.1f}%",
            "fewer tokens",
            width=124,
            help=explain("Held-out text") if is_held_out else None,
        )
        draw_figure("General text", f"{general.fewer[kept]:.1f}%", "fewer tokens", width=124)
        further, gain = domain.next_gain(kept)
        if further:
            name = f"Next {further:,} token{'s' * (further > 1)}"
            draw_figure(name, f"{gain:+.2f}%", f"on {domain.title}", width=124)
        else:
            draw_figure("Further tokens", "–", "this is the whole run", width=124)


def _draw_curves(stored: StoredRun, cut: Cut) -> None:
    domain, general = cut.domain, cut.general
    steps = steps_to_draw(len(stored.run.merges))
    own = "held out" if domain.title == HELD_OUT else "training"
    curves = [Curve(own, domain.fewer[steps]), Curve("general", general.fewer[steps])]
    base = base_name(stored)
    st.plotly_chart(
        charts.fewer_tokens(
            np.asarray(steps),
            curves,
            marked=(cut.kept, float(domain.fewer[cut.kept])),
            theme=frame.theme_type(),
        ),
        key="fewer_tokens",
        theme=None,
        config=CONFIG_WITHOUT_TOOLS,
        alt=f"Fewer tokens than with {base}, in per cent, over the tokens added: at the end "
        f"{domain.fewer[-1]:.1f}% on {domain.title} and {general.fewer[-1]:.1f}% on general text.",
    )
    offer_pictures(
        [
            ChartPicture(
                chart="fewer_tokens",
                button="PNG",
                title=f"Fewer tokens than with {base}, over tokens added",
                what=f"{stored.title}: {domain.title}, and general text “{general.title}”; cut at "
                f"{cut.kept:,} tokens",
                file_name=f"{file_stem(stored.title)}-fewer-tokens.png",
            )
        ],
        key="adapt_pictures",
    )
