"""docs/install.md lists every extra, scripts that exist, and what each installation takes."""

from __future__ import annotations

import re
import tomllib

from scripts.measure_install import BEGIN, DOCUMENT, END
from tests.new_process import ROOT

TEXT = DOCUMENT.read_text("utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def test_every_extra_is_explained_and_measured() -> None:
    assert re.findall(r"(?m)^\| `([a-z]+)` \|", TEXT) == list(EXTRAS)
    table = TEXT[TEXT.index(BEGIN) : TEXT.index(END)]
    measured = re.findall(r"(?m)^\| `bpe-explorer\[([a-z]+)\]` \| \d+ \| [\d,]+ \|", table)
    assert measured == list(EXTRAS)
    assert re.search(r"(?m)^\| `bpe-explorer` \| 4 \| \d+ \|", table)
    assert re.findall(r"(?m)^\| (\w+) kernels \| \d+ ms \|", table) == ["with", "without"]
