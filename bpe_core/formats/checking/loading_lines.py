"""The lines of Python that load each format in the library that it is meant for.

The lines are complete for any tokenizer that `dumps` writes: a .tiktoken file gets its pattern and
special tokens, and GPT-2's two files their pre-tokenizer, because the files do not hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bpe_core.formats import gpt2_files, huggingface, native, tiktoken_file, transformers_folder
from bpe_core.formats.gguf import gguf_file
from bpe_core.formats.load_save import Format
from bpe_core.tokenizer.tokenizer import Tokenizer

_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of Python that load a tokenizer as `tokenizer`, and an expression that encodes `text`.

    They expect the files in the working folder.
    """

    load: str
    encode: str

    @property
    def code(self) -> str:
        """The lines, then one that encodes `text`."""
        return f"{self.load}\nids = {self.encode}\n"


def loading_lines(tokenizer: Tokenizer, format: Format) -> Lines:
    """Return the lines that load a tokenizer's files in one format.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> print(loading_lines(gpt2(), "huggingface").code)
    from tokenizers import Tokenizer
    <BLANKLINE>
    tokenizer = Tokenizer.from_file("tokenizer.json")
    ids = tokenizer.encode(text).ids
    <BLANKLINE>
    """
    if format == "huggingface":
        load = (
            "from tokenizers import Tokenizer\n\n"
            f'tokenizer = Tokenizer.from_file("{huggingface.FILE_NAME}")'
        )
        return Lines(load, "tokenizer.encode(text).ids")
    if format == "transformers":
        load = (
            "from transformers import AutoTokenizer\n\n"
            f'tokenizer = AutoTokenizer.from_pretrained("{transformers_folder.FOLDER}")'
        )
        # The ids of the text alone, as every other format gives them.
        begun = transformers_folder.added_begin(tokenizer.special_tokens) is not None
        alone = ", add_special_tokens=False" if begun else ""
        return Lines(load, f'tokenizer(text{alone})["input_ids"]')
    if format == "gpt2":
        return Lines(_of_gpt2_files(tokenizer), "tokenizer.encode(text).ids")
    if format == "tiktoken":
        return Lines(_of_tiktoken(tokenizer), 'tokenizer.encode(text, allowed_special="all")')
    if format == "gguf":
        return Lines(_of_gguf(tokenizer), "tokenizer.encode(text).ids")
    load = f'import bpe_core\n\ntokenizer = bpe_core.load("{native.FILE_NAME}")'
    return Lines(load, 'tokenizer.encode(text, allowed_special="all")')


def literal(text: str) -> str:
    r"""Return a Python literal of a text, raw if that is possible; nothing in it can end it early.

    >>> print(literal(r"\s+"), literal("it's"), literal('"\n'))
    r"\s+" "it's" '"\n'
    """
    if not text.isprintable():
        return ascii(text)
    if '"' in text or text.endswith("\\"):
        return repr(text)
    return f'r"{text}"' if "\\" in text else f'"{text}"'


def tiktoken_pattern(tokenizer: Tokenizer) -> str:
    r"""Return the pattern that tiktoken needs to cut texts as the tokenizer does.

    tiktoken drops the text between the matches of a pattern, while a custom pattern here makes
    pre-tokens of it, so they are added as an alternative.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> tiktoken_pattern(gpt2())[-14:]
    '|\\s+(?!\\S)|\\s+'
    """
    pattern = tokenizer.pretokenizer.pattern
    if pattern is None:
        return r"[\s\S]+"
    if not tokenizer.pretokenizer.name.startswith("regex:"):
        return pattern
    return rf"{pattern}|(?:(?!{pattern})[\s\S])+"


def _of_tiktoken(tokenizer: Tokenizer) -> str:
    return f"""\
import base64

import tiktoken

with open("{tiktoken_file.FILE_NAME}", "rb") as file:
    ranks = {{base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}}
{tiktoken_encoding(tokenizer)}"""


