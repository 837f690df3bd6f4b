"""The state of the Train page for each status of a job."""

from __future__ import annotations

import pytest

from ui.work.background import UnknownWorkError
from ui.work.jobs import JobStatus
from ui.work.page_state import (
    CancelledWithoutRun,
    Failed,
    Finished,
    Live,
    NoTraining,
    PageState,
    Unknown,
    page_state,
)
from ui.work.task import State


def job(state: State, *, error: str | None = None, run_id: str | None = None) -> JobStatus:
    return JobStatus("job", "rhyme", state, error=error, run_id=run_id)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (job("queued"), Live("job")),
        (job("running"), Live("job")),
        (job("finished", run_id="run"), Finished("run")),
        (job("cancelled", run_id="run"), Finished("run")),
        (job("cancelled"), CancelledWithoutRun()),
        (job("failed", error="too small"), Failed("job", "too small")),
    ],
)
def test_each_status_of_a_job_has_its_page_state(status: JobStatus, expected: PageState) -> None:
    assert page_state("job", lambda _: status) == expected


def test_without_a_job_no_status_is_requested() -> None:
    def get_status(job_id: str) -> JobStatus:
        raise AssertionError(job_id)

    assert page_state(None, get_status) == NoTraining()


def test_an_unknown_job_has_the_reason() -> None:
    def get_status(job_id: str) -> JobStatus:
        raise UnknownWorkError(f"no {job_id}")

    assert page_state("job", get_status) == Unknown("no job")
