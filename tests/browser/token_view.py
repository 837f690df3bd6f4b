"""The token view in a page on disk, for tests that need no server."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

from playwright.sync_api import Locator, Page, expect

import bpe_core as bpe
from bpe_core.views import View, component_css, join_modules
from ui.components import token_view
from ui.corpus.own_texts import read_own_text

_FOLDER = Path(token_view.__file__).parent

# What copying puts into the clipboard; null if it is left to the browser.
COPY = """(scroller) => {
    const data = new DataTransfer();
    const options = {clipboardData: data, bubbles: true, cancelable: true};
    const event = new ClipboardEvent("copy", options);
    scroller.dispatchEvent(event);
    return event.defaultPrevented ? data.getData("text/plain") : null;
}"""

HOSTILE = (
    '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 1"> '
    "a<b<c &amp; &lt; **bold** `code` $x^2$ [link](javascript:window.harmed=1) </script>"
)


def show_tokens(page: Page, folder: Path, text: str, encoder: bpe.Encoder | None = None) -> Locator:
    """Mount the view of a text's tokens, GPT-2's unless given; return its pane."""
    file = folder / "view.html"
    file.write_text(_view_page(_view_data(text, encoder or bpe.gpt2())), encoding="utf-8")
    page.goto(file.as_uri())
    scroller = page.locator(".view .scroller")
    expect(scroller.locator(".token").first).to_be_attached()
    return scroller


def tokens_in_page(scroller: Locator) -> int:
    """Return the number of tokens that are drawn rather than plain text."""
    return scroller.evaluate(
        "(s) => new Set([...s.querySelectorAll('.token')].map((t) => t.dataset.i)).size"
    )


def figures(page: Page) -> Locator:
    """Return the counts above the text."""
    return page.locator(".view .figures")


def expect_tokens(page: Page, text: str) -> None:
    """Wait until the view shows a text and counts its GPT-2 tokens.

    The whole count is compared, because “20 tokens” contains “0 tokens”. Another text may have the
    same count, so this also waits for the text in the pane.
    """
    counts = re.compile(rf"^{len(bpe.gpt2().encode(text)):,} tokens?\d")
    expect(figures(page)).to_have_text(counts)
    pane = page.locator(".view .scroller").element_handle()
    page.wait_for_function("([pane, text]) => pane.textContent === text", arg=[pane, text])


def _view_data(text: str, encoder: bpe.Encoder) -> dict[str, Any]:
    """Return what Python sends to the view."""
    reading = read_own_text(text, encoder, tuple(encoder.special_tokens))
    with patch.object(token_view, "_view") as mount:
        token_view.draw_token_view(
            reading.text,
            reading.packed,
            stamp=reading.stamp,
            chosen=reading.first_chosen,
            name="GPT-2",
            special_note="Special tokens are recognised.",
            code=["tokenizer = bpe.gpt2()"],
            allowed_special=True,
            key="view",
        )
    return mount.call_args.kwargs["data"]


def _view_page(data: dict[str, Any]) -> str:
    """Return a page that calls the view's script with data, in a shadow root with its styles."""
    style = component_css(_FOLDER, *View.STYLES["token_view"])
    script = join_modules(_FOLDER / "view.js")
    # Base64 keeps markup in the text from becoming markup of this page.
    module, message = (
        base64.b64encode(part.encode()).decode() for part in (script, json.dumps(data))
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tokens</title>
<style>:root {{ color-scheme: light dark; }}</style>
<div id="view"><template shadowrootmode="open"><style>{style}</style></template></div>
<script type="module">
import mountView from "data:text/javascript;base64,{module}";
const bytes = Uint8Array.from(atob("{message}"), (letter) => letter.charCodeAt(0));
const data = JSON.parse(new TextDecoder().decode(bytes));
mountView({{ data, parentElement: document.getElementById("view").shadowRoot }});
</script>
</html>
"""
