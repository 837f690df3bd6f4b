"""What the server needs apart from pages; no page imports it.

In: requests. Out: those of other sites refused, uploads and messages limited, figures, and memory
freed once tabs are closed.

Open `server` first, whose parts `app.py` puts around Streamlit's app: it refuses, limits and
counts. `upkeep` imports what pages need before the first visit, and frees what ended ones kept.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.serving import server
    from ui.serving.upkeep import note_request, note_visit
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
