"""One visitor's uploads: refused if too large in total, and freed when no longer used."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.web.server.starlette import starlette_routes

from app import app
from bpe_core.errors import BpeError
from ui.serving import server as serving
from ui.serving.server import UploadLimit
from ui.shell import (
    bytes_held,
    check_uploaded,
    counted_as_kept,
    form_fields,
    max_file_bytes,
    upload_file,
    upload_files,
    workspace,
)
from ui.shell.form_fields import Uploads

MOST = 1_000


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_fields, "MAX_BYTES", MOST)
    monkeypatch.setattr(serving, "MAX_BYTES", MOST)
    monkeypatch.setattr(st, "session_state", {})


class Server:
    """A server that accepts files and answers when the test allows it."""

    def __init__(self) -> None:
        self.held = {"one": 0, "other": 0}
        self.may_answer = asyncio.Event()
        self.app: ASGIApp = UploadLimit(self._take, held=lambda: self.held)

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.may_answer.wait()
        if scope["method"] == "PUT":
            self.held[scope["path"].split("/")[-2]] += self.declared_size(scope)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    @staticmethod
    def declared_size(scope: Scope) -> int:
        return int(dict(scope["headers"]).get(b"content-length", b"700"))

    async def put(self, session: str, size: int | None, method: str = "PUT") -> int:
        headers = [] if size is None else [(b"content-length", str(size).encode())]
        path = f"/_stcore/upload_file/{session}/a-file"
        return await self.ask({"path": path, "method": method, "headers": headers})

    async def ask(self, scope: Scope) -> int:
        statuses: list[int] = []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        await self.app({"type": "http", **scope}, receive, send)
        (status,) = statuses
        return status


def test_files_after_the_one_that_exceeds_the_limit_are_refused() -> None:
    async def ask() -> list[int]:
        server = Server()
        server.may_answer.set()
        return [await server.put("one", 600) for _ in range(4)] + [await server.put("other", 600)]

    assert asyncio.run(ask()) == [204, 204, 413, 413, 204]


def test_files_being_uploaded_count_until_they_arrive_or_fail() -> None:
    async def ask() -> list[int]:
        server = Server()
        at_once = [asyncio.create_task(server.put("one", 600)) for _ in range(5)]
        await asyncio.sleep(0)
        server.may_answer.set()
        found = [await task for task in at_once]
        server.held["one"] = 0  # The visitor removes all of them.
        return [*found, await server.put("one", 600)]

    assert asyncio.run(ask()) == [204, 204, 413, 413, 413, 204]


def test_a_file_of_unknown_size_counts_as_the_largest_allowed() -> None:
    async def ask() -> list[int]:
        server = Server()
        first = asyncio.create_task(server.put("one", None))
        await asyncio.sleep(0)
        second = asyncio.create_task(server.put("one", 1))
        await asyncio.sleep(0)
        server.may_answer.set()
        return [await first, await second]

    assert asyncio.run(ask()) == [204, 413]


def test_the_largest_file_allowed_is_the_largest_that_streamlit_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(starlette_routes, "is_xsrf_enabled", lambda: False)
    any_session: Any = SimpleNamespace(is_active_session=lambda _: True)
    files = MemoryUploadedFileManager("")
    server = Server()
    server.app = Starlette(routes=starlette_routes.create_upload_routes(any_session, files, None))
    # Without a body, one that is not too large is refused for that.
    assert asyncio.run(server.put("one", max_file_bytes())) == 400
    assert asyncio.run(server.put("one", max_file_bytes() + 1)) == 413


def test_files_are_refused_while_those_of_all_tabs_exceed_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "MAX_BYTES_OF_ALL", 1_500)

    async def ask() -> list[int]:
        server = Server()
        server.may_answer.set()
        server.held |= {"first": 900, "second": 700}
        refused = await server.put("one", 1)
        del server.held["first"]
        return [refused, await server.put("one", 1)]

    assert asyncio.run(ask()) == [413, 204]


def test_requests_without_a_file_always_pass() -> None:
    async def ask() -> list[int]:
        server = Server()
        server.may_answer.set()
        server.held["one"] = 5 * MOST
        return [
            await server.put("one", 600, method="DELETE"),
            await server.ask({"path": "/_stcore/health", "method": "GET", "headers": []}),
            await server.put("one", 1),
        ]

    assert asyncio.run(ask()) == [204, 204, 413]


def test_the_server_enforces_the_limit() -> None:
    assert UploadLimit in [each.cls for each in app._user_middleware]


class Visitor:
    """A session's files on the server, and the files in its uploaders."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.manager = MemoryUploadedFileManager("")
        self.uploaders: dict[str, list[UploadedFile]] = {}
        context = SimpleNamespace(uploaded_file_mgr=self.manager, session_id="one")
        monkeypatch.setattr(form_fields, "get_script_run_ctx", lambda: context)
        monkeypatch.setattr(st, "file_uploader", lambda label, *, key, **_: self._value(key))

    def _value(self, key: str) -> object:
        files = self.uploaders.get(key, [])
        return files if key.startswith("many") else (files[0] if files else None)

    def upload(self, key: str, name: str, size: int) -> UploadedFile:
        record = UploadedFileRec(file_id=name, name=name, type="", data=bytes(size))
        self.manager.add_file("one", record)
        file = UploadedFile(record, FileURLs())
        self.uploaders.setdefault(key, []).append(file)
        return file

    @property
    def held(self) -> int:
        return bytes_held(self.manager).get("one", 0)


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> Visitor:
    return Visitor(monkeypatch)


def test_files_removed_from_an_uploader_are_freed_on_the_server(visitor: Visitor) -> None:
    a, b = (visitor.upload("many", name, 100) for name in "ab")
    one = visitor.upload("one", "c", 50)
    visitor.upload("many too", "d", 7)
    assert upload_files("Files", key="many") == [a, b]
    assert upload_file("A file", key="one") is one
    assert visitor.held == 257
    # One file is removed. The other uploader left with its page, or its form was cleared.
    visitor.uploaders["many"] = [b]
    visitor.uploaders["one"] = []
    assert upload_files("Files", key="many") == [b]
    assert upload_file("A file", key="one") is None
    # Files in other uploaders stay, whether or not these have been drawn.
    assert visitor.held == 107
    upload_files("Files", key="many")
    assert visitor.held == 107


def test_too_much_is_reported_until_some_is_removed(visitor: Visitor) -> None:
    visitor.upload("many", "a", MOST)
    upload_files("Files", key="many")
    check_uploaded()
    visitor.upload("many", "b", 1)
    with pytest.raises(BpeError, match=r"exceed 0 MB in total.* Remove some, or reload"):
        check_uploaded()
    visitor.uploaders["many"].pop(0)
    upload_files("Files", key="many")
    check_uploaded()


def test_the_files_stored_during_one_visit_are_limited() -> None:
    with counted_as_kept(600):
        pass
    with pytest.raises(OSError, match="full"), counted_as_kept(400):
        raise OSError("full")
    with counted_as_kept(400):  # the 400 that failed don't count
        pass
    kept: list[str] = []
    with pytest.raises(BpeError, match="Add smaller ones"), counted_as_kept(1):
        kept.append("a file")
    assert kept == []
    assert workspace.get(Uploads).bytes_kept == MOST


def test_nothing_is_counted_outside_a_page() -> None:
    check_uploaded()
