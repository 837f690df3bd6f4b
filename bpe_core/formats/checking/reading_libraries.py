"""The libraries that read each format, and the lines of Python that do so.

The lines are complete for any tokenizer that `dumps` writes: a .tiktoken file gets its pattern and
special tokens, and GPT-2's two files their pre-tokenizer, because the files do not hold them.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from bpe_core.errors import ConfigError
from bpe_core.formats import (
    gpt2_files,
    huggingface,
    native,
    sentencepiece_model,
    tiktoken_file,
)
from bpe_core.formats.gguf import gguf_vocabulary
from bpe_core.formats.huggingface import FOLDER, added_begin
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format

_THIS: Final = "bpe_core"
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


@dataclass(frozen=True, slots=True)
class Reader:
    """A library that reads a format."""

    library: str
    """The name under which it is imported and, unless it is this one, installed."""
    load: Callable[[Tokenizer], str]
    """Returns the lines that load a tokenizer's files."""
    encode: str
    """The expression that encodes `text`; {alone} stands for what keeps special tokens out."""
    encoder: str = ""
    """The library that encodes with what this one read; empty if it does so itself."""
    needs: str = ""
    """Another library that it must have to open the format; empty for none."""

    def lines(self, tokenizer: Tokenizer) -> Lines:
        """Return the lines of Python that load a tokenizer's files and encode a text alone.

        >>> from bpe_core.tokenizer import gpt2
        >>> print(READERS["huggingface"][0].lines(gpt2()).code)
        from tokenizers import Tokenizer
        <BLANKLINE>
        tokenizer = Tokenizer.from_file("tokenizer.json")
        ids = tokenizer.encode(text).ids
        <BLANKLINE>
        """
        begun = added_begin(tokenizer.special_tokens) is not None
        alone = ", add_special_tokens=False" if begun else ""
        return Lines(self.load(tokenizer), self.encode.replace("{alone}", alone))


def find_reader(format: Format, library: str | None = None) -> Reader:
    """Return the reader of a format, by default the library that the format is meant for.

    Raises ConfigError if the library cannot read the format.

    >>> find_reader("gguf").library, find_reader("gguf", "transformers").needs
    ('gguf', 'torch')
    """
    for reader in READERS[format]:
        if library in (None, reader.library):
            return reader
    others = " or ".join(reader.library for reader in READERS[format])
    raise ConfigError(f"{library} cannot read the format {format}. Use {others}.")


def list_readers(format: Format) -> list[str]:
    """Return the libraries that read a format: its own first, this package only if it is that.

    >>> list_readers("gpt2"), list_readers("native")
    (['tokenizers', 'transformers', 'tiktoken'], ['bpe_core'])
    """
    own, *others = (reader.library for reader in READERS[format])
    return [own, *(library for library in others if library != _THIS)]


def installed_version(library: str) -> str | None:
    """Return the version of a library, or None if it is not installed."""
    if library == _THIS:
        # It may run from a checkout, without being installed.
        return str(import_module(library).__version__)
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


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

    >>> from bpe_core.tokenizer import gpt2
    >>> tiktoken_pattern(gpt2())[-14:]
    '|\\s+(?!\\S)|\\s+'
    """
    pattern = tokenizer.pretokenizer.pattern
    if pattern is None:
        return r"[\s\S]+"
    if not tokenizer.pretokenizer.cut.startswith("regex:"):
        return pattern
    return rf"{pattern}|(?:(?!{pattern})[\s\S])+"


def _tiktoken_encoding(tokenizer: Tokenizer) -> str:
    """Return the lines that make tiktoken's `tokenizer` from `ranks`."""
    return f"""\
tokenizer = tiktoken.Encoding(
    name="mine",
    pat_str={literal(tiktoken_pattern(tokenizer))},
    mergeable_ranks=ranks,
    special_tokens={_listed(_special_ids(tokenizer), "{}")},
)"""


