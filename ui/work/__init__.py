"""Long work in the background.

In: a function that reports progress and can be cancelled. Out: its result, or what went wrong; a
page shows the progress meanwhile.

Open `background` first, the queue of this server, in which one piece of each kind runs at a time;
`task` holds what a piece of work is given, its kind and its status.
`jobs` queues trainings, `training` trains, large corpora in a process (what such processes share is
in `work_process`), and `training_report` follows. `reading` reads a visitor's files. `work_part`
draws the button that begins other work, and its progress for a visitor who waits.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.work import jobs
    from ui.work.background import TooMuchWorkError, UnknownWorkError, queue, stopper
    from ui.work.jobs import JobStatus
    from ui.work.reading import (
        ReadingBar,
        describe_tables,
        read_beginning,
        read_files,
        show_reading_notes,
    )
    from ui.work.task import Progress, Status, Task, Work, WorkKind
    from ui.work.training_report import TrainingReport, duration
    from ui.work.work_part import (
        SECONDS_BETWEEN_LOOKS,
        begin_button,
        how_far,
        show_work,
        watch_work,
    )
    from ui.work.work_process import call_apart, files_for_process
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
