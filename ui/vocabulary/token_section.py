"""Draw the tokens as pages of a table or nodes of a trie, next to the card of the open token.

The tokens that a model never learned are drawn from the figures of its rows. They come from a file
that `bpe undertrained --csv` wrote where the model is: its tensors are too large to upload.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.checks import times
from bpe_core.errors import BpeError
from bpe_core.models import RowFigures
from bpe_core.views import token_for_browser
from bpe_core.vocabulary import Derivations, Reachability
from ui.components import (
    ChartPicture,
    Sent,
    SymbolRow,
    Tile,
    Tiles,
    draw_chart_pictures,
    draw_symbol_rows,
    learned_rows,
    prefix_walk,
    token_card,
    token_table,
)
from ui.host import cached, errors_shown
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
    plain_text,
    set_axis,
    token_label,
)
from ui.shell import (
    check_linked,
    choose_one,
    frame,
    show_unread,
    submitted_files,
    upload_file,
    workspace,
)
from ui.vocabulary.audit_section import (
    FINDINGS,
    Record,
    go_to_prefix,
    go_to_text,
    ids_found,
    open_token,
    read_prefix,
    read_token_id,
    search_for,
    to_query,
)
from ui.vocabulary.inspecting import Inspection

_MAX_BUILT = 60
_MAX_CODE_POINTS = 16
_MAX_BYTES = 48
TABLE = "Table"
TRIE = "Trie"
ROWS_A_PAGE = 100
_MAX_SCRIPTS = 60
_MAX_AHEAD = 6
_MAX_LONGEST = 5


def card_data(inspection: Inspection, id: int, reachability: Reachability | None) -> Sent:
    """Return the contents of a token's card."""
    row = inspection.find_row(id)
    token = inspection.encoder.vocab[id]
    derivations = inspection.derivations
    tree = () if derivations is None else derivations.tree(id, folded=inspection.blank_ids)
    is_folded = any(node.id in inspection.blank_ids for node in tree[1:])
    built = () if derivations is None else derivations.built_on(id)
    own = shown_token(inspection, id)
    uses = "not counted"
    if inspection.audit is not None:
        n = int(inspection.table.uses[row])
        uses = times(n) if n else "never"
    return {
        "shown": own,
        "facts": [
            ("id", f"{id:,}"),
            _origin(inspection, own),
            ("bytes", _hex(token)),
            ("characters", _characters(token)),
            (f"in {inspection.text.name}", uses),
        ],
        "warning": _warning(inspection, id, reachability),
        "tree": [
            {
                **shown_token(inspection, node.id, -1 if node.rank is None else node.rank),
                "parts": node.parts,
            }
            for node in tree
        ],
        "tree_sentence": ""
        if derivations is None
        else _tree_sentence(derivations, id, is_folded=is_folded),
        "built": [shown_token(inspection, made) for made in built[:_MAX_BUILT]],
        "built_sentence": "" if derivations is None else _built_sentence(derivations, id),
    }


def _origin(inspection: Inspection, own: Sent) -> tuple[str, str]:
    if own["kind"] == "special":
        return "kind", "special token, never merged"
    tokenizer = inspection.tokenizer
    if tokenizer is None:
        return "kind", f"{inspection.encoder.model} token, its merges not known"
    if own["id"] == tokenizer.table.end_of_word_id:
        return "kind", "end-of-word marker"
    if own["kind"] == "byte":
        return "kind", "byte, which spells characters outside the alphabet"
    if own["kind"] == "symbol":
        return "kind", "base symbol, present before the first merge"
    return "made by merge", f"{own['rank'] + 1:,} of {tokenizer.n_merges:,}"


def _hex(token: bytes) -> str:
    shown = token[:_MAX_BYTES].hex(" ").upper()
    return shown if len(token) <= _MAX_BYTES else f"{shown} … {len(token):,} in all"


def _characters(token: bytes) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "partial UTF-8, not whole characters"
    names = [f"U+{ord(c):04X}" for c in text[:_MAX_CODE_POINTS]]
    if len(text) == 1:
        return f"{names[0]} {unicodedata.name(text, '')}".strip()
    more = f" … {len(text):,} in all" if len(text) > _MAX_CODE_POINTS else ""
    return f"{len(text):,}: {' '.join(names)}{more}" if not more else f"{' '.join(names)}{more}"


