"""Cut a text into pre-tokens, which merges never cross.

In: a text. Out: the same text cut into pre-tokens.

Open `pretokenizers` first, `normalizers` for what changes a text before it is cut, and
`named_patterns` for the patterns of GPT-2, GPT-4, Llama 3 and others. For kernels, `scanners`
compiles a pattern, keeps its tables, and cuts long texts. `cut_differences` compares two
pre-tokenizers.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.pretokenizers.cut_differences import CutComparison, compare_cuts
    from bpe_core.pretokenizers.named_patterns import HAN_AND_KANA, NAMED
    from bpe_core.pretokenizers.normalizers import (
        NORMALIZERS,
        Change,
        Normalizer,
        Spaces,
        align,
        apply_changes,
        get_normalizer,
    )
    from bpe_core.pretokenizers.pretokenizers import (
        PRETOKENIZER_NAMES,
        SPACE_ADDING,
        Pretokenizer,
        compile_pattern,
        cut_text,
        failed_match,
        get_pretokenizer,
        match_failures,
    )
    from bpe_core.pretokenizers.scanners import SCANNERS, Section, ascii_in_place, get_scanner
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
