"""Print messages for the browser and the values expected from them, for the tests in Node.

`python -m tests.js.from_python runs` prints runs as JSON; `texts` or `sentences` print those.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.comparison import Stretches
from bpe_core.comparison.comparison import disagreements
from bpe_core.tokenizer import boundaries
from bpe_core.trainers import (
    apply_merge,
    count_pairs,
    count_words,
    encode_reference,
    split_symbols,
    train_reference,
)
from bpe_core.types import PretokenCounts
from bpe_core.views import (
    PackedTokens,
    PlayedRun,
    pack_boundaries,
    pack_spans,
)
from tests.recounting import Recount, train_with_ties
from ui.storage import SAMPLE_RUN_ID, load_run

STEPS_OF_SAMPLE = (0, 1, 45, 300, 1_234, 2_500, 3_838, 3_839)
N_WORDS_OF_SAMPLE = 70
BLOCK = 20
CONTROLS = (
    "\ufeff\ufeffa\x00b\rc\r\nd\x1b\x7f\u0085\u2028\u202ee\u202c\u2066f\u2069\u200b\u00ad\tg \n"
)
SCRIPTS = (
    "العربية שלום नमस्ते क्षेत्र ภาษาไทย Z̴̢̛͎a̸̡͝l̷̨̛g̶̡͠o̵̢̕ \u0301x 👩\u200d👩\u200d👧🏳️\u200d🌈🧩日本 e\u0301 ﷺ\n"
)
MARKUP = (
    '<img src=x onerror="alert(1)"> &lt; **b** `c` $x^2$ \\frac{1}{2} ]]> {{ x }} %s </script>\n'
)
LONG = "".join(f"{n}: the café’s 日本 line, naïvely 🧩.\n" for n in range(120))


def runs() -> dict[str, Any]:
    """Return runs as messages, with the expected figures at each step."""
    ties = {name: recounted(train_with_ties(name)) for name in ("smallest-pair", "first-seen")}
    return {**ties, "sample": sample(), "hug": hug(), "terms": with_term(), "picky": picky()}


def recounted(run: bpe.TrainingRun) -> dict[str, Any]:
    """Return a run in several blocks, with each merge's figures from a full recount."""
    n_merges = len(run.merges)
    starts = list(range(0, n_merges, BLOCK))
    return {
        **messages(run, starts),
        "steps": [counted(run, step) for step in range(n_merges)],
        "symbols": symbols(run, run.pretokens.words, range(0, n_merges + 1, 7)),
    }


def counted(run: bpe.TrainingRun, step: int) -> dict[str, Any]:
    """Return the figures of a merge, recounted."""
    recount = Recount.of(run, step)
    tied = recount.tied(run.config.tie_break)
    return {
        "winner": recount.winner,
        "count": recount.count,
        "tied": tied,
        "others": len(recount.before) - len(tied),
        "next_count": recount.next_count,
        "given": recount.given[:3],
        "n_words": len(recount.given),
        "n_overlapping": recount.n_overlapping,
        "risen": recount.moved(1),
        "fallen": recount.moved(-1),
        "race": run.top_pairs(step, 10),
    }


def sample() -> dict[str, Any]:
    """Return the sample run, its race at some steps, and its frequent words as symbols."""
    run = load_run(SAMPLE_RUN_ID).run
    by_count = (-run.pretokens.counts).argsort(kind="stable")[:N_WORDS_OF_SAMPLE].tolist()
    words = [run.pretokens.words[word] for word in by_count]
    return {
        **messages(run, [0]),
        "steps": [{"step": step, "race": run.top_pairs(step, 10)} for step in STEPS_OF_SAMPLE],
        "symbols": symbols(run, words, STEPS_OF_SAMPLE),
        "made": [[merge.rank, run.tokenizer.vocab[merge.id].hex()] for merge in run.merges],
    }


def hug() -> dict[str, Any]:
    """Return a run on characters with an end-of-word marker, and words that it cannot spell."""
    config = bpe.TrainingConfig(
        18,
        pretokenizer="none",
        base="characters",
        end_of_word="</w>",
        special_tokens=(),
        tie_break="first-seen",
    )
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    return {**messages(run, [0]), "own_words": PlayedRun(run, "p").words("hug🧩")}


