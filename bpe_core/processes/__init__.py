"""Work in another process, with limits of memory and time.

In goes a function of this package with its arguments; out comes what it returns, or the `BpeError`
that it raises. Open `calling` first: `call`, `stream` for functions that yield, and the values that
can be passed. `limits` sets the limits and has the way a function reports progress, and `child` is
what runs in the new process.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.processes.calling import call, stream
    from bpe_core.processes.limits import Limits, Report
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
