"""Say what is wrong with a tokenizer, and where two tokenizers differ.

In: a tokenizer, or two. Out: findings with an example and a remedy, or a proof that two tokenizers
are equal, or the shortest text found on which they are not.

Open `checkup` for one tokenizer, and `differences` for two. `merge_differences` finds the words
that two lists of merges encode differently, and counts what a text costs with each.
`pretokenizers.cut_differences` finds the texts that two pre-tokenizers cut differently.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.diagnosis.checkup import CHECKS, Checkup, Finding, check
    from bpe_core.diagnosis.differences import (
        Answer,
        Diff,
        Witness,
        diff,
        diff_files,
        show_bytes,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
