"""The public names: none is lost or added by accident."""

import bpe_core as bpe
from tests.new_process import run_python


def test_the_public_names_are_frozen():
    assert sorted(bpe.__all__) == [
        "ArgumentTypeError",
        "BpeError",
        "ChatTemplateError",
        "Comparison",
        "ConfigError",
        "Corpus",
        "CorpusError",
        "CountsSummary",
        "EmptyCorpusError",
        "Encoder",
        "Explanation",
        "FormatError",
        "IntegrityError",
        "InvalidTextError",
        "InvalidTokenIdError",
        "MemoryLimitError",
        "Merge",
        "MergeTrace",
        "MissingExtraError",
        "MissingFileError",
        "NewerFormatError",
        "NoEntryError",
        "NotKeptError",
        "NotPermittedError",
        "OutOfRangeError",
        "PairCount",
        "PatternError",
        "PatternTimeoutError",
        "Pretokenizer",
        "ProcessError",
        "SampleFigures",
        "SearchError",
        "Segment",
        "StoreError",
        "TermCost",
        "TextDecodingError",
        "TimeLimitError",
        "TokenizationError",
        "Tokenizer",
        "TrainingConfig",
        "TrainingProgress",
        "TrainingRun",
        "UnavailableError",
        "UnforeseenError",
        "UnknownSymbolError",
        "UnsupportedFileError",
        "VocabularyTooSmallError",
        "WordCounts",
        "compare",
        "count_files",
        "count_words",
        "encode_corpus",
        "extend",
        "fetch",
        "from_huggingface",
        "from_tiktoken",
        "get_pretokenizer",
        "gpt2",
        "load",
        "load_run",
        "merge_counts",
        "open_encoder",
        "read_corpus",
        "read_counts",
        "replace",
        "sample_check",
        "save",
        "save_run",
        "shrink",
        "train",
        "write_counts",
    ]


def test_every_public_name_can_be_loaded():
    for name in bpe.__all__:
        assert getattr(bpe, name).__name__ == name


def test_gpt2_is_the_function_regardless_of_import_order():
    code = "import bpe_core.tokenizer.gpt2, bpe_core as bpe; print(bpe.gpt2().encode('The quick'))"
    assert run_python(code) == "[464, 2068]\n"
