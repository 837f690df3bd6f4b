"""Compare several tokenizers on the same text.

In: encoders and a corpus, or the same sentences in many languages. Out: figures for each tokenizer,
the spans that they split differently, and how sure the difference is.

Start with `comparison`. `units` divides the text and says how new it is, `measurement` encodes and
counts it, and `text_map` finds the kind and script of each token. `intervals` resamples the units:
it gives the difference with its interval, on all of the text and on parts of it, and describes it.
`model_bits` measures how predictable a text stays, and `structures` how numbers and code are cut.
`languages` compares the cost of languages, `terms` cuts a list of words and sorts it by loss, and
`costs` turns tokens and vocabularies into money, context windows and parameters.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.comparison.comparison import (
        Comparison,
        IntervalWords,
        Stretches,
        compare,
        distinct_ends,
        numbered,
    )
    from bpe_core.comparison.costs import (
        Costs,
        Rates,
        Usage,
        embedding_rows,
    )
    from bpe_core.comparison.intervals import (
        Division,
        TextPart,
        TokenSaving,
        signed,
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
        renyi_efficiency,
    )
    from bpe_core.comparison.model_bits import (
        ModelBits,
        bits_per_byte,
        difference,
        ratio_interval,
    )
    from bpe_core.comparison.structures import Structure, structure
    from bpe_core.comparison.terms import (
        TermCut,
        TermCuts,
        TermLoss,
        cut_terms,
        read_terms,
        terms_by_loss,
    )
    from bpe_core.comparison.units import (
        Blocks,
        Newness,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
