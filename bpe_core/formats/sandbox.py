"""Try a file for another library in a separate process first.

That library is compiled: a crash in it ends the whole process, with every visitor's work, and
raises nothing that could be caught. `python -m bpe_core.formats.sandbox` reads a tokenizer.json and
a probe from standard input, builds the tokenizer and encodes the probe.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.foreign import ForeignTokenizer

_ROOT: Final = Path(__file__).absolute().parents[2]
_MOST_SECONDS: Final = 120.0


def rehearse(described: Mapping[str, Any], probe: str, name: str) -> None:
    """Raise `FormatError` if building a tokenizer, or encoding with it, ends the process.

    A tokenizer that fails with an exception passes; building it later raises the same exception.

    >>> model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    >>> rehearse({"model": model}, "some text", "a file")
    """
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "bpe_core.formats.sandbox"],
            input=json.dumps([described, probe]).encode(),
            # Else NumPy's linear algebra starts a thread per processor, half of the running time.
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FormatError(
            f"Hugging Face's tokenizers took more than {_MOST_SECONDS:.0f} seconds for {name}. "
            f"Use the file as it was saved."
        ) from None
    if ended.returncode:
        raise FormatError(
            f"Hugging Face's tokenizers crashes on {name}, so it cannot be opened. "
            f"Use the file as it was saved."
        )


def _main() -> None:
    described, probe = json.load(sys.stdin)
    with suppress(BpeError):
        ForeignTokenizer(described).encode(probe)


if __name__ == "__main__":
    _main()
