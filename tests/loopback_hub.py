"""A server on this machine that speaks the hub's protocol, well or badly, to the real client."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal

Manner = Literal[
    "well",
    "another file",
    "gated",
    "forbidden",
    "html",
    "truncated",
    "wrong bytes",
    "longer",
    "elsewhere",
    "slow",
    "silent",
    "endless",
    "no sizes",
    "too large",
    "failing",
    "evil etag",
    "whole files",
]
_LFS_BYTES = 1_000


@dataclass
class Model:
    """A model on the loopback hub."""

    files: Mapping[str, bytes]
    manner: Manner = "well"
    commits: dict[str, str] = field(default_factory=dict[str, str])
    """The commit of each revision."""


@dataclass
class LoopbackHub:
    """The hub's models, and the requests that it was sent."""

    address: str = ""
    other: LoopbackHub | None = None
    """Another server, to which it may redirect."""
    evil_etag: str = ""
    """Sent in the manner of that name."""
    models: dict[str, Model] = field(default_factory=dict[str, Model])
    requests: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Method and path."""
    sent_bytes: int = 0
    """Of ranges."""
    tokens: list[str | None] = field(default_factory=list[str | None])
    closing: Event = field(default_factory=Event)

    def add(self, repo: str, files: Mapping[str, bytes], manner: Manner = "well") -> str:
        """Add a model, or a new commit of one, and return its commit."""
        commit = hashlib.sha1(repr((repo, sorted(files.items()))).encode()).hexdigest()
        known = self.models.get(repo)
        commits = {**(known.commits if known else {}), "main": commit, commit: commit}
        self.models[repo] = Model(files, manner, commits)
        return commit

    def paths(self, method: str) -> list[str]:
        return [path for kind, path in self.requests if kind == method]


def _is_lfs(data: bytes) -> bool:
    return len(data) > _LFS_BYTES


def _etag(data: bytes) -> str:
    if _is_lfs(data):
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _about(model: Model, commit: str) -> dict[str, Any]:
    files: list[dict[str, Any]] = []
    for name, data in model.files.items():
        size = 10**12 if model.manner == "too large" else len(data)
        about: dict[str, Any] = {"rfilename": name, "size": size, "blobId": _etag(data)}
        if _is_lfs(data):
            about["lfs"] = {"sha256": _etag(data), "size": size, "pointerSize": 130}
            about["blobId"] = "0" * 40
        if model.manner == "no sizes":
            about = {"rfilename": name}
        files.append(about)
    return {"id": "org/model", "sha": commit, "siblings": files, "private": False}


class _Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.hub.requests.append((self.command, self.path))
        self.hub.tokens.append(self.headers.get("Authorization"))
        api = re.fullmatch(r"/api/models/([^/]+/[^/?]+)(?:/revision/([^?]+))?(\?.*)?", self.path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/([^?]+)", self.path)
        found = api or file
        model = self.hub.models.get(found[1]) if found else None
        if found is None or model is None:
            # What the hub answers to a stranger, because the model may be private.
            self._send(401, b'{"error":"Invalid"}', {"X-Error-Code": "RepoNotFound"})
            return
        commit = model.commits.get(found[2] or "main")
        if model.manner == "html":
            self._send(200, b"<html>Sign in</html>", {"Content-Type": "text/html"})
        elif model.manner == "forbidden":
            self._send(403, b"{}")
        elif model.manner == "failing":
            self._send(500, b"no")
        elif commit is None:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        elif api:
            self._send(200, json.dumps(_about(model, commit)).encode())
        elif model.manner == "gated":
            self._send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        else:
            self._send_file(model, commit, found[3])

    def _send_file(self, model: Model, commit: str, name: str) -> None:
        data = model.files[name]
        headers = {"X-Repo-Commit": commit, "ETag": f'"{_etag(data)}"'}
        if _is_lfs(data):
            headers |= {"X-Linked-Size": str(len(data)), "X-Linked-Etag": f'"{_etag(data)}"'}
        if model.manner == "evil etag":
            headers = {"X-Repo-Commit": commit, "ETag": self.hub.evil_etag}
        if self.command == "HEAD":
            if model.manner == "elsewhere" and self.hub.other is not None:
                self._send(302, b"", {**headers, "Location": f"{self.hub.other.address}/{name}"})
            else:
                self._send(200, data, headers)
            return
        if model.manner in ("slow", "silent", "endless"):
            self._drip(data, headers, model.manner)
        elif model.manner == "truncated":
            self._head(200, {**headers, "Content-Length": str(len(data))})
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif model.manner == "wrong bytes":
            self._send(200, data[::-1], headers)
        elif model.manner == "longer":
            self._send(200, data + b" ", headers)
        elif (asked := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))) and (
            model.manner != "whole files"
        ):
            first, last = int(asked[1]), int(asked[2])
            part = f"bytes {first}-{last}/{len(data)}"
            self.hub.sent_bytes += last + 1 - first
            self._send(206, data[first : last + 1], {**headers, "Content-Range": part})
        else:
            self._send(200, data, headers)

    def _drip(self, data: bytes, headers: Mapping[str, str], manner: Manner) -> None:
        """Send bytes one by one, or none, or without an end, until the hub is closed."""
        if manner == "endless":
            self._head(200, {**headers, "Transfer-Encoding": "chunked"})
        else:
            self._head(200, {**headers, "Content-Length": str(len(data))})
        self.close_connection = True
        try:
            while not self.hub.closing.is_set():
                if manner == "endless":
                    self.wfile.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                    continue
                if manner == "slow":
                    self.wfile.write(b" ")
                self.hub.closing.wait(0.1)
        except OSError:
            pass  # the client has closed the connection

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, {**(headers or {}), "Content-Length": str(len(data))})
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def loopback_hub() -> Iterator[LoopbackHub]:
    """Start a hub on a free port, and another server to which it may redirect."""
    hub, other = LoopbackHub(), LoopbackHub()
    servers: list[ThreadingHTTPServer] = []
    for each in (hub, other):
        handler = type("Handler", (_Handler,), {"hub": each})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        each.address = f"http://127.0.0.1:{server.server_port}"
        servers.append(server)
    hub.other = other
    try:
        yield hub
    finally:
        hub.closing.set()
        for server in servers:
            server.shutdown()
            server.server_close()
