"""Conversations of every kind that chat templates know, drawn by a seed."""

from __future__ import annotations

from random import Random
from typing import Any, Final

_WORDS: Final = (
    "hug",
    " a",
    "漢字",
    "👩‍👩‍👧",
    "\n",
    "\n\n",
    " ",
    "x = {'a': [1]}",
    '"quoted"',
    "<b>",
    "é",
)
_IMAGE: Final = {"type": "image"}
_AUDIO: Final = {"type": "audio", "audio_url": "a.wav"}


def draw_text(random: Random) -> str:
    """Return a text of a few words, some with white space at its ends."""
    return "".join(random.choices(_WORDS, k=random.randrange(1, 6)))


def draw_tool(random: Random) -> dict[str, Any]:
    """Return the JSON schema of a function."""
    names = random.sample(("city", "unit", "days"), k=random.randrange(1, 4))
    properties: dict[str, Any] = {
        name: {"type": random.choice(("string", "integer")), "description": draw_text(random)}
        for name in names
    }
    if random.random() < 0.3:
        properties["unit"] = {"type": "string", "enum": ["c", "f"], "description": "Unit"}
    function = {
        "name": random.choice(("weather", "search", "add")),
        "description": draw_text(random),
        "parameters": {"type": "object", "properties": properties, "required": names[:1]},
    }
    return {"type": "function", "function": function}


def draw_talk(random: Random) -> dict[str, Any]:
    """Return messages, and what else a template may read."""
    messages: list[dict[str, Any]] = []
    if random.random() < 0.4:
        messages.append({"role": "system", "content": draw_text(random)})
    for turn in range(random.randrange(1, 4)):
        messages.append({"role": "user", "content": _content(random)})
        if random.random() < 0.35:
            messages += _call(random, turn)
        if turn == 0 or random.random() < 0.8:
            answer: dict[str, Any] = {"role": "assistant", "content": draw_text(random)}
            if random.random() < 0.3:
                name = random.choice(("reasoning_content", "thinking", "reasoning"))
                answer[name] = draw_text(random)
            elif random.random() < 0.1:
                answer["content"] = f"<think>{draw_text(random)}</think>{answer['content']}"
            messages.append(answer)
    talk: dict[str, Any] = {"messages": messages}
    if random.random() < 0.5:
        talk["tools"] = [draw_tool(random) for _ in range(random.randrange(1, 3))]
    if random.random() < 0.2:
        talk["documents"] = [{"title": "Hugs", "text": draw_text(random)}]
    for name in ("enable_thinking", "tools_in_user_message", "preserve_thinking", "thinking"):
        if random.random() < 0.3:
            talk[name] = random.random() < 0.5
    if random.random() < 0.2:
        talk["date_string"] = "26 Jul 2024"
    return talk


def _content(random: Random) -> Any:
    if random.random() < 0.85:
        return draw_text(random)
    parts: list[Any] = [{"type": "text", "text": draw_text(random)}]
    for part in (_IMAGE, _AUDIO):
        if random.random() < 0.6:
            parts.insert(random.randrange(len(parts) + 1), dict(part))
    return parts


def _call(random: Random, number: int) -> list[dict[str, Any]]:
    arguments: dict[str, Any] = {"city": draw_text(random), "days": random.randrange(9)}
    calls = [
        {
            "type": "function",
            "id": f"call{number:04}{each}",
            "function": {"name": "weather", "arguments": arguments},
        }
        for each in range(random.choice((1, 1, 1, 2)))
    ]
    content = random.choice((None, "", draw_text(random)))
    results = [
        {
            "role": "tool",
            "name": "weather",
            "tool_call_id": each["id"],
            "content": random.choice((draw_text(random), '{"degrees": 21}')),
        }
        for each in calls
    ]
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *results]
