"""Write the merge loop of a run as one HTML file that needs no server and no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Sequence
from pathlib import Path

from ui.components import merge_player
from ui.components.js_modules import join_modules
from ui.components.shared import component_css
from ui.look.labels import plain_text

_FOLDER = Path(merge_player.__file__).parent
_LONGEST_TITLE = 200
_LEAD = "Each step fuses the two neighbouring symbols that occur together most often."


def replay_page(
    run: bytes,
    merges: bytes,
    *,
    title: str,
    step: int = 0,
    text: str = "",
    words: Sequence[Sequence[int | str]] = (),
) -> str:
    """Return a page that plays a run packed by `packing.pack_run` and `pack_block` as one block.

    `title` is the page's heading and `step` the number of merges done when it opens. `text` and
    `words` are the visitor's own words, as typed and as split by `packing.own_words`.

    Invisible characters of the title are written out, and it is isolated from the words after it.
    No part of the run is markup: the run is base64, everything else is escaped. The page's content
    security policy forbids all requests and every script except its own.
    """
    style = component_css(_FOLDER, *merge_player.PLAYER_STYLES)
    page_style = (_FOLDER / "replay.css").read_text("utf-8")
    script = join_modules(_FOLDER / "replay.js")
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash_of(script)}; "
        f"style-src {_hash_of(style)} {_hash_of(page_style)}"
    )
    heading = html.escape(plain_text(title, _LONGEST_TITLE))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>\u2068{heading}\u2069: merge loop</title>
<style>{page_style}</style>
</head>
<body>
<main>
<h1>{heading}</h1>
<p>{_LEAD}</p>
<p id="problem" role="alert"></p>
<noscript><p>The replay needs JavaScript, which is switched off.</p></noscript>
<div id="player"><template shadowrootmode="open"><style>{style}</style>
{(_FOLDER / "player.html").read_text("utf-8")}</template></div>
</main>
<script type="application/octet-stream" id="run" data-step="{step}" data-text="{html.escape(text)}"
 data-words="{html.escape(json.dumps(words))}">{_packed(run)}</script>
<script type="application/octet-stream" id="merges">{_packed(merges)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def packed_size(message: bytes) -> int:
    """Return the size of a message in a page, in bytes."""
    return len(_packed(message))


def _packed(message: bytes) -> str:
    # Without a time stamp, so that the same run gives the same file. Level 9 takes four times as
    # long as 6 and saves 1 %.
    return base64.b64encode(gzip.compress(message, 6, mtime=0)).decode()


def _hash_of(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
