"""The parts of the Adapt page.

In: an existing tokenizer, and a corpus. Out: a tokenizer with more tokens, fewer or others, what
that gains, and the files that a model needs to follow.

Open `extend_mode` first, then `shrink_mode` and `replace_mode`, whose work is in
`in_background`, done by a process in `adapting_process`. `order_form` asks for what they need;
`result_parts` and `new_tokens` show what came of it.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.adapt.extend_mode import draw_extending
    from ui.adapt.replace_mode import draw_replacing
    from ui.adapt.result_parts import MODEL_LINES
    from ui.adapt.shrink_mode import draw_shrinking
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
