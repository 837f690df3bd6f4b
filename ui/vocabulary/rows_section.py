"""Draw the tokens that a model never learned, from the figures of its rows.

The figures come from a file that `bpe undertrained --csv` wrote where the model is: its tensors are
too large to upload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.models import RowFigures, read_figures
from ui.components import (
    ChartPicture,
    SymbolRow,
    Tile,
    Tiles,
    draw_chart_pictures,
    draw_symbol_rows,
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
)
from ui.shell import frame, submitted_files, upload_file
from ui.vocabulary.inspecting import Inspection

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
    return read_figures(_upload.getvalue(), _vocab)


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
