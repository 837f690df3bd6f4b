"""Print what Python learns from small corpora and makes of texts, for the engine in the browser.

`python -m tests.js.from_engine` prints the engine's data, the runs of hundreds of corpora with many
ties, tokenizers as files, and the ids of thousands of texts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tokenizers import AddedToken, normalizers
from tokenizers import Tokenizer as OtherTokenizer

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import write_huggingface
from bpe_core.kernels import compile_kernels
from bpe_core.tokenizer import boundaries
from bpe_core.views import (
    PlayedRun,
)
from static_site.engine_data import cut_names, engine_data, packed_tokenizer
from tests.js.from_python import MARKUP, SCRIPTS
from tests.js.from_site import all_texts
from tests.oracles import TOKENIZERS

N_CORPORA: Final = 500
OPENED: Final = ("gpt2", "cl100k_base", "o200k_base")
PUBLISHED: Final = ("llama3.1", "qwen3")
"""Whole files as a visitor drops them; Llama 3.1's lists every way to make a token."""
HOSTILE: Final = (
    *("a" * 70_000, " " * 9_000, "ab" * 40_000 + "é", "\n \n" * 3_000, "\U0001f9e9" * 5_000),
    *(
        "हिन्दी में लिखा हुआ वाक्य " * 50,
        "ภาษาไทยไม่มีวรรค" * 300,
        "e\u0301\u0302" * 2_000,
        "\0\x7f" * 100,
    ),
)


