"""Count the distinct pre-tokens of a text.

In: a corpus, or files too large for memory, and a pre-tokenizer. Out: `PretokenCounts`, in the
order of first occurrence. Pairs are not counted here: the trainers do that.

Open `count` first: it counts a corpus in memory or in files that stay on disk, in plain Python, or
has `compiled` do the same with kernels. `counts_file` keeps counts in Parquet files.
`word_row` arranges the result for training. `bpe_scale` counts more text than one machine holds.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.counting.count import (
        check_cut,
        count_corpus,
        count_in_runs,
        count_pretokens,
        count_words,
        no_pretokens,
        seen_symbols,
        split_runs,
        word_symbols,
    )
    from bpe_core.counting.counts_file import (
        add_up,
        find_characters,
        merge_counts,
        read_counts,
        write_counts,
        write_tables,
    )
    from bpe_core.counting.counts_process import is_counts_file, read_counts_in_process
    from bpe_core.counting.word_row import (
        NEVER,
        Layout,
        choose_characters,
        list_characters,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
