"""Visit a running app as a browser tab does, over a websocket, without a browser.

A tab costs this process little, so that many can be open at once: what is measured is the server.
No JavaScript runs, so components send nothing by themselves.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs, UploadedFileInfo
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

SECONDS_AT_MOST: Final = 120.0
"""How long to wait for a script run unless told otherwise."""
_XSRF: Final = "_streamlit_xsrf"
_OF_PAGE: Final = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)
_OF_FRAGMENT: Final = (*_OF_PAGE, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)

Value = str | bool | int | float | Sequence[str]


class ScriptFailedError(Exception):
    """A page raised an exception that nothing handled, or could not be compiled."""


class NoSuchWidgetError(Exception):
    """The page has no widget with this key."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One element of the page."""

    element: Element
    fragment: str
    """The id of the fragment that drew it; empty for the page itself."""

    @property
    def kind(self) -> str:
        """The kind of element, such as "button"."""
        return self.element.WhichOneof("type") or "empty"

    @property
    def proto(self) -> Any:
        """The element's message of its own kind."""
        return getattr(self.element, self.kind)

    @property
    def id(self) -> str:
        """The widget's id; empty for other elements."""
        return getattr(self.proto, "id", "")


class AppClient:
    """One browser tab; `open_tab` makes it.

    A tab that is left alone goes on reading and redraws live fragments, as a browser does.
    """

    def __init__(self, address: str, socket: ClientConnection, xsrf: str) -> None:
        self.address = address
        self.page = ""
        self.query = ""
        """The query that the page has put into the address, without the question mark."""
        self.drawn: dict[tuple[int, ...], Drawn] = {}
        """The elements of the page by their place, in the order in which they were drawn."""
        self._socket = socket
        self._xsrf = xsrf
        self._script_hash = ""
        self._session_id = ""
        self._redrawn: set[tuple[int, ...]] = set()
        """The places drawn by the run of the page's script that began last."""
        self._values: dict[str, WidgetState] = {}
        self._ended = asyncio.Event()
        self._endings = _OF_PAGE
        self._has_begun = False
        """Whether the script run that was asked for last has begun."""
        self._failed = ""
        self._urls: dict[str, asyncio.Future[FileURLs]] = {}
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._reader = asyncio.create_task(self._read())

    async def open(self, page: str = "", query: str = "") -> float:
        """Open a page by its name in the address, and return the seconds until it is drawn."""
        self.page, self.query, self._script_hash = page, query, ""
        self._stop_timers()
        self.drawn.clear()
        return await self.rerun()

    async def rerun(
        self,
        triggers: Sequence[WidgetState] = (),
        *,
        fragment: str = "",
        at_most: float = SECONDS_AT_MOST,
    ) -> float:
        """Run the page's script again, and return the seconds until it has ended.

        Raises ScriptFailedError, and TimeoutError after `at_most` seconds.
        """
        self._ended.clear()
        self._has_begun = False
        self._endings = _OF_FRAGMENT if fragment else _OF_PAGE
        self._failed = ""
        started = time.perf_counter()
        await self._send_rerun(triggers, fragment)
        await self.wait_until_ended(at_most=at_most)
        return time.perf_counter() - started

    async def wait_until_ended(self, *, at_most: float = SECONDS_AT_MOST) -> None:
        """Wait for the end of the script run that was asked for last."""
        async with asyncio.timeout(at_most):
            await self._ended.wait()
        if self._failed:
            raise ScriptFailedError(self._failed)

    async def press(self, key: str) -> float:
        """Press a button, and return the seconds until the page is drawn again."""
        button = self.widget(key)
        pressed = WidgetState(id=button.id, trigger_value=True)
        return await self.rerun([pressed], fragment=button.fragment)

    async def set(self, key: str, value: Value) -> float:
        """Give a widget a value, and return the seconds until the page is drawn again."""
        widget = self.widget(key)
        self._values[widget.id] = _encode_state(widget, value)
        return await self.rerun(fragment=widget.fragment)

    async def upload(self, key: str, name: str, data: bytes) -> float:
        """Upload a file in place of those before; return the seconds until the page is drawn again.

        Raises urllib.error.HTTPError if the server refuses the file.
        """
        uploader = self.widget(key)
        started = time.perf_counter()
        request = BackMsg()
        id = str(uuid.uuid4())
        request.file_urls_request.request_id = id
        request.file_urls_request.file_names.append(name)
        request.file_urls_request.session_id = self._session_id
        self._urls[id] = asyncio.get_running_loop().create_future()
        await self._socket.send(request.SerializeToString())
        try:
            urls = await asyncio.wait_for(self._urls[id], SECONDS_AT_MOST)
        finally:
            del self._urls[id]
        await asyncio.to_thread(_put, self.address, urls.upload_url, self._xsrf, name, data)
        state = WidgetState(id=uploader.id)
        state.file_uploader_state_value.uploaded_file_info.append(
            UploadedFileInfo(name=name, size=len(data), file_id=urls.file_id, file_urls=urls)
        )
        self._values[uploader.id] = state
        await self.rerun(fragment=uploader.fragment)
        return time.perf_counter() - started

    def widget(self, key: str) -> Drawn:
        """Return the widget with a key; raise NoSuchWidgetError if it is not on the page."""
        ending = f"-{key}"
        found = [drawn for drawn in self.drawn.values() if drawn.id.endswith(ending)]
        if not found:
            raise NoSuchWidgetError(f"No widget {key!r} on the page {self.page!r}.")
        return found[-1]

    def elements(self, kind: str) -> Iterator[Any]:
        """Yield the messages of all elements of a kind, such as "alert" or "markdown"."""
        return (drawn.proto for drawn in self.drawn.values() if drawn.kind == kind)

    async def close(self) -> None:
        """Close the tab."""
        self._stop_timers()
        self._reader.cancel()
        await self._socket.close()
        # A reader that ended by an error raises it here.
        with suppress(asyncio.CancelledError):
            await self._reader

    def _stop_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    async def _send_rerun(self, triggers: Sequence[WidgetState], fragment: str) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_name = self.page
        state.page_script_hash = self._script_hash
        state.fragment_id = fragment
        state.widget_states.widgets.extend([*self._values.values(), *triggers])
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                self._take(ForwardMsg.FromString(data if isinstance(data, bytes) else b""))
            self._failed = "The server closed the connection."
        finally:
            self._ended.set()

    def _take(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "new_session":
                session = message.new_session
                # What was under way on the page before may still arrive after `open`.
                if session.page_script_hash != self._script_hash:
                    self.drawn.clear()
                self._script_hash = session.page_script_hash
                self._has_begun = True
                if not message.metadata.run.fragment_ids:
                    self._redrawn.clear()
                self._session_id = session.initialize.session_id or self._session_id
            case "delta":
                self._draw(tuple(message.metadata.delta_path), message.delta)
            case "navigation":
                self._script_hash = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "file_urls_response":
                answer = message.file_urls_response
                if waiting := self._urls.get(answer.response_id):
                    waiting.set_result(answer.file_urls[0])
            case "auto_rerun":
                self._redraw_regularly(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    for place in self.drawn.keys() - self._redrawn:
                        del self.drawn[place]
                # The script begins again by itself after `st.rerun`; and a live fragment, or a run
                # that was under way, may end while the page is asked for.
                if self._has_begun and message.script_finished in self._endings:
                    self._ended.set()
            case "session_event" if message.session_event.HasField("script_compilation_exception"):
                self._failed = message.session_event.script_compilation_exception.message
            case _:
                pass

    def _draw(self, place: tuple[int, ...], delta: Delta) -> None:
        # Removed first, so that what was drawn last is at the end.
        self.drawn.pop(place, None)
        if delta.WhichOneof("type") == "new_element":
            self._redrawn.add(place)
            drawn = self.drawn[place] = Drawn(delta.new_element, delta.fragment_id)
            if drawn.kind == "exception":
                self._failed = f"{drawn.proto.type}: {drawn.proto.message}"

    def _redraw_regularly(self, fragment: str, seconds: float) -> None:
        if (before := self._timers.pop(fragment, None)) is not None:
            before.cancel()
        self._timers[fragment] = asyncio.create_task(self._redraw(fragment, seconds))

    async def _redraw(self, fragment: str, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            message = BackMsg()
            message.rerun_script.query_string = self.query
            message.rerun_script.page_script_hash = self._script_hash
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            message.rerun_script.widget_states.widgets.extend(self._values.values())
            await self._socket.send(message.SerializeToString())


@asynccontextmanager
async def open_tab(address: str) -> AsyncIterator[AppClient]:
    """Yield a tab connected to the app at an address such as "http://127.0.0.1:8501"."""
    client = await connected_tab(address)
    try:
        yield client
    finally:
        await client.close()


async def connected_tab(address: str) -> AppClient:
    """Return a tab connected to the app; its caller closes it."""
    xsrf = await asyncio.to_thread(_fetch_xsrf, address)
    socket = await connect(
        f"ws://{urlsplit(address).netloc}/_stcore/stream",
        additional_headers={"Cookie": f"{_XSRF}={xsrf}", "Origin": address},
        max_size=None,
        open_timeout=SECONDS_AT_MOST,
        # A server that is busy for long answers late, and a browser would wait.
        ping_interval=None,
    )
    return AppClient(address, socket, xsrf)


def _fetch_xsrf(address: str) -> str:
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=SECONDS_AT_MOST) as answer:
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            if name == _XSRF:
                return value
    return ""


def _put(address: str, path: str, xsrf: str, name: str, data: bytes) -> None:
    border = uuid.uuid4().hex
    head = (
        f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    request = urllib.request.Request(
        f"{address}{path}",
        data=b"".join([head.encode(), data, f"\r\n--{border}--\r\n".encode()]),
        method="PUT",
        headers={
            "Content-Type": f"multipart/form-data; boundary={border}",
            "Cookie": f"{_XSRF}={xsrf}",
            "X-Xsrftoken": xsrf,
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS_AT_MOST):
        pass


def _encode_state(widget: Drawn, value: Value) -> WidgetState:
    """Return a value as the frontend sends it for a kind of widget."""
    state = WidgetState(id=widget.id)
    match widget.kind, value:
        case "button_group" | "multiselect", _:
            state.string_array_value.data.extend([value] if isinstance(value, str) else value)  # type: ignore[arg-type]
        case "slider", int() | float():
            state.double_array_value.data.append(value)
        case "checkbox", bool():
            state.bool_value = value
        case "number_input", int() | float():
            state.double_value = value
        case _, str():
            state.string_value = value
        case _:
            raise TypeError(f"Expected a value of a {widget.kind}, got {value!r}.")
    return state
