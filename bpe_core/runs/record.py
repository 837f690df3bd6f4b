"""Show as rows what is needed to repeat a training run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def record_rows(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what `TrainingRun.to_dict` returned as rows of a name and a value, for tables.

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
