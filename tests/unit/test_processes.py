"""A function runs in another process as it would here, within limits, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from multiprocessing.connection import Pipe
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from bpe_core.errors import (
    BpeError,
    FormatError,
    MemoryLimitError,
    ProcessError,
    TimeLimitError,
    UnforeseenError,
)
from bpe_core.processes import Limits, call, stream
from bpe_core.processes.calling import receive, send
from tests import in_child
from tests.new_process import ROOT, children_with

LIMITS = Limits(seconds=60)
UNFORESEEN = "It stopped because of an error in the app"


def children() -> list[psutil.Process]:
    return children_with("bpe_core.processes.child")


def test_values_arrive_as_they_were_sent() -> None:
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    whole = in_child.Whole(
        parts=(in_child.Part("a", np.array([1, -2])), in_child.Part("é", np.array([], np.int64))),
        table=table[:, ::2],
        places={"x": [1, 2]},
        names=frozenset({"a"}),  # the order of more in their repr may differ
        data=b"\xff" * 100_000,
        path=Path("a/b"),
        next=in_child.Part("next", np.array([2**62])),
    )
    found = call(in_child.pass_back, whole, limits=LIMITS)
    assert repr(found) == repr(whole)
    assert found.table.tolist() == table[:, ::2].tolist()
    assert call(in_child.total, counts=np.array([2, 3]), limits=LIMITS) == 5


def test_a_generator_is_followed_until_it_ends_or_is_closed() -> None:
    assert list(stream(in_child.count_to, 3, limits=LIMITS)) == [1, 2, 3]
    endless = stream(in_child.count_to, 10**12, limits=LIMITS)
    assert [next(endless), next(endless)] == [1, 2]
    assert children()
    endless.close()
    assert not children()
    failing = stream(in_child.fail_after_one, limits=LIMITS)
    assert next(failing) == 1
    with pytest.raises(FormatError, match="no more"):
        next(failing)


@pytest.mark.parametrize(
    ("how", "limits", "error", "message"),
    [
        ("own", LIMITS, in_child.OwnError, "a.txt is no tokenizer. Use another."),
        ("unforeseen", LIMITS, UnforeseenError, f"{UNFORESEEN} (KeyError)."),
        (
            "memory",
            Limits(60, 2 * Limits.GB),
            MemoryLimitError,
            "It took more than 2.0 GB of memory.",
        ),
        ("exit", LIMITS, UnforeseenError, f"{UNFORESEEN} (SystemExit)."),
        ("signal", LIMITS, ProcessError, "The process crashed (signal 40)."),
        ("crash", LIMITS, ProcessError, "The process crashed (SIGSEGV)."),
        ("processor", Limits(60, None, 1), TimeLimitError, "It took more than 1 seconds."),
        ("wait", Limits(1), TimeLimitError, "It took more than 1 seconds."),
        ("half a message", Limits(1), TimeLimitError, "It took more than 1 seconds."),
        (
            "a message without end",
            Limits(1, Limits.GB),
            TimeLimitError,
            "It took more than 1 seconds.",
        ),
    ],
)
def test_errors_say_what_happened_and_quote_no_text(
    how: str,
    limits: Limits,
    error: type[BpeError],
    message: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(BpeError) as found:
        call(in_child.fail, how, limits=limits)
    assert type(found.value) is error
    assert str(found.value) == message
    assert capfd.readouterr() == ("", "")
    assert not children()


def test_an_answer_of_another_type_is_an_error() -> None:
    with pytest.raises(UnforeseenError, match="ValidationError"):
        call(in_child.wrong_kind, limits=LIMITS)


@pytest.mark.parametrize(
    ("plain", "annotation"),
    [
        ((0, "<i8", (1,)), NDArray[np.int64]),
        ((-1, "O", (1,)), NDArray[np.int64]),
        ((0, "<i8,", ()), NDArray[np.int64]),
        ("text", int),
    ],
)
def test_what_a_process_cannot_mean_is_an_error(plain: object, annotation: object) -> None:
    here, there = Pipe()
    with here, there:
        send(here, "answer", plain)
        with pytest.raises(UnforeseenError):
            receive(there).value(annotation)
        send(here, "answer", bytes(100))
        with pytest.raises(EOFError):
            receive(there, 50)


CALL = """
from bpe_core.processes.calling import call
from bpe_core.processes.limits import Limits
from bpe_core.unicode.byte_tables import to_printable
print(call(to_printable, b" hug", limits=Limits(60)))
"""


def test_no_module_is_hidden_by_a_file_in_the_current_folder_or_a_backport(tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(CALL)
    (tmp_path / "msgspec.py").write_text("raise ImportError('from the current folder')")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "bpe_core").symlink_to(ROOT / "bpe_core")
    (packages / "typing.py").write_text("raise ImportError('a backport')")
    code = f"import sys; sys.path.append({str(packages)!r}); exec(open({str(script)!r}).read())"
    for command in ([script], ["-P", "-c", code]):
        environment = {**os.environ, "PYTHONPATH": "" if "-c" in command else str(ROOT)}
        ran = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.stdout, ran.stderr) == ("Ġhug\n", "")


def test_a_killed_process_is_an_error() -> None:
    def kill(part: in_child.Part) -> None:
        if part.name == "last":
            os.kill(part.counts[0], signal.SIGKILL)

    with pytest.raises(ProcessError, match="most likely because memory ran out"):
        call(in_child.report_and_wait, limits=LIMITS, on_progress=kill)


def test_progress_arrives_in_order_and_work_can_finish_early() -> None:
    seen: list[in_child.Part] = []
    found = call(
        in_child.report_and_wait,
        limits=LIMITS,
        on_progress=seen.append,
        should_finish=lambda: len(seen) == 2,
    )
    assert found == [1, 2, 3]
    assert [part.name for part in seen] == ["first", "last"]


def test_work_that_should_stop_is_ended_at_once() -> None:
    seen: list[in_child.Part] = []
    with pytest.raises(CancelledError):
        call(
            in_child.report_and_wait,
            limits=LIMITS,
            on_progress=seen.append,
            should_stop=lambda: len(seen) == 2,
        )
    assert not children()


def test_what_a_callback_raises_ends_the_work() -> None:
    def stop(_: object) -> None:
        raise FormatError("no")

    with pytest.raises(FormatError, match="no"):
        call(in_child.report_and_wait, limits=LIMITS, on_progress=stop)
    assert not children()

    def look() -> bool:
        raise FileNotFoundError("no folder")

    with pytest.raises(FileNotFoundError, match="no folder"):
        call(in_child.report_and_wait, limits=LIMITS, should_stop=look)
    assert not children()


@pytest.mark.parametrize("function", [lambda: 1, os.getpid])
def test_only_functions_of_our_modules_are_called(function: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match=r"another package|the top of"):
        call(function, limits=LIMITS)
    with pytest.raises(TypeError):
        call(in_child.total, 1, 2, limits=LIMITS)


def test_a_process_ends_with_its_parent() -> None:
    code = (
        "from bpe_core.processes.calling import call\n"
        "from bpe_core.processes.limits import Limits\n"
        "from tests.in_child import report_and_wait\n"
        "call(report_and_wait, limits=Limits(60),\n"
        "     on_progress=lambda part: print(part.counts[-1], flush=True))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    deadline = time.monotonic() + 60
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)
