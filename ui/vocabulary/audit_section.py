"""Draw the findings of the audit and the lengths of the tokens, which filter the table.

The filters are a search, which is converted between the address, a record of texts, and a query.
The functions that take a `key` are callbacks: they read the value of the component or chart of that
key, and ignore a value of the wrong type. The first sentence of the page is here,
too, and the preview of a pruned vocabulary: what is removed, what is kept, its cost, and downloads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Literal, cast, get_args

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.vocabulary import Query, Reachability
from ui.components import (
    ChartPicture,
    FigureRow,
    Finding,
    draw_chart_pictures,
    figure_table,
    finding_list,
    verdict,
)
from ui.host import fragment
from ui.look import (
    CONFIG,
    PALETTES,
    Theme,
    counted,
    empty_figure,
    file_stem,
    name_base_axis,
    name_value_axis,
    set_axis,
    tokens_axis,
)
from ui.run import offer_downloads
from ui.shell import bound, check_linked, frame, show_unread, workspace
from ui.storage import StoredRun
from ui.vocabulary import inspecting
from ui.vocabulary.inspecting import CountedText, Inspection, PruningPreview
from ui.work import Progress, Status, show_work

Record = dict[str, str]
FIELDS = (
    "find",
    "by",
    "finding",
    "script",
    "space",
    "partial",
    "special",
    "bytes",
    "sort",
    "page",
)
"""The names of the parameters in the address; in a record, a parameter at its default is empty."""
FindingKey = Literal[
    "never",
    "scaffolds",
    "residues",
    "removed",
    "unreachable",
    "undecided",
    "untrained",
    "partial",
]
MAX_SEARCH_LENGTH = 300
_CHOICES: dict[str, tuple[str, ...]] = {
    "by": ("bytes", "regex"),
    "finding": get_args(FindingKey),
    "space": ("yes", "no"),
    "partial": ("yes", "no"),
    "special": ("yes", "no"),
    "sort": ("-id", "length", "-length", "use", "-use"),
}
MAX_BAR_LENGTH = 24
"""The length of the last bar, which also counts longer tokens."""
_LENGTHS = re.compile(r"(\d{1,5})(?:(-)(\d{1,5})?)?", re.ASCII)


def to_record(values: Mapping[str, object]) -> Record:
    """Return all fields as texts, in order; an invalid value becomes empty.

    >>> {name: text for name, text in to_record({"find": "th", "sort": "up"}).items() if text}
    {'find': 'th'}
    """
    return {name: _checked(name, values.get(name)) for name in FIELDS}


def to_query(record: Mapping[str, str], only: tuple[int, ...] | None = None) -> Query:
    """Convert a record to a query; `only` is the ids of its finding.

    >>> to_query(to_record({"bytes": "3-", "sort": "-use"})).shortest
    3
    """
    low, high = parse_lengths(record["bytes"])
    return Query(
        text=record["find"],
        by=Query.SEARCH_BY[record["by"] or "text"],
        script=record["script"] or None,
        shortest=low,
        longest=high,
        leading_space=_flag(record["space"]),
        partial_utf8=_flag(record["partial"]),
        special=_flag(record["special"]),
        only=only,
        sort=Query.SORT_BY[record["sort"].removeprefix("-") or "id"],
        descending=record["sort"].startswith("-"),
    )


def parse_lengths(text: str) -> tuple[int, int | None]:
    """Parse a field of lengths into the shortest and the longest length; None for no limit.

    >>> parse_lengths("4"), parse_lengths("4-6"), parse_lengths("24-"), parse_lengths("")
    ((4, 4), (4, 6), (24, None), (0, None))
    """
    match = _LENGTHS.fullmatch(text)
    if match is None:
        return 0, None
    low, has_end, high = int(match[1]), match[2], match[3]
    return low, (int(high) if high else None) if has_end else low


def bar_lengths(place: int, n_lengths: int) -> str:
    """Return the lengths counted by a bar, in the form used in the address.

    >>> bar_lengths(4, 20), bar_lengths(23, 129)
    ('5', '24-')
    """
    length = place + 1
    return (
        f"{length}-" if length == MAX_BAR_LENGTH and n_lengths > MAX_BAR_LENGTH + 1 else str(length)
    )


def _flag(text: str) -> bool | None:
    return None if not text else text == "yes"


def _checked(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_SEARCH_LENGTH:
        return ""
    if name in _CHOICES:
        return value if value in _CHOICES[name] else ""
    if name == "bytes":
        return value if _LENGTHS.fullmatch(value) else ""
    if name == "page":
        is_page = value.isascii() and value.isdigit() and len(value) < 7 and int(value) > 1
        return value if is_page else ""
    # The address is UTF-8, which has no encoding for a lone surrogate.
    return value if value.isascii() or not re.search("[\ud800-\udfff]", value) else ""


def read_search() -> Record:
    """Return the search in the address."""
    return to_record({name: workspace.query_text(name, MAX_SEARCH_LENGTH) for name in FIELDS})


def _say_unread(record: Record, scripts: Collection[str]) -> None:
    """Say what the address names for a search that the table does not have."""
    for name in FIELDS[:-1]:  # of how many pages there are, the table knows
        check_linked(
            name,
            lambda linked, name=name: (
                _checked(name, linked) == linked and (name != "script" or linked in scripts)
            ),
            f"a search of at most {MAX_SEARCH_LENGTH} characters"
            if name == "find"
            else f"a value of “{name}” here",
        )
        show_unread(name, record[name])


def read_token_id(encoder: Encoder, default: int) -> int:
    """Return the id of the open token; `default` if this vocabulary has no such token."""
    opened = workspace.query_int("token", -1, 2**31)
    check_linked("token", lambda _: opened in encoder.vocab, "an id of this vocabulary")
    opened = opened if opened in encoder.vocab else default
    show_unread("token", opened)
    return opened


def read_prefix() -> bytes:
    """Return the prefix whose node of the trie is shown; say so if it is invalid."""
    prefix = b""
    with suppress(ValueError):
        prefix = bytes.fromhex(workspace.query_text("prefix", 8 * MAX_SEARCH_LENGTH) or "")
    check_linked("prefix", lambda _: prefix != b"", "bytes in hexadecimal digits")
    show_unread("prefix", prefix)
    return prefix


def search_for(key: str) -> None:
    """Search for the record sent by the table."""
    record = workspace.component_value(key, "record")
    if isinstance(record, dict):
        _set_record(to_record(cast("dict[str, object]", record)))


def open_token(key: str) -> None:
    """Open the token whose button was pressed."""
    opened = workspace.component_value(key, "opened")
    if isinstance(opened, int):
        workspace.set_query(token=opened)


def toggle_finding(key: str) -> None:
    """Filter by the finding that was pressed, or clear the filter if it was already set."""
    chosen, record = workspace.component_value(key, "chosen"), read_search()
    if isinstance(chosen, str):
        finding = "" if record["finding"] == chosen else chosen
        _set_record(to_record({**record, "finding": finding, "page": ""}))


def toggle_length(key: str, n_lengths: int, shown: str) -> None:
    """Filter by the lengths of the bar that was clicked, or clear that filter if it is `shown`.

    `shown` is the chart's, not the address's: a request that was sent before the browser replaced
    the chart brings the same click again.
    """
    points = workspace.selected_points(key)
    if points:
        field = bar_lengths(points[0], n_lengths)
        field = "" if shown == field else field
        _set_record(to_record({**read_search(), "bytes": field, "page": ""}))


def go_to_text(key: str) -> None:
    """Go to the trie node whose prefix was typed as text."""
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        workspace.set_query(prefix=typed[:MAX_SEARCH_LENGTH].encode(errors="ignore").hex() or None)


def go_to_prefix(key: str) -> None:
    """Go to the trie node that was pressed; its prefix arrives in hex."""
    moved = workspace.component_value(key, "moved")
    if isinstance(moved, str):
        workspace.set_query(prefix=moved or None)


def _set_record(record: Record) -> None:
    workspace.set_query(**{name: text or None for name, text in record.items()})


def draw_audit(
    inspection: Inspection,
    record: Record,
    search: Status[Progress, Reachability] | None,
    lengths_sentence: str,
) -> None:
    """Draw the findings next to the lengths; `search` is None if the merges are not known."""
    _say_unread(record, inspection.table.scripts)
    findings, lengths = st.columns(2, gap="large")
    with findings:
        _draw_findings(inspection, record, search)
    with lengths:
        _draw_lengths(inspection, record, lengths_sentence)


def _draw_findings(
    inspection: Inspection, record: Record, search: Status[Progress, Reachability] | None
) -> None:
    st.header(
        "Audit", anchor=False, help="A model may still know tokens that this text never uses."
    )
    st.markdown(":gray[Press one to filter.]")
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


def _draw_lengths(inspection: Inspection, record: Record, sentence: str) -> None:
    kinds = inspection.table.length_kinds
    chosen = parse_lengths(record["bytes"]) if record["bytes"] else None
    # A new key for each filter: a chart keeps its selection for as long as it keeps its key.
    key = f"lengths_{record['bytes']}"
    st.header("Lengths", anchor=False, help=sentence)
    st.markdown(":gray[Click a bar to filter.]")
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
        "Not in this text.",
    ),
    "scaffolds": ("Scaffold only", "Never used, but part of a used token."),
    "residues": (
        "Residue",
        "Later merges took all but 5% of their uses.",
    ),
    "removed": (
        "Taken out again",
        "Training removed them once larger tokens had taken most of their uses (PickyBPE), so no "
        "text encodes to them.",
    ),
    "unreachable": ("Unreachable", "No text encodes to them."),
    "undecided": ("Undecided", "No text was found that encodes to them, but one may exist."),
    "untrained": (
        "Looks untrained",
        "By the figures of a model’s rows, in the file that is open below: they look as little "
        "trained as tokens that are known to be unused.",
    ),
    "partial": ("Partial UTF-8", "Their bytes are not whole characters."),
}


def ids_found(
    inspection: Inspection, reachability: Reachability | None
) -> dict[FindingKey, tuple[int, ...] | None]:
    """Return the ids of each finding, ascending; None until they are computed."""
    audit, table = inspection.audit, inspection.table
    residues = ()
    if audit is not None and inspection.tokenizer is not None and inspection.text.run is not None:
        residues = audit.residues(inspection.tokenizer)
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
        "untrained": inspection.untrained,
        "partial": tuple(partial.tolist()) if audit is None else audit.partial_utf8,
    }


def list_findings(inspection: Inspection, reachability: Reachability | None) -> list[Finding]:
    """Return the findings with their counts, without those that are rare if there are none.

    Rare are removed, undecided and untrained tokens, and residues. Scaffolds and unreachable tokens
    are left out if the merges are not known.
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
        if (key not in ("removed", "undecided", "untrained", "residues") or ids)
        and not (without_merges and key in ("scaffolds", "unreachable"))
    ]


