"""The look of charts, tokens as text, and names of runs.

In: numbers, a token's bytes, or what is known of a run. Out: Plotly figures in the colours of the
theme, and labels that are safe to show.

Open `labels` first, then `chart_style`. `charts` draws axes, and what several pages share.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.look import charts
    from ui.look.chart_style import (
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
        empty_figure,
        escaped,
        mark_step,
        name_rows,
        set_axis,
        shorten_end,
        shorten_start,
        told_apart,
    )
    from ui.look.charts import (
        counts_axis,
        label_ends,
        label_right,
        merges_axis,
        name_base_axis,
        name_value_axis,
        power_ticks,
        ranks_axis,
        tokens_axis,
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
