"""The choice of a corpus, as Train and Adapt draw it, and of files to measure on.

In: uploads, pasted text, weighted words or a sample. Out: a corpus, its training text and the text
held out, or a text's tokens.

Open `corpus_form` first, which also brings back the corpus of the address or of a run. `uploads`
reads files, and asks what they leave open. `corpus_choice` keeps the choice in the address, asks
what is held out, and keeps the files that Compare and Pair frequencies measure on. `own_texts`
draws and keeps a visitor's own texts, also from files and large pastes, keeps a text in the
address, and encodes it.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.corpus import corpus_form, own_texts
    from ui.corpus.corpus_choice import ask_for_files, close_own_files
    from ui.corpus.corpus_form import (
        HELD_OUT_PERCENT,
        ChosenCorpus,
        begin_training,
        choose_corpus,
        corpus_or,
        fill_corpus_once,
        fill_from_address,
        fill_from_browser,
        fill_from_run,
        open_to_hold_out,
        show_corpus,
    )
    from ui.corpus.own_texts import (
        MAX_CHARACTERS,
        MAX_TEXT_LENGTH_IN_ADDRESS,
        OwnReading,
        area_to_address,
        file_opener,
        find_text,
        leave_address,
        leave_text_address,
        live_field,
        own_text,
        read_address_text,
        set_own_text,
        start_area,
        text_field,
        text_to_address,
    )
    from ui.corpus.uploads import CorpusForm, ReadUploads
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
