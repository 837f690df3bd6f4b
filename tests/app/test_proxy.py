"""The proxy of compose.yaml, run by its own script, in front of a server."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.serving import running_app
from tests.new_process import ROOT
from tests.waiting import MAX_WAIT_SECONDS

HANDSHAKE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)
# `openssl passwd -apr1 -salt saltsalt secret`
HASH = "$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0"


class Proxy:
    """A running proxy, and what it logged."""

    def __init__(self, http_port: int, https_port: int, log: Path) -> None:
        self.http_port = http_port
        self.https_port = https_port
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def opened(self, path: str = "/", *headers: str, method: str = "GET") -> socket.socket:
        """Send the headers of a request over TLS, with the body left to the caller."""
        # Not the default context, which reads the certificates of all authorities.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", self.https_port), timeout=MAX_WAIT_SECONDS)
        connection = context.wrap_socket(plain, server_hostname="localhost")
        own = () if any(each.startswith("Host:") for each in headers) else ("Host: localhost",)
        lines = (f"{method} {path} HTTP/1.1", *own, *headers)
        connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        return connection

    def ask(self, path: str = "/", *headers: str, method: str = "GET") -> tuple[int, str]:
        """Return the status and the headers of an answer; status 0 for a closed connection."""
        with self.opened(path, *headers, method=method) as connection:
            return answer_on(connection)

    def handshake(self) -> socket.socket:
        return self.opened("/_stcore/stream", "Origin: https://localhost", *HANDSHAKE)


def answer_on(connection: socket.socket) -> tuple[int, str]:
    received = b""
    while b"\r\n\r\n" not in received and (more := connection.recv(4096)):
        received += more
    head = received.decode("latin-1").partition("\r\n\r\n")[0]
    return (int(head.split()[1]) if head else 0), head.lower()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def path_to_nginx(folder: Path) -> str:
    """Return a path on which nginx is the one that scripts/get_nginx.sh found."""
    found = Path((ROOT / ".venv" / "nginx-path").read_text("utf-8").strip()) / "nginx"
    if os.geteuid():
        return f"{found.parent}:{os.environ['PATH']}"
    # Started by root, its workers would be another user, who may not read the test's folder.
    shim = folder / "nginx"
    shim.write_text(f'#!/bin/sh\nexec {found} -g "user root;" "$@"\n')
    shim.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@contextmanager
def running_proxy(folder: Path, app: str, **settings: str) -> Iterator[Proxy]:
    data = folder / "proxy"
    data.mkdir()
    proxy = Proxy(free_port(), free_port(), folder / "proxy.log")
    given = {
        "PATH": path_to_nginx(folder),
        "PROXY_DATA": str(data),
        "APP": app.removeprefix("http://"),
        "HTTP_PORT": str(proxy.http_port),
        "HTTPS_PORT": str(proxy.https_port),
        **settings,
    }
    with (
        (folder / "proxy.log").open("wb") as log,
        subprocess.Popen([ROOT / "deploy" / "start.sh"], env=given, stderr=log) as process,
    ):
        try:
            deadline = time.monotonic() + MAX_WAIT_SECONDS
            while True:
                try:
                    socket.create_connection(("127.0.0.1", proxy.https_port), timeout=1).close()
                    break
                except OSError:
                    assert process.poll() is None, proxy.log
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            yield proxy
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "*", "BPE_EXPLORER_METRICS": "1"}
    with running_app(tmp_path_factory.mktemp("server"), settings) as address:
        yield address


@pytest.fixture(scope="module")
def proxy(app: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Return a proxy for all tests that need no other settings; none of them may be logged."""
    with running_proxy(tmp_path_factory.mktemp("proxy"), app, BODY_LIMIT="1m") as found:
        yield found
        assert found.log == ""


def test_pages_and_tabs_are_served_with_security_headers(proxy: Proxy) -> None:
    status, head = proxy.ask()
    assert status == 200
    for header in (
        "content-security-policy: default-src 'none';",
        "strict-transport-security: max-age=31536000",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
    ):
        assert header in head
    with proxy.handshake() as tab:
        assert answer_on(tab)[0] == 101


def read_policy(head: str) -> str:
    (line,) = (line for line in head.splitlines() if line.startswith("content-security-policy:"))
    return line


