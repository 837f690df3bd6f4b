"""Do a visitor's work in a process: its limits, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from bpe_core.corpus import Corpus, FiledCorpus
from bpe_core.errors import BpeError, ProcessError, UnforeseenError
from bpe_core.files import UNFINISHED, make_store_folder
from bpe_core.processes import GB, Limits, call
from bpe_core.tokenizer import Tokenizer
from ui.host import Code, event
from ui.storage import os_errors_as_not_kept, write_base

ADVICE: Final = (
    "Your corpus and settings are unchanged; a smaller corpus or other settings may work."
)
"""What a visitor is told after the reason why work ended without a result."""
# Training takes ten times the size of a text, and a run of a million merges a gigabyte.
_MAX_BYTES: Final = 8 * GB
_MAX_CORPUS_RATIO: Final = 24
_MAX_SECONDS: Final = 24 * 3_600.0
_NICENESS: Final = 2
"""Pages go first when processors are busy."""
_Answer = TypeVar("_Answer")


class WorkProcessError(BpeError):
    """A process that did a visitor's work ended without a result."""


@contextmanager
def files_for_process(corpus: Corpus | FiledCorpus, tokenizer: Tokenizer | None) -> Generator[Path]:
    """Write a corpus and a tokenizer to a folder that is deleted with the block.

    Raises NotKeptError if there is no room for them.
    """
    with os_errors_as_not_kept():
        place = TemporaryDirectory(
            prefix=UNFINISHED, dir=make_store_folder(), ignore_cleanup_errors=True
        )
    with place as name:
        folder = Path(name)
        with os_errors_as_not_kept():
            corpus.save(folder)
            if tokenizer is not None:
                write_base(folder, tokenizer)
        yield folder


def call_apart(
    function: Callable[..., _Answer],
    *arguments: object,
    n_bytes: int,
    on_progress: Callable[[Any], object],
    should_stop: Callable[[], bool],
    should_finish: Callable[[], bool] | None = None,
) -> _Answer:
    """Call a function in a process, as `call` does, within limits for a corpus of `n_bytes`.

    Raises WorkProcessError if the process ends without a result.
    """
    limits = Limits(_MAX_SECONDS, _MAX_BYTES + _MAX_CORPUS_RATIO * n_bytes, niceness=_NICENESS)
    try:
        return call(
            function,
            *arguments,
            limits=limits,
            on_progress=on_progress,
            should_stop=should_stop,
            should_finish=should_finish,
        )
    except ProcessError as error:
        if isinstance(error, UnforeseenError):
            event("unforeseen_error", "error", error=Code(error.name), in_process=1)
        raise WorkProcessError(f"{error} {ADVICE}") from None
