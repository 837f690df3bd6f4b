"""Compute what pages show about a run.

In: a run's id, or a corpus before training. Out: curves and tables, computed once and cached,
and the tokenizer's files for download.

Open `run_figures` first. `corpus_summary` describes a corpus, and `page_parts` draws what pages
share: figures, downloads, and the training that a visitor waits for.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.run import corpus_summary, run_figures
    from ui.run.corpus_summary import (
        MAX_TABLES_DESCRIBED,
        AlikeTables,
        find_alphabet,
    )
    from ui.run.page_parts import (
        HERE,
        Cell,
        csv_table,
        downloads,
        draw_figure,
        draw_run_ribbons,
        draw_title,
        offer_csv,
        offer_downloads,
        offer_pictures,
        show_composition,
        show_encoding_command,
        show_failure,
        training_outcome,
        watch_training,
        zipped,
    )
    from ui.run.run_figures import (
        LifePicture,
        first_step,
        keep_step,
        rows_of_cuts,
        run_curves,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
