"""Draw what forms share: choices, numbers within limits, uploaders, rows for headings and buttons.

A visitor's files are measured and limited in all, and those no longer used are freed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeVar

import streamlit as st
from streamlit import config
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileManager

from bpe_core.errors import BpeError
from ui.host import errors_shown, settings
from ui.look import plain_markdown, plain_text
from ui.shell import workspace
from ui.work import Status, begin_button, show_work

MAX_BYTES_OF_ALL: Final = settings().uploads_megabytes * 1_000_000
"""The limit for the files of all visitors in the server's memory."""
MAX_BYTES: Final = MAX_BYTES_OF_ALL // 4
"""The part of it that one tab can use; the same holds for its files on disk."""
_MAX_NAME: Final = 60
LIMIT: Final = f"Up to {MAX_BYTES // 1_000_000} MB in total."


_Value = TypeVar("_Value")
_LONGEST_NAMED: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """The limits of a field, with a sentence that explains each."""

    least: int
    most: int
    why_least: str
    why_most: str

    def problem_with(self, value: float) -> str | None:
        """Return what is wrong with a number, as a sentence; None if it is valid.

        >>> limits = FieldLimits(257, 1_000_000, "There are 257.", "No page shows more.")
        >>> limits.problem_with(1_000.5)
        '1,000.5 is not a whole number.'
        >>> limits.problem_with(2_000_000)
        '2,000,000 is too large: expected at most 1,000,000. No page shows more.'
        >>> limits.problem_with(257)
        """
        if value < self.least:
            return (
                f"{_shown(value)} is too small: expected at least {self.least:,}. {self.why_least}"
            )
        if value > self.most:
            return f"{_shown(value)} is too large: expected at most {self.most:,}. {self.why_most}"
        if value != int(value):
            return f"{_shown(value)} is not a whole number."
        return None


def whole_number(
    label: str, limits: FieldLimits, first: int, *, key: str, help: str, in_address: bool = False
) -> int | None:
    """Draw a field for a whole number and return its value; an emptied field holds `first` again.

    With `in_address`, the number is in the address under `key`, so that a reload keeps it.

    Returns None if the number is invalid, and shows why. Streamlit alone would only turn a number
    beyond a limit red, and would read 4.5 and 1e5 as 4 and 1.
    """
    return checked(number_input(label, first, key=key, help=help, in_address=in_address), limits)


def number_input(
    label: str,
    first: int,
    *,
    key: str,
    help: str | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
    width: int | Literal["stretch"] = "stretch",
    on_change: Callable[[], None] | None = None,
    in_address: bool = False,
) -> float:
    """Draw a field for a number, which `checked` checks; an emptied field holds `first` again."""
    draw = partial(
        st.number_input,
        label,
        value=float(first),
        step=1.0,
        format="%g",
        help=help,
        label_visibility=label_visibility,
        width=width,
        on_change=on_change,
        persist_state="session",
    )
    if in_address:
        return bound(draw, key=key, usable=is_number, expected="a number")
    return draw(key=key)


def checked(value: float, limits: FieldLimits) -> int | None:
    """Return a valid number; show what is wrong with another, and return None."""
    problem = limits.problem_with(value)
    if problem is not None:
        st.error(problem)
        return None
    return int(value)


def _shown(value: float) -> str:
    return f"{value:,.15g}" if abs(value) < 1e15 else f"{value:.4g}"


def action_row() -> DeltaGenerator:
    """Return a row for the button, which stays in view at the end of the window.

    Give the form above its own container: if the row's place changed with the number of
    elements above it, Streamlit would draw another button, and a press during that would be lost.
    """
    return st.container(horizontal=True, vertical_alignment="center", key="action_row")


class WorkForm(NamedTuple):
    """The places of a form that begins work."""

    form: DeltaGenerator
    """For the fields."""
    button: DeltaGenerator
    forms: DeltaGenerator
    """Both."""
    side: DeltaGenerator

    def end(
        self,
        label: str,
        begin: Callable[[], None] | None,
        status: Status[Any, Any] | None,
        explain: Callable[[], None],
        *,
        unit: str,
        what: str,
        keys: tuple[str, str],
        written: Callable[[int], str] = "{:,}".format,
    ) -> None:
        """Draw the button as `begin_button` does, and what to expect or progress as `show_work`.

        `keys` are those of the two.
        """
        with self.button:
            begin_button(label, begin, status, key=keys[0])
        # What runs is shown next to the button, which a long form leaves in sight.
        running = self.button if status is not None and status.is_live else self.forms
        with self.side if status is None else running:
            show_work(status, explain, unit=unit, what=what, key=keys[1], written=written)


