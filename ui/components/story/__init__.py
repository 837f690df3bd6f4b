"""The scenes that follow the start page's loop: one sentence, carried on to what a model sees.

`story.json` holds what they are drawn from, besides the visitor's sentence; scripts/make_story.py
writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ui.components.shared import make_component
from ui.components.start_loop import Door, OpenedDoor, opened_door, whole_characters

_reading = make_component(__file__, "story_reading", "reading_from_python")
_story = make_component(
    __file__, "story", styles=("../shared/ribbon", "../start_loop/doors", "story")
)


@cache
def story_data() -> dict[str, Any]:
    """Return the texts and figures of the scenes that are the same for every visitor."""
    return json.loads(Path(__file__).with_name("story.json").read_text("utf-8"))


def draw_story(
    sentence: str, doors: Sequence[Door], *, key: str
) -> tuple[str | None, OpenedDoor | None]:
    """Draw the scenes below the loop, which carries its sentence to them, and the doors after them.

    Return the sentence whose tokens a scene asks for, or None: `send_reading` answers; and the door
    that was pressed, or None. The data depends on nothing, so a rerun sends nothing again.
    """
    values = _story(
        key=key,
        data={"sentence": sentence, "doors": [asdict(door) for door in doors], **story_data()},
        on_door_change=lambda: None,
        on_reading_change=lambda: None,
        width="stretch",
        height="content",
    )
    wanted = values.get("reading")
    reading = whole_characters(wanted) if isinstance(wanted, str) else None
    return reading, opened_door(values.get("door"), doors)


def send_reading(reading: Mapping[str, Any], *, key: str) -> None:
    """Send the scenes what a model is given of a sentence: its text, the model, ids and tokens."""
    _reading(key=key, data=dict(reading))
