"""The app's own parts of its server: what it does when it starts, its routes, what it refuses."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.routing import Route

from bpe_core.files import keep_store_private
from bpe_core.kernels import compile_in_background, kernels_are_compiled
from ui.host import event, log_as_json, settings
from ui.serving import metrics
from ui.serving.allowed_hosts import AllowedHosts, configured_hosts
from ui.serving.ended_visits import ClosedTabs, close_regularly, use_small_pages
from ui.serving.limits import MessageLimit, UploadLimit
from ui.serving.warm_up import settle_memory, warm_up_rest_in_background, warm_up_start
from ui.storage import start_sweeping


@asynccontextmanager
async def lifespan(_: object) -> AsyncGenerator[None]:
    """Prepare the server, which answers once that is done, and note when it stops."""
    started = time.monotonic()
    # What visitors leave in files is for this server's user alone.
    os.umask(0o077)
    keep_store_private()
    use_small_pages()
    warm_up_start()
    settle_memory()
    # Errors before this line cannot contain visitors' text, so they may be printed in full.
    log_as_json(settings().log_level)
    compile_in_background()
    warm_up_rest_in_background()
    # In a thread, now and every hour.
    start_sweeping()
    seconds = round(time.monotonic() - started, 3)
    event("server_started", seconds=seconds, kernels_compiled=kernels_are_compiled())
    closing = asyncio.create_task(close_regularly())
    yield
    closing.cancel()
    event("server_stopped", seconds=round(time.monotonic() - started, 3))


def routes() -> list[Route]:
    """Return what the server answers besides pages and their files."""
    return metrics.routes()


def middleware() -> list[Middleware]:
    """Return what a request passes through before Streamlit sees it, in this order."""
    return [
        Middleware(AllowedHosts, configured_hosts()),
        Middleware(MessageLimit),
        Middleware(UploadLimit),
        Middleware(ClosedTabs),
    ]
