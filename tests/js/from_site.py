"""Print what Python makes of thousands of texts, for the tests of the static site's encoder.

`python -m tests.js.from_site` prints, for each vocabulary of the site, its stored form, the ids of
each text, and some texts as the app packs them; and for each recorded run a visitor's own words.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.tokenizer import boundaries
from bpe_core.unicode import class_runs
from bpe_core.views import (
    PlayedRun,
    find_longest_word,
    pack_boundaries,
)
from static_site.browser_patterns import browser_pattern
from static_site.engine_data import engine_data, packed_tokenizer
from static_site.recorded_runs import RECORDED, RecordedRun, stored_run, train_recorded
from static_site.vocabularies import VOCABULARIES, Vocabulary
from tests.js.from_python import CONTROLS, LONG, MARKUP, SCRIPTS
from tests.oracles import TOKENIZERS

N_RANDOM = 2_000
N_LINES = 400
N_PACKED = 100
OWN_WORDS = ("how much wood", "I'VE seenIt: 1234567\n", "Straße, für 3 €", "孔乙己 é\t\u00a0", "")
PIECES = ("a", "B", "ß", "1", "٣", "é", "e\u0301", "ª", "日本", "🧩", "ſ", "K", "ǅ", "ʰ", "\u0903")
BETWEEN = (" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "'", "'s", "'LL", "’", "/", ".", "")


def main() -> None:
    os.environ["BPE_EXPLORER_TOKENIZERS"] = str(TOKENIZERS)
    texts = [*all_texts()]
    json.dump(
        {
            "data": engine_data(),
            "pattern": browser_pattern("gpt2"),
            "vocabularies": [encoded(vocabulary, texts) for vocabulary in VOCABULARIES],
            "runs": [own(recorded) for recorded in RECORDED],
        },
        sys.stdout,
    )


def all_texts() -> Iterator[str]:
    """Yield texts of every kind; together they hold the ends of each run of one Unicode class."""
    yield from (CONTROLS, SCRIPTS, MARKUP, LONG, "", " " * 130, "a" * 300, "<|endoftext|>")
    yield "<think>cafe\u0301</think>\u0338 <tool_call>\n</tool_call>"
    for language in parallel_texts():
        yield from language.sentences
    yield from "\n".join(load_sample("alice").documents).split("\n")[:N_LINES]
    drawn = random.Random(0)
    starts, _ = class_runs()
    ends = {*starts, *(start - 1 for start in starts[1:]), sys.maxunicode}
    borders = [chr(end) for end in sorted(ends) if not 0xD800 <= end <= 0xDFFF]
    drawn.shuffle(borders)
    for start in range(0, len(borders), 8):
        yield "".join(
            drawn.choice(BETWEEN) + drawn.choice(PIECES) * drawn.randrange(2) + border
            for border in borders[start : start + 8]
        )
    for _ in range(N_RANDOM):
        yield "".join(
            drawn.choice(drawn.choice((PIECES, BETWEEN))) for _ in range(drawn.randrange(1, 30))
        )


def encoded(vocabulary: Vocabulary, texts: list[str]) -> dict[str, Any]:
    encoder = vocabulary.open()
    return {
        "name": vocabulary.name,
        "stored": base64.b64encode(packed_tokenizer(encoder)).decode(),
        "texts": list(zip(texts, encoder.encode_batch(texts), strict=True)),
        "cut": [[text, encoder.pretokenizer.split(text)] for text in OWN_WORDS],
        "packed": [
            [text, pack_boundaries(found, encoder), find_longest_word(found, encoder)]
            for text in map(encoder.pretokenizer.normalized, texts[:: len(texts) // N_PACKED])
            for found in [boundaries(text, encoder)]
        ],
    }


def own(recorded: RecordedRun) -> dict[str, Any]:
    """Return a run as it is stored, and texts as a visitor's own words for it."""
    run = train_recorded(recorded)
    return {
        "stored": base64.b64encode(stored_run(recorded, run)[0]).decode(),
        "own_words": [[text, PlayedRun(run, "p").words(text)] for text in OWN_WORDS],
    }


if __name__ == "__main__":
    main()
