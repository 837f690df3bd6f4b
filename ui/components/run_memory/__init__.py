"""Keep the ids of the visitor's runs in the browser, and return them after a reload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ui.components.shared import make_component

_memory = make_component(__file__, "run_memory")


def run_memory(
    runs: Sequence[str],
    *,
    forgotten: Sequence[str],
    most: int,
    key: str,
    on_found: Callable[[], None],
) -> None:
    """Store the ids of `runs` in the browser, in addition to those already there, up to `most`.

    Ids in `forgotten` are removed. If the browser then has ids that are not in `runs`, `on_found`
    is called before the page runs again; they are the `ids` in `found` of the component's value.
    The component is invisible.
    """
    data = {"runs": list(runs), "forgotten": list(forgotten), "most": most}
    _memory(key=key, data=data, on_found_change=on_found)
