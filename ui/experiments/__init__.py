"""Draw the page Experiments: choose combinations, follow the work, read the answer, open a row.

In: the chosen corpus. Out: the answer in one sentence, two charts, the table and its files; each
row is a run.

Open `form` first, which draws the choices. `work` measures in the background, by
`measuring_process` within limits of memory and time, and `results` draws what was found.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.experiments.form import draw_experiment
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
