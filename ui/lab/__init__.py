"""The parts of the Lab page.

In: a text and a tokenizer. Out: measurements with their progress, as sentences, tables and charts.

Open `measurements` first: it draws the choice of a text, starts the core's measuring process, and
finds what the address names.
`sections` draws its progress and its results.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.lab.measurements import (
        MeasuredText,
        MeasurementStatus,
        choose_text,
        read_measurements,
        small_measurement,
    )
    from ui.lab.sections import draw_encoding, draw_longest_match, draw_training
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
