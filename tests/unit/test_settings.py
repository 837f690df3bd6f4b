"""Settings from the environment: checked when the server starts, and documented in one table."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields

import pytest

from tests.new_process import ROOT, run_python
from ui.host import SettingError
from ui.host.server_settings import PREFIX, SETTINGS, Settings, parse_settings, settings_table

INVALID = {
    "STORE_GB": ("0", "-1", "nan", "inf", "four", "4 GB"),
    "DAYS_KEPT": ("1", "0", "9999", "3.5", "ninety"),
    "UPLOADS_MB": ("0", "1e3", "1000001", "x"),
    "QUEUE": ("0", "-3", "1001", "lots"),
    "HUB": ("on", "org", "org/", "*/model", "o*g/m", "../x", "hf:org/m", "org/m@v1"),
    "METRICS": ("yes", "true", "2"),
    "LOG_LEVEL": ("loud", "trace"),
}


def test_without_variables_all_have_their_defaults() -> None:
    assert parse_settings({}) == Settings("", "", ("*",), 4.0, 90, 2000, 500, 16, False, "info")
    empty = {each.name: " " for each in SETTINGS}
    assert parse_settings(empty) == parse_settings({"PATH": "/bin"}) == parse_settings({})


def test_each_variable_sets_its_field() -> None:
    values = ("/data", "/kept", "org/*, a/b", "0.5", "7", "80", "150", "3", "1", "ERROR")
    given = {each.name: value for each, value in zip(SETTINGS, values, strict=True)}
    assert parse_settings(given) == Settings(
        "/data", "/kept", ("org/*", "a/b"), 0.5, 7, 80, 150, 3, True, "error"
    )
    assert [each.field for each in SETTINGS] == [each.name for each in fields(Settings)]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in INVALID.items() for value in values]
)
def test_the_error_for_an_invalid_value_says_what_is_expected(name: str, value: str) -> None:
    (setting,) = [each for each in SETTINGS if each.name == PREFIX + name]
    with pytest.raises(SettingError) as raised:
        parse_settings({PREFIX + name: value})
    assert str(raised.value) == (
        f"{PREFIX}{name} is {value!r}; expected {setting.expected}. "
        f"Without it, the value is {setting.default}."
    )


def test_a_misspelled_variable_is_not_ignored() -> None:
    with pytest.raises(SettingError, match=r"METRIC is not a setting. Did you mean .*_METRICS?"):
        parse_settings({"BPE_EXPLORER_METRIC": "1"})
    with pytest.raises(
        SettingError, match=r"ZZZ is not a setting. Known settings: BPE_EXPLORER_RUNS, "
    ):
        parse_settings({"BPE_EXPLORER_ZZZ": "1"})


@pytest.mark.slow
def test_a_server_does_not_start_with_an_invalid_setting() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import app"],
        cwd=ROOT,
        env={**os.environ, "BPE_EXPLORER_QUEUE": "lots"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "BPE Explorer did not start: BPE_EXPLORER_QUEUE is 'lots'; expected a whole number from "
        "1 to 1000. Without it, the value is 16."
    ]


@pytest.mark.slow
def test_the_limits_that_the_app_enforces_are_the_settings() -> None:
    code = (
        "import app\n"
        "from ui.shell import form_fields\n"
        "from ui.storage import keeping\n"
        "from ui.work import jobs\n"
        "print(keeping.MAX_BYTES_KEPT, keeping.DAYS_KEPT_UNOPENED, jobs.TRAIN.max_waiting,\n"
        "      form_fields.MAX_BYTES)\n"
    )
    chosen = {"STORE_GB": "0.5", "DAYS_KEPT": "7", "UPLOADS_MB": "160", "QUEUE": "3"}
    named = {PREFIX + name: value for name, value in chosen.items()}
    assert run_python(code, named).split() == ["500000000", "7", "3", "40000000"]


def test_the_documented_table_is_the_one_in_the_code() -> None:
    assert settings_table() in (ROOT / "docs" / "operations.md").read_text("utf-8")
