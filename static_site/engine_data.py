"""Write what the engine in the browser needs besides the compiled kernels."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from bpe_core import kernels
from bpe_core.formats import cuts_by_steps, pre_tokenizer_part
from bpe_core.pretokenizers import SCANNERS, get_pretokenizer, get_scanner

_CONSTANTS: Final = (
    *("CELLS", "ENTRY", "FIRST_SYMBOL", "LONG_WORD", "NARROW_ROW", "PAIR_ROW", "ROOM"),
    *("SCAN_UP_TO", "SLACK", "WORD_ROW"),
)
"""Sizes that the callers of kernels must know."""


def engine_data() -> str:
    """Return the tables of the cuts, and sizes, as JSON; `browser/engine/cutting.js` reads it."""
    table = get_scanner("gpt2").classes
    starts = np.flatnonzero(np.diff(table, prepend=table[:1] + 1))
    sizes = np.diff(starts, append=table.size)
    runs = np.stack([sizes, table[starts]], axis=1).reshape(-1)
    data: dict[str, Any] = {name: getattr(kernels, name) for name in _CONSTANTS}
    data["MAX_ROWS"] = kernels.word_cache.MAX_ROWS
    data["classes"] = runs.tolist()
    data["scanners"] = {name: _scanner(name) for name in cut_names()}
    data["cuts"] = {
        steps: name for steps, name in cuts_by_steps().items() if name in data["scanners"]
    }
    return json.dumps(data, separators=(",", ":"))


def cut_names() -> list[str]:
    """Return the names of the cuts that the engine in the browser knows.

    >>> cut_names()[:3]
    ['gpt2', 'cl100k', 'o200k']
    """
    return [name for name in SCANNERS if get_scanner(name).rows.size]


def _scanner(name: str) -> dict[str, Any]:
    scanner, cut = get_scanner(name), get_pretokenizer(name)
    return {
        "columns": scanner.columns.tolist(),
        "rows": scanner.rows.tolist(),
        "flags": scanner.flags.tolist(),
        "rules": scanner.rules,
        "before_space_only": cut.drops_text or not cut.ends_before_space,
        "pre_tokenizer": pre_tokenizer_part(cut, by_bytes=True),
    }
