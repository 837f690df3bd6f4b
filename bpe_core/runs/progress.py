"""Report progress and check for cancellation at intervals during training."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Final

from bpe_core.types import TrainingProgress

_MERGES_BETWEEN_LOOKS: Final = 64
_SECONDS_BETWEEN_LOOKS: Final = 0.05


class Watch:
    """Report progress and check for cancellation, about every 64 merges or 50 ms.

    >>> watch = Watch(3, time.perf_counter(), lambda progress: print(progress.merges_done), None)
    >>> watch.report(0, corpus_tokens=45, last_count=0)
    0
    >>> [watch.look(n_merges, 5, 5) for n_merges in (1, 64)]
    64
    [False, False]
    """

    def __init__(
        self,
        merges_wanted: int,
        started: float,
        on_progress: Callable[[TrainingProgress], None] | None,
        should_stop: Callable[[], bool] | None,
        on_counting: Callable[[float], None] | None = None,
    ) -> None:
        self.on_counting = on_counting
        """Called with the share of the text whose words are counted."""
        self.merges_wanted = merges_wanted
        self._started = started
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._next_look = _MERGES_BETWEEN_LOOKS
        self._last_look = started
        self._corpus_tokens = 0
        self._n_first = 0
        self.stopped = False

    @property
    def elapsed_seconds(self) -> float:
        """The time since training started."""
        return time.perf_counter() - self._started

    def asked_to_stop(self) -> bool:
        """Return True if training should stop; once it should, `should_stop` isn't called again."""
        if not self.stopped and self._should_stop is not None:
            self.stopped = self._should_stop()
        return self.stopped

    def raise_if_stopped(self) -> None:
        """Raise CancelledError if `asked_to_stop`."""
        if self.asked_to_stop():
            raise CancelledError

    def note_first(self, n_merges: int, tokens_saved: int) -> None:
        """Note merges made before learning starts; `look` then counts only those after them."""
        self._n_first = n_merges
        self._corpus_tokens -= tokens_saved

    def look(self, merges_done: int, tokens_saved: int, last_count: int) -> bool:
        """Report progress if it is time to; return True if training should stop.

        `tokens_saved` is the number of tokens that the corpus has lost since the last call.
        """
        merges_done += self._n_first
        self._corpus_tokens -= tokens_saved
        now = time.perf_counter()
        if (
            not self.stopped
            and merges_done < self._next_look
            and now - self._last_look < _SECONDS_BETWEEN_LOOKS
        ):
            return False
        self._next_look = merges_done + _MERGES_BETWEEN_LOOKS
        self._last_look = now
        self.report(merges_done, self._corpus_tokens, last_count)
        return self.asked_to_stop()

    def report_compiling(self, seconds: float) -> None:
        """Report the number of seconds that training has waited for the compiler."""
        self.report(0, 0, 0, seconds)

    def report(
        self,
        merges_done: int,
        corpus_tokens: int,
        last_count: int,
        seconds_compiling: float | None = None,
    ) -> None:
        """Report the number of merges done and the number of tokens in the corpus now."""
        self._corpus_tokens = corpus_tokens
        if self._on_progress is not None:
            self._on_progress(
                TrainingProgress(
                    merges_done=merges_done,
                    merges_wanted=self.merges_wanted,
                    elapsed_seconds=self.elapsed_seconds,
                    corpus_tokens=corpus_tokens,
                    last_count=last_count,
                    seconds_compiling=seconds_compiling,
                )
            )
