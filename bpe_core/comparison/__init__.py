"""Compare several tokenizers on the same text.

In: encoders and a corpus, or the same sentences in many languages. Out: figures for each tokenizer,
the spans that they split differently, and how sure the difference is.

Start with `comparison`: what is asked of one are its methods. `measurement` encodes the text and
counts it, and `text_map` finds the kind and script of each token. `intervals` divides the text into
units and resamples them: it gives the difference with its interval, on all of the text and on parts
of it. `model_bits` measures how predictable a text stays, `cuts` how numbers, code and the words of
a list are cut, and `languages` the cost of languages.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.comparison.comparison import (
        Comparison,
        Costs,
        IntervalWords,
        Rates,
        Stretches,
        Usage,
        compare,
        distinct_ends,
        embedding_rows,
        numbered,
    )
    from bpe_core.comparison.cuts import (
        Structure,
        TermCut,
        TermCuts,
        TermLoss,
        Terms,
        structure,
    )
    from bpe_core.comparison.intervals import (
        Blocks,
        Division,
        Newness,
        TextPart,
        TokenSaving,
    )
    from bpe_core.comparison.languages import (
        LanguageCosts,
        LanguageMetrics,
        Parity,
        ScriptMerges,
        gini,
        parity,
        relative_costs,
    )
    from bpe_core.comparison.measurement import (
        Measured,
        TokenizerMetrics,
        dead_tokens,
        renyi,
    )
    from bpe_core.comparison.model_bits import (
        ModelBits,
        bits_per_byte,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
