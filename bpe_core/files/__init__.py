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
    from bpe_core.files.kept_arrays import Kept, can_keep, find_kept, hash_package, keep
    from bpe_core.files.store import (
        DELETED_PREFIX,
        DETAILS,
        EXPERIMENT_PREFIX,
        NAME,
        RUN,
        UNFINISHED,
        UPLOAD_PREFIX,
        VARIABLE,
        Entry,
        check_files,
        delete_folder,
        delete_for_owner,
        entries,
        entry_folder,
        folder_size,
        is_deleted_by_owner,
        is_entry_name,
        is_id,
        keep_store_private,
        make_store_folder,
        new_id,
        owned_id,
        read_checked,
        refused_as_not_permitted,
        replace_file,
        store_folder,
        touch,
        write_manifest,
    )
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
