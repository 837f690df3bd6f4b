"""Serve app.py, and load what the pages need before anyone opens one.

`streamlit run app.py` serves the same pages, but the first visit to each is slower.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from ui.shell.upload_limit import UploadLimit
from ui.warm_up import warm_up_rest_in_background, warm_up_train


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    warm_up_train()
    warm_up_rest_in_background()
    yield


app = st.App("app.py", lifespan=lifespan, middleware=[Middleware(UploadLimit)])
