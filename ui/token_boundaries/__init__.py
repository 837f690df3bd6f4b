"""The parts of the Token boundaries page.

In: a file to open, and a token chosen in a text. Out: the visitor's text, how the token's
pre-token was merged, and the training lines it comes from.

Open `token_story` first, which draws how a token was made. `opened_file` offers examples and reads
an uploaded file, and `conversation` renders messages by a chat template, in the
places of `template_turns`; `drift` compares ids with those of their text. `readings` draws the text
as other readers of the vocabulary cut it. `components/token_view` draws the text itself.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.token_boundaries import conversation
    from ui.token_boundaries.drift import draw_drift
    from ui.token_boundaries.opened_file import (
        EXAMPLES,
        FIRST_TEXT,
        file_messages,
        offer_examples,
        read_file,
    )
    from ui.token_boundaries.readings import five_ways, prompt_end
    from ui.token_boundaries.token_story import ChosenToken, index_chosen, story_columns
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
