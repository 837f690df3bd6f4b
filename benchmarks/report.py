"""Write the tables of benchmarks/README.md, one for each script."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median

README = Path(__file__).parent / "README.md"
_HEAD = """# Benchmarks

This page is written by `make bench`; `make bench PART=decoding` measures one part again. Nothing is
timed before the compared tools have given the same result."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def machine() -> str:
    """Describe the machine and the versions measured."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = re.findall(r"model name\s*: (.+)", cpuinfo.read_text())
        model = names[0] if names else model
    peers = ", ".join(f"{name} {version(name)}" for name in ("numba", "tokenizers", "tiktoken"))
    cores = f"{os.cpu_count()} cores"
    if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) != os.cpu_count():
        cores = f"{len(os.sched_getaffinity(0))} of {cores}"
    return (
        f"{model}, {cores}, load {os.getloadavg()[0]:.1f} at the end; "
        f"Python {sys.version.split()[0]}, {peers}."
    )


def write_part(name: str, title: str, lines: Sequence[str], order: Sequence[str]) -> None:
    """Replace one part of the README, between its markers; the parts keep their order."""
    page = README.read_text() if README.exists() else ""
    parts = dict(re.findall(r"<!-- begin ([\w-]+) -->\n(.*?)\n<!-- end -->", page, re.DOTALL))
    parts[name] = "\n".join([f"## {title}", "", machine(), "", *lines]).strip()
    written = [
        f"<!-- begin {each} -->\n{parts[each]}\n<!-- end -->" for each in order if each in parts
    ]
    README.write_text("\n\n".join([_HEAD, *written]) + "\n")


def against(ratio: float, goal: float, *, at_most: bool = True) -> str:
    """Format a ratio with its goal, and with how far it misses the goal.

    >>> against(0.04, 0.05), against(0.06, 0.05)
    ('0.040 (goal ≤ 0.05)', '0.060 (goal ≤ 0.05, **missed by 20 %**)')
    >>> against(0.0501, 0.05)
    '0.050 (goal ≤ 0.05, **missed by 0.2 %**)'
    """
    sign = "≤" if at_most else "≥"
    missed = ratio / goal - 1 if at_most else goal / ratio - 1
    by = f"{100 * missed:.0f}" if missed > 0.01 else f"{100 * missed:.1f}"
    miss = f", **missed by {by} %**" if missed > 0 else ""
    shown = f"{ratio:.3f}" if ratio < 1 else f"{ratio:.1f}"
    return f"{shown} (goal {sign} {goal:g}{miss})"


def seconds_against(seconds: float, goal: float) -> str:
    """Format the goal for a time, and how far the time misses it.

    >>> seconds_against(0.3, 0.5), seconds_against(0.7, 0.5)
    ('≤ 0.5 s', '≤ 0.5 s, **missed by 0.20 s**')
    """
    return f"≤ {goal:g} s" + ("" if seconds <= goal else f", **missed by {seconds - goal:.2f} s**")


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return median(values)
