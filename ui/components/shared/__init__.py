"""Modules and styles that all components share."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def component_css(folder: Path, *names: str) -> str:
    """Return the shared style sheet, followed by each `name.css` of the component."""
    paths = (_HERE / "tokens.css", *(folder / f"{name}.css" for name in names))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
