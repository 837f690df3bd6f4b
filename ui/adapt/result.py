"""Draw the result of an extension: the sentence that leads, and a card with its figures."""

from __future__ import annotations

import streamlit as st

from ui.adapt.figures import Gain, domain_gain, general_gain, how_sure, usual_general
from ui.components.figures import verdict
from ui.look.glossary import definitions
from ui.look.labels import plain_markdown, plain_text
from ui.run.stop_reasons import times
from ui.storage.run_store import StoredRun

_MAX_NAME_LENGTH = 40


def lead_with_result(stored: StoredRun) -> None:
    """Draw the sentence on what the open run gains over its base."""
    base, n = base_name(stored), len(stored.run.merges)
    domain, general = domain_gain(stored), general_gain(stored.id, usual_general(stored.title))
    sure = how_sure(stored)
    tokens = f"{n:,} new token{'s' * (n != 1)}"
    on = domain.title[0].upper() + domain.title[1:]
    sentence = [
        (f"With {tokens}, {domain.title} takes ", False),
        (f"{domain.fewer[-1]:.1f}% fewer tokens", True),
        (f"{sure.in_brackets} than with {base}", False),
        (f"; general text takes {general_words(general)}.", False),
    ]
    aside = (
        f"{on}: {_from_to(domain)}. General text, “{general.title}”: {_from_to(general)}. No text "
        f"takes more tokens than with {base}: a new merge only joins what the base leaves apart. "
        f"{sure.method}"
    )
    verdict(sentence, aside, key="adapt_verdict", terms=definitions("Held-out text", "Merge"))


def general_words(gain: Gain) -> str:
    """Return how much shorter a general text gets, in per cent."""
    fewer = gain.fewer[-1]
    if gain.tokens[-1] == gain.tokens[0]:
        return "exactly as many"
    return f"{fewer:.1f}% fewer" if fewer >= 0.05 else "less than 0.1% fewer"


def show_result(stored: StoredRun) -> None:
    """Draw the card of an extended run."""
    run, base = stored.run, base_name(stored)
    n = len(run.merges)
    with st.container(border=True, key="adapt_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("Extended", anchor=False, width="content")
            st.space("stretch")
            if run.stop_reason == "cancelled":
                st.badge("stopped early", color="orange")
            else:
                st.badge("✓ finished", color="green")
        st.markdown(f"{plain_markdown(stored.title)}: {_sentence(stored)}")
        domain = domain_gain(stored)
        figures = st.grid(2, min_column_width=130)
        with figures.cell(), st.container(gap="xxsmall"):
            name = domain.title[0].upper() + domain.title[1:]
            st.metric(name, f"{int(domain.tokens[-1]):,}")
            st.markdown(
                f":gray[:small[tokens; {int(domain.tokens[0]):,} with {plain_markdown(base)}]]"
            )
        with figures.cell(), st.container(gap="xxsmall"):
            st.metric("Bytes per token", f"{domain.n_bytes / int(domain.tokens[-1]):.2f}")
            st.markdown(
                f":gray[:small[{domain.n_bytes / int(domain.tokens[0]):.2f} with "
                f"{plain_markdown(base)}]]"
            )
        if stored.not_kept:
            st.warning(f"{stored.not_kept} Download the tokenizer now: it will be lost.")
        if n:
            st.page_link("pages/merge_loop.py", label="Watch the new merges, one by one →")
            st.page_link("pages/compare.py", label="Compare it with its base →")


def base_name(stored: StoredRun) -> str:
    """Return the name of a run's base, shortened."""
    return plain_text(stored.base.name if stored.base else "its base", _MAX_NAME_LENGTH)


def _sentence(stored: StoredRun) -> str:
    run = stored.run
    n = len(run.merges)
    why = {
        "vocab-size": "",
        "no-pairs": " It stopped because no pair was left that may merge.",
        "min-frequency": " It stopped because no pair is frequent enough.",
        "cancelled": " It was cancelled.",
    }[run.stop_reason]
    last = f" The last pair occurred {times(run.merges[-1].count or 0)}." if n else ""
    return f"{n:,} merge{'s' * (n != 1)} after those of the base.{why}{last}"


def _from_to(gain: Gain) -> str:
    before, after = int(gain.tokens[0]), int(gain.tokens[-1])
    return f"{before:,} tokens" if before == after else f"{before:,} → {after:,} tokens"
