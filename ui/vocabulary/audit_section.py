"""Describe and draw the findings of the audit, and the lengths of the tokens.

Both filter the table. The page's first sentence is here, too.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.vocabulary import Reachability, find_residues
from ui.components import ChartPicture, Finding, draw_chart_pictures, finding_list
from ui.look import (
    CONFIG,
    PALETTES,
    Theme,
    counted,
    empty_figure,
    file_stem,
    name_base_axis,
    name_value_axis,
    plain_markdown,
    set_axis,
    tokens_axis,
)
from ui.shell import frame
from ui.vocabulary.inspection import Inspection
from ui.vocabulary.search import (
    MAX_BAR_LENGTH,
    FindingKey,
    Record,
    parse_lengths,
    toggle_finding,
    toggle_length,
)
from ui.work import Progress, Status, show_work


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
    if search is None:
        st.markdown(
            ":gray[Another library runs this tokenizer, or it changes text before it merges. So "
            "there are no derivation trees, and no search for unreachable tokens.]"
        )
    else:
        show_work(
            search,
            unit="Searching for unreachable tokens",
            what="search for unreachable tokens",
            key="search",
        )


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
        alt=f"Tokens by length, from 1 to {counted(kinds.shape[1] - 1, 'byte')}.",
    )
    picture = ChartPicture(
        key,
        "PNG",
        "Tokens by length in bytes",
        inspection.name,
        f"{file_stem(inspection.name)}-lengths.png",
    )
    draw_chart_pictures([picture], key="lengths_picture")


_KINDS = ("leading space", "no leading space", "partial UTF-8")
_HEIGHT = 300


def length_bars(
    kinds: NDArray[np.int64], *, chosen: tuple[int, int | None] | None, theme: Theme
) -> go.Figure:
    """Draw the number of tokens of each length in bytes, as bars stacked from three kinds.

    `kinds` is int64[3, longest + 1]. `chosen` is the shortest and the longest length in the filter,
    which get a frame.
    """
    colours = PALETTES[theme]
    n_bars = max(1, min(kinds.shape[1] - 1, MAX_BAR_LENGTH))
    bars = kinds[:, 1 : n_bars + 1].copy()
    bars[:, -1] += kinds[:, n_bars + 1 :].sum(axis=1)
    names = [str(length) for length in range(1, n_bars + 1)]
    if kinds.shape[1] > MAX_BAR_LENGTH + 1:
        names[-1] += "+"
    figure = empty_figure(theme, height=_HEIGHT, top=56)
    looks = (
        {"color": colours.primary},
        {"color": colours.bar},
        {
            "color": colours.background,
            "line": {"color": colours.text, "width": 1},
            "pattern": {"shape": "/", "fgcolor": colours.text, "size": 5, "solidity": 0.35},
        },
    )
    for kind, counts, look in zip(_KINDS, bars.tolist(), looks, strict=True):
        figure.add_bar(
            x=list(range(1, n_bars + 1)),
            # A bar of height 0 would still show its outline.
            y=[count or None for count in counts],
            name=kind,
            marker=look,
            customdata=names,
            hovertemplate=f"bytes: %{{customdata}}<br>{kind}: %{{y:,}}<extra></extra>",
        )
    tokens_axis(figure, int(bars.sum(axis=0).max()))
    ticks = range(1, n_bars + 1) if n_bars < MAX_BAR_LENGTH / 2 else (1, *range(4, n_bars + 1, 4))
    set_axis(
        figure,
        "x",
        range=[0.4, n_bars + 0.6],
        tickvals=list(ticks),
        ticktext=[names[tick - 1] for tick in ticks],
    )
    figure.update_layout(
        barmode="stack",
        bargap=0.2,
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1.02,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
            "traceorder": "normal",
        },
    )
    name_value_axis(figure, "tokens", theme)
    name_base_axis(figure, "bytes")
    if chosen is not None:
        low, high = chosen
        figure.add_shape(
            type="rect",
            x0=max(low, 1) - 0.5,
            x1=min(high or n_bars, n_bars) + 0.5,
            yref="paper",
            y0=0,
            y1=1,
            line={"color": colours.text, "width": 1.5},
        )
    return figure


UNREACHABLE_IN_USE = (
    "No text encodes to them. Some occur in words given with their counts, which are not cut."
)
FINDINGS: dict[FindingKey, tuple[str, str]] = {
    "never": (
        "Never used",
        "They do not occur in the text. Unused here does not mean under-trained: that depends on "
        "the text the model was trained on.",
    ),
    "scaffolds": ("Scaffold only", "Never used, but part of a token that is."),
    "residues": (
        "Residue",
        "Frequent when they were merged; later merges took all but 5% of their uses in the "
        "training text.",
    ),
    "removed": (
        "Taken out again",
        "Training removed them once larger tokens had taken most of their uses (PickyBPE), so no "
        "text encodes to them.",
    ),
    "unreachable": ("Unreachable", "No text encodes to them."),
    "undecided": ("Undecided", "No text was found that encodes to them, but one may exist."),
    "partial": ("Partial UTF-8", "Their bytes are not whole characters."),
}


def ids_found(
    inspection: Inspection, reachability: Reachability | None
) -> dict[FindingKey, tuple[int, ...] | None]:
    """Return the ids of each finding, ascending; None until they are computed."""
    audit, table = inspection.audit, inspection.table
    residues = ()
    if audit is not None and inspection.tokenizer is not None and inspection.text.run is not None:
        residues = find_residues(inspection.tokenizer, audit.uses)
    removed: tuple[int, ...] = ()
    if inspection.tokenizer is not None:
        removed = tuple(sorted(inspection.tokenizer.table.removed))
    unreachable = undecided = None
    if reachability is not None:
        unreachable = tuple(
            id for id, reason in reachability.unreachable.items() if reason != "removed"
        )
        # A token used in this text is reachable, although the search could not decide it.
        undecided = tuple(
            id for id in reachability.undecided if audit is None or not audit.uses[id]
        )
    partial = table.ids[table.partial_utf8 & ~table.special]
    return {
        "never": audit and audit.never_used,
        "scaffolds": audit and audit.scaffolds,
        "residues": residues,
        "removed": removed,
        "unreachable": unreachable,
        "undecided": undecided,
        "partial": tuple(partial.tolist()) if audit is None else audit.partial_utf8,
    }


def list_findings(inspection: Inspection, reachability: Reachability | None) -> list[Finding]:
    """Return the findings with their counts, without those that are rare if there are none.

    Rare are removed and undecided tokens, and residues. Scaffolds and unreachable tokens are left
    out if the merges are not known.
    """
    found = ids_found(inspection, reachability)
    without_merges = inspection.derivations is None
    uses = None if inspection.audit is None else inspection.audit.uses
    notes = {key: note for key, (_, note) in FINDINGS.items()}
    if uses is not None and any(uses[id] for id in found["unreachable"] or ()):
        notes["unreachable"] = UNREACHABLE_IN_USE
    return [
        Finding(key, name, notes[key], None if ids is None else len(ids))
        for (key, (name, _)), ids in zip(FINDINGS.items(), found.values(), strict=True)
        if (key not in ("removed", "undecided", "residues") or ids)
        and not (without_merges and key in ("scaffolds", "unreachable"))
    ]


def leading_sentence(inspection: Inspection) -> tuple[list[tuple[str, bool]], str]:
    """Return the page's first sentence, as pieces with whether each is bold, and an aside."""
    lengths = inspection.table.length_counts
    ordinary = int(lengths.sum())
    half = int(np.searchsorted(np.cumsum(lengths), ordinary / 2))
    longest = len(lengths) - 1
    aside = f"The longest has {counted(longest, 'byte')}, and half have at most {half:,}."
    tokens = (counted(ordinary, "token"), True)
    special = len(inspection.special_ids)
    if special:
        are = "is" if special == 1 else "are"
        aside += f" {counted(special, 'special token')} {are} not included."
    if inspection.audit is None:
        uncounted = f". Their uses in {inspection.text.name} are not counted."
        return [tokens, (uncounted, False)], aside
    unused, scaffolds = len(inspection.audit.never_used), len(inspection.audit.scaffolds)
    if not unused:
        return [("All ", False), tokens, (f" occur in {inspection.text.name}.", False)], aside
    share = 100 * unused / ordinary
    percent = f"{share:.1f}%" if share < 99.95 or unused == ordinary else "more than 99.9%"
    never = f", {unused:,} ({percent}) never occur in {inspection.text.name}"
    if inspection.derivations is None or not scaffolds:
        return [("Of ", False), tokens, (f"{never}.", False)], aside
    return [
        ("Of ", False),
        tokens,
        (f"{never}; ", False),
        (f"{scaffolds:,} of them", True),
        (f" {'serves' if scaffolds == 1 else 'serve'} only to build tokens that do.", False),
    ], aside
