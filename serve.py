"""Serve app.py, and load what the pages need before anyone opens one.

`streamlit run app.py` serves the same pages, but the first visit to each is slower, and Streamlit's
own log takes the place of ours.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from bpe_core.files.store import keep_store_private
from bpe_core.kernels.compiling.choose import kernels_are_compiled
from ui.host.logs import event, log_as_json
from ui.host.settings import SettingError, settings

try:
    from ui.serving import metrics
    from ui.serving.allowed_hosts import AllowedHosts, configured_hosts
    from ui.serving.ended_visits import close_regularly
    from ui.serving.limits import MessageLimit, UploadLimit
    from ui.serving.warm_up import warm_up_rest_in_background, warm_up_start
    from ui.work import jobs
except SettingError as error:
    sys.exit(f"BPE Explorer did not start: {error}")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    started = time.monotonic()
    keep_store_private()
    warm_up_start()
    # Errors before this line cannot contain visitors' text, so they may be printed in full.
    log_as_json(settings().log_level)
    warm_up_rest_in_background()
    # Begins the trainings that an earlier server left.
    jobs.manager()
    seconds = round(time.monotonic() - started, 3)
    event("server_started", seconds=seconds, kernels_compiled=kernels_are_compiled())
    closing = asyncio.create_task(close_regularly())
    yield
    closing.cancel()
    event("server_stopped", seconds=round(time.monotonic() - started, 3))


# What visitors leave in files is for this server's user alone.
os.umask(0o077)
app = st.App(
    "app.py",
    lifespan=lifespan,
    routes=metrics.routes(),
    middleware=[
        Middleware(AllowedHosts, configured_hosts()),
        Middleware(MessageLimit),
        Middleware(UploadLimit),
    ],
)
