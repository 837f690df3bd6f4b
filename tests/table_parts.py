"""The names of what every table of a tokenizer holds, however it was made."""

from __future__ import annotations

from functools import cached_property

from bpe_core.tokenizer import TokenTable

_DERIVED = [
    name
    for name, part in vars(TokenTable).items()
    if isinstance(part, cached_property) and not name.startswith("_")
]
TABLE_PARTS = [*TokenTable.__annotations__, *_DERIVED]
