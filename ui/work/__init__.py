"""Long work in the background.

In: a function that reports progress and can be cancelled. Out: its result, or what went wrong; a
page shows the progress meanwhile.

Open `background` first, the queue of this server, in which one piece of each kind runs at a time.
`jobs` queues trainings, and trains, on large corpora in a process. `reading` reads a visitor's
files. `work_part` draws the button that begins other work, and its progress for a visitor who
waits.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.work import jobs
    from ui.work.background import (
        Progress,
        Status,
        Task,
        TooMuchWorkError,
        UnknownWorkError,
        Work,
        WorkKind,
        current_visitor,
        queue,
        stopper,
    )
    from ui.work.jobs import (
        Training,
        TrainingReport,
        call_apart,
        duration,
        files_for_process,
    )
    from ui.work.reading import (
        ReadingBar,
        describe_tables,
        read_beginning,
        read_files,
        show_reading_notes,
    )
    from ui.work.work_part import (
        SECONDS_BETWEEN_LOOKS,
        begin_button,
        how_far,
        show_work,
        watch_work,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
