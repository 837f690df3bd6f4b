"""Files that are divided into stretches: two texts, one of them short, and lines of JSON."""

from __future__ import annotations

import json
from pathlib import Path

LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩\r\n\n"


def write_sources(folder: Path) -> list[Path]:
    """Write the files into a folder, and return their paths."""
    paths = [folder / "a.txt", folder / "b.txt", folder / "c.jsonl"]
    paths[0].write_bytes("".join(f"{n} {LINE}" for n in range(6_000)).encode())
    paths[1].write_bytes("\ufeffhug hugs".encode())
    rows = (f"{n} {LINE}" for n in range(8_000, 2_000, -1))
    paths[2].write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    return paths
