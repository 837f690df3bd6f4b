"""Measure encoders and trainers against each other.

In: a text and a tokenizer, or a text alone. Out: speeds, and whether each result equals the
expected one. Results are compared before anything is timed.

All of it is in `measurements`: it lists what is measured, compares results, and times those that
are equal, in a separate process.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.lab.measurements import (
        ContenderTime,
        Differences,
        GrowthPoint,
        Kind,
        LabOrder,
        LabProgress,
        Results,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
