"""Print runs as the engine in the browser returns them, with what the app shows of each.

`python -m tests.js.from_own_runs` prints the engine's data; for each run, its arrays, the messages
for the merge player and its sentences; and verdicts, and files as they are read.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import bpe_core as bpe
from bpe_core.corpus import Corpus, HeldOut, decode_text, load_sample
from bpe_core.errors import BpeError
from bpe_core.tokenizer import gpt2
from bpe_core.views import (
    PlayedRun,
    Ribbon,
)
from static_site.engine_data import engine_data
from ui.compare.verdict import rival_rows
from ui.compare.wording import HELD_OUT, no_verdict, text_words, verdict_sentence
from ui.tokenizers import Member, shelf
from ui.train.result_card import result_sentence

N_SMALL = 60
FILES = (
    "né 🧩\r\n".encode(),
    "\ufeffhug\ufeff".encode(),
    "héé".encode("utf-16"),
    b"caf\xc3\xa9 " * 9 + b"\xff\xe2\x82 \xef\xbf\xbd \xf0\x9f\xa7",
    bytes(9),
    b"ELF\x01\x02\x03\x04\x05\x06" + bytes(2),
    b"a\x00b" * 4,
    b"caf\xc3\xa9 " * 9 + b"\xef",  # U+FFFD begins with this byte too
    b"caf\xc3\xa9 " * 9 + b"na\xefve",
    b"caf\xc3\xa9 " * 9 + b"\xef\xbf na\xefve",
    b"",
)


def main() -> None:
    drawn = random.Random(11)
    corpora = [_small(drawn) for _ in range(N_SMALL)]
    runs = [
        bpe.train(documents, vocab_size=300, min_frequency=drawn.randrange(3))
        for documents in corpora
    ]
    alice = [*load_sample("alice").documents, *load_sample("multilingual").documents, "é" * 900]
    runs.append(bpe.train(alice, vocab_size=2_500, pretokenizer="o200k", min_frequency=2))
    made = {
        "data": engine_data(),
        "runs": [_packed(run) for run in runs],
        "verdicts": [*_verdicts(runs)],
        "files": [_read(data) for data in FILES],
    }
    json.dump(made, sys.stdout)


def _small(drawn: random.Random) -> list[str]:
    """Return documents of few letters, where many pairs tie and overlap."""
    letters = drawn.choice(("ab", "aab ", "aé", "xy'sX. ", "日本a ", "🧩e\u0301 "))
    return ["".join(drawn.choices(letters, k=drawn.randrange(20, 200))) for _ in range(2)]


def _packed(run: bpe.TrainingRun) -> dict[str, Any]:
    starts = PlayedRun(run, "p").block_starts
    config = run.config
    ribbon = Ribbon.pack(run.tokenizer, "a text")
    return {
        "run": {
            "config": {
                "vocabSize": config.vocab_size,
                "cut": config.pretokenizer,
                "minFrequency": config.min_frequency,
                "specialTokens": config.special_tokens,
                "tieBreak": config.tie_break,
            },
            "firstId": 256 + len(config.special_tokens),
            "merges": [id for merge in run.merges for id in (merge.left, merge.right)],
            "counts": [merge.count for merge in run.merges],
            "letters": _as_text(run.pretokens.letters.tobytes()),
            "wordCounts": run.pretokens.counts.tolist(),
            "joinedAt": run.joined_at.tolist(),
            "tokensAfter": run.tokens_after.tolist(),
            "stopReason": run.stop_reason,
        },
        "result": result_sentence(run),
        "byHeart": [[gap, run.by_heart_sentence(gap)] for gap in (None, 0.1, 0.3)],
        "ribbon": ribbon,
        "player": _as_text(
            PlayedRun(run, "own").pack(
                opening=run.opening_step,
                starts=starts,
                end={"ribbon": ribbon},
            )
        ),
    }


def _verdicts(runs: list[bpe.TrainingRun]) -> Iterator[dict[str, Any]]:
    """Yield verdicts against other tokenizers, on one text without intervals and on documents."""
    alice = "\n".join(load_sample("alice").documents)
    small, large = runs[0].tokenizer, runs[-1].tokenizer
    pairs = [(large, gpt2()), (small, gpt2()), (gpt2(), large), (large, large)]
    pairs += [(large.truncated(n), large) for n in (1_900, 1_400, 300, len(large.merges) - 1)]
    lines = alice.splitlines(keepends=True)
    documents = ["".join(lines[at : at + 40]) for at in range(0, len(lines), 40)]
    # Each has seen every other document, so which one is better is not clear.
    halves = [bpe.train(documents[k::2], vocab_size=900).tokenizer for k in (0, 1)]
    pairs.append((halves[0], halves[1]))
    few = ["how much wood would a woodchuck chuck"]
    for texts in ([alice[-9_000:]], few, few * 30, documents, documents[-23:]):
        for own, other in pairs:
            corpus = Corpus.from_documents(texts)
            comparison = bpe.compare(corpus, [own, other])
            gain = comparison.gain()._replace(divisions=())
            whole = gain.whole
            assert whole.has_interval == (len(texts) > 20)
            counts = [[len(each.encode(text)) for text in texts] for each in (own, other)]
            ways = [("ends", 1), ("ends", 3), ("documents", 30)]
            for by, n_documents in [("documents", len(texts))] if whole.has_interval else ways:
                how = HeldOut("document", n_documents, float(by == "ends"))
                given = no_verdict(
                    gain, HELD_OUT, own_name=shelf.YOURS, other="GPT-2", is_placeholder=False
                )
                on_text = text_words(HELD_OUT, how)
                sentence = (
                    given[0]
                    if given
                    else verdict_sentence(comparison, gain, on_text, own_name=shelf.YOURS)
                )
                members = [
                    Member(name, name, each, "") for name, each in (("own", own), ("GPT-2", other))
                ]
                yield {
                    "own": {"name": "own", "vocabSize": own.vocab_size, "tokens": whole.own},
                    "other": {
                        "name": "GPT-2",
                        "vocabSize": other.vocab_size,
                        "tokens": whole.theirs,
                    },
                    "heldOut": {"how": by, "nDocuments": n_documents},
                    "counts": counts,
                    "interval": [whole.low, whole.high] if whole.has_interval else None,
                    "sentence": sentence,
                    "remedy": given[1] if given else "",
                    "row": asdict(rival_rows(members, comparison, () if given else (gain,))[0]),
                }


def _read(data: bytes) -> dict[str, Any]:
    try:
        found = decode_text(data, "a.txt", errors="replace")
    except BpeError as error:
        return {"bytes": _as_text(data), "error": str(error)}
    note = found.note.text if found.note else ""
    return {"bytes": _as_text(data), "text": found.text, "remark": note}


def _as_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


if __name__ == "__main__":
    main()