def with_term() -> dict[str, Any]:
    """Return an extended run whose first merges make a term, though other pairs are as frequent."""
    base = bpe.Tokenizer(vocab={0: b"a", 1: b"b", 2: b"c"}, merges=[], pretokenizer="none")
    words = bpe.Corpus.from_word_counts({"ab": 9, "ba": 9, "bcc": 4, "ac": 4})
    run = extend(base, words, 4, terms=["bcc"])
    return {
        **messages(run, [0]),
        "n_for_terms": run.n_chosen,
        "merges": [[*merge.pair, merge.count] for merge in run.merges],
    }


def picky() -> dict[str, Any]:
    """Return a run that removes tokens again, and each word's symbols at every step."""
    counts = {"gehog": 40, "green": 17, "edgehog": 90, "dog": 52, "ledger": 29, "reed": 186}
    config = bpe.TrainingConfig(
        30, pretokenizer="none", base="characters", special_tokens=(), picky=0.6
    )
    run = bpe.train(bpe.Corpus.from_word_counts(counts), config)
    rows = [
        [run.truncated(step).encode(word) for word in counts] for step in range(len(run.merges) + 1)
    ]
    bases = [[run.tokenizer.base_ids[c.encode()] for c in word] for word in counts]
    widths = {id: len(token) for id, token in run.tokenizer.vocab.items()}
    return {
        **messages(run, [0]),
        "bases": bases,
        "rows": rows,
        "widths": [widths[id] for id in range(run.n_ids)],
        "removed": [list(run.removed_after(step)) for step in range(len(run.merges) + 1)],
    }


def messages(run: bpe.TrainingRun, starts: Sequence[int]) -> dict[str, Any]:
    """Return a run and its blocks as the messages that the browser gets."""
    n_merges = len(run.merges)
    ends = [*starts[1:], n_merges]
    message = PlayedRun(run, "p").pack(opening=5, starts=starts)
    blocks = [
        PlayedRun(run, "p").pack_merges(start, stop)
        for start, stop in zip(starts, ends, strict=True)
    ]
    return {
        "message": base64.b64encode(message).decode(),
        "blocks": [base64.b64encode(block).decode() for block in blocks],
        "last": run.top_pairs(n_merges, 10),
    }


def symbols(run: bpe.TrainingRun, words: Iterable[bytes], steps: Iterable[int]) -> list[Any]:
    """Return (base symbols, step, symbols after the step) of words, by the reference encoder."""
    tokenizer = run.tokenizer
    bases = [
        [tokenizer.base_ids[symbol] for symbol in split_symbols(word, tokenizer.base)]
        for word in words
    ]
    found: list[Any] = []
    for step in steps:
        merges = {merge.pair: merge for merge in run.merges[:step]}
        found += [(base, step, encode_reference(base, merges)) for base in bases]
    return found


def texts() -> dict[str, Any]:
    """Return texts with the position of each token, and the disagreements of two tokenizers."""
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    config = bpe.TrainingConfig(
        12,
        pretokenizer="whitespace",
        base="characters",
        end_of_word="</w>",
        special_tokens=(),
    )
    marking = bpe.train(bpe.Corpus.from_text("hug hugs pug"), config).tokenizer
    samples = [CONTROLS, SCRIPTS, MARKUP, LONG, ""]
    return {
        "read": [
            *(read(text, bpe.gpt2()) for text in samples),
            *(read(text, own) for text in samples),
            read("hug p Ω", marking),
            read("a<|endoftext|>b", bpe.gpt2(), ("<|endoftext|>",)),
        ],
        "compared": [compared(text, own, bpe.gpt2()) for text in samples],
    }


