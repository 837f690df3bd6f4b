"""Files that several processes use at the same time.

In: paths. Out: files that are whole, or an error.

`whole_files` writes a file whole or not at all, lets one process at a time do something, and
refuses devices and pipes. `kept_arrays` keeps what takes long to make for later processes. `store`
is the app's runs and uploads on disk.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.files.kept_arrays import Kept, write_arrays
    from bpe_core.files.store import Entry, Store
    from bpe_core.files.whole_files import (
        ARCHIVE_DAMAGE,
        ARRAY_DAMAGE,
        delete,
        locked,
        make_folder,
        move_whole,
        only_this_user_writes,
        open_regular,
        open_whole,
        read_regular,
        write_whole,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