def main() -> None:
    os.environ["BPE_EXPLORER_TOKENIZERS"] = str(TOKENIZERS)
    compile_kernels()
    drawn = random.Random(7)
    texts = [*all_texts(), *HOSTILE]
    whole = "".join(texts[:: len(texts) // 500])
    made = {
        "data": engine_data(),
        "runs": [_run(drawn, number) for number in range(N_CORPORA)],
        "large": _trained(
            [*load_sample("alice").documents, *load_sample("multilingual").documents],
            vocab_size=4_000,
            pretokenizer="cl100k",
        ),
        "tokenizers": [
            _encoded(*each, [*texts, whole * 20 if each[0] == "gpt2" else whole])
            for each in _tokenizers()
        ],
        "normal_forms": [_normalized(form, texts) for form in ("NFC", "NFD", "NFKC", "NFKD")],
        "added": [*_with_added()],
        "listed": [*_every_way(drawn)],
        "published": [_published(name, texts[::5]) for name in PUBLISHED],
    }
    json.dump(made, sys.stdout)


def _normalized(form: str, texts: list[str]) -> dict[str, Any]:
    """Return what a normal form makes of texts, as digests of every code point among marks."""
    normalize = getattr(normalizers, form)().normalize_str
    digests: list[str] = []
    for start in range(0, sys.maxunicode + 1, 1 << 12):
        codes = range(start, start + (1 << 12))
        each = (chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        text = "".join(f"{one} a{one}\u0323 e\u0301{one}\u0307{one} 가{one}" for one in each)
        digests.append(hashlib.sha256(normalize(text).encode()).hexdigest())
    tokenizer = bpe.train(["hug pug"], vocab_size=260, pretokenizer=f"{form}+gpt2").tokenizer
    changed = [text for text in texts if normalize(text) != text][:200]
    return {
        "form": form,
        "digests": digests,
        "json": _written(tokenizer),
        "texts": [[text, normalize(text), tokenizer.encode(text)] for text in changed],
    }


def _with_added() -> Iterator[dict[str, Any]]:
    """Yield tokenizers that find tokens in any text, with what `tokenizers` makes of texts."""
    found = ("<tool_call>", "<tool", "</think>", "  ", "a+b", "e\u0301>", "日本")
    joined = [
        a + b for a in (*found, "hug") for b in (*found, "\u0338x", "ing", " \uff1e", "<|end|>")
    ]
    texts = ["", *found, *joined, "<tool_\u212a>", "\uff1ctool", "e\u0301\u0301>", "<<tool>>" * 900]
    for form in ("", "NFC", "NFKC"):
        name = f"{form}+cl100k" if form else "cl100k"
        own = bpe.train(["hug pug hugging"], vocab_size=270, pretokenizer=name).tokenizer
        other = OtherTokenizer.from_str(write_huggingface(own).decode())
        other.add_tokens([AddedToken(token, normalized=not form) for token in found])
        other.add_special_tokens([AddedToken("<|end|>", normalized=False)])
        other.encode_special_tokens = True
        yield {"json": other.to_str(), "texts": [[text, other.encode(text).ids] for text in texts]}


def _every_way(drawn: random.Random) -> Iterator[dict[str, Any]]:
    """Yield tokenizers whose lists have every way in which two of their tokens make a third."""
    text = [*load_sample("alice").documents, " " * 40, "\n" * 9] * 2
    own = bpe.train(text, vocab_size=1_500, pretokenizer="cl100k").tokenizer
    described = json.loads(write_huggingface(own))
    vocab = described["model"]["vocab"]
    ways = [
        (vocab[token], vocab[token[:cut]], token[:cut], token[cut:])
        for token in vocab
        for cut in range(1, len(token))
        if token[:cut] in vocab and token[cut:] in vocab
    ]
    texts = [" " * n for n in range(40)] + "".join(text).split("\n")[:700] + [SCRIPTS, MARKUP]
    texts += ["".join(drawn.choices("etaoin shr", k=drawn.randrange(1, 60))) for _ in range(200)]
    texts += ["".join(drawn.choices("etaoinshr", k=3_000)) for _ in range(5)]
    # The last two come in an order that no training gives.
    for order in (sorted(ways), sorted(ways, reverse=True), drawn.sample(ways, len(ways))):
        described["model"]["merges"] = [[left, right] for _, _, left, right in order]
        described["model"]["ignore_merges"] = order == sorted(ways)
        listed = json.dumps(described)
        other = OtherTokenizer.from_str(listed)
        yield {
            "json": listed,
            "n_ways": len(ways),
            "n_merges": len(own.merges) if order == sorted(ways) else None,
            "texts": [[each, other.encode(each).ids] for each in texts],
        }


def _published(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return where a published file is, and the ids that the publisher's library gives texts."""
    path = TOKENIZERS / f"{name}.json"
    other = OtherTokenizer.from_file(str(path))
    special = [each.content for each in other.get_added_tokens_decoder().values() if each.special]
    plain = [text for text in texts if not any(token in text for token in special)]
    found = other.encode_batch(plain, add_special_tokens=False)
    return {
        "path": str(path),
        "n_tokens": other.get_vocab_size(),
        "texts": [[text, each.ids] for text, each in zip(plain, found, strict=True)],
    }


def _run(drawn: random.Random, number: int) -> dict[str, Any]:
    """Return a corpus of few letters, where most pairs tie, with what is learned from it."""
    letters = drawn.choice(
        ("ab", "abc", "aé", "a b", "ab1 ", "a\n ", "xy'sX.", "日本a", "🧩e\u0301 ")
    )
    words = [
        "".join(drawn.choices(letters, k=drawn.randrange(1, drawn.choice((4, 9, 40)))))
        for _ in range(drawn.randrange(1, 12))
    ]
    documents = [
        drawn.choice((" ", "", "\n")).join(drawn.choices(words, k=drawn.randrange(1, 30)))
        for _ in range(drawn.randrange(1, 4))
    ]
    special = drawn.sample(("<|endoftext|>", "ab", "<é>"), drawn.randrange(3))
    return _trained(
        documents,
        vocab_size=256 + len(special) + drawn.randrange(60),
        pretokenizer=cut_names()[number % len(cut_names())],
        min_frequency=drawn.randrange(4),
        special_tokens=tuple(special),
        tie_break=drawn.choice(("smallest-pair", "first-seen")),
    )


def _trained(documents: list[str], **settings: Any) -> dict[str, Any]:
    try:
        run = bpe.train(documents, **settings)
    except bpe.EmptyCorpusError:
        return {"documents": documents, "settings": settings, "run": None}
    config = run.config
    return {
        "documents": documents,
        "options": {
            "vocabSize": config.vocab_size,
            "cut": config.pretokenizer,
            "minFrequency": config.min_frequency,
            "specialTokens": config.special_tokens,
            "tieBreak": config.tie_break,
        },
        "run": {
            "merges": [id for merge in run.merges for id in (merge.left, merge.right)],
            "counts": [merge.count for merge in run.merges],
            "tokensAfter": run.tokens_after.tolist(),
            "letters": base64.b64encode(run.pretokens.letters.tobytes()).decode(),
            "wordCounts": run.pretokens.counts.tolist(),
            "joinedAt": run.joined_at.tolist(),
            "stopReason": run.stop_reason,
        },
        "json": _written(run.tokenizer),
        "replay": _replay(run, settings.get("tie_break", "smallest-pair")),
    }


def _replay(run: bpe.TrainingRun, tie_break: str) -> dict[str, Any] | None:
    """Return a run as the merge player is given it; None if the browser cannot replay it."""
    if tie_break != "smallest-pair":
        return None
    n = len(run.merges)
    start, stop = (0, n) if n < 100 else (n // 2, n // 2 + 100)
    more: dict[str, Any] = {"opening": n // 3, "starts": [0]}
    player = PlayedRun(run, "é")
    messages = player.pack(**more), player.pack_merges(start, stop)
    return {
        "more": {"player": player.key, **more, "ending": run.stop_sentence},
        "range": [start, stop],
        "messages": [base64.b64encode(message).decode() for message in messages],
    }


def _written(tokenizer: bpe.Tokenizer) -> str | None:
    """Return a tokenizer.json, or None if two tokens would be written alike."""
    try:
        return write_huggingface(tokenizer).decode()
    except bpe.ConfigError:
        return None


def _tokenizers() -> Iterator[tuple[str, bpe.Tokenizer]]:
    for name in OPENED:
        found = bpe.open_encoder(name).plain
        assert found is not None
        yield name, found
    yield (
        "whitespace",
        bpe.train(load_sample("alice"), vocab_size=900, pretokenizer="whitespace").tokenizer,
    )


def _encoded(name: str, tokenizer: bpe.Tokenizer, texts: list[str]) -> dict[str, Any]:
    found = [boundaries(text, tokenizer) for text in texts[::20]]
    return {
        "name": name,
        "json": write_huggingface(tokenizer).decode(),
        "packed": base64.b64encode(packed_tokenizer(tokenizer)).decode(),
        "texts": list(zip(texts, tokenizer.encode_batch(texts), strict=True)),
        "places": [
            {
                "byte_ends": each.byte_ends.tolist(),
                "starts": each.starts_pretoken.astype(int).tolist(),
            }
            for each in found
        ],
    }


if __name__ == "__main__":
    main()
