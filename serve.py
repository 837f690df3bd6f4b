"""The server of app.py, which makes ready what the pages need before anybody opens one.

`streamlit run app.py` serves the same pages; there the first visit to each waits for that.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from ui.shell.upload_limit import UploadLimit
from ui.warm_up import ready_rest_in_background, ready_train


@asynccontextmanager
async def made_ready(_: st.App) -> AsyncIterator[None]:
    ready_train()
    ready_rest_in_background()
    yield


app = st.App("app.py", lifespan=made_ready, middleware=[Middleware(UploadLimit)])
