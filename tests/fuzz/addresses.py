"""Mutated parameters of every page's address, in the app without a browser."""

from __future__ import annotations

import random
import tempfile
import time
from typing import Final, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from tests.app_pages import PAGES
from tests.new_process import ROOT

_MAX_SECONDS: Final = 60

# Each parameter with some values that mean something to a page.
PARAMETERS: Final = {
    "run": ("sample", "0" * 32),
    "job": ("0" * 32,),
    "step": ("0", "71", "4000"),
    "merges": ("0", "100"),
    "pair": ("101-32", "0-0"),
    "words": ("hug pug",),
    "text": ("unbelievably <|endoftext|>",),
    "text_id": ("0" * 32,),
    "tokenizer": ("The example", "Your tokenizer", "GPT-2"),
    "special": ("true", "false"),
    "with": ("gpt2", "none", "gpt2,run-sample", "file-" + "0" * 32, "llama3"),
    "base": ("gpt2", "run-sample"),
    "vocabulary_of": ("GPT-2",),
    "seen_as": ("Table", "Trie"),
    "token": ("262",),
    "find": ("the", "^(a|b)"),
    "prefix": ("2074",),
    "uses_on": ("Held-out text",),
    "min_uses": ("5",),
    "lab_tokenizer": ("GPT-2",),
    "lab_text": ("Your text",),
    "encoding": ("0" * 32,),
    "training": ("0" * 32,),
    "lesson": ("Hug words", "Four documents"),
    "print": ("true",),
    "step_of_1": ("Words", "Pairs"),
    "marker": ("true",),
    "measure": ("Parity",),
    "on": ("Held-out text", "Your own text"),
    "own": ("0" * 32,),
    "passage": ("Held-out text", "Your text"),
    "word": ("unbelievably",),
    "reference": ("GPT-2",),
    "sentences": ("0" * 32,),
    "terms": ("Kubernetes",),
    "terms_id": ("0" * 32,),
    "sentence": ("my name",),
    "price": ("2.5",),
    "goto": tuple(PAGES),
}
_TELLING: Final = (
    "",
    "\0",
    "-1",
    "1e999",
    "NaN",
    "9" * 40,
    "<img src=x onerror=alert(1)>",
    "\u202e",
    "None",
    "../../etc/passwd",
    "a" * 20_000,
    "é日🧩",
    "\ufffd",
    "%00",
    "0-",
    "-",
    "[]",
    "true",
    "Inf",
)


class PageFault(NamedTuple):
    """An address at which a page raised, failed or drew no heading."""

    address: str
    problem: str


def attack_pages(n: int, rng: random.Random) -> tuple[list[PageFault], float]:
    """Open `n` mutated addresses; return the faults and the longest time in seconds."""
    faults: list[PageFault] = []
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_RUNS", folder)
        patch.setenv("BPE_EXPLORER_TOKENIZERS", f"{folder}/tokenizers")
        for _ in range(n):
            page = rng.choice(list(PAGES))
            names = rng.sample(list(PARAMETERS), rng.choice((1, 1, 2, 4)))
            query = {name: _value(name, rng) for name in names}
            started = time.perf_counter()
            problem = _open(page, query)
            slowest = max(slowest, time.perf_counter() - started)
            if problem:
                faults.append(PageFault(f"{page} {query!r}", problem))
    return faults, slowest


def _value(name: str, rng: random.Random) -> str:
    value = rng.choice(PARAMETERS[name])
    match rng.randrange(4):
        case 0:
            return value
        case 1:
            return rng.choice(_TELLING)
        case 2:
            at = rng.randrange(len(value) + 1)
            return value[:at] + rng.choice(_TELLING) + value[at:]
        case _:
            points = [rng.choice((rng.randrange(128), rng.randrange(0xD800))) for _ in value]
            return "".join(map(chr, points))


def _open(page: str, query: dict[str, str]) -> str:
    """Return what went wrong when a page was opened; empty if nothing did."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=_MAX_SECONDS)
    app.query_params["goto"] = page
    for name, value in query.items():
        app.query_params[name] = value
    try:
        app.run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if app.exception:
        return str(app.exception[0].value)
    if any(button.key == "start_over" for button in app.button):
        return f"the page failed: {app.error[0].value}"
    return "" if app.title else "the page has no heading"
