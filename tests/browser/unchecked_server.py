"""Serve the app without opening downloads in other libraries, which takes ten processes a run.

`python -m tests.browser.unchecked_server` takes the arguments of `streamlit`.
"""

from __future__ import annotations

from streamlit.web.cli import main

from bpe_core.formats import Opened
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format
from ui.run import download_part


def check_nothing(_tokenizer: Tokenizer, format: Format, *_: object) -> Opened:
    """Take the place of `check_opens`."""
    return Opened(f"no reader of {format}", None, 0)


if __name__ == "__main__":
    download_part.check_opens = check_nothing
    main(prog_name="streamlit")
