"""The parts of the Vocabulary page.

In: a tokenizer and a text to count its tokens on. Out: tables, trees, an audit and a smaller
vocabulary.

Open `inspecting` first: the choice of a tokenizer and a text, and what is computed of them,
in the background if it takes long.
`audit_section` draws the audit and the preview of a pruned vocabulary, and keeps the filters in the
address. `token_section` draws the tokens, and those that a model never learned.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.vocabulary import inspecting
    from ui.vocabulary.audit_section import draw_audit, leading_sentence, read_search, show_pruning
    from ui.vocabulary.inspecting import (
        CountedText,
        Inspection,
        Uses,
        choose_tokenizer_and_text,
        inspect_vocabulary,
    )
    from ui.vocabulary.token_section import draw_learned, draw_rows, draw_tokens
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
