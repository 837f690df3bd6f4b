"""docs/install.md lists every extra, scripts that exist, and what each installation takes."""

from __future__ import annotations

import os
import re
import tomllib

from scripts.measure_install import BEGIN, DOCUMENT, END
from tests.packaging import ROOT

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


def test_the_scripts_that_it_names_exist() -> None:
    named = set(re.findall(r"scripts/[\w/]+\.(?:sh|py)", TEXT))
    assert len(named) >= 5
    assert all((ROOT / name).exists() for name in named)
    assert all(os.access(ROOT / name, os.X_OK) for name in named if name.endswith(".sh"))
    modules = set(re.findall(r"python -m (scripts\.\w+)", TEXT))
    assert all((ROOT / f"{name.replace('.', '/')}.py").exists() for name in modules)
