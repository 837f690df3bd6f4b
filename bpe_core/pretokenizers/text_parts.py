"""Cut a long text into parts that most tokenizers encode as they encode the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CUT: Final = re.compile("(?<=[A-Za-z]) (?=[A-Za-z])")


def cut_text(text: str, size: int) -> Iterator[str]:
    """Cut a text into parts of at least `size` characters, as the last one may be shorter.

    Each begins with a space between two letters. A pre-tokenizer with `ends_before_space` cuts
    there too.

    >>> list(cut_text("one two, three four", 4)), list(cut_text("one", 4))
    (['one two, three', ' four'], ['one'])
    """
    start = 0
    while start < len(text):
        found = _CUT.search(text, start + max(size, 1))
        end = found.start() if found else len(text)
        yield text[start:end]
        start = end
