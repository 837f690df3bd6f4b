"""What a browser draws of tokenizers and runs: in the app, in a saved page, in a notebook.

In: a text and its tokenizers, or a run. Out: packed data for the app's components, and `View`s that
show themselves in a notebook.

Open `notebook` first. `packing` packs what the components draw; `bpe_core.view` has `View`, and
reads the components' files in `ui/components`.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.view import (
        CHECKOUT,
        INSTALLED,
        View,
        component_css,
        join_modules,
        zip_to_text,
    )
    from bpe_core.views.notebook import (
        summarize_run,
        summarize_tokenizer,
        view_comparison,
        view_run,
        view_tokens,
    )
    from bpe_core.views.packing import (
        PackedSpans,
        PackedTokens,
        PlayedRun,
        Ribbon,
        find_longest_word,
        pack_boundaries,
        pack_spans,
        token_for_browser,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
