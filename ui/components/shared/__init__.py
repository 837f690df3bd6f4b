"""Modules and styles that all components share, and the making of a component from its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

from bpe_core.views import component_css, join_modules

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


@dataclass(frozen=True, slots=True)
class ComponentParts:
    """What a component is drawn from, also on a page without Streamlit."""

    html: str | None
    css: str | None
    script: Path


PARTS: dict[str, ComponentParts] = {}
"""The parts of each component, by its name, once its module was imported."""


def make_component(
    package: str, name: str, script: str = "", *, styles: Sequence[str] = (), html: str = ""
) -> ComponentRenderer:
    """Make a component from the files next to `package`, a module's `__file__`.

    `script` is the stem of its script, by default the `name`, which the app must not use twice. The
    styles are the named sheets, or the one called like the script if there is one. So is the HTML
    to begin with, unless it is given.
    """
    folder, stem = Path(package).parent, script or name
    page = folder / f"{stem}.html"
    if not styles and (folder / f"{stem}.css").exists():
        styles = (stem,)
    parts = ComponentParts(
        html=html or (page.read_text("utf-8") if page.exists() else None),
        css=component_css(folder, *styles) if styles else None,
        script=folder / f"{stem}.js",
    )
    PARTS[f"bpe.{name}"] = parts
    return component(f"bpe.{name}", html=parts.html, css=parts.css, js=join_modules(parts.script))
