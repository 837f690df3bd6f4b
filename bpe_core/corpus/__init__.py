"""The text to train on or to measure.

In: files, archives, tables, pasted text, words with counts, or a sample's name. Out: a `Corpus` of
documents, or an error that names the file and the place.

Open `corpus` first, then `read`, in which `read_corpus` is. `file_kinds` recognises files by their
names and first bytes; `readers` and `text_decoding` read them within the limits of `archives`,
Parquet files in their own process (`parquet_process`). `rows` finds the rows of tables and JSON,
`separated` those of CSV, `columns` the column with the text, and `encoding_guess` the encoding of
what is not UTF-8. `sample_texts` has the built-in corpora, `held_out` chooses the part kept from
training, `trained_on` recognises what a tokenizer was trained on, and `composition` returns the
shares of files, file types and scripts, and where to cut. `filed_texts` has documents that stay on
disk, read one at a time or piece by piece, and `reading_process` reads large files into a folder,
of which only figures are in memory. `urls` has `Location`, which opens files by path or URL, and
`word_counts` what counting a corpus gives: distinct words and how often each occurs.

`count` counts the distinct pre-tokens of a corpus in memory or on disk, in plain Python, or has
`count_compiled` do it with kernels. `counts_file` keeps counts in Parquet files, and `word_row`
arranges them for training. Pairs are not counted here: the trainers do that. `source_files` finds
and describes the files of a corpus too large for memory, which `bpe_scale` counts and encodes.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.corpus.columns import (
        ROWS_DESCRIBED,
        TableColumns,
        has_more_cells,
        has_more_values,
        parse_value,
        percent,
        quoted,
        text_in,
    )
    from bpe_core.corpus.composition import (
        Composition,
        FileShare,
        Place,
        file_name,
        file_type,
        folder,
        folder_depth,
        main_script,
        rest,
        sample_spans,
    )
    from bpe_core.corpus.corpus import Corpus, corpus_or_counts, to_corpus
    from bpe_core.corpus.count import (
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
    from bpe_core.corpus.counts_file import (
        add_up,
        find_characters,
        merge_counts,
        read_counts,
        write_counts,
        write_tables,
    )
    from bpe_core.corpus.file_kinds import (
        HELD_OUT_ENDING,
        PARQUET_MARK,
        TRAINED_ON_ENDING,
        is_zip,
    )
    from bpe_core.corpus.held_out import (
        HeldOut,
        Split,
        WhyWithin,
        check_split_by,
    )
    from bpe_core.corpus.notes import Note, NoteGroup, listed
    from bpe_core.corpus.parquet import damage_named, is_counts, open_parquet_file
    from bpe_core.corpus.read import HELD_OUT_MARK, held_out_lines, read_corpus, stream_corpus
    from bpe_core.corpus.readers import (
        NamedFile,
        ReadOptions,
        Source,
        Upload,
        expand_folder,
        reasons,
        source_bytes,
        source_size,
    )
    from bpe_core.corpus.reading_process import (
        Uploads,
        divide_in_process,
        is_counts_file,
        open_saved,
        read_counts_in_process,
    )
    from bpe_core.corpus.rows import Row, row_in, values_on
    from bpe_core.corpus.sample_texts import ParallelText, load_sample, parallel_texts, samples
    from bpe_core.corpus.source_files import DescribedFile, SourceFile
    from bpe_core.corpus.text_decoding import (
        DecodingErrors,
        decode_text,
        decoded,
        read_pieces,
        whole_characters,
    )
    from bpe_core.corpus.trained_on import TrainedOn
    from bpe_core.corpus.urls import Location
    from bpe_core.corpus.word_counts import (
        CountsSummary,
        WordCounts,
        find_symbols,
        parse_word_counts,
    )
    from bpe_core.corpus.word_row import (
        NEVER,
        Layout,
        choose_characters,
        list_characters,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
