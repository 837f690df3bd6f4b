"""Draw what surrounds every page.

In: the address and the visitor's session. Out: the heading, the run picker, the run named in the
address, and the visitor's choices.

Open `frame` first; it draws the picker of `recent_runs` and shows the run that `open_run` finds.
`workspace` is the only module that touches Streamlit's session state; `address` reads and writes
parameters of a page's address, and `recent_runs` keeps runs and the corpus given last in the
browser. `open_run` finds the training that a visitor waits for, too. `form_fields` draws choices,
numbers and the row of a form's button. `file_upload` draws all uploaders and limits the total size
of a visitor's files.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.shell import address, frame, workspace
    from ui.shell.file_upload import (
        LIMIT,
        MAX_BYTES,
        MAX_BYTES_OF_ALL,
        bytes_held,
        check_uploaded,
        counted_as_kept,
        max_file_bytes,
        submitted_files,
        upload_file,
        upload_files,
    )
    from ui.shell.form_fields import (
        FieldLimits,
        action_row,
        checked,
        choose_one,
        choose_part,
        heading_row,
        number_input,
        show_missing,
        whole_number,
    )
    from ui.shell.open_run import OpenRun, follow, followed_job, note_training
    from ui.shell.recent_runs import (
        keep_runs,
        new_own_id,
        note_given,
        take_given,
        visitor_run_labels,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