def tiktoken_encoding(tokenizer: Tokenizer) -> str:
    """Return the lines that make tiktoken's `tokenizer` from `ranks`.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> tiktoken_encoding(gpt2()).splitlines()[0]
    'tokenizer = tiktoken.Encoding('
    """
    return f"""\
tokenizer = tiktoken.Encoding(
    name="mine",
    pat_str={literal(tiktoken_pattern(tokenizer))},
    mergeable_ranks=ranks,
    special_tokens={_listed(_special_ids(tokenizer), "{}")},
)"""


def _of_gpt2_files(tokenizer: Tokenizer) -> str:
    model = f'model = models.BPE.from_file("{gpt2_files.VOCABULARY}", "{gpt2_files.MERGES}")'
    return _around_model(tokenizer, [], [model])


def _of_gguf(tokenizer: Tokenizer) -> str:
    """Return lines that read the file with gguf, and encode with what it read in tokenizers.

    gguf only reads; llama.cpp, which encodes, has no small package for Python.
    """
    whole = ", ignore_merges=True" if tokenizer.whole_words_first else ""
    model = [
        f'fields = GGUFReader("{gguf_file.FILE_NAME}").fields',
        'tokens = fields["tokenizer.ggml.tokens"].contents()',
        'merges = fields["tokenizer.ggml.merges"].contents()',
        "ids = {token: id for id, token in enumerate(tokens)}",
        f'model = models.BPE(ids, [tuple(merge.split(" ")) for merge in merges]{whole})',
    ]
    return _around_model(tokenizer, ["from gguf import GGUFReader"], model)


def _around_model(tokenizer: Tokenizer, imports: list[str], model: list[str]) -> str:
    """Return lines of imports, then `model` as it is, then everything its files do not hold."""
    cut, names = _pre_tokenizer(tokenizer)
    names = sorted({*names, "Tokenizer", "decoders", "models", "pre_tokenizers"}, key=_import_order)
    special = [literal(text) for text in _in_order(tokenizer)]
    lines = [
        *imports,
        f"from tokenizers import {', '.join(names)}",
        "",
        *model,
        "tokenizer = Tokenizer(model)",
        f"tokenizer.pre_tokenizer = {cut}",
        "tokenizer.decoder = decoders.ByteLevel()",
    ]
    if special:
        lines.append(f"tokenizer.add_special_tokens({_listed(special, '[]', indent='')})")
    return "\n".join(lines)


def _pre_tokenizer(tokenizer: Tokenizer) -> tuple[str, set[str]]:
    """Return the expression that makes the pre-tokenizer, and the names that it needs imported."""
    name, pattern = tokenizer.pretokenizer.name, tokenizer.pretokenizer.pattern
    by_bytes = "pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)"
    if name == "gpt2":
        return "pre_tokenizers.ByteLevel(add_prefix_space=False)", set()
    if pattern is None:
        return by_bytes, set()
    needed: set[str] = set()
    if name == "whitespace":
        cut = "pre_tokenizers.WhitespaceSplit()"
    else:
        drops = tokenizer.pretokenizer.drops_text
        behavior = '"removed", invert=True' if drops else '"isolated"'
        cut = f"pre_tokenizers.Split(Regex({literal(pattern)}), {behavior})"
        needed = {"Regex"}
    return f"pre_tokenizers.Sequence(\n    [\n        {cut},\n        {by_bytes},\n    ]\n)", needed


def _in_order(tokenizer: Tokenizer) -> list[str]:
    return sorted(tokenizer.special_tokens, key=tokenizer.special_tokens.__getitem__)


def _special_ids(tokenizer: Tokenizer) -> list[str]:
    ids = tokenizer.special_tokens
    return [f"{literal(text)}: {ids[text]}" for text in _in_order(tokenizer)]


def _listed(entries: list[str], brackets: str, indent: str = "    ") -> str:
    opened, closed = brackets
    if len(entries) < _SEVERAL:
        return opened + "".join(entries) + closed
    rows = "".join(f"{indent}    {entry},\n" for entry in entries)
    return f"{opened}\n{rows}{indent}{closed}"


def _import_order(name: str) -> tuple[bool, str]:
    """Sort classes before modules, as formatters do."""
    return name.islower(), name
