"""The progress bar that commands show on a terminal's stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Final

import click

from bpe_core.cli.streams import is_watched

if TYPE_CHECKING:
    from bpe_core.published.fetch import FetchProgress
    from bpe_core.types import TrainingProgress

_STEPS: Final = 1_000
_SECONDS_WITHOUT: Final = 1.0
"""Work that takes no longer than this shows no bar."""


class Bar:
    """A bar for one kind of work after another, each on its own line; used as a context manager.

    >>> with Bar() as bar:  # shows nothing, because stderr is not a terminal here
    ...     bar.show("Reading", 1, 2)
    """

    def __init__(self) -> None:
        self._doing = ""
        self._bar: Any = None
        self._started = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def show(self, doing: str, done: float, of: float, note: str = "") -> None:
        """Show that `done` of `of` is done, once this work has taken a second, and a note."""
        if not is_watched():
            return
        if doing != self._doing:
            self._end()
            self._doing, self._started = doing, time.monotonic()
            self._bar = click.progressbar(
                length=_STEPS, label=doing, file=sys.stderr, item_show_func=_read_note
            )
        if not self._bar.entered:
            if time.monotonic() - self._started < _SECONDS_WITHOUT:
                return
            self._bar.__enter__()
        steps = int(_STEPS * min(1.0, done / of)) - self._bar.pos if of else 0
        self._bar.update(max(0, steps), note or None)

    def show_counting(self, share: float) -> None:
        """Show the share of the text whose words are counted, as the `on_counting` of `train`."""
        self.show("Counting words", share, 1)

    def show_training(self, progress: TrainingProgress) -> None:
        """Show the progress of `train` or `extend`, as its `on_progress`."""
        if progress.seconds_compiling is not None:
            self.show("Compiling the engine, once on this machine", 0, 1)
        else:
            self.show("Learning merges", progress.merges_done, progress.merges_wanted)

    def show_removals(self, done: int, of: int) -> None:
        """Show the progress of `shrink`, as its `on_progress`."""
        self.show("Removing tokens", done, of)

    def show_download(self, progress: FetchProgress) -> None:
        """Show the progress of a download, as the `on_progress` of `fetch`."""
        self.show(f"Downloading {progress.source}", progress.done_bytes, progress.total_bytes)

    def _end(self) -> None:
        if self._bar is not None and self._bar.entered:
            self._bar.__exit__(None, None, None)
        self._bar = None
        self._doing = ""


def _read_note(note: str | None) -> str | None:
    return note
