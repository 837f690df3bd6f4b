"""End a child process with its parent."""

from __future__ import annotations

import os
import threading


def follow_parent() -> None:
    """Exit once the standard input closes, which it does when the parent ends, even if killed."""

    def follow() -> None:
        # Not through sys.stdin, which Python locks at exit.
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=follow, name="parent", daemon=True).start()
