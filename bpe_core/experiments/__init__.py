"""Train and measure many tokenizers, to choose one.

In: corpora and lists of settings, as Python values or a TOML file. Out: a row of figures for each
combination, measured on one held-out text, and a sentence that says which to take.

Start with `running`, which reads the settings, trains and measures. `table` has the rows, the
answer, and what they are written as.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.experiments.running import (
        Progress,
        Training,
        experiment,
    )
    from bpe_core.experiments.table import Experiment, ExperimentRow
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
