"""Divide more text than one machine holds among workers, so that an interrupted run can resume.

In: files of any size, by path or URL. Out: whatever a job makes of each stretch of their text, kept
in a work folder. `counting.count_files` counts words in this way, and `training_data` encodes.

Open `steps` first: it divides the sources, has the stretches that are not finished worked on, and
keeps what was made. `sources` finds the files, `stretches` divides them, `documents` reads them,
and `engines` says who does the work: this process or Dask.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.scale.documents import StretchReading
    from bpe_core.scale.engines import DaskWorkers, Engine, ThisProcess, cluster, local_processes
    from bpe_core.scale.sources import DescribedFile, find_sources
    from bpe_core.scale.steps import (
        DividedSources,
        Progress,
        Record,
        WorkFolder,
        divide_sources,
        work_on,
    )
    from bpe_core.scale.stretches import Stretch, key_for
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
