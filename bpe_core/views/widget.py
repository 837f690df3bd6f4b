"""The app's components as anywidgets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from bpe_core.extras import needs_extra


def make_widget(component: str, script: str, parts: Mapping[str, bytes]) -> Any:
    """Return an anywidget that draws a component; all its data is in its state.

    Raises `MissingExtraError` if anywidget is not installed.

    >>> make_widget("hug", "export default { render() {} }", {"data": b"hug"}).parts
    {'data': b'hug'}
    """
    return _widget_class(component, script)(parts=dict(parts))


@cache
def _widget_class(component: str, script: str) -> Any:
    with needs_extra("notebook", "A widget"):
        anywidget: Any = import_module("anywidget")
        traitlets: Any = import_module("traitlets")

    members = {"_esm": script, "parts": traitlets.Dict().tag(sync=True)}
    return type(component, (anywidget.AnyWidget,), members)
