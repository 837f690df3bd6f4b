"""Work in another process, with limits of memory and time.

In goes a function of this package with its arguments; out comes what it returns, or the `BpeError`
that it raises. `call` is the one to open first, with `stream` for functions that yield. `codec`
says which values can be passed and how a function is named, `report` is how a function reports
progress, `limits` sets the limits, and `child` is what runs in the new process.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.processes.calling import call, stream
    from bpe_core.processes.limits import GB, Limits
    from bpe_core.processes.report import Report
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
