"""Make small files that are large once they are written out."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def _parquet(values: pa.Array, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": values}), file, compression="zstd", **options)
    return file.getvalue()


def _repeated_long_string() -> bytes:
    """Return a Parquet file of 5 GB of text: one string in a dictionary, and 256 rows of it."""
    dictionary = pa.array(["a" * 20_000_000])
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 256, pa.int32()), dictionary)
    return _parquet(values, write_statistics=False, store_schema=False)


def _repeated_deltas() -> bytes:
    """Return a Parquet file of 512 MB of text: 256 equal rows, each encoded by the one before."""
    values = pa.array(["a" * 2_000_000] * 256)
    return _parquet(
        values,
        use_dictionary=False,
        column_encoding={"text": "DELTA_BYTE_ARRAY"},
        write_statistics=False,
    )


def _many_empty_strings() -> bytes:
    offsets = pa.py_buffer(bytes(4 * 20_000_001))
    values = pa.Array.from_buffers(pa.string(), 20_000_000, [None, offsets, pa.py_buffer(b"")])
    return _parquet(values, use_dictionary=False)


def _words(count: int, max_bytes: int) -> bytes:
    """Return lines of JSON with `count` new keys each."""
    lines: list[str] = []
    size = n = 0
    while size < max_bytes:
        lines.append(json.dumps({f"k{n + i}": "a" for i in range(count)}))
        size += len(lines[-1])
        n += count
    return "\n".join(lines).encode()


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a dictionary of one long string": ("a.parquet", _repeated_long_string),
    "deltas of one long string": ("a.parquet", _repeated_deltas),
    "20 million empty strings": ("a.parquet", _many_empty_strings),
    "one letter a row": ("a.csv.gz", lambda: gzip.compress(b"text\n" + b"a\n" * 8_000_000)),
    "empty rows of csv": ("a.csv.gz", lambda: gzip.compress(b"text\na\n" + b"\n" * 16_000_000)),
    "empty objects": ("a.jsonl.gz", lambda: gzip.compress(b"{}\n" * 5_500_000)),
    "blank lines of JSON": ("a.jsonl.gz", lambda: gzip.compress(b'"a"\n' + b"\n" * 16_000_000)),
    "broken lines of JSON": ("a.jsonl.gz", lambda: gzip.compress(b"x\n" * 8_000_000)),
    "a list of empty lists": (
        "a.json.gz",
        lambda: gzip.compress(b"[" + b"[]," * 5_500_000 + b"[]]"),
    ),
    "a key of empty lists": (
        "a.json",
        lambda: b'{"a": [' + b"[]," * 20_000_000 + b"[]]}",
    ),
    "a line of empty lists": (
        "a.jsonl",
        lambda: b'"hug"\n[' + b"[]," * 20_000_000 + b"[]]",
    ),
    "many keys": ("a.jsonl", lambda: _words(100, 4_000_000)),
    "many keys in one object": ("a.jsonl", lambda: _words(500_000, 4_000_000)),
    "many columns": ("a.csv.gz", lambda: gzip.compress(b"a," * 8_000_000 + b"b\n1,2\n")),
    "many values in a row": (
        "a.csv",
        lambda: b"text,b\nhug,ugg\n" + b"aa," * 20_000_000 + b"\nhug,ugg\n",
    ),
    "many values in a row of many lines": (
        "a.csv",
        lambda: b"text,b\nhug,ugg\n" + b'aa,"\n",' * 8_000_000 + b"\nhug,ugg\n",
    ),
    "lines that are not UTF-8": ("a.txt.gz", lambda: gzip.compress(b"\n" * 16_000_000 + b"\xff")),
}
"""The names of files and the functions that make them, keyed by what is large in them."""
