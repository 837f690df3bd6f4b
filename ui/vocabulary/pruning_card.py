"""Preview a pruned vocabulary: what is removed, what is kept, its cost, and its downloads."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.tokenizer import Tokenizer
from ui.components import FigureRow, figure_table, verdict
from ui.host import fragment
from ui.look import counted
from ui.run import offer_downloads
from ui.shell import workspace
from ui.storage import StoredRun
from ui.vocabulary import inspecting
from ui.vocabulary.inspecting import CountedText, Inspection, PruningPreview
from ui.work import show_work

_CHOICES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_USUAL = 10


@fragment()
def show_pruning(inspection: Inspection, stored: StoredRun) -> None:
    """Draw the preview of a pruned vocabulary and its downloads, at first folded."""
    tokenizer, audit = inspection.tokenizer, inspection.audit
    if tokenizer is None:
        st.markdown(
            f":gray[Only a tokenizer whose merges run here, on the text as it is, can be pruned. "
            f"This is a {inspection.encoder.model} model, run by {inspection.encoder.engine}.]"
        )
        return
    if audit is None:
        st.markdown(":gray[Pruning is possible once the uses are counted.]")
        return
    # A link to a preview names how often a kept token is used.
    is_linked = workspace.query_text("min_uses") is not None
    card = st.expander(
        "**Prune the vocabulary**", expanded=is_linked, on_change="rerun", key="pruning"
    )
    if card.open:
        with card:
            _draw_preview(tokenizer, audit.uses, inspection.text, stored)


def _draw_preview(
    tokenizer: Tokenizer, uses: NDArray[np.int64], text: CountedText, stored: StoredRun
) -> None:
    st.markdown(
        ":gray[Remove rarely used tokens. The alphabet, the special tokens and the parts of every "
        "kept token stay, so every text can still be encoded.]"
    )
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        min_uses = st.select_slider(
            f"Keep tokens used at least this often in {text.name}",
            options=_CHOICES,
            value=_USUAL,
            format_func=lambda n: f"{n:,} ×",
            key="min_uses",
            bind="query-params",
        )
    status = inspecting.preview(tokenizer, uses, text, stored, min_uses)
    preview = status.result
    if preview is None:
        with picture:
            show_work(
                status,
                unit="Characters encoded",
                what="preview",
                key="pruning",
            )
        return
    pruned = preview.pruned
    with picture:
        verdict(
            _pruning_sentence(preview), _pruning_aside(preview, min_uses), key="pruning_verdict"
        )
    with controls:
        figure_table(
            ["Whole", "Pruned", ""],
            _pruning_rows(tokenizer, preview),
            caption="The vocabulary before and after pruning",
            key="pruning_figures",
        )
    with picture:
        if not pruned.removed:
            return
        st.markdown("Download the pruned tokenizer:")
        offer_downloads(pruned.tokenizer, stored, key="pruned")
        st.download_button(
            "Old ids",
            lambda: json.dumps(pruned.old_ids.tolist()),
            file_name="old-ids.json",
            mime="application/json",
            on_click="ignore",
            key="pruned_old_ids",
            help="The old id of each new id: the rows of an embedding matrix to keep.",
        )


def _pruning_sentence(preview: PruningPreview) -> list[tuple[str, bool]]:
    """Return what pruning saves and costs, as pieces of text, each with whether it is bold."""
    n = len(preview.pruned.removed)
    if not n:
        return [
            ("No token can be removed: ", True),
            ("each one used less often is part of a token that is kept.", False),
        ]
    pieces = [(f"{counted(n, 'token')} fewer", True)]
    for place, cost in enumerate(preview.costs):
        pieces.append((": " if place == 0 else ", ", False))
        share = _share(cost.before, cost.after)
        pieces += [(f"{cost.name} takes ", False), (share, True)]
    return [*pieces, (".", False)]


def _pruning_aside(preview: PruningPreview, min_uses: int) -> str:
    """Return how many rarely used tokens are kept, and that ids are renumbered."""
    parts = preview.pruned.n_kept_as_parts
    kept = {
        0: "Every token used less often is removed.",
        1: "1 token used less often is kept, because another is merged from it.",
    }.get(parts, f"{parts:,} tokens used less often are kept, because others are merged from them.")
    same = " This text is encoded to the same tokens as before." if min_uses == 1 else ""
    return f"{kept}{same} Ids are renumbered in the old order."


def _pruning_rows(tokenizer: Tokenizer, preview: PruningPreview) -> list[FigureRow]:
    """Return the rows of the table: before, after, and the difference."""
    pruned = preview.pruned.tokenizer
    return [
        _row("Tokens in the vocabulary", tokenizer.vocab_size, pruned.vocab_size),
        _row("Merges", tokenizer.n_merges, pruned.n_merges),
        *(_row(f"Tokens in {cost.name}", cost.before, cost.after) for cost in preview.costs),
    ]


def _row(name: str, before: int, after: int) -> FigureRow:
    return FigureRow(name, (f"{before:,}", f"{after:,}", f"{after - before:+,}".replace("-", "−")))


def _share(before: int, after: int) -> str:
    if after == before:
        return "as many tokens as before"
    more = 100 * (after / before - 1)
    return f"{more:.1f}% more tokens" if more >= 0.05 else counted(after - before, "more token")