def work_form() -> WorkForm:
    """Return the places of a form that begins work: its fields and button, and the side."""
    forms, _, side = st.columns([24, 1, 16])
    with forms:
        return WorkForm(st.container(), action_row(), forms, side)


def heading_row(key: str) -> DeltaGenerator:
    """Return a row for a heading on the left and the choice that belongs to it on the right."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key=key
    )


def show_missing(what: str) -> None:
    """Say next to a button why a press on it does nothing."""
    st.markdown(f":orange[{what}]", width="content")


@dataclass(frozen=True, slots=True)
class Unread:
    """What addresses named that could not be used."""

    by_key: Mapping[str, tuple[str, object]] = field(default_factory=dict[str, tuple[str, object]])
    """A sentence on it, and what is shown instead, None until that is drawn, by a choice's key."""
    page: str = ""
    """The title of the page that read them."""


def note_unread(key: str, sentence: str) -> None:
    """Note that an address named for a choice what cannot be used, for `show_unread`."""
    noted = workspace.get(Unread).by_key
    if noted.get(key, ("", None))[0] != sentence:
        workspace.update(Unread, by_key={**noted, key: (sentence, None)})


def check_linked(
    key: str,
    usable: Container[str] | Callable[[str], bool],
    expected: str = "a choice here",
    *,
    instead: str = "",
) -> None:
    """Note what the address names for a key if it is not `usable`, for `show_unread`.

    Call it before anything takes the key out of the address. `instead` is a sentence on what is
    shown.
    """
    linked = workspace.query_text(key, _LONGEST_NAMED)
    is_read = workspace.has_widget(key) or workspace.wrote(key)
    if not linked or is_read or workspace.is_from_history():
        return
    is_usable = usable(linked) if callable(usable) else linked in usable
    if not is_usable:
        named = plain_text(linked, _MAX_NAME)
        note_unread(
            key, f"This address names “{named}”, which is not {expected}. {instead}".strip()
        )


def linked_number(key: str, default: int, high: int, *, what: str) -> int:
    """Return the whole number that the address names; of a larger one than `high`, that.

    For what is not a whole number, return the default. Both are noted for `show_unread`.
    """
    number = workspace.query_int(key, default, high)
    instead = f"{number:,} is shown." if number >= 0 else ""
    check_linked(
        key,
        lambda _: 0 <= workspace.query_int(key, -1, high + 1) <= high,
        f"{what} from 0 to {high:,}",
        instead=instead,
    )
    return number


def bound(
    draw: Callable[..., _Value],
    *,
    key: str,
    usable: Container[str] | Callable[[str], bool],
    expected: str = "a choice here",
) -> _Value:
    """Draw a widget that the address holds under its key, and say if it named what is not usable.

    Streamlit alone would take that out of the address without a word.
    """
    check_linked(key, usable, expected)
    value = draw(key=key, bind="query-params")
    show_unread(key, value)
    return value


SWITCH: Final = ("true", "false")
"""What an address names for a switch."""


def is_number(text: str) -> bool:
    """Return whether an address names a finite number.

    >>> [is_number(text) for text in ("4.5", "1e3", "nan", "four")]
    [True, True, False, False]
    """
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_share(text: str) -> bool:
    """Return whether an address names a number from 0 to 1.

    >>> [is_share(text) for text in ("0", "0.5", "1.5", "nan")]
    [True, True, False, False]
    """
    return is_number(text) and 0 <= float(text) <= 1


def begin_page(title: str) -> None:
    """Forget what the address of another page named."""
    if workspace.get(Unread).page != title:
        workspace.forget(Unread)
        workspace.update(Unread, page=title)


def show_unread(key: str, shown: object) -> None:
    """Say what could not be used until another choice than the first one is `shown`."""
    noted = workspace.get(Unread).by_key
    sentence, first = noted.get(key, ("", None))
    if not sentence:
        return
    if first is None:
        workspace.update(Unread, by_key={**noted, key: (sentence, shown)})
    if first in (None, shown):
        st.warning(plain_markdown(sentence, 600))


