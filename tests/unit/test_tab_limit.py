"""Tabs beyond a limit are refused until other tabs are closed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from ui.settings import settings
from ui.shell.tab_limit import TabLimit, most_tabs

ROOT = Path(__file__).parent.parent.parent


class Server:
    """A server whose tabs stay open until the test closes them."""

    def __init__(self) -> None:
        self.app = TabLimit(self._serve, most=2)
        self.closed: list[asyncio.Event] = []

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            self.closed.append(asyncio.Event())
            await self.closed[-1].wait()
            raise ConnectionError
        await send({"type": "http.response.start", "status": 200})

    async def ask(self, type: str) -> list[Message]:
        answers: list[Message] = []

        async def send(message: Message) -> None:
            answers.append(message)

        async def receive() -> Message:
            raise AssertionError

        scope = {"type": type, "path": "/_stcore/stream"}
        await self.app(scope, receive, send)
        return answers


def test_tabs_beyond_the_limit_are_refused_until_others_are_closed() -> None:
    async def visit() -> None:
        server = Server()
        open_tabs = [asyncio.create_task(server.ask("websocket")) for _ in range(2)]
        await asyncio.sleep(0)
        refusal, _ = await server.ask("websocket")
        assert (refusal["type"], refusal["status"]) == ("websocket.http.response.start", 503)
        (answer,) = await server.ask("http")
        assert answer["status"] == 200

        server.closed[0].set()
        with pytest.raises(ConnectionError):
            await open_tabs[0]
        third = asyncio.create_task(server.ask("websocket"))
        await asyncio.sleep(0)
        assert len(server.closed) == 3
        third.cancel()
        open_tabs[1].cancel()

    asyncio.run(visit())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it has no limit on open files")
def test_fewer_tabs_may_be_open_where_few_files_may() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (300, 700));"
        "from ui.shell.tab_limit import most_tabs; print(most_tabs())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert int(done.stdout) == 100
    assert 1 <= most_tabs() <= settings().tabs