def _warning(inspection: Inspection, id: int, reachability: Reachability | None) -> str:
    if reachability is not None and id in reachability.unreachable:
        of_words = inspection.audit is not None and inspection.audit.uses[id]
        but = ". It occurs in a word given with its count, which is not cut" if of_words else ""
        return f"Unreachable: {Reachability.REASONS[reachability.unreachable[id]]}{but}."
    if reachability is not None and id in reachability.only_whole:
        return "Reachable only as a whole word: merges never make it."
    if inspection.audit is not None and id in inspection.audit.scaffolds:
        return "Scaffold: never used itself, but part of a token that is."
    return ""


def _tree_sentence(derivations: Derivations, id: int, *, is_folded: bool) -> str:
    symbols = derivations.n_symbols(id)
    return (
        f"{counted(symbols, 'symbol')}, {counted(symbols - 1, 'merge')}. Numbers are "
        "places in the order of merges."
        + (" White space is folded: press a part to see how it was made." if is_folded else "")
    )


def _built_sentence(derivations: Derivations, id: int) -> str:
    n_direct = len(derivations.built_on(id))
    if not n_direct:
        return "No merge uses it."
    n_all = len(derivations.all_built_on(id))
    direct = "1 token is" if n_direct == 1 else f"{n_direct:,} tokens are"
    shown = f" The first {_MAX_BUILT}:" if n_direct > _MAX_BUILT else ""
    indirect = f", {n_all:,} directly or indirectly" if n_all > n_direct else ""
    return f"{direct} merged from it directly{indirect}.{shown}"


def draw_learned(inspection: Inspection) -> None:
    """Draw the longest words of the vocabulary, and its families."""
    st.header("What it learned", anchor=False)
    n_words = int((inspection.table.letters > 0).sum())
    are = "is" if n_words == 1 else "are"
    tokenizer = inspection.tokenizer
    n_removed = 0 if tokenizer is None else len(tokenizer.table.removed)
    n_all = counted(len(inspection.table) - n_removed, "token")
    st.markdown(f"**{n_words:,} of its {n_all}** {are} made of two or more letters.")
    longest = inspection.table.longest_words(_MAX_LONGEST)
    rows = [_learned_row(inspection, "Most letters", None, longest)] if longest else []
    rows += [
        _learned_row(inspection, "Built on", root, members) for root, members in inspection.families
    ]
    learned_rows(rows, key="learned", on_opened=partial(open_token, "learned"))


def _learned_row(inspection: Inspection, name: str, root: int | None, ids: Sequence[int]) -> Sent:
    shown = ids[:_MAX_LONGEST]
    return {
        "name": name,
        "root": None if root is None else shown_token(inspection, root),
        "tokens": [shown_token(inspection, id) for id in shown],
        "more": len(ids) - len(shown),
    }


def draw_tokens(inspection: Inspection, record: Record, reachability: Reachability | None) -> None:
    """Draw the tokens that match the record, or their trie, and the open token."""
    st.header("Tokens", anchor=False)
    opened = read_token_id(inspection.encoder, inspection.first_token)
    left, right = st.columns([3, 2], gap="large")
    with left:
        linked = TRIE if workspace.has_query("prefix") else None
        if choose_one("View", [TABLE, TRIE], key="seen_as", first=linked) == TABLE:
            data = table_data(inspection, record, reachability, opened)
            check_linked(
                "page",
                lambda linked: linked.isdigit() and str(data["page"]) == linked,
                "a page of this table",
            )
            show_unread("page", data["page"])
            token_table(
                data,
                key="token_table",
                on_record=partial(search_for, "token_table"),
                on_opened=partial(open_token, "token_table"),
            )
        else:
            st.markdown(":gray[Each branch, with its number of tokens. A filled tile is a token.]")
            prefix_walk(
                prefix_data(inspection, read_prefix()),
                key="prefixes",
                on_typed=partial(go_to_text, "prefixes"),
                on_moved=partial(go_to_prefix, "prefixes"),
                on_opened=partial(open_token, "prefixes"),
            )
    with right:
        token_card(
            card_data(inspection, opened, reachability),
            key="token_card",
            on_opened=partial(open_token, "token_card"),
        )


def shown_token(inspection: Inspection, id: int, rank: int | None = None) -> Sent:
    """Return a token as the browser draws it."""
    if rank is None:
        row = inspection.find_row(id)
        rank = int(inspection.table.ranks[row])
    token = inspection.encoder.vocab[id]
    kind = "special" if id in inspection.special_ids else "symbol" if rank < 0 else "merge"
    tokenizer = inspection.tokenizer
    if tokenizer is not None and tokenizer.table.byte_ids.get(token) == id:
        # As files write it: the alphabet may have a character of the same byte.
        return {"id": id, "token": f"<0x{token[0]:02X}>", "kind": "byte", "rank": rank}
    if inspection.derivations is None and kind == "symbol":
        kind = "token"
    return {
        "id": id,
        "token": token_for_browser(token),
        "kind": kind,
        "rank": rank,
    }