def test_no_site_may_frame_the_pages_unless_it_is_named(
    proxy: Proxy, app: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert "; frame-ancestors 'none';" in read_policy(proxy.ask()[1])
    sites = "https://school.example https://*.example.org"
    with running_proxy(tmp_path_factory.mktemp("framed"), app, SITE_FRAMES=sites) as framed:
        status, head = framed.ask("/?embed=true")
        assert status == 200
        assert f"; frame-ancestors {sites};" in read_policy(head)
        assert "x-frame-options" not in head


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"SITE_FRAMES": "*"}, "SITE_FRAMES is"),
        ({"SITE_FRAMES": "school.example"}, "SITE_FRAMES is"),
        ({"SITE_FRAMES": "https://a.example; script-src *"}, "SITE_FRAMES is"),
        ({"SITE_ACCESS": "closed"}, r"closed\.conf"),
    ],
)
def test_an_invalid_setting_stops_the_proxy(
    tmp_path: Path, settings: dict[str, str], problem: str
) -> None:
    with (
        pytest.raises(AssertionError, match=problem),
        running_proxy(tmp_path, "http://127.0.0.1:9", **settings),
    ):
        pass


def test_figures_are_for_the_inside_alone(proxy: Proxy, app: str) -> None:
    with urllib.request.urlopen(f"{app}/metrics") as answer:
        assert answer.status == 200
    for path in ("/metrics", "/metrics/", "/_stcore/metrics", "/_stcore/%6detrics"):
        assert proxy.ask(path)[0] == 404


def test_other_names_and_pages_of_other_sites_get_no_answer_and_no_tab(proxy: Proxy) -> None:
    assert proxy.ask("/train?run=secret", "Host: evil.example")[0] == 0
    for header, status in (("Host: evil.example", 0), ("Origin: https://evil.example", 403)):
        with proxy.opened("/_stcore/stream", header, *HANDSHAKE) as tab:
            assert answer_on(tab)[0] == status


def test_plain_requests_are_sent_on_to_tls(proxy: Proxy) -> None:
    with socket.create_connection(
        ("127.0.0.1", proxy.http_port), timeout=MAX_WAIT_SECONDS
    ) as connection:
        connection.sendall(b"GET /train?run=a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, head = answer_on(connection)
    assert status == 301
    assert "location: https://localhost/train?run=a" in head


def test_one_address_has_a_few_connections_and_gets_them_back(app: str, tmp_path: Path) -> None:
    with running_proxy(tmp_path, app, ADDRESS_CONNECTIONS="10") as proxy:
        tabs = [proxy.handshake() for _ in range(20)]
        statuses = [answer_on(tab)[0] for tab in tabs]
        assert statuses == [101] * 10 + [429] * 10
        for tab in tabs:
            tab.close()
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while proxy.ask()[0] != 200:
            assert time.monotonic() < deadline


def test_one_address_opens_tabs_at_a_rate(tmp_path: Path) -> None:
    # No server is behind the proxy: it answers 502 for a tab that it would let through.
    with running_proxy(tmp_path, "http://127.0.0.1:9") as proxy:
        tabs = [proxy.handshake() for _ in range(150)]
        statuses = [answer_on(tab)[0] for tab in tabs]
        for tab in tabs:
            tab.close()
    assert statuses[:60] == [502] * 60
    assert 429 in statuses


def test_a_body_over_the_limit_is_refused_before_it_arrives(proxy: Proxy) -> None:
    upload = "/_stcore/upload_file/secret/file"
    assert proxy.ask(upload, "Content-Length: 2000000", method="PUT")[0] == 413


def test_a_password_is_asked_for(app: str, tmp_path: Path) -> None:
    settings = {"SITE_ACCESS": "password", "SITE_USER": "ada", "SITE_PASSWORD_HASH": HASH}
    with running_proxy(tmp_path, app, **settings) as proxy:
        assert proxy.ask()[0] == 401
        # ada:secret, and ada:other
        assert proxy.ask("/", "Authorization: Basic YWRhOnNlY3JldA==")[0] == 200
        assert proxy.ask("/", "Authorization: Basic YWRhOm90aGVy")[0] == 401
