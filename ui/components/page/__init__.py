"""Invisible parts of a page, which act in the browser alone.

They correct what Streamlit's page does, follow the theme, bring the end of a training into view,
and keep the visitor's runs and corpus for a reload.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ui.components.shared import make_component

_fixes = make_component(__file__, "page_fixes")
_watch = make_component(__file__, "theme_watch")
_end_in_view = make_component(__file__, "end_in_view")
_memory = make_component(__file__, "run_memory")


def page_fixes(*, menu: str, lost_here: str, lost_elsewhere: str, key: str) -> None:
    """Install the fixes invisibly, once per page that the browser loads.

    - Text is sent soon after it was typed or pasted, not only when its field loses the focus.
    - A press counts even if the page moves below it.
    - The browser's Back goes to the page or the step of a lesson before, not to the choice before.
    - In a narrow window the navigation is a menu: opened it takes the focus, it closes by Escape,
      after a choice and when the focus leaves it, and is closed on a page that is loaded. The
      button that opens it is named `menu`, as it shows: visitors who operate a page by voice say
      the word that they see.
    - A press on the help of a switch does not press the switch.
    - A page that has lost its server says `lost_here` if that is on the visitor's own machine, and
      otherwise `lost_elsewhere`.
    """
    lost = {"here": lost_here, "elsewhere": lost_elsewhere}
    _fixes(key=key, data={"menu": menu, "lost": lost})


def theme_watch(drawn_for: Literal["light", "dark"], *, key: str) -> None:
    """Watch the theme invisibly, and rerun the page once it differs from `drawn_for`.

    Streamlit's own widgets and the other components follow a switch by themselves; Plotly's charts
    keep the colours that Python set.
    """
    _watch(key=key, data={"drawn_for": drawn_for}, on_theme_change=lambda: None)


def end_in_view(*, is_live: bool, within: str, key: str) -> None:
    """Scroll invisibly to a container if a training in it ends while its top is out of sight.

    The button that starts a training may be far below the place of its result. `within` is the
    key of the container, which this is drawn in.
    """
    _end_in_view(key=key, data={"is_live": is_live, "within": within})


def run_memory(
    runs: Sequence[str],
    *,
    forgotten: Sequence[str],
    most: int,
    keys: Sequence[str],
    most_keys: int,
    corpus: str | None,
    key: str,
    on_found: Callable[[], None],
) -> None:
    """Store the ids of `runs` in the browser, in addition to those already there, up to `most`.

    Ids in `forgotten` are removed. The `keys` of the visitor's own runs are stored likewise, up to
    `most_keys`. `corpus` names the corpus given last, as in an address; it is empty for none and
    None if it is not known here. If the browser then has ids that are not in `runs`, other keys or
    a corpus that is not known, `on_found` is called before the page runs again; they are the `ids`,
    the `keys` and the `corpus` in `found` of the component's value. The component is invisible.
    """
    data = {
        "runs": list(runs),
        "forgotten": list(forgotten),
        "most": most,
        "keys": list(keys),
        "most_keys": most_keys,
        "corpus": corpus,
    }
    _memory(key=key, data=data, on_found_change=on_found)