def table_data(
    inspection: Inspection,
    record: Mapping[str, str],
    reachability: Reachability | None,
    opened: int,
) -> Sent:
    """Return the page of the table that matches a record, with the search's error if any."""
    table, problem = inspection.table, ""
    found = ids_found(inspection, reachability)
    only = next((ids for key, ids in found.items() if key == record["finding"]), None)
    try:
        rows = table.find(to_query(record, only))
    except BpeError as error:
        rows, problem = table.ids[:0], str(error)
    pages = max(1, -(-len(rows) // ROWS_A_PAGE))
    page = min(int(record["page"] or 1), pages)
    start = (page - 1) * ROWS_A_PAGE
    return {
        "record": dict(record),
        "rows": [
            {
                **shown_token(inspection, int(table.ids[row]), int(table.ranks[row])),
                "bytes": int(table.lengths[row]),
                "uses": None if inspection.audit is None else int(table.uses[row]),
                "built": int(table.n_built_on[row]),
            }
            for row in rows[start : start + ROWS_A_PAGE].tolist()
        ],
        "start": start,
        "n_found": len(rows),
        "n_all": len(table),
        "page": page,
        "pages": pages,
        "sort": record["sort"] or "id",
        "opened": opened,
        "problem": problem,
        "about_uses": f"Occurrences in {inspection.text.name}",
        "has_merges": inspection.derivations is not None,
        "scripts": list(table.scripts.items())[:_MAX_SCRIPTS],
        "findings": [(key, FINDINGS[key][0], len(ids)) for key, ids in found.items() if ids],
    }


def prefix_data(inspection: Inspection, prefix: bytes) -> Sent:
    """Return a node of the trie and its branches."""
    tree = inspection.prefixes
    node = tree.node(prefix)
    path = tree.path(prefix)
    steps: list[Sent] = [{"token": "", "prefix": ""}]
    for above, below in pairwise(path):
        steps.append({"token": token_for_browser(below[len(above) :]), "prefix": below.hex()})
    ways: list[Sent] = []
    for branch in node.branches:
        more = branch.prefix[len(prefix) :]
        ahead = tree.starting_with(branch.prefix, _MAX_AHEAD + len(branch.ids))
        ways.append(
            {
                "more": token_for_browser(more),
                "prefix": branch.prefix.hex(),
                "n": branch.n_tokens,
                "shown": shown_token(inspection, branch.ids[0]) if branch.ids else None,
                "ahead": [shown_token(inspection, id) for id in ahead if id not in branch.ids],
            }
        )
    longest = None if node.n_tokens else tree.longest_match(prefix)
    return {
        "text": prefix.decode("utf-8", "ignore"),
        "path": steps,
        "sentence": _node_sentence(prefix, node.n_tokens, len(node.branches)),
        "own": shown_token(inspection, node.ids[0]) if node.ids else None,
        "longest": None if longest is None else shown_token(inspection, longest),
        "branches": ways,
    }


def _node_sentence(prefix: bytes, n_tokens: int, n_branches: int) -> str:
    if not prefix:
        return f"{counted(n_tokens, 'token')} with {counted(n_branches, 'distinct first byte')}."
    begin = "1 token begins" if n_tokens == 1 else f"{counted(n_tokens, 'token')} begin"
    return f"{begin if n_tokens else 'No token begins'} with {token_label(prefix)}."


_MAX_OTHERS: Final = 3_000
_MAX_LISTED: Final = 30
_NONE: Final = 0.5
"""Where tokens without a use lie on the logarithmic axis."""


def draw_rows(inspection: Inspection) -> Inspection:
    """Draw the uploader and, of the figures in its file, the rows that training hardly touched.

    Return the inspection with the tokens that look untrained, by which the table can be filtered.
    """
    with st.expander("Tokens that a model never learned", key="rows_section"):
        st.markdown(
            ":gray[A language model has a row of numbers for each token. Rows that training never "
            "touched give such tokens away. The tensors are too large to upload, so run this "
            "where the model is, and open the file here:]"
        )
        st.code("bpe undertrained MODEL --csv rows.csv", language="sh")
        upload = upload_file("Figures of the rows", key="rows_file")
        if upload is None or not submitted_files([upload]):
            return inspection
        with errors_shown():
            fingerprint = inspection.encoder.fingerprint
            found = _read(upload.file_id, fingerprint, upload, inspection.encoder.vocab)
            _draw_found(inspection, found)
            return replace(inspection, untrained=tuple(sorted(found.candidates)))
    return inspection


@cached(spinner="Reading the figures")
def _read(
    file_id: str, fingerprint: str, _upload: UploadedFile, _vocab: Mapping[int, bytes]
) -> RowFigures:
    return RowFigures.read(_upload.getvalue(), _vocab)


def _draw_found(inspection: Inspection, found: RowFigures) -> None:
    n = len(found.candidates)
    are = "looks" if n == 1 else "look"
    st.markdown(
        f"**{counted(n, 'token')}** of {len(found.ids):,} {are} as little trained as tokens that "
        "are known to be unused. Whether the model can still use them, only the model can say. "
        "Press “Looks untrained” in the audit to see them in the table."
    )
    uses = None if inspection.audit is None else inspection.audit.uses
    if uses is not None:
        text = inspection.text.name
        st.plotly_chart(
            norms_by_uses(found, uses, frame.theme_type()),
            key="rows_chart",
            theme=None,
            config=CONFIG,
            alt=f"The length of each input row over the uses of its token in {plain_text(text)}.",
        )
        st.markdown(
            f":small[:gray[Each dot is a token; of those that look trained, {_MAX_OTHERS:,} at "
            f"most are drawn. Uses are counted in {plain_markdown(text)}.]]"
        )
        stem = file_stem(inspection.name)
        picture = ChartPicture(
            "rows_chart", "PNG", "Length of input rows", inspection.name, f"{stem}-rows.png"
        )
        draw_chart_pictures([picture], key="rows_picture")
    norms = dict(zip(found.ids.tolist(), found.input_norms.tolist(), strict=True))
    rows = [
        SymbolRow(
            f"{id:,}",
            (Tiles((Tile(inspection.encoder.vocab[id], id),)),),
            _note(found, id, norms[id], uses),
        )
        for id in found.candidates[:_MAX_LISTED]
    ]
    if rows:
        draw_symbol_rows(rows, key="rows_list", caption="Tokens that look untrained, by their ids")
    if n > _MAX_LISTED:
        st.markdown(f":small[:gray[And {n - _MAX_LISTED:,} more, in the file.]]")


def _note(found: RowFigures, id: int, norm: float, uses: NDArray[np.int64] | None) -> str:
    parts = [f"length {norm:.3g}"]
    if uses is not None:
        parts.append(counted(int(uses[id]) if id < len(uses) else 0, "use"))
    if found.kinds[id] != "token":
        parts.append(found.kinds[id])
    if id in found.bigrams:
        parts.append(f"try {plain_text(found.bigrams[id], 20)}")
    return ", ".join(parts)


def norms_by_uses(found: RowFigures, uses: NDArray[np.int64], theme: Theme) -> go.Figure:
    """Draw the length of each input row over the uses of its token."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=300)
    known = np.zeros(max(len(uses), int(found.ids[-1]) + 1), np.int64)
    known[: len(uses)] = uses
    is_candidate = np.isin(found.ids, found.candidates)
    others = np.flatnonzero(~is_candidate)
    others = others[:: max(1, -(-len(others) // _MAX_OTHERS))]
    for places, colour, size in (
        (others, colours.bar, 4),
        (np.flatnonzero(is_candidate), colours.chosen, 7),
    ):
        n_uses = known[found.ids[places]]
        figure.add_scatter(
            x=np.where(n_uses > 0, n_uses, _NONE).tolist(),
            y=found.input_norms[places].tolist(),
            mode="markers",
            marker={"color": colour, "size": size},
            customdata=n_uses.tolist(),
            hovertemplate="uses: %{customdata:,}<br>length: %{y:.3g}<extra></extra>",
        )
    most = max(10, int(known.max()))
    ticks = [1, *(10**power for power in range(1, len(str(most))))]
    set_axis(
        figure,
        "x",
        type="log",
        range=[np.log10(_NONE) - 0.15, np.log10(most) + 0.1],
        tickvals=[_NONE, *ticks],
        ticktext=["0", *(f"{tick:,}" for tick in ticks)],
    )
    set_axis(figure, "y", rangemode="tozero")
    name_value_axis(figure, "length of the input row", theme)
    name_base_axis(figure, "uses")
    figure.update_layout(showlegend=False)
    return figure
