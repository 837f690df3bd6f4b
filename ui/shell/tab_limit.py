"""Refuse tabs beyond a limit, so open tabs keep working."""

from __future__ import annotations

import sys
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.logs import event
from ui.settings import settings

_STREAM: Final = "/_stcore/stream"
_MOST_FILES: Final = 65_536
_FILES_OF_SERVER: Final = 200
_FILES_A_TAB: Final = 5
"""The open files of a tab: one connection, three for an event loop of Streamlit's, one to spare."""
_FULL: Final = PlainTextResponse("Too many tabs are open.", 503, {"Retry-After": "30"})


class TabLimit:
    """Refuse connections of tabs with status 503 while `most` are open."""

    def __init__(self, app: ASGIApp, most: int | None = None) -> None:
        self._app = app
        self._most = most_tabs() if most is None else most
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "websocket" or not scope["path"].rstrip("/").endswith(_STREAM):
            await self._app(scope, receive, send)
            return
        if self._open >= self._most:
            event("tabs_full", "warning", tabs=self._open)
            await _FULL(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1


def most_tabs() -> int:
    """Return how many tabs may be open: the setting, or less if the system allows few open files.

    Raises this process's limit on open files as far as the system lets it, since a server without
    any left can open neither runs nor connections.
    """
    files = _raise_limit_on_files()
    return max(1, min(settings().tabs, (files - _FILES_OF_SERVER) // _FILES_A_TAB))


def _raise_limit_on_files() -> int:
    if sys.platform == "win32":
        return _MOST_FILES
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _MOST_FILES
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (ValueError, OSError):
            return soft  # macOS allows less than it reports
    return max(soft, most)
