"""The part of plotly that charts use: its own types are generated, and mostly unknown."""

from typing import Any

class Data: ...

class Figure:
    layout: Any
    data: Any
    frames: Any
    def __init__(self, data: Any = None, layout: Any = None, frames: Any = None) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