def read(text: str, tokenizer: bpe.Tokenizer, special: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a text as it is sent, with its segments and their offsets in UTF-16 units."""
    units = [0]
    for character in text:
        units.append(units[-1] + 1 + (ord(character) > 0xFFFF))
    segments = tokenizer.segments(text, allowed_special=special)
    return {
        "text": text,
        "packed": packed(text, tokenizer, special),
        "segments": [
            {
                "id": -1 if segment.id is None else segment.id,
                "start": units[segment.start],
                "end": units[segment.end],
                "byte_start": segment.byte_start,
                "byte_end": segment.byte_end,
            }
            for segment in segments
        ],
    }


def packed(text: str, tokenizer: bpe.Tokenizer, special: tuple[str, ...] = ()) -> PackedTokens:
    """Return the tokens of a text as they are sent."""
    return pack_boundaries(boundaries(text, tokenizer, special), tokenizer)


def compared(text: str, one: bpe.Tokenizer, other: bpe.Tokenizer) -> dict[str, Any]:
    """Return a text under two tokenizers, and the tokens of each where they disagree."""
    ends = [boundaries(text, each).byte_ends for each in (one, other)]
    found = disagreements(one.segments(text), other.segments(text), text)
    return {
        "text": text,
        "packed": [packed(text, one), packed(text, other)],
        "spans": pack_spans(text, Stretches.between(ends, text)),
        "disagreements": [
            {
                "start": each.byte_start,
                "end": each.byte_end,
                "tokens": [[side.start, side.stop] for side in (each.a, each.b)],
            }
            for each in found
        ],
    }


def sentences() -> list[dict[str, Any]]:
    """Return sentences as the reference cuts and learns them, and what it counted at each merge."""
    drawn = random.Random(7)
    alphabets = ("ab", "ab ", "abc  '1.", "aé日🧩 \u0301\u0085\ufeff\u00a0")
    texts = [
        "",
        "x",
        "she sells sea shells by the sea shore",
        "how much wood would a woodchuck chuck if a woodchuck could chuck wood",
        "it's you're we'll I'D 'tis 12,345 12,345 __init__ __init__",
        "aaa aaaa aaaaaaa aaa",
        "Grace Hopper Grace Hopper",
        "   ",
        " " * 50,
        "\t\t \t\t \u00a0\u00a0 \u3000",
        "بسم الله الرحمن الرحيم، بسم الله",
        "नमस्ते नमस्ते क्षेत्र क्षेत्रे",
        "यह किताब मेरी है, और वह किताब मेरे भाई की है",
        "ที่นี่มีที่จอดรถที่ดีที่สุด",
        "bir berber bir berbere gel beraber bir berber dükkânı açalım demiş",
        "👩\u200d👩\u200d👧 👩\u200d👩\u200d👧 🏳️\u200d🌈🧩🧩🧩",
        "日本語日本語の日本",
        CONTROLS,
        SCRIPTS,
        MARKUP,
        (LONG * 3)[:10_000],
        "ab" * 5_000,
        "a" * 10_000,
        "".join(drawn.choices("abcdefgh ", k=3_000)),
        *("".join(drawn.choices(each, k=n)) for each in alphabets for n in (7, 40, 300)),
    ]
    return [learned(text) for text in texts]


def learned(text: str) -> dict[str, Any]:
    """Return a text as words and as the merges that the reference learns from them."""
    config = bpe.TrainingConfig(
        vocab_size=1_000_000,
        base="characters",
        special_tokens=(),
        min_frequency=2,
        tie_break="smallest-pair",
    )
    words = bpe.get_pretokenizer("gpt2").split(text)
    counts = count_words([text], bpe.get_pretokenizer("gpt2").split)
    pretokens = PretokenCounts(
        tuple(word.encode() for word in counts), np.array(list(counts.values()), np.int64)
    )
    run = train_reference(pretokens, config)
    splits = [[run.base_ids[one.encode()] for one in word] for word in counts]
    weights = list(counts.values())
    n_tokens, tied = [_total(splits, weights)], list[int]()
    for merge in run.merges:
        tied.append(list(count_pairs(splits, weights).values()).count(merge.count or 0))
        splits = [apply_merge(word, merge.pair, merge.id) for word in splits]
        n_tokens.append(_total(splits, weights))
    assert splits == run.splits
    return {
        "text": text,
        "words": words,
        "tokens": [token.decode() for token in run.vocab.values()],
        "merges": [[m.left, m.right, m.id, m.count] for m in run.merges],
        "tied": tied,
        "n_tokens": n_tokens,
        "n_left": len(count_pairs(splits, weights)),
    }


def _total(splits: Sequence[Sequence[int]], weights: Sequence[int]) -> int:
    return sum(len(word) * n for word, n in zip(splits, weights, strict=True))


if __name__ == "__main__":
    json.dump({"runs": runs, "texts": texts, "sentences": sentences}[sys.argv[1]](), sys.stdout)
