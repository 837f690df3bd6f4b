"""Store runs and visitors' files as entries of the store: see `bpe_core.files.store`.

In: a finished run, an upload or a long text. Out: an id for the address, which leads back to what
was stored.

Open `keeping` first, which keeps an entry completely or not at all, and deletes what nobody has
opened for long. `run_store` stores runs with what is kept next to each, and `upload_store`
visitors' files, texts and corpora.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.storage.keeping import (
        DAYS_KEPT_UNOPENED,
        make_room,
        os_errors_as_not_kept,
        start_sweeping,
    )
    from ui.storage.run_store import (
        MAX_KEPT,
        SAMPLE_FOLDER,
        SAMPLE_RUN_ID,
        BaseName,
        CorpusOrigin,
        Extension,
        FolderCheck,
        RunCorpus,
        Source,
        StoredRun,
        Trained,
        delete_run,
        extended_title,
        find_run_name,
        in_memory_run,
        is_stored,
        load_run,
        note_opened,
        read_base,
        rename_run,
        store_run,
        store_run_to_show,
        text_title,
        write_base,
        write_run,
    )
    from ui.storage.upload_store import (
        HELD_OUT_SEED,
        UPLOAD_HELD_OUT,
        divide,
        keep_sentences,
        keep_text,
        keep_tokenizer,
        keep_uploaded,
        load_sentences,
        load_text,
        load_tokenizer,
        load_uploaded,
        open_uploaded,
        read_held_out,
        tokenizer_files,
        upload_folder,
        upload_held_out,
        write_held_out,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
