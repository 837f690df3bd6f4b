"""The scenes that follow the start page's loop: one sentence, carried on to what a model sees.

`story.json` holds what they are drawn from, besides the visitor's sentence; scripts/make_story.py
writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ui.components.shared import make_component

_story = make_component(__file__, "story", styles=("../shared/ribbon", "story"))


@cache
def story_data() -> dict[str, Any]:
    """Return the texts and figures of the scenes that are the same for every visitor."""
    return json.loads(Path(__file__).with_name("story.json").read_text("utf-8"))


def draw_story(sentence: str, *, key: str) -> None:
    """Draw the scenes below the loop, which carries its sentence to them."""
    _story(key=key, data={"sentence": sentence, **story_data()}, width="stretch", height="content")
