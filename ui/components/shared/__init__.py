"""Reads a component's files, with the styles and scripts that all components share in front."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def component_css(folder: Path, *names: str) -> str:
    """The shared style sheet followed by the component's own `name.css`, one after the other."""
    return _joined(_HERE / "tokens.css", *(folder / f"{name}.css" for name in names))


def component_js(folder: Path, *names: str) -> str:
    """The shared script followed by the component's own `name.js`, all of them as one module."""
    return _joined(_HERE / "tokens.js", *(folder / f"{name}.js" for name in names))


def _joined(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
