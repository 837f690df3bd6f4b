"""Draw what surrounds every page.

In: the address and the visitor's session. Out: the heading, the run picker, the run named in the
address, and the visitor's choices.

Open `frame` first; it draws the run picker and shows the run that `open_run` finds. `open_run` also
keeps runs and the corpus given last in the browser, and finds the training that a visitor waits
for. `workspace` is the only module that touches Streamlit's session state, and reads and
writes the parameters of a page's address. `form_fields` draws choices, numbers, the row of a form's
button, and all uploaders, and limits the total size of a visitor's files.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.shell import frame, workspace
    from ui.shell.form_fields import (
        LIMIT,
        MAX_BYTES,
        MAX_BYTES_OF_ALL,
        SWITCH,
        FieldLimits,
        Unread,
        action_row,
        bound,
        bytes_held,
        check_linked,
        check_uploaded,
        checked,
        choose_one,
        choose_part,
        counted_as_kept,
        heading_row,
        is_number,
        is_share,
        linked_number,
        max_file_bytes,
        note_unread,
        number_input,
        show_missing,
        show_unread,
        submitted_files,
        upload_file,
        upload_files,
        whole_number,
        work_form,
    )
    from ui.shell.open_run import (
        OpenRun,
        draw_given_mark,
        follow,
        followed_job,
        hold_keys,
        is_own,
        keep_runs,
        new_own_id,
        note_given,
        note_training,
        take_given,
        visitor_run_labels,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
