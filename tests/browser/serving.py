"""Start the app and a Chromium, for the browser tests and the script that takes the pictures."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from playwright.sync_api import Browser, BrowserContext, Playwright

from tests.new_process import ROOT, children_with
from tests.waiting import MAX_WAIT_SECONDS

BROWSER_RECORD = ROOT / ".venv" / "browser-path"
# A placeholder pulses while the charts' script loads. Without a graphics processor, its animation
# takes half of the time until the charts are drawn.
PLACEHOLDERS_STAND_STILL = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('[data-testid="stSkeleton"] { animation: none !important }');
  document.adoptedStyleSheets.push(sheet);
})()"""
MAX_WAIT_MS = 60_000
# A server stops in less than a second, but one that hangs must not block the tests.
SECONDS_TO_END = 10
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def of_checkout(port: int) -> Sequence[str | Path]:
    """Return the command that starts the app as `make run` does."""
    return sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"


@contextmanager
def running_app(
    runs_folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    command_of: Callable[[int], Sequence[str | Path]] = of_checkout,
    folder: Path = ROOT,
    health: str = "/_stcore/health",
) -> Iterator[str]:
    """Start a server, yield its address, and stop it after the block.

    `environment` is added to this process's own; `command_of` returns the command for a port, which
    is run in `folder`. The server is ready when it answers at the path `health`.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log_path = runs_folder / "server.log"
    added = {"BPE_EXPLORER_RUNS": str(runs_folder / "runs"), **(environment or {})}
    with (
        log_path.open("wb") as log,
        subprocess.Popen(
            command_of(port),
            cwd=folder,
            env={**os.environ, **added},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            _wait_for_health(f"http://127.0.0.1:{port}{health}", server, log_path)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                server.kill()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path, kind: type[SimpleHTTPRequestHandler] = QuietHandler) -> Iterator[str]:
    """Serve a folder as any static host does, and yield its address."""
    handler = partial(kind, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def find_server(address: str) -> psutil.Process:
    """Return the process of a server that this process started."""
    (found,) = children_with(f"--server.port={address.rpartition(':')[2]}")
    return found


def _wait_for_health(url: str, server: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(
        f"The server did not start:\n{log_path.read_text(errors='replace')[-3_000:]}"
    )


def launch_browser(playwright: Playwright, *options: str) -> Browser:
    """Launch a headless Chromium; raise an error if there is none, so that no test is skipped."""
    return playwright.chromium.launch(
        executable_path=_browser_path(), args=[*BROWSER_OPTIONS, *options]
    )


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return a context whose pages report when the app is at rest; `options` are Playwright's.

    It waits for a busy server longer than Playwright does by itself.
    """
    context = browser.new_context(**options)
    context.set_default_timeout(MAX_WAIT_MS)
    context.add_init_script(path=Path(__file__).parent / "at_rest.js")
    context.add_init_script(PLACEHOLDERS_STAND_STILL)
    return context


def _browser_path() -> str | None:
    """Return the path of Chromium recorded by scripts/get_browser.sh; None for Playwright's own."""
    named = os.environ.get("CHROMIUM")
    if not named and BROWSER_RECORD.is_file():
        named = BROWSER_RECORD.read_text(encoding="utf-8").strip()
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = (shutil.which(name) for name in names)
    return named or next((path for path in found if path), None)
