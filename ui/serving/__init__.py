"""What the server needs apart from pages; no page imports it.

In: requests. Out: those of other sites refused, uploads and messages limited, figures, and memory
freed once tabs are closed.

Open `server` first, whose parts `app.py` puts around Streamlit's app. `allowed_hosts` refuses,
`limits` enforces `ui.shell.file_upload` and bounds messages, `metrics` counts, `ended_visits`
frees, and `warm_up` imports what pages need before the first visit.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.serving import server
    from ui.serving.ended_visits import note_visit
    from ui.serving.warm_up import note_request
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