def _tiktoken_file(tokenizer: Tokenizer) -> str:
    return f"""\
import base64

import tiktoken

with open("{tiktoken_file.FILE_NAME}", "rb") as file:
    ranks = {{base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}}
{_tiktoken_encoding(tokenizer)}"""


def _data_gym(tokenizer: Tokenizer) -> str:
    """Return lines that read GPT-2's two files as tiktoken reads GPT-2's own."""
    return f"""\
import os

# Otherwise tiktoken would keep a copy of the files by name and read that the next time.
os.environ["TIKTOKEN_CACHE_DIR"] = ""

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

ranks = data_gym_to_mergeable_bpe_ranks("{gpt2_files.MERGES}", "{gpt2_files.VOCABULARY}")
{_tiktoken_encoding(tokenizer)}"""


def _gpt2_model(tokenizer: Tokenizer) -> str:
    model = f'model = models.BPE.from_file("{gpt2_files.VOCABULARY}", "{gpt2_files.MERGES}")'
    return _around_model(tokenizer, [], [model])


def _gpt2_tokenizer(tokenizer: Tokenizer) -> str:
    special = ", ".join(map(literal, _special_tokens(tokenizer)))
    return (
        "from transformers import GPT2Tokenizer\n\n"
        f'tokenizer = GPT2Tokenizer("{gpt2_files.VOCABULARY}", "{gpt2_files.MERGES}")\n'
        f"tokenizer.add_special_tokens({{'extra_special_tokens': [{special}]}})"
    )


def _gguf_model(tokenizer: Tokenizer) -> str:
    """Return lines that read the file with gguf, and encode with what it read in tokenizers.

    gguf only reads; llama.cpp, which encodes, has no small package for Python.
    """
    whole = ", ignore_merges=True" if tokenizer.table.whole_words_first else ""
    model = [
        f'fields = GGUFReader("{gguf_vocabulary.FILE_NAME}").fields',
        'tokens = fields["tokenizer.ggml.tokens"].contents()',
        'merges = fields["tokenizer.ggml.merges"].contents()',
        "ids = {token: id for id, token in enumerate(tokens)}",
        f'model = models.BPE(ids, [tuple(merge.split(" ")) for merge in merges]{whole})',
    ]
    return _around_model(tokenizer, ["from gguf import GGUFReader"], model)


def _sentencepiece_model(tokenizer: Tokenizer) -> str:
    """Return lines that load a model, which does not find special tokens in a text by itself."""
    return f"""\
import re

from sentencepiece import SentencePieceProcessor

tokenizer = SentencePieceProcessor(model_file="{sentencepiece_model.FILE_NAME}")
special = {_listed(_special_ids(tokenizer), "{}", indent="")}
longest_first = sorted(special, key=len, reverse=True)
pattern = "|".join(map(re.escape, longest_first))"""


def _around_model(tokenizer: Tokenizer, imports: list[str], model: list[str]) -> str:
    """Return lines of imports, then `model` as it is, then everything its files do not hold."""
    cut, names = _pre_tokenizer(tokenizer)
    names = sorted({*names, "Tokenizer", "decoders", "models", "pre_tokenizers"}, key=_import_order)
    special = [literal(text) for text in _special_tokens(tokenizer)]
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


def _special_tokens(tokenizer: Tokenizer) -> list[str]:
    return sorted(tokenizer.special_tokens, key=tokenizer.special_tokens.__getitem__)


def _special_ids(tokenizer: Tokenizer) -> list[str]:
    ids = tokenizer.special_tokens
    return [f"{literal(text)}: {ids[text]}" for text in _special_tokens(tokenizer)]


def _listed(entries: list[str], brackets: str, indent: str = "    ") -> str:
    opened, closed = brackets
    if len(entries) < _SEVERAL:
        return opened + "".join(entries) + closed
    rows = "".join(f"{indent}    {entry},\n" for entry in entries)
    return f"{opened}\n{rows}{indent}{closed}"


def _import_order(name: str) -> tuple[bool, str]:
    """Sort classes before modules, as formatters do."""
    return name.islower(), name


