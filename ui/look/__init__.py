"""The look of charts, tokens as text, and names of runs.

In: numbers, a token's bytes, or what is known of a run. Out: Plotly figures in the colours of the
theme, and labels that are safe to show.

Open `labels` first, then `charts`: palettes, axes, and what several pages share.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.look import charts
    from ui.look.charts import (
        BAR_PITCH,
        CONFIG,
        CURVE_WIDTH,
        MONO,
        NARROWEST,
        PALETTES,
        Axis,
        Mark,
        Palette,
        Theme,
        columns,
        counts_axis,
        empty_figure,
        escaped,
        label_ends,
        label_right,
        mark_step,
        merges_axis,
        name_base_axis,
        name_rows,
        name_value_axis,
        power_ticks,
        ranks_axis,
        set_axis,
        shorten_end,
        shorten_start,
        tokens_axis,
        told_apart,
        value_axis,
    )
    from ui.look.labels import (
        RunName,
        counted,
        definitions,
        escape_markdown,
        file_stem,
        isolated,
        order_note,
        plain_markdown,
        plain_text,
        run_labels,
        share_text,
        size_text,
        token_label,
        tooltip,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
