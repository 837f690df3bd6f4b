"""What a browser draws of tokenizers and runs: in the app, in a saved page, in a notebook.

In: a text and its tokenizers, or a run. Out: packed data for the app's components, and `View`s that
show themselves in a notebook.

Open `notebook` first. `token_packing` and `run_packing` pack, `component_files` reads the
components' files in `ui/components`, and `still` draws without a script.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.views.component_files import (
        CHECKOUT,
        COMPARE_STYLES,
        INSTALLED,
        PLAYER_STYLES,
        VIEW_STYLES,
        component_css,
        join_modules,
        zip_to_text,
    )
    from bpe_core.views.notebook import View, view_comparison, view_run, view_tokens
    from bpe_core.views.run_packing import (
        block_starts,
        own_words,
        pack_merges,
        pack_player,
        replay_starts,
        replayed_merges,
    )
    from bpe_core.views.still import summarize_run, summarize_tokenizer
    from bpe_core.views.token_packing import (
        PackedSpans,
        PackedTokens,
        find_longest_word,
        pack_boundaries,
        pack_spans,
        token_for_browser,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
