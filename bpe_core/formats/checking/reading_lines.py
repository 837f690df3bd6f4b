"""The lines of Python that load a format in any library that reads it, for the table of readers.

`loading_lines` has the library that each format is for. Others read it too: transformers opens a
lone tokenizer.json, and this package every format. `LIBRARIES` lists them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bpe_core.formats import gpt2_files, huggingface, native, tiktoken_file
from bpe_core.formats.checking.loading_lines import Lines, literal, loading_lines, tiktoken_encoding
from bpe_core.formats.gguf import gguf_file
from bpe_core.formats.load_save import Format
from bpe_core.formats.transformers_folder import FOLDER, added_begin
from bpe_core.tokenizer.tokenizer import Tokenizer

LIBRARIES: Final[Mapping[str, tuple[Format, ...]]] = {
    "tokenizers": ("huggingface", "transformers", "gpt2"),
    "transformers": ("huggingface", "transformers", "gpt2", "gguf"),
    "tiktoken": ("gpt2", "tiktoken"),
    # It reads only its own .model files, which plain byte-pair encoding does not make.
    "sentencepiece": (),
    "gguf": ("gguf",),
    "bpe_core": ("huggingface", "transformers", "gpt2", "tiktoken", "gguf", "native"),
}
"""The formats that each library reads."""
_OF_BPE_CORE: Final[Mapping[Format, str]] = {
    "huggingface": huggingface.FILE_NAME,
    "transformers": FOLDER,
    "gpt2": gpt2_files.VOCABULARY,
    "tiktoken": tiktoken_file.FILE_NAME,
    "gguf": gguf_file.FILE_NAME,
    "native": native.FILE_NAME,
}


def reading_lines(tokenizer: Tokenizer, format: Format, library: str) -> Lines | None:
    """Return the lines that load a tokenizer's files in one library; None if it cannot read them.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> lines = reading_lines(gpt2(), "transformers", "tokenizers")
    >>> print(lines.load.splitlines()[-1])
    tokenizer = Tokenizer.from_file("transformers-tokenizer/tokenizer.json")
    >>> reading_lines(gpt2(), "native", "sentencepiece")
    """
    if format not in LIBRARIES.get(library, ()):
        return None
    if library == "bpe_core":
        return Lines(
            _of_bpe_core(tokenizer, format), 'tokenizer.encode(text, allowed_special="all")'
        )
    if (library, format) == ("tokenizers", "transformers"):
        load = (
            "from tokenizers import Tokenizer\n\n"
            f'tokenizer = Tokenizer.from_file("{FOLDER}/{huggingface.FILE_NAME}")'
        )
        begun = added_begin(tokenizer.special_tokens) is not None
        alone = ", add_special_tokens=False" if begun else ""
        return Lines(load, f"tokenizer.encode(text{alone}).ids")
    if (library, format) == ("tiktoken", "gpt2"):
        return Lines(_of_data_gym(tokenizer), 'tokenizer.encode(text, allowed_special="all")')
    if library == "transformers" and format != "transformers":
        return Lines(_of_transformers(tokenizer, format), 'tokenizer(text)["input_ids"]')
    return loading_lines(tokenizer, format)


def _of_bpe_core(tokenizer: Tokenizer, format: Format) -> str:
    more = ""
    if format in ("gpt2", "tiktoken"):
        special = ", ".join(f"{literal(text)}: {id}" for text, id in _special(tokenizer))
        cut = literal(tokenizer.pretokenizer.name)
        more = f", pretokenizer={cut}, special_tokens={{{special}}}"
    return f'import bpe_core\n\ntokenizer = bpe_core.load("{_OF_BPE_CORE[format]}"{more})'


def _of_transformers(tokenizer: Tokenizer, format: Format) -> str:
    if format == "huggingface":
        return (
            "from transformers import PreTrainedTokenizerFast\n\n"
            f'tokenizer = PreTrainedTokenizerFast(tokenizer_file="{huggingface.FILE_NAME}")'
        )
    if format == "gguf":
        return (
            "from transformers import AutoTokenizer\n\n"
            f'tokenizer = AutoTokenizer.from_pretrained(".", gguf_file="{gguf_file.FILE_NAME}")'
        )
    special = ", ".join(literal(text) for text, _ in _special(tokenizer))
    return (
        "from transformers import GPT2Tokenizer\n\n"
        f'tokenizer = GPT2Tokenizer("{gpt2_files.VOCABULARY}", "{gpt2_files.MERGES}")\n'
        f"tokenizer.add_special_tokens({{'extra_special_tokens': [{special}]}})"
    )


def _of_data_gym(tokenizer: Tokenizer) -> str:
    """Return lines that read GPT-2's two files as tiktoken reads GPT-2's own."""
    return f"""\
import os

# Otherwise tiktoken would keep a copy of the files by name and read that the next time.
os.environ["TIKTOKEN_CACHE_DIR"] = ""

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

ranks = data_gym_to_mergeable_bpe_ranks("{gpt2_files.MERGES}", "{gpt2_files.VOCABULARY}")
{tiktoken_encoding(tokenizer)}"""


def _special(tokenizer: Tokenizer) -> list[tuple[str, int]]:
    return sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
