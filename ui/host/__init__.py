"""What a page may know of the server that it is drawn by.

In: the environment, results that are slow to make, errors that nobody foresaw. Out: the server's
settings, its log, the results again within a limit in bytes, and a message in place of what failed.

Open `server_settings` first. `failures` puts a boundary around a page or a part of one, and writes
events without a visitor's text. `sized_cache` keeps results by the memory that they take.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.host.failures import (
        Code,
        error_boundary,
        errors_shown,
        event,
        fragment,
        log_as_json,
        log_unforeseen,
        short_id,
    )
    from ui.host.server_settings import SettingError, settings
    from ui.host.sized_cache import cached, server_cache
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
