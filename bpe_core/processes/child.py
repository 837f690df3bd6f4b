"""Run one function in this process, which `call` started, and send what it returns or raises.

`python -m bpe_core.processes.child DESCRIPTOR NAME` receives the limits and the arguments of the
function through the socket DESCRIPTOR, or on Windows the pipe with that handle. It exits when the
parent ends, even if that is killed.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable
from multiprocessing import connection as connections
from multiprocessing.connection import Connection
from typing import Any, get_type_hints

from bpe_core.errors import BpeError
from bpe_core.processes.calling import find, full_name, receive, send
from bpe_core.processes.limits import Limits, Report, limit_this_process


def _main(descriptor: int, name: str) -> None:
    windows = getattr(connections, "PipeConnection", None)
    connection: Connection = (windows or Connection)(descriptor)
    limit_this_process(receive(connection).value(Limits))
    try:
        _answer(connection, find(name))
    except MemoryError:
        send(connection, "memory", None)
    except BpeError as error:
        send(connection, "error", (full_name(type(error)), str(error.args[0])))
    except BaseException as error:
        # Panics in Rust code derive from BaseException.
        send(connection, "unforeseen", type(error).__name__)


def _answer(connection: Connection, function: Callable[..., Any]) -> None:
    annotations = get_type_hints(function)
    arguments = receive(connection).arguments(annotations)
    should_finish = threading.Event()
    follower = threading.Thread(target=_follow_parent, args=[connection, should_finish])
    follower.daemon = True
    follower.start()
    if "report" in annotations:
        arguments["report"] = Report[Any](
            lambda progress: send(connection, "progress", progress), should_finish.is_set
        )
    answer = function(**arguments)
    if inspect.isgenerator(answer):
        for item in answer:
            send(connection, "item", item)
        answer = None
    send(connection, "answer", answer)


def _follow_parent(connection: Connection, should_finish: threading.Event) -> None:
    """Wait for the parent's message that the function is to finish, and for its end."""
    try:
        while True:
            receive(connection)
            should_finish.set()
    except EOFError:
        os._exit(1)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
