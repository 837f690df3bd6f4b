"""The parts of the Train page.

In: uploads, pasted text or a sample, and settings. Out: a running training, and its result.

Open `forms` first, then `result_card`, which is below it on the page. `cuts` draws
how a text is cut, and measures which of the `presets` would cut it best. The corpus form is in
`ui.corpus`, and the card of a running training in `ui.run`.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.train.forms import (
        fill_forms_once,
        filled_settings,
        form_changes,
        show_forms,
    )
    from ui.train.presets import CUTS, DIVISIONS, FIRST_SIZE, MAX_SIZE, MIN_FREQUENCY
    from ui.train.result_card import show_heading, show_result
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
