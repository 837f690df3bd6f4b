"""A training stays in the address of its page until its end was shown."""

from __future__ import annotations

import pytest

from ui.shell import open_run
from ui.shell.open_run import follow
from ui.work.jobs import JobStatus


@pytest.mark.parametrize(
    ("job", "noted", "opened"),
    [
        (JobStatus("job", "rhyme", "queued"), ["job"], []),
        (JobStatus("job", "rhyme", "running"), ["job"], []),
        (JobStatus("job", "rhyme", "finished", run_id="run"), [None], ["run"]),
        (JobStatus("job", "rhyme", "cancelled", run_id="run"), [None], ["run"]),
        (JobStatus("job", "rhyme", "cancelled"), [None], []),
        (JobStatus("job", "rhyme", "failed", error="too small"), ["job"], []),
        (JobStatus("job", "", "unknown", error="no job"), [None], []),
        (None, [], []),
    ],
)
def test_each_status_of_a_job_is_followed(
    job: JobStatus | None,
    noted: list[str | None],
    opened: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_noted: list[str | None] = []
    all_opened: list[str] = []
    monkeypatch.setattr(open_run, "note_training", all_noted.append)
    monkeypatch.setattr(open_run, "open_run", all_opened.append)
    follow(job)
    assert (all_noted, all_opened) == (noted, opened)
