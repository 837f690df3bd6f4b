"""Searches for unreachable tokens in the background: how far they are, and how to end one."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock

import streamlit as st

from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary.reachability import Reachability, ShouldStop, find_unreachable

__all__ = ["FEW_TOKENS", "ReachManager", "ReachSearch", "ShouldStop", "manager"]

MOST_REMEMBERED = 8
FEW_TOKENS = 5_000
"""So few are looked at while the page waits: it takes a quarter of a second."""


@dataclass(slots=True)
class ReachSearch:
    """One search as it goes: `found` once it has ended, unless it was cancelled or failed."""

    done: int = 0
    of: int = 0
    found: Reachability | None = None
    problem: Exception | None = None
    is_cancelled: Event = field(default_factory=Event)

    @property
    def is_live(self) -> bool:
        """Whether it waits or runs."""
        return self.found is None and self.problem is None and not self.is_cancelled.is_set()


class ReachManager:
    """Keeps the latest searches by tokenizer; visitors who ask for the same share one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._searches: OrderedDict[str, ReachSearch] = OrderedDict()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="unreachable")

    def search(self, tokenizer: Tokenizer) -> ReachSearch:
        """The search of a tokenizer, begun if there is none; a small one has ended on return."""
        with self._lock:
            search = self._searches.get(tokenizer.fingerprint)
            if search is not None:
                self._searches.move_to_end(tokenizer.fingerprint)
                return search
            search = self._searches[tokenizer.fingerprint] = ReachSearch()
            while len(self._searches) > MOST_REMEMBERED:
                self._searches.popitem(last=False)[1].is_cancelled.set()
        if tokenizer.vocab_size <= FEW_TOKENS:
            _run(search, tokenizer)
        else:
            self._executor.submit(_run, search, tokenizer)
        return search

    def forget(self, tokenizer: Tokenizer) -> None:
        """Ends a search; asked for again, it begins anew."""
        with self._lock:
            search = self._searches.pop(tokenizer.fingerprint, None)
            if search is not None:
                search.is_cancelled.set()

    def close(self) -> None:
        """Ends all searches, and waits for the thread to end."""
        with self._lock:
            for search in self._searches.values():
                search.is_cancelled.set()
        self._executor.shutdown(cancel_futures=True)

    def close_when_done(self) -> None:
        """Takes no more searches, and waits for the end of those that go on."""
        self._executor.shutdown()


def _run(search: ReachSearch, tokenizer: Tokenizer) -> None:
    def should_stop(done: int, of: int) -> bool:
        search.done, search.of = done, of
        return search.is_cancelled.is_set()

    try:
        if not search.is_cancelled.is_set():
            search.found = find_unreachable(tokenizer, (), should_stop)
    except Exception as problem:
        # The page raises it where somebody sees it; in this thread it would be lost.
        search.problem = problem


@st.cache_resource(show_spinner=False)
def manager() -> ReachManager:
    """The server's searches."""
    made = ReachManager()
    atexit.register(made.close)
    return made
