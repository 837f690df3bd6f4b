"""A smaller vocabulary: what goes, what stays, what it costs, and the files to take home."""

from __future__ import annotations

import json

import streamlit as st

from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.figures import Row, figure_table, verdict
from ui.failures.error_boundary import fragment
from ui.run.downloads import offer_downloads, tokenizer_downloads
from ui.storage.run_store import StoredRun
from ui.vocabulary import work
from ui.vocabulary.looks import Looked
from ui.vocabulary.previews import PruningPreview
from ui.work.background_card import show_ended, watch_work

_CHOICES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_USUAL = 10


@fragment()
def show_pruning(looked: Looked, stored: StoredRun) -> None:
    """Draws the preview of a pruned vocabulary, and what it can be saved as."""
    st.header("A smaller vocabulary", anchor=False)
    tokenizer, audit = looked.tokenizer, looked.audit
    if tokenizer is None:
        st.markdown(
            f":gray[Only a tokenizer whose merges are known can be made smaller here. This is a "
            f"{looked.encoder.model} model, which another library runs.]"
        )
        return
    if audit is None:
        st.markdown(":gray[What can be left out is known once the uses are counted.]")
        return
    st.markdown(
        ":gray[Leave out what is used too seldom. The alphabet, special tokens and all that a "
        "token that stays is merged of stay too, so whatever could be encoded still can be.]"
    )
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        min_uses = st.select_slider(
            f"Keep what is used this often in {looked.text.name}",
            options=_CHOICES,
            value=_USUAL,
            format_func=lambda n: f"{n:,} ×",
            key="min_uses",
            bind="query-params",
        )
    made = work.preview(tokenizer, audit.uses, looked.text, stored, min_uses)
    preview = made.result
    if preview is None:
        with picture:
            if made.is_live:
                watch_work(work.previews(), made.id, "Characters encoded", key="pruning")
            else:
                show_ended(work.previews(), made, "preview", key="pruning")
        return
    pruned = preview.pruned
    with picture:
        verdict(pruning_sentence(preview), pruning_aside(preview, min_uses), key="pruning_verdict")
    with controls:
        figure_table(
            ["Whole", "Pruned", ""],
            pruning_rows(tokenizer, preview),
            caption="The vocabulary whole and pruned",
            key="pruning_figures",
        )
    with picture:
        if not pruned.removed:
            return
        st.markdown("Take the pruned tokenizer home:")
        offered = tokenizer_downloads(pruned.tokenizer)
        offer_downloads(offered, key="pruned")
        st.download_button(
            "Old ids",
            lambda: json.dumps(pruned.old_ids.tolist()),
            file_name="old-ids.json",
            mime="application/json",
            on_click="ignore",
            key="pruned_old_ids",
            help="The old id of each new one: the rows of an embedding matrix to keep",
        )


def pruning_sentence(preview: PruningPreview) -> list[tuple[str, bool]]:
    """What pruning saves and what it costs, in pieces of text with whether each is bold."""
    n = len(preview.pruned.removed)
    if not n:
        return [
            ("Nothing can go: ", True),
            ("what is used less is a part of what stays.", False),
        ]
    tokens = "1 token" if n == 1 else f"{n:,} tokens"
    pieces = [(f"{tokens} fewer", True)]
    for place, cost in enumerate(preview.costs):
        pieces.append((": " if place == 0 else ", ", False))
        share = _share(cost.before, cost.after)
        pieces += [(f"{cost.name} takes ", False), (share, True)]
    return [*pieces, (".", False)]


def pruning_aside(preview: PruningPreview, min_uses: int) -> str:
    """What stays although it is used too seldom, and where ids are new."""
    parts = preview.pruned.n_kept_as_parts
    stay = {
        0: "None that is used less stays.",
        1: "1 token that is used less stays, since another is merged of it.",
    }.get(parts, f"{parts:,} tokens that are used less stay, since others are merged of them.")
    once = " What stands in this text is cut as before, token for token." if min_uses == 1 else ""
    return f"{stay}{once} Ids are given anew, in the old order."


def pruning_rows(tokenizer: Tokenizer, preview: PruningPreview) -> list[Row]:
    """The figures of the table: whole, pruned, and the difference."""
    pruned = preview.pruned.tokenizer
    return [
        _row("Tokens in the vocabulary", tokenizer.vocab_size, pruned.vocab_size),
        _row("Merges", tokenizer.n_merges, pruned.n_merges),
        *(_row(f"Tokens in {cost.name}", cost.before, cost.after) for cost in preview.costs),
    ]


def _row(name: str, before: int, after: int) -> Row:
    return Row(name, (f"{before:,}", f"{after:,}", f"{after - before:+,}".replace("-", "−")))


def _share(before: int, after: int) -> str:
    if after == before:
        return "as many tokens as before"
    more = 100 * (after / before - 1)
    return f"{more:.1f}% more tokens" if more >= 0.05 else f"{after - before:,} more tokens"
