"""Measure encoders and trainers against each other.

In: a text and a tokenizer, or a text alone. Out: speeds, and whether each result equals the
expected one. Results are compared before anything is timed.

Open `contenders` first: it lists what is measured. `measuring` times encoders, and `measurements`
times trainers on longer and longer texts; it runs either in a separate process.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.lab.contenders import Differences, differences
    from bpe_core.lab.measurements import (
        MAX_CHARACTERS,
        N_MERGES,
        SMALL_CHARACTERS,
        SMALL_TRAINING_CHARACTERS,
        GrowthPoint,
        Kind,
        LabOrder,
        LabProgress,
        Results,
        run_in_process,
        small_order,
    )
    from bpe_core.lab.measuring import ContenderTime
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
