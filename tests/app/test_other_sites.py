"""Pages of other sites cannot use a server, and no request makes it ask the network."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.serving import of_checkout, running_app
from tests.waiting import MAX_WAIT_SECONDS
from ui.host.failures import MAX_ERRORS_A_MINUTE

ROUTES = ("/", "/train", "/_stcore/health", "/_stcore/host-config", "/static/x.js", "/media/x")
# Every address that a server's processes look up or connect to, in this machine or elsewhere.
RECORD_NETWORK = """
import os, sys

def record(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        where = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        where = arguments[:1]
    else:
        return
    with open(os.environ["ASKED"], "a") as file:
        file.write(repr(where) + "\\n")

sys.addaudithook(record)
"""


CLOSE = b"\x88"
# Frames of a websocket, masked with zeros.
TEXT = b"\x81\x85\0\0\0\0xyzzy"
TEXT_OF_BYTES = b"\x81\x82\0\0\0\0\xff\xfe"
DAMAGED = b"\x82\x85\0\0\0\0xyzzy"


class Server:
    """A running server, what it looked up or connected to, and its log."""

    def __init__(self, address: str, folder: Path) -> None:
        self.port = int(address.rpartition(":")[2])
        self._folder = folder

    @property
    def asked(self) -> str:
        path = self._folder / "asked"
        return path.read_text() if path.exists() else ""

    @property
    def log(self) -> str:
        return (self._folder / "server.log").read_text(errors="replace")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    def opened(self, *headers: str, path: str = "/_stcore/stream") -> socket.socket:
        """Send the headers of a websocket's handshake."""
        lines = (
            f"GET {path} HTTP/1.1",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        )
        return self._sent(lines, headers)

    def handshake(self, *headers: str) -> int:
        """Return the status that answers a websocket's handshake."""
        with self.opened(*headers) as connection:
            return read_status(connection)

    def ask(self, *headers: str, path: str = "/", method: str = "GET", http: str = "1.1") -> int:
        """Return the status that answers a request."""
        with self._sent((f"{method} {path} HTTP/{http}", "Connection: close"), headers) as sent:
            return read_status(sent)

    def _sent(self, lines: Sequence[str], headers: Sequence[str]) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=MAX_WAIT_SECONDS)
        text = "\r\n".join((*lines, *(line.replace("PORT", str(self.port)) for line in headers)))
        connection.sendall(f"{text}\r\n\r\n".encode("latin-1"))
        return connection


def read_status(connection: socket.socket) -> int:
    with connection.makefile("rb") as answer:
        return int(answer.readline().split()[1])


def read_until(tab: socket.socket, end: bytes) -> None:
    """Read up to bytes that the server is to send; TimeoutError if they do not come."""
    received = b""
    while end not in received:
        more = tab.recv(4096)
        assert more, received
        received += more


def wait_until_closed(tab: socket.socket) -> None:
    """Read until the server closes the websocket, or the connection."""
    received = b""
    while CLOSE not in received and (more := tab.recv(4096)):
        received += more


@contextmanager
def serving(
    folder: Path, *options: str, environment: dict[str, str] | None = None
) -> Iterator[Server]:
    (folder / "sitecustomize.py").write_text(RECORD_NETWORK)
    added = {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        "ASKED": str(folder / "asked"),
        **(environment or {}),
    }
    with running_app(
        folder, added, command_of=lambda port: [*of_checkout(port), *options]
    ) as address:
        yield Server(address, folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as found:
        yield found


OWN = (
    "Host: localhost:PORT",
    "Host: 127.0.0.1:PORT",
    "Host: 127.0.0.2:PORT",
    "Host: [::1]:PORT",
    "Host: LocalHost.:PORT",
    "Host: localhost",
)
OTHER = (
    "Host: evil.example:PORT",
    "Host: localhost.evil.example:PORT",
    "Host: evil.example",
    "Host: 127.0.0.1.evil.example:PORT",
    "Host: 192.0.2.7:PORT",
    "Host: localhost@evil.example:PORT",
    "Host: evil.example#localhost",
    "Host: localhost:port",
    "Host: [::1",
    "Host: ",
)


@pytest.mark.parametrize("host", OWN)
def test_pages_of_the_server_itself_open_a_connection(server: Server, host: str) -> None:
    origin = "http://" + host.removeprefix("Host: ").replace("LocalHost", "localhost")
    assert server.handshake(host, f"Origin: {origin}") == 101
    assert server.handshake(host) == 101, "a program sends no Origin"
    assert server.ask(host, f"Origin: {origin}") == 200


@pytest.mark.parametrize("host", OTHER)
def test_a_name_of_another_site_that_leads_here_opens_nothing(server: Server, host: str) -> None:
    origin = "http://" + host.removeprefix("Host: ")
    forwarded = ("X-Forwarded-Host: localhost:PORT", "X-Forwarded-For: 127.0.0.1")
    for headers in ((host, f"Origin: {origin}"), (host, "Origin: http://localhost:PORT"), (host,)):
        assert server.handshake(*headers) in (400, 403), headers
        assert server.handshake(*headers, *forwarded) in (400, 403), headers
    for path in ROUTES:
        assert server.ask(host, path=path) in (400, 403), path


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://evil.example:PORT",
        "http://localhost.evil.example:PORT",
        "http://localhost:1",
        "http://127.0.0.1:PORT",
        "https://localhost",
        "null",
        "",
        "http://",
        "file://",
        "localhost:PORT",
        "http://localhost:PORT@evil.example",
        "http://[::1",
    ],
)
def test_a_page_of_another_origin_opens_nothing_and_nobody_waits(
    server: Server, origin: str
) -> None:
    host = "Host: localhost:PORT"
    for _ in range(5):
        assert server.handshake(host, f"Origin: {origin}") == 403
    upload = "/_stcore/upload_file/session/file"
    assert server.ask(host, f"Origin: {origin}", path=upload, method="PUT") == 403
    assert server.ask(host, f"Origin: {origin}", path=upload, method="DELETE") == 403
    assert server.asked == "", "a visitor would wait for the network's answer"


