"""Measurements that wait or crash, in place of `measure_here`."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from bpe_core.lab import Results
from bpe_core.lab.measurements import LabProgress
from bpe_core.processes import Report


def wait(
    kind: str,
    text: str,
    tokenizer: dict[str, Any] | None,
    is_small: bool,
    report: Report[LabProgress],
) -> Results:
    """Report progress, and wait to be ended."""
    report(LabProgress(3, 12, "trie"))
    time.sleep(60)
    return Results()


def crash(
    kind: str,
    text: str,
    tokenizer: dict[str, Any] | None,
    is_small: bool,
    report: Report[LabProgress],
) -> Results:
    """End as if memory had run out."""
    os.kill(os.getpid(), signal.SIGKILL)
    return Results()
