"""Measure encoders and trainers against each other.

In: a text and a tokenizer, or a text alone. Out: speeds, and whether each result equals the
expected one. Results are compared before anything is timed.

Open `measurements` first: it lists what is measured, and measures it in a separate process.
`measuring` compares results and times those that are equal.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.lab.measurements import (
        Differences,
        GrowthPoint,
        Kind,
        LabOrder,
        LabProgress,
        Results,
        differences,
    )
    from bpe_core.lab.measuring import ContenderTime
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
