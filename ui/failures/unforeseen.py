"""What is told and logged of an error that nobody foresaw: never a visitor's words."""

from __future__ import annotations

import logging
import traceback

_log = logging.getLogger(__name__)


def told_of_unforeseen(error: BaseException, what: str = "It") -> str:
    """Log an unforeseen error, and return the sentence to show of it; `what` is its subject.

    Both give the error's type, and the log its frames. Neither gives its message, which may quote
    the visitor's text.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s ended in an unforeseen %s\n%s", what, type(error).__name__, frames)
    return f"{what} stopped because of an error in the app ({type(error).__name__})."