def test_a_health_check_needs_no_headers(server: Server) -> None:
    assert server.ask(path="/_stcore/health", http="1.0") == 200


def test_no_handshake_asks_the_network(server: Server) -> None:
    """This comes after all of the above, which share the server."""
    assert server.handshake("Host: localhost:PORT", "Origin: http://evil.example") == 403
    assert server.asked == ""
    assert "evil" not in server.log
    assert {line["level"] for line in server.events} == {"info", "warning"}


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server for other machines."""
    allowed = {
        "STREAMLIT_SERVER_ALLOWED_HOSTS": "bpe.example.org *.example.net",
        "STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": "https://proxy.example.org",
    }
    folder = tmp_path_factory.mktemp("open")
    with serving(folder, "--server.address=0.0.0.0", environment=allowed) as found:
        yield found


def test_other_machines_are_let_in_by_address_or_by_a_configured_name(open_server: Server) -> None:
    for host, origin in (
        ("192.0.2.7:PORT", "http://192.0.2.7:PORT"),
        ("[2001:db8::7]:PORT", "http://[2001:db8::7]:PORT"),
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT"),
        ("bpe.example.org", "https://bpe.example.org"),
        ("bpe.example.org:443", "https://bpe.example.org"),
        ("a.b.example.net", "https://a.b.example.net"),
        ("localhost:PORT", "https://proxy.example.org"),
    ):
        assert open_server.handshake(f"Host: {host}", f"Origin: {origin}") == 101, host
    for host, origin in (
        ("evil.example", "http://evil.example"),
        ("example.net", "http://example.net"),
        ("evilexample.net", "http://evilexample.net"),
        ("bpe.example.org", "https://a.example.net"),
        ("bpe.example.org", "https://bpe.example.org:8443"),
        ("localhost:PORT", "https://proxy.example.org:8443"),
    ):
        assert open_server.handshake(f"Host: {host}", f"Origin: {origin}") == 403, (host, origin)
    assert open_server.asked == ""


def test_no_site_that_frames_a_page_may_drive_it(server: Server) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/_stcore/host-config") as answer:
        assert json.load(answer)["allowedOrigins"] == []


def test_floods_of_broken_messages_and_refused_requests_leave_a_few_lines(
    open_server: Server,
) -> None:
    own, n_lines = (
        ("Host: localhost:PORT", "Origin: http://localhost:PORT"),
        len(open_server.events),
    )
    for message in (TEXT, DAMAGED, TEXT_OF_BYTES):
        for _ in range(25):
            with open_server.opened(*own) as tab:
                read_until(tab, b"\r\n\r\n")
                tab.sendall(message)
                wait_until_closed(tab)
    for _ in range(25):
        assert open_server.handshake("Host: xyzzy.example") == 403
        assert open_server.ask(*own, path="/xyzzy", method="xyzzy(") == 400
    lines = open_server.events[n_lines:]
    assert open_server.ask("Host: 127.0.0.1", path="/_stcore/health") == 200
    n_kinds, n_minutes = 5, 2
    assert len(lines) <= n_kinds * n_minutes * MAX_ERRORS_A_MINUTE
    kinds = {line["event"] for line in lines}
    assert kinds == {"host_refused", "log"}
    assert "xyzzy" not in open_server.log
