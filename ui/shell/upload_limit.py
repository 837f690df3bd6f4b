"""Refuse uploads over the limit in the server, before they arrive."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, runtime

from ui.logs import event, short_id
from ui.memory.uploads import MOST_BYTES_OF_ALL, bytes_held, bytes_held_by_all
from ui.settings import is_set, settings
from ui.shell import ended_sessions
from ui.shell.file_upload import MOST_BYTES
from ui.work.addresses import address_code, share_of_address

SECONDS_TO_BEGIN: Final = 30.0
LEAST_BYTES_A_SECOND: Final = 20_000
"""A slower upload is ended: what it announced counts as on its way, so others would be refused."""
_FORWARDED_FOR: Final = b"x-forwarded-for"
_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")


def set_upload_limit() -> None:
    """Set the limit for a single file, if the environment names one.

    Otherwise it stays `server.maxUploadSize` from .streamlit/config.toml or Streamlit's own
    variables.
    """
    if is_set("upload_megabytes"):
        config.set_option("server.maxUploadSize", settings().upload_megabytes)


class UploadLimit:
    """Refuse a visitor's files once those received and on their way exceed MOST_BYTES.

    The file that exceeds it is still accepted, so that the page can explain why the next ones are
    not. So a visitor holds at most MOST_BYTES and one file more. The same holds for all visitors
    of a network address and their share, and for all visitors together and MOST_BYTES_OF_ALL;
    before a file is refused for the latter, sessions whose tabs are gone are closed, the one that
    has been away for longest first.
    """

    def __init__(
        self,
        app: ASGIApp,
        held: Callable[[str], int] | None = None,
        held_by_all: Callable[[], int] | None = None,
        close_longest_away: Callable[[], bool] | None = None,
    ) -> None:
        self._app = app
        self._held = held or _held_by_runtime
        self._held_by_all = held_by_all or _held_by_all_in_runtime
        self._close_longest_away = close_longest_away or _close_longest_away
        self._arriving: Counter[str] = Counter()
        self._address_of: dict[str, str] = {}
        """The code of the network address that each session's last file came from."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        session_id = _session_of(scope)
        if session_id is None:
            await self._app(scope, receive, send)
            return
        size = _size_of(scope)
        address = _address_of(scope)
        if (
            self._of_session(session_id) > MOST_BYTES
            or self._of_address(address) > share_of_address(MOST_BYTES)
            or not self._has_room()
        ):
            event("upload_refused", "warning", session=short_id(session_id), bytes=size)
            refusal = PlainTextResponse("These files are too large in total.", status_code=413)
            await refusal(scope, receive, send)
            return
        self._arriving[session_id] += size
        if address:
            self._address_of[session_id] = address
        started = time.monotonic()
        try:
            await self._app(scope, _Hurried(receive), send)
        except TimeoutError:
            # The application has not answered yet: it was waiting for the rest of the file.
            await PlainTextResponse("Too slow.", status_code=408)(scope, receive, send)
        finally:
            seconds = round(time.monotonic() - started, 3)
            event("upload", session=short_id(session_id), bytes=size, seconds=seconds)
            self._arriving[session_id] -= size
            if not self._arriving[session_id]:
                del self._arriving[session_id]

    def _of_session(self, session_id: str) -> int:
        """Return the bytes that a session has and that are on their way."""
        return self._held(session_id) + self._arriving[session_id]

    def _of_address(self, address: str) -> int:
        """Return the same for all sessions of an address, and forget sessions without files."""
        sizes = {id: self._of_session(id) for id in self._address_of}
        self._address_of = {id: of for id, of in self._address_of.items() if sizes[id]}
        return sum(sizes[id] for id, of in self._address_of.items() if of == address)

    def _has_room(self) -> bool:
        """Return whether the server takes another file, after closing abandoned sessions."""
        while self._held_by_all() + self._arriving.total() > MOST_BYTES_OF_ALL:
            if not self._close_longest_away():
                return False
        return True


class _Hurried:
    """Receive a request's body, and raise TimeoutError once it arrives too slowly."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._started = time.monotonic()
        self._n_bytes = 0
        self._is_complete = False

    async def __call__(self) -> Message:
        if self._is_complete:
            # Until the visitor disconnects, which may take as long as it likes.
            return await self._receive()
        until = self._started + SECONDS_TO_BEGIN + self._n_bytes / LEAST_BYTES_A_SECOND
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        return message


def _session_of(scope: Scope) -> str | None:
    """Return the session that a request uploads a file for; None for other requests."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return None
    found = _UPLOAD.search(scope["path"])
    return found and found[1]


def _address_of(scope: Scope) -> str:
    client = scope.get("client")
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    forwarded_for = [value.decode("latin-1") for name, value in headers if name == _FORWARDED_FOR]
    return address_code(client and client[0], forwarded_for)


def _size_of(scope: Scope) -> int:
    """Return the content length of a request; without one, the largest size of a file."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit():
        return int(length)
    return config.get_option("server.maxUploadSize") * 1024 * 1024


def _held_by_runtime(session_id: str) -> int:
    return bytes_held(runtime.get_instance().uploaded_file_mgr, session_id)


def _held_by_all_in_runtime() -> int:
    return sum(bytes_held_by_all(runtime.get_instance().uploaded_file_mgr))


def _close_longest_away() -> bool:
    return ended_sessions.of_server().close_longest_away()
