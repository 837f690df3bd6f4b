"""Scroll to the end of a training: its result, or the reason why there is none."""

from __future__ import annotations

from ui.components.shared import make_component

_end_in_view = make_component(__file__, "end_in_view")


def end_in_view(*, is_live: bool, within: str, key: str) -> None:
    """Scroll invisibly to a container if a training in it ends while its top is out of sight.

    The button that starts a training may be far below the place of its result. `within` is the
    key of the container, which this is drawn in.
    """
    _end_in_view(key=key, data={"is_live": is_live, "within": within})
