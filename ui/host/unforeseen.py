"""Log and describe unforeseen errors without quoting a visitor's text."""

from __future__ import annotations

import logging
import traceback

_log = logging.getLogger(__name__)


def log_unforeseen(error: BaseException, what: str = "It") -> str:
    """Log an unforeseen error, and return the sentence to show; `what` is its subject.

    Both name the error's type; the log has its stack frames too. The error's message is left out,
    because it may quote the visitor's text.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error(
        "%s ended in an unforeseen %s\n%s",
        what,
        type(error).__name__,
        frames,
        extra={"unforeseen": error},  # the server's log takes only the type and the frames
    )
    return f"{what} stopped because of an error in the app ({type(error).__name__})."
