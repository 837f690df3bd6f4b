"""The server's log: JSON lines that say what happened, without any of a visitor's text."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

import bpe_core as bpe
from tests.new_process import ROOT
from tests.waiting import wait_until
from ui.host import Code, event, log_unforeseen, short_id
from ui.host.failures import MAX_ERRORS_A_MINUTE, MAX_EVENTS_A_MINUTE, handler_to, log_error
from ui.host.server_settings import Level
from ui.storage import CorpusOrigin
from ui.work import jobs

SECRET = "xyzzy-plugh"
ORIGIN = CorpusOrigin("paste", "", 0)
HOSTILE = f'{SECRET}\n{{"event":"forged"}} %s %(name)s \x1b[31m\u202e {"0" * 32} 203.0.113.7'


class Log:
    """Everything that is logged, at a level that a test chooses."""

    def __init__(self) -> None:
        self._stream = io.StringIO()
        self.listen("info")

    def listen(self, level: Level) -> None:
        handler_to(self._stream, level)

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    from streamlit import logger as streamlits

    loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
    before = [(each, each.level, each.handlers[:], each.propagate) for each in loggers]
    root, make = (logging.root.level, logging.root.handlers[:]), streamlits.setup_formatter
    yield Log()
    logging.captureWarnings(False)
    streamlits.setup_formatter = make
    logging.root.setLevel(root[0])
    logging.root.handlers[:] = root[1]
    for each, level, handlers, propagate in before:
        each.setLevel(level)
        each.handlers[:], each.propagate = handlers, propagate


def fail(text: str) -> None:
    raise RuntimeError(text)


def caught(text: str) -> RuntimeError:
    try:
        fail(text)
    except RuntimeError as error:
        return error
    raise AssertionError


def test_an_event_is_one_line_with_its_fields(log: Log) -> None:
    event("training_ended", job=short_id("an id"), outcome=Code("finished"), seconds=1.5)
    (line,) = log.lines
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "training_ended",
        "job": short_id("an id"),
        "outcome": "finished",
        "seconds": 1.5,
    }


@pytest.mark.parametrize("text", [HOSTILE, "two words", "", "a/b", "ü", "a" * 65])
def test_a_code_refuses_anything_but_a_word_without_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Expected a code of letters, digits, dots and under"):
        Code(text)


def test_an_event_refuses_plain_text(log: Log) -> None:
    with pytest.raises(TypeError, match=r"^Expected a number or a Code for title, got str\.$"):
        event("trained", title=SECRET)  # pyright: ignore[reportArgumentType]
    assert log.text == ""


def test_an_id_is_shortened_so_that_it_opens_nothing() -> None:
    ids = [f"{n:032x}" for n in range(100)]
    assert len({short_id(id) for id in ids}) == 100
    assert all(len(short_id(id)) == 8 and short_id(id) not in id for id in ids)


@pytest.mark.parametrize("name", ["ui.storage.keeping", "streamlit.runtime.app_session", "uvicorn"])
def test_messages_of_any_logger_are_left_out(log: Log, name: str) -> None:
    logger = logging.getLogger(name)
    logger.warning(HOSTILE)
    logger.error("Cannot write to %s: %s", HOSTILE, OSError(28, HOSTILE, HOSTILE))
    logger.error(caught(HOSTILE))
    try:
        fail(HOSTILE)
    except RuntimeError:
        logger.exception(HOSTILE)
    assert SECRET not in log.text
    assert "203.0.113" not in log.text
    assert "0" * 32 not in log.text
    warning, full, argument, raised = log.lines
    assert {line["event"] for line in log.lines} == {"log"}
    assert (warning["logger"], warning["level"]) == (name, "warning")
    assert warning["at"].startswith("tests/unit/test_logs.py:")
    assert (full["error"], full["errno"]) == ("OSError", "ENOSPC")
    for line in (argument, raised):
        assert line["error"] == "RuntimeError"
        assert line["frames"][-1].startswith("tests/unit/test_logs.py:")
        assert line["frames"][-1].endswith(" in fail")


def test_streamlits_loggers_made_later_are_included(log: Log) -> None:
    from streamlit.logger import get_logger

    late = get_logger("streamlit.made_in_a_test")
    late.warning(HOSTILE)
    del logging.root.manager.loggerDict[late.name]
    (line,) = log.lines
    assert (line["logger"], SECRET in log.text) == (late.name, False)


def test_unforeseen_errors_are_logged_with_their_frames(log: Log) -> None:
    log_unforeseen(caught(HOSTILE), "This page")
    log_error(caught(HOSTILE))
    assert SECRET not in log.text
    for line in log.lines:
        assert (line["level"], line["error"]) == ("error", "RuntimeError")
        assert line["frames"][-1].endswith(" in fail")


def test_a_level_is_chosen_for_events_and_warnings_for_libraries(log: Log) -> None:
    def logged(level: Level, own: int = logging.NOTSET) -> list[str]:
        before = len(log.lines)
        log.listen(level)
        library = logging.getLogger("a_library")
        library.setLevel(own)
        event("quiet", "debug")
        event("usual")
        event("bad", "error")
        library.info("x")
        library.warning("x")
        return [line["event"] for line in log.lines[before:]]

    assert logged("debug") == ["quiet", "usual", "bad", "log", "log"]
    assert logged("info") == ["usual", "bad", "log"]
    assert logged("warning") == ["bad", "log"]
    assert logged("error") == ["bad"]
    # A library that chooses its own level later gets no further.
    assert logged("info", logging.DEBUG) == ["usual", "bad", "log"]
    assert logged("error", logging.DEBUG) == ["bad"]


def test_a_flood_of_one_kind_leaves_a_few_lines_and_their_number(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    log.listen("info")
    library = logging.getLogger("a_library")

    def flood() -> None:
        for _ in range(1_000):
            library.error("%s", HOSTILE, exc_info=caught(HOSTILE))
            event("upload", bytes=1)
        try:
            int("x")
        except ValueError as error:
            log_error(error)

    flood()
    kinds = [(line["event"], line["level"]) for line in log.lines]
    assert kinds.count(("log", "error")) == MAX_ERRORS_A_MINUTE
    assert kinds.count(("upload", "info")) == MAX_EVENTS_A_MINUTE
    assert kinds[-1] == ("unforeseen_error", "error"), "another kind is not held back"
    assert not any("left_out" in line for line in log.lines)
    n_lines = len(log.lines)
    now = 61.0
    flood()
    later = log.lines[n_lines:]
    assert [line["left_out"] for line in later if "left_out" in line] == [
        1_000 - MAX_ERRORS_A_MINUTE,
        1_000 - MAX_EVENTS_A_MINUTE,
    ]
    assert SECRET not in log.text


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "finished"),
        (bpe.BpeError(HOSTILE), "BpeError"),
        (RuntimeError(HOSTILE), "TrainingStoppedError"),
    ],
)
def test_trainings_are_logged_without_title_or_id_or_error_text(
    log: Log, error: Exception | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = bpe.Corpus.from_text(f"the cat {SECRET} sat on the mat\n" * 50)

    def store(*_: object, **__: object) -> str:
        if error is not None:
            raise error
        return "f" * 32

    monkeypatch.setattr(jobs, "store_run_to_show", store)
    size = bpe.TrainingConfig(vocab_size=260)
    job_id = jobs.submit(corpus, size, title=HOSTILE, held_out_share=0.0, origin=ORIGIN)
    status = wait_until(jobs, job_id)
    assert status.state == ("finished" if error is None else "failed")
    if outcome == "TrainingStoppedError":
        assert "RuntimeError" in str(status.problem)
        assert SECRET not in str(status.problem)
    assert SECRET not in log.text
    assert job_id not in log.text
    started, ended = [line for line in log.lines if line["event"].startswith("training")]
    assert started["bytes"] == corpus.n_bytes
    assert started["job"] == ended["job"] == short_id(job_id)
    assert (ended["event"], ended["outcome"]) == ("training_ended", outcome)


_SERVER = f"""
import ctypes, subprocess, sys, threading, warnings
from ui.host.failures import event, log_as_json
print("before")
log_as_json("info")
event("started")
print("{SECRET}")
print("{SECRET}", file=sys.stderr)
subprocess.run(["sh", "-c", "echo {SECRET}; echo {SECRET} >&2"], check=True)
warnings.warn("{SECRET}")
def fail():
    raise RuntimeError("{SECRET}")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
END
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "last"),
    [("fail()", '"error": "RuntimeError"'), ("ctypes.string_at(0)", 'File "<string>", line ')],
)
def test_nothing_that_is_printed_reaches_the_log(end: str, last: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SERVER.replace("END", end)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stdout == "before\n"
    assert SECRET not in done.stderr
    lines = done.stderr.splitlines()
    first, warned, thread = (json.loads(line) for line in lines[:3])
    assert first["event"] == "started"
    assert warned["logger"] == "py.warnings"
    assert (thread["event"], thread["error"]) == ("unforeseen_error", "RuntimeError")
    assert any(last in line for line in lines[3:])