def leading_sentence(inspection: Inspection) -> tuple[list[tuple[str, bool]], str]:
    """Return the page's first sentence, as pieces with whether each is bold, and an aside."""
    lengths = inspection.table.length_counts
    own = inspection.tokenizer
    removed = 0
    if own is not None and own.table.removed:
        removed = len(own.table.removed)
        gone = [len(own.vocab[id]) for id in own.table.removed]
        lengths = lengths - np.bincount(gone, minlength=len(lengths))
    ordinary = int(lengths.sum())
    half = int(np.searchsorted(np.cumsum(lengths), ordinary / 2))
    longest = int(np.flatnonzero(lengths)[-1])
    aside = f"The longest has {counted(longest, 'byte')}, and half have at most {half:,}."
    tokens = (counted(ordinary, "token"), True)
    special = len(inspection.special_ids)
    if special:
        are = "is" if special == 1 else "are"
        aside += f" {counted(special, 'special token')} {are} not included."
    if removed:
        are = "is" if removed == 1 else "are"
        aside += f" {counted(removed, 'token')} taken out again in training {are} not counted."
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


_MIN_USES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
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
        slider = partial(
            st.select_slider,
            f"Keep tokens used at least this often in {text.name}",
            options=_MIN_USES,
            value=_USUAL,
            format_func="{:,} ×".format,
        )
        min_uses = bound(slider, key="min_uses", usable=[f"{n:,} ×" for n in _MIN_USES])
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