def choose_one(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    first: str | None = None,
    shows_label: bool = False,
    help: str | None = None,
) -> str:
    """Draw a row of options of which one is always chosen, at first `first` or the first one.

    Once made, the choice is in the address under `key`. Any other value there counts as the first
    option; unless it is empty, a line says so.
    """
    check_linked(key, options)
    # Not the widget's default: "Next" and "Back" on Lessons set its value too, and Streamlit warns
    # about a widget that has both.
    if workspace.widget_text(key) not in options:
        # It has no value yet, or that of another page's choice of this name.
        workspace.set_widget(key, first or options[0])
    chosen = st.segmented_control(
        label,
        options=options,
        required=True,
        label_visibility="visible" if shows_label else "collapsed",
        key=key,
        bind="query-params",
        help=help,
    )
    # The type rules this out, but it happens after the browser's Back, and when an option is no
    # longer offered.
    if chosen is None or chosen not in options:
        workspace.forget_widgets(key)
        st.rerun()
    show_unread(key, chosen)
    return chosen


def choose_part(parts: Sequence[str], linked: str | None) -> str:
    """Draw the choice between a page's parts, kept in the address; return the chosen one.

    At first it is `linked`, if the address names no part but has something that is in that one.
    """
    return choose_one("Part of the page", parts, key="part", first=linked)


@dataclass(frozen=True, slots=True)
class Uploads:
    """What this session has uploaded."""

    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the files last seen in each uploader, by its key."""
    bytes_kept: int = 0
    """The total size of the files that this session has kept on the server's disk."""


class TooMuchUploadedError(BpeError):
    """A visitor's files exceed the limit in total."""


def upload_files(
    label: str,
    *,
    key: str,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    on_change: Callable[[], None] | None = None,
) -> list[UploadedFile]:
    """Draw an uploader for several files, and return its files; see `check_uploaded`."""
    uploads = st.file_uploader(
        label,
        accept_multiple_files=True,
        key=key,
        label_visibility=label_visibility,
        on_change=on_change,
    )
    _free_removed(key, uploads)
    return uploads


def upload_file(label: str, *, key: str) -> UploadedFile | None:
    """Draw an uploader for one file, and return the file; see `check_uploaded`."""
    upload = st.file_uploader(label, key=key)
    _free_removed(key, [] if upload is None else [upload])
    return upload


def check_uploaded() -> None:
    """Raise TooMuchUploadedError if this visitor's files in memory exceed the limit.

    Once it is exceeded, further files are refused before they arrive: see
    `ui.serving.server`.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    held = bytes_held(context.uploaded_file_mgr)
    if held.get(context.session_id, 0) > MAX_BYTES:
        raise TooMuchUploadedError(
            f"Your files exceed {MAX_BYTES / 1e6:,.0f} MB in total, so no more are accepted. "
            "Remove some, or reload the page to start again."
        )


@contextmanager
def counted_as_kept(n_bytes: int) -> Generator[None]:
    """Count `n_bytes` as kept on disk for this visitor if the block succeeds.

    Raises TooMuchUploadedError before the block if the visitor's total would exceed the limit.
    """
    kept = workspace.get(Uploads).bytes_kept + n_bytes
    if kept > MAX_BYTES:
        raise TooMuchUploadedError(
            f"The files kept for you would exceed {MAX_BYTES / 1e6:,.0f} MB in total. "
            "Add smaller ones, or reload the page to start again."
        )
    yield
    workspace.update(Uploads, bytes_kept=kept)


def _free_removed(key: str, uploads: Sequence[UploadedFile]) -> None:
    """Free the memory of files that are no longer in this uploader.

    After a form is cleared or a page is left, Streamlit itself keeps them until the session ends.
    """
    ids = workspace.get(Uploads).ids
    before = ids.get(key, ())
    now = tuple(upload.file_id for upload in uploads)
    if now == before:
        return
    workspace.update(Uploads, ids={**ids, key: now})
    context = get_script_run_ctx()
    if context is None or not isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        return
    for file_id in set(before) - set(now):
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)


def submitted_files(uploads: Sequence[UploadedFile]) -> list[tuple[str, bytes]]:
    """Return uploaded files; show an error and return none if they are too large together."""
    with errors_shown():
        check_uploaded()
        return [(upload.name, upload.getvalue()) for upload in uploads]
    return []


def max_file_bytes() -> int:
    """Return the limit for a single file; Streamlit counts 1,048,576 bytes as a megabyte."""
    return int(config.get_option("server.maxUploadSize")) * 1024 * 1024


def bytes_held(manager: UploadedFileManager) -> dict[str, int]:
    """Return the total size of each session's files in the server's memory, by session."""
    if not isinstance(manager, MemoryUploadedFileManager):
        return {}
    return {
        session: sum(len(file.data) for file in list(files.values()))
        for session, files in list(manager.file_storage.items())
    }