def _own_load(name: str, *, names_cut: bool = False) -> Callable[[Tokenizer], str]:
    """Return what loads a file with this package; `names_cut` for a file without these facts."""

    def load(tokenizer: Tokenizer) -> str:
        more = ""
        if names_cut:
            special = ", ".join(_special_ids(tokenizer))
            cut = literal(tokenizer.pretokenizer.name)
            more = f", pretokenizer={cut}, special_tokens={{{special}}}"
        return f'import bpe_core\n\ntokenizer = bpe_core.load("{name}"{more})'

    return load


def _call(library: str, name: str, call: str) -> Callable[[Tokenizer], str]:
    """Return what imports a class from a library and calls it, whatever the tokenizer."""
    return lambda _: f"from {library} import {name}\n\ntokenizer = {name}{call}"


_IDS: Final = "tokenizer.encode(text).ids"
_SPLIT_AT_SPECIAL: Final = (
    "[id for part in re.split(f'({pattern})', text)"
    " for id in ([special[part]] if part in special else tokenizer.encode(part))]"
)
_INPUT_IDS: Final = 'tokenizer(text)["input_ids"]'
_ALL_SPECIAL: Final = 'tokenizer.encode(text, allowed_special="all")'
_JSON: Final = huggingface.FILE_NAME

READERS: Final[Mapping[Format, tuple[Reader, ...]]] = {
    "huggingface": (
        Reader("tokenizers", _call("tokenizers", "Tokenizer", f'.from_file("{_JSON}")'), _IDS),
        Reader(
            "transformers",
            _call("transformers", "PreTrainedTokenizerFast", f'(tokenizer_file="{_JSON}")'),
            _INPUT_IDS,
        ),
        Reader(_THIS, _own_load(_JSON), _ALL_SPECIAL),
    ),
    "transformers": (
        Reader(
            "transformers",
            _call("transformers", "AutoTokenizer", f'.from_pretrained("{FOLDER}")'),
            'tokenizer(text{alone})["input_ids"]',
        ),
        Reader(
            "tokenizers",
            _call("tokenizers", "Tokenizer", f'.from_file("{FOLDER}/{_JSON}")'),
            "tokenizer.encode(text{alone}).ids",
        ),
        Reader(_THIS, _own_load(FOLDER), _ALL_SPECIAL),
    ),
    "gpt2": (
        Reader("tokenizers", _gpt2_model, _IDS),
        Reader("transformers", _gpt2_tokenizer, _INPUT_IDS),
        Reader("tiktoken", _data_gym, _ALL_SPECIAL),
        Reader(_THIS, _own_load(gpt2_files.VOCABULARY, names_cut=True), _ALL_SPECIAL),
    ),
    "tiktoken": (
        Reader("tiktoken", _tiktoken_file, _ALL_SPECIAL),
        Reader(_THIS, _own_load(tiktoken_file.FILE_NAME, names_cut=True), _ALL_SPECIAL),
    ),
    "gguf": (
        Reader("gguf", _gguf_model, _IDS, encoder="tokenizers"),
        # transformers imports PyTorch to read GGUF, even for the vocabulary alone.
        Reader(
            "transformers",
            _call(
                "transformers",
                "AutoTokenizer",
                f'.from_pretrained(".", gguf_file="{gguf_vocabulary.FILE_NAME}")',
            ),
            _INPUT_IDS,
            needs="torch",
        ),
        Reader(_THIS, _own_load(gguf_vocabulary.FILE_NAME), _ALL_SPECIAL),
    ),
    "sentencepiece": (
        Reader("sentencepiece", _sentencepiece_model, _SPLIT_AT_SPECIAL),
        Reader(_THIS, _own_load(sentencepiece_model.FILE_NAME), _ALL_SPECIAL),
    ),
    "native": (Reader(_THIS, _own_load(native.FILE_NAME), _ALL_SPECIAL),),
}
"""The libraries that read each format, the one that it is meant for first."""
