"""Measure parity-aware training against plain BPE and against `tokenizers`' own trainer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from benchmarks import corpora
from benchmarks.report import against, middle, table
from bpe_core.comparison import gini
from bpe_core.corpus import Corpus, load_sample, read_corpus
from bpe_core.trainers import TrainingRun, beside_plain, train, train_parity
from bpe_core.types import TrainingConfig
from bpe_core.unicode import to_printable

VOCAB_SIZE = 8_000
MAX_RATIO = 0.1
N_PAIRS = 3
VARIANTS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("base", {}, {}),
    ("hybrid, 4,000", {"hybrid_merges": 4_000}, {"global_merges": 4_000}),
    ("window of 100", {"window": 100}, {"variant": "window", "window_size": 100, "alpha": 2.0}),
)
"""A name, our settings, and the other trainer's."""


def against_peers(folder: Path | None) -> list[str]:
    """Train for several languages in turn, after comparing the merges."""
    texts = corpora.languages(1_000_000) if folder is None else read_corpus(folder).by_language()
    rows: list[list[str]] = []
    for named, languages in (
        ("sample sentences", load_sample("multilingual").by_language()),
        ("message catalogues", texts),
    ):
        # So little text is trained on in no time by either; no goal is set for it.
        is_tiny = named.startswith("sample")
        size = 2_000 if is_tiny else VOCAB_SIZE
        config = TrainingConfig(size, special_tokens=())
        everything = Corpus.from_documents(
            [text for corpus in languages.values() for text in corpus.documents]
        )
        for variant, ours, theirs in VARIANTS:
            run = beside_plain(train_parity(languages, config, **ours), languages)
            expected, _ = _by_tokenizers(languages, size, theirs)
            _check(run, expected)
            mine: list[float] = []
            peer: list[float] = []
            plain: list[float] = []
            for _ in range(N_PAIRS):
                started = time.process_time()
                train_parity(languages, config, **ours)
                mine.append(time.process_time() - started)
                peer.append(_by_tokenizers(languages, size, theirs)[1])
                started = time.process_time()
                train(everything, config)
                plain.append(time.process_time() - started)
            ratio = middle([one / other for one, other in zip(mine, peer, strict=True)])
            assert run.parity is not None
            rows.append(
                [
                    f"{named}, {len(languages)} languages, {everything.n_bytes / 1e6:,.2f} MB, "
                    f"to {size:,}",
                    variant,
                    f"{middle(plain):.3f} s",
                    f"{middle(peer):.2f} s",
                    f"{middle(mine):.3f} s",
                    f"{ratio:.3f}" if is_tiny else against(ratio, MAX_RATIO),
                    f"{gini(run.parity.plain):.3f}",
                    f"{gini([int(each[-1]) for each in run.lengths.values()]):.3f}",
                ]
            )
    return [
        "Parity-aware training against `ParityBpeTrainer` of `tokenizers`, alternating on the same "
        "texts, counting included. Beforehand, the merges are compared; they are equal. Times are "
        "medians of processor seconds; ratios are medians over adjacent runs. The Gini coefficient "
        "is that of the languages' tokens, on the training text.",
        "",
        table(
            [
                "text",
                "variant",
                "plain BPE",
                "`tokenizers`",
                "bpe_core",
                "ratio",
                "Gini, plain",
                "Gini, parity",
            ],
            rows,
        ),
    ]


def _by_tokenizers(
    texts: dict[str, Corpus], vocab_size: int, settings: dict[str, Any]
) -> tuple[list[tuple[str, str]], float]:
    """Return the merges that `tokenizers` learns, and the seconds it takes."""
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer: Any = trainers.ParityBpeTrainer(
        num_merges=vocab_size - 256, show_progress=False, **settings
    )
    started = time.process_time()
    trainer.train_from_iterator(
        tokenizer, train_iterators=[iter(corpus.documents) for corpus in texts.values()]
    )
    seconds = time.process_time() - started
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(pair) for pair in merges], seconds


def _check(run: TrainingRun, expected: list[tuple[str, str]]) -> None:
    vocab = run.tokenizer.vocab
    merges = [(to_printable(vocab[m.left]), to_printable(vocab[m.right])) for m in run.merges]
    if merges != expected:
        raise SystemExit("Parity-aware training learns other merges than tokenizers.")
