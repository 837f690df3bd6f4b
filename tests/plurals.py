"""What texts for people must not say: a one before a plural."""

from __future__ import annotations

import re
from typing import Final

ONE_OF_MANY: Final = re.compile(
    r"(?<![\d.,:→+−/-])(?<!of )\b1\*{0,2} (?:more |new |distinct |special |weighted |first )*"
    r"(?:bytes|tokens|merges|documents|characters|words|pairs|files|rows|lines|pieces|symbols|"
    r"steps|pre-tokens|occurrences|times|values|ids|terms|texts|languages)\b"
)
"""Such as "1 bytes", but not the end of "0.1 bytes" or of "1 of 1 bytes"."""
