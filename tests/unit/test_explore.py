"""`bpe explore` starts the app; `test_installed_app.py` starts it with a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import segno
from click.testing import CliRunner

from bpe_core.cli import commands, explore
from bpe_core.cli.explore import plan_start, start_app
from bpe_core.errors import MissingExtraError, UnavailableError
from tests.new_process import ROOT


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an empty file in place of an installed app."""
    app = folder / "bpe_explorer"
    app.mkdir()
    (app / "app.py").touch()
    monkeypatch.setattr(explore, "INSTALLED", app)
    return app


def test_a_checkout_starts_its_own_app(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BPE_EXPLORER_RUNS", raising=False)
    start = plan_start(8600, "127.0.0.1")
    assert start.folder == ROOT
    assert start.command == (
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(ROOT / "app.py"),
        "--server.port=8600",
        "--server.address=127.0.0.1",
        "--browser.serverAddress=127.0.0.1",
    )
    assert "BPE_EXPLORER_RUNS" not in start.environment


def test_an_installed_app_is_started_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = installed(tmp_path, monkeypatch)
    monkeypatch.delenv("BPE_EXPLORER_RUNS", raising=False)
    start = plan_start(8501, "127.0.0.1")
    assert start.folder == app
    assert "BPE_EXPLORER_RUNS" not in start.environment


def test_runs_are_kept_in_the_folder_that_the_caller_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BPE_EXPLORER_RUNS", "mine")
    assert plan_start(8501, "::1").environment["BPE_EXPLORER_RUNS"] == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("host", "printed"),
    [("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1"), ("::1", "[::1]"), ("192.0.2.7", "192.0.2.7")],
)
def test_the_address_to_open_is_given_so_that_no_service_is_asked_for_it(
    host: str, printed: str
) -> None:
    assert plan_start(8501, host).command[-1] == f"--browser.serverAddress={printed}"


def test_a_server_for_other_machines_says_how_they_open_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(explore.os, "execve", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    start_app(8600, "127.0.0.1")
    assert capsys.readouterr().out == ""
    start_app(8600, "0.0.0.0")
    said = capsys.readouterr().out
    assert "on port 8600" in said
    assert "STREAMLIT_SERVER_ALLOWED_HOSTS" in said


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """Return the commands of servers, which are not started."""
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(explore.os, "execve", lambda _, command, __: started.append(command))
    monkeypatch.chdir(tmp_path)
    return started


def squares(lines: list[str]) -> list[list[bool]]:
    """Return which squares of a drawn code are dark, row by row, without the light border."""
    halves = {" ": (True, True), "▀": (False, True), "▄": (True, False), "█": (False, False)}
    rows = [[halves[each][half] for each in line] for line in lines for half in (0, 1)]
    return [row[4:-4] for row in rows[4 : len(rows[0]) - 4]]


def test_a_classroom_is_shown_the_address_of_this_machine_and_its_code(
    no_server: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "find_address", lambda: "192.0.2.7")
    result = CliRunner().invoke(commands.main, ["explore", "--classroom", "--port", "8600"])
    assert result.exit_code == 0, result.output
    warning, _, address, _, *code = result.stdout.splitlines()
    assert warning.startswith("Everyone in every network of this machine can use the app")
    assert address == "  http://192.0.2.7:8600"
    expected = segno.make("http://192.0.2.7:8600", error="m", micro=False)
    assert squares(code) == [[bool(square) for square in row] for row in expected.matrix]
    (command,) = no_server
    assert "--server.address=0.0.0.0" in command


def test_a_server_without_kernels_says_what_to_install(
    no_server: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(explore, "lacks_kernels", lambda: True)
    start_app(8600, "127.0.0.1")
    assert capsys.readouterr().err.endswith('pip install "bpe-explorer[compile]"\n')
    assert len(no_server) == 1


def test_a_classroom_can_be_given_the_address(
    no_server: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "find_address", None)
    monkeypatch.setattr(explore, "check_address", lambda _: False)
    result = CliRunner().invoke(commands.main, ["explore", "--classroom", "--host", "2001:db8::7"])
    assert result.stdout.startswith("Everyone in the network of 2001:db8::7 can use the app")
    assert "  http://[2001:db8::7]:8501\n" in result.stdout
    assert "--server.address=2001:db8::7" in no_server[0]


@pytest.mark.parametrize(
    ("hosts", "options", "said"),
    [
        (["127.0.0.1", "127.0.0.2", "localhost"], ["--classroom"], "Only this machine can open"),
        (
            ["203.0.113.9", "2001:db8::9", "[::1]", "127.0.0.1:80", "a..b"],
            [],
            "This machine has no address",
        ),
    ],
)
def test_an_address_that_nobody_could_open_is_refused(
    no_server: list[tuple[str, ...]], hosts: list[str], options: list[str], said: str
) -> None:
    for host in hosts:
        result = CliRunner().invoke(commands.main, ["explore", *options, "--host", host])
        assert (result.exit_code, result.stdout, no_server) == (1, "", [])
        assert result.stderr.startswith(f"Error: {said} {host}.")


def test_the_address_is_the_one_that_packets_for_others_come_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explore, "_ELSEWHERE", ("127.0.0.2", 9))
    assert explore.find_address() == "127.0.0.1"
    monkeypatch.setattr(explore, "_ELSEWHERE", ("255.255.255.255", 9))  # refused without a route
    with pytest.raises(UnavailableError, match="--host"):
        explore.find_address()


def test_the_command_waits_for_the_server_where_no_process_can_be_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[tuple[str, ...]] = []

    def run(command: tuple[str, ...], **_: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(returncode=3)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(explore.subprocess, "run", run)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="3"):
        start_app(8600, "127.0.0.1")
    assert started == [plan_start(8600, "127.0.0.1").command]


@pytest.mark.parametrize("package", ["streamlit", "pandas"])
def test_the_error_for_a_missing_extra_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # Python's mark for a missing module
    with pytest.raises(MissingExtraError, match=r'pip install "bpe-explorer\[app\]"$'):
        plan_start(8501, "127.0.0.1")
    result = CliRunner().invoke(commands.main, ["explore"])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"Error: The app needs a package that is not installed (No module named '{package}'). "
        'Run: pip install "bpe-explorer[app]"'
    ]


def test_the_error_for_missing_app_files_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = installed(tmp_path, monkeypatch)
    (app / "app.py").unlink()
    monkeypatch.setattr(explore, "CHECKOUT", tmp_path)
    with pytest.raises(UnavailableError, match="--force-reinstall"):
        plan_start(8501, "127.0.0.1")


@pytest.mark.parametrize("port", ["0", "http"])
def test_an_invalid_port_is_refused(port: str) -> None:
    result = CliRunner().invoke(commands.main, ["explore", "--port", port])
    assert result.exit_code == 2
    assert "--port" in result.stderr
