"""Refuse files that exceed the limit for uploads before they arrive.

Streamlit limits one file, and a proxy the rate at which files come. Neither knows what a server
holds in memory until tabs are closed, which a few tabs could fill.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, runtime

from ui.host.logs import event, short_id
from ui.host.uploads import MAX_BYTES, MAX_BYTES_OF_ALL, bytes_held

_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")
_REFUSAL: Final = PlainTextResponse("These files are too large in total.", status_code=413)


def _held_by_runtime() -> Mapping[str, int]:
    return bytes_held(runtime.get_instance().uploaded_file_mgr)


class UploadLimit:
    """Refuse a tab's files once those held and on their way exceed MAX_BYTES.

    The file that exceeds it is still accepted, so that the page can explain why the next ones are
    not. The same holds for all tabs together and MAX_BYTES_OF_ALL.
    """

    def __init__(
        self, app: ASGIApp, held: Callable[[], Mapping[str, int]] = _held_by_runtime
    ) -> None:
        self._app = app
        self._held = held
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        upload = _UPLOAD.search(scope["path"]) if scope.get("method") == "PUT" else None
        if upload is None:
            await self._app(scope, receive, send)
            return
        session, size = upload[1], _content_length(scope)
        held = Counter(self._held()) + self._arriving
        if held[session] > MAX_BYTES or held.total() > MAX_BYTES_OF_ALL:
            event("upload_refused", "warning", session=short_id(session), bytes=size)
            await _REFUSAL(scope, receive, send)
            return
        self._arriving[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            event("upload", session=short_id(session), bytes=size)
            self._arriving -= Counter({session: size})


def _content_length(scope: Scope) -> int:
    """Return the content length of a request; without one, the largest size of a file."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit():
        return int(length)
    return config.get_option("server.maxUploadSize") * 1024 * 1024
