"""How a corpus is divided in two: what is drawn, and where a single document may be cut."""

from __future__ import annotations

import random
from collections.abc import Sequence

_BLOCK_SHARE = 0.01


def draw(sizes: Sequence[int], room: int, seed: int) -> set[int]:
    """Draw indices at random, each whose size still fits the room that is left.

    >>> draw([5, 50, 5], room=10, seed=0)
    {0, 2}
    """
    # sorted() on random() rather than shuffle(): only the former is promised not to change between
    # versions of Python.
    generator = random.Random(seed)
    drawn: set[int] = set()
    # To go on until nothing fits would fill the end with whatever is smallest.
    enough = room // 10
    for index in sorted(range(len(sizes)), key=lambda _: generator.random()):
        if room <= enough:
            break
        if 0 < sizes[index] <= room:
            drawn.add(index)
            room -= sizes[index]
    return drawn


def line_blocks(text: str) -> list[str]:
    """Cut a text after line ends into blocks of about a hundredth of it, at least a line each.

    >>> line_blocks("a\\nb\\nc")
    ['a\\n', 'b\\n', 'c']
    """
    wanted = len(text) * _BLOCK_SHARE
    blocks: list[str] = []
    start = end = 0
    while end < len(text):
        newline = text.find("\n", end)
        end = len(text) if newline < 0 else newline + 1
        if end - start >= wanted:
            blocks.append(text[start:end])
            start = end
    if start < len(text):
        blocks.append(text[start:])
    return blocks
