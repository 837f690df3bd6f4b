"""Keep the ids of the visitor's runs and corpus in the browser, and return them after a reload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ui.components.shared import make_component

_memory = make_component(__file__, "run_memory")


def run_memory(
    runs: Sequence[str],
    *,
    forgotten: Sequence[str],
    most: int,
    corpus: str | None,
    key: str,
    on_found: Callable[[], None],
) -> None:
    """Store the ids of `runs` in the browser, in addition to those already there, up to `most`.

    Ids in `forgotten` are removed. `corpus` names the corpus given last, as in an address; it is
    empty for none and None if it is not known here. If the browser then has ids that are not in
    `runs`, or a corpus that is not known, `on_found` is called before the page runs again; they are
    the `ids` and the `corpus` in `found` of the component's value. The component is invisible.
    """
    data = {"runs": list(runs), "forgotten": list(forgotten), "most": most, "corpus": corpus}
    _memory(key=key, data=data, on_found_change=on_found)
