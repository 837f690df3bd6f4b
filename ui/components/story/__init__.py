"""The scenes that follow the start page's loop: one sentence, carried on to what a model sees.

`story.json` holds what they are drawn from, besides the visitor's sentence; scripts/make_story.py
writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ui.components.shared import make_component
from ui.components.start_loop import MAX_SENTENCE_LENGTH

_reading = make_component(__file__, "story_reading", "reading_from_python")
_story = make_component(__file__, "story", styles=("../shared/ribbon", "story"))


@cache
def story_data() -> dict[str, Any]:
    """Return the texts and figures of the scenes that are the same for every visitor."""
    return json.loads(Path(__file__).with_name("story.json").read_text("utf-8"))


def draw_story(sentence: str, *, key: str) -> str | None:
    """Draw the scenes below the loop, which carries its sentence to them.

    Return the sentence whose tokens a scene asks for, or None; `send_reading` answers. The data
    depends on nothing, so a rerun sends nothing again.
    """
    values = _story(
        key=key,
        data={"sentence": sentence, **story_data()},
        on_reading_change=lambda: None,
        width="stretch",
        height="content",
    )
    match values.get("reading"):
        case str(text):
            # A browser can send half a character, which no encoder takes.
            return text[:MAX_SENTENCE_LENGTH].encode("utf-8", "replace").decode("utf-8")
        case _:
            return None


def send_reading(reading: Mapping[str, Any], *, key: str) -> None:
    """Send the scenes what a model is given of a sentence: its text, the model, ids and tokens."""
    _reading(key=key, data=dict(reading))
