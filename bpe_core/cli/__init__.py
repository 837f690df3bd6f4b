"""The command line, `python -m bpe_core`.

In: files or standard input, named on the command line. Out: a tokenizer's file, ids, text or a
table on standard output. A `BpeError` ends as one line on standard error and exit status 1.

Start with `commands`: the group `bpe` and its commands, those that belong together in one module.
`support` holds what commands share, `sources` opens the text that they read, and
`explore` starts the app.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.cli.commands import main
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
