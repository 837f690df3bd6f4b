"""Run a compiled scanner by itself, with buffers of any size."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels import scanning
from bpe_core.kernels.compiling.decorate import kernel
from bpe_core.pretokenizers import Pretokenizer, get_scanner

# An entry point from Python, because the scanners are parts of other kernels.
scan_block = kernel(getattr(scanning.scan, "py_func", scanning.scan))


def scan(text: str, pretokenizer: Pretokenizer, room: int, *, after: str = "") -> list[str]:
    """Return the pre-tokens of a text; `after` follows it in memory but is not part of it."""
    data = np.frombuffer((text + after).encode(), np.uint8)
    end = len(text.encode())
    found: list[str] = []
    at = 0
    while at < end:
        ends = np.empty(room, np.int64)
        n = scan_block(data, at, end, get_scanner(pretokenizer.name), ends)
        if n == 0:
            room *= 2
        else:
            # The encoder's scratch space holds exactly this many bytes.
            assert abs(ends[n - 1]) - at <= room
        for stop in ends[:n].tolist():
            if stop > 0:
                found.append(data[at:stop].tobytes().decode())
            at = abs(stop)
    return found
