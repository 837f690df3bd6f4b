"""Record what is needed to repeat a training run, and the result to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from bpe_core.runs.run import TrainingRun


def training_record(run: TrainingRun) -> dict[str, Any]:
    """Return as JSON values what is needed to repeat a run, and the result to expect.

    `Corpus.split` with the values in "split" gives the text whose `sha256` is "corpus_sha256", and
    `train` with "config" gives the tokenizer whose `fingerprint` is "tokenizer_fingerprint". An
    extended run names the fingerprint of its base, and adds "n_tokens".

    >>> import bpe_core as bpe
    >>> training, _ = bpe.Corpus.from_text("hug hugs\\n" * 100).split(0.1, seed=7)
    >>> record = training_record(bpe.train(training, bpe.TrainingConfig(260)))
    >>> record["config"]["vocab_size"], record["split"]["seed"]
    (260, 7)
    """
    origin, base = run.origin, run.base
    return {
        "bpe_core": origin.version,
        "config": asdict(run.config),
        "split": None if origin.split is None else asdict(origin.split),
        "corpus_sha256": run.corpus_sha256,
        "corpus_bytes": run.corpus_bytes,
        "tokenizer_fingerprint": run.tokenizer.fingerprint,
        "base_fingerprint": None if base is None else base.fingerprint,
        "n_merges": len(run.merges),
        "stop_reason": run.stop_reason,
    }


def record_rows(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a record as rows of a name and a value, for tables and CSV files.

    >>> record_rows({"bpe_core": "0.1.0", "config": {"vocab_size": 260}, "split": None})
    [('bpe_core', '0.1.0'), ('vocab_size', '260'), ('split', 'None')]
    """
    rows: list[tuple[str, str]] = []
    for name, value in record.items():
        if name == "split" and value is not None:
            rows.append(("held_out_share", str(value["held_out_share"])))
            rows.append(("held_out_by", value["by"]))
            rows.append(("held_out_seed", str(value["seed"])))
            rows.append(("whole_corpus_sha256", value["corpus_sha256"]))
        elif isinstance(value, dict):
            settings = cast("dict[str, object]", value)
            rows += [(key, str(each)) for key, each in settings.items()]
        else:
            rows.append((name, str(value)))
    return rows
