"""Modules and styles that all components share, and the making of a component from its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

from bpe_core.views.component_files import component_css
from bpe_core.views.js_modules import join_modules

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


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
    return component(
        f"bpe.{name}",
        html=html or (page.read_text("utf-8") if page.exists() else None),
        css=component_css(folder, *styles) if styles else None,
        js=join_modules(folder / f"{stem}.js"),
    )
