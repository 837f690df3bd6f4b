"""The parts of the Lab page.

In: a text and a tokenizer. Out: measurements with their progress, as sentences, tables and charts.

All of it is in `sections`: the choice of a text, the core's measuring process, what the address
names, and the progress and the results.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.lab.sections import (
        MeasuredText,
        MeasurementStatus,
        choose_text,
        draw_encoding,
        draw_longest_match,
        draw_training,
        read_measurements,
        small_measurement,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
