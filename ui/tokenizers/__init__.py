"""Provide the tokenizers that a visitor can choose from.

In: keys in the address, and uploaded files. Out: encoders with distinct names, each with a note on
its origin.

Open `shelf` first; `additions` draws the ways to add to it, and the choice of one.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.tokenizers import shelf
    from ui.tokenizers.additions import add_button, choose_tokenizer, draw_shelf_problems
    from ui.tokenizers.by_name import read_as, read_as_model
    from ui.tokenizers.costs import (
        COSTS_SAY,
        ask_for_rates,
        corpus_rows,
        embedding_table_rows,
        known_rates,
        money,
        text_rows,
        window_rows,
    )
    from ui.tokenizers.normalized import draw_all_normalized, normalized_part
    from ui.tokenizers.shelf import FILE_PREFIX, GPT2, Member
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
