"""How `bpe explore` starts the app; `test_installed_app.py` does it, with a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bpe_core.cli import commands, explore
from bpe_core.cli.explore import start_of
from bpe_core.errors import MissingExtraError, UnavailableError

ROOT = Path(__file__).parents[2]


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an app of two empty files where an installed one would be."""
    app = folder / "bpe_explorer"
    app.mkdir()
    (app / "app.py").touch()
    (app / "serve.py").touch()
    monkeypatch.setattr(explore, "_INSTALLED", app)
    return app


def test_a_checkout_starts_its_own_app_and_keeps_its_own_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BPE_EXPLORER_RUNS", raising=False)
    start = start_of(8600, "127.0.0.1")
    assert start.folder == ROOT
    assert start.command == (
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "serve.py")),
        *("--server.port=8600", "--server.address=127.0.0.1"),
    )
    assert "BPE_EXPLORER_RUNS" not in start.environment


def test_an_installed_app_keeps_runs_in_the_user_s_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = installed(tmp_path, monkeypatch)
    monkeypatch.delenv("BPE_EXPLORER_RUNS", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    start = start_of(8501, "127.0.0.1")
    assert start.folder == app
    runs = "/home/somebody/.local/share/bpe-explorer/runs"
    assert start.environment["BPE_EXPLORER_RUNS"] == runs
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    runs = start_of(8501, "127.0.0.1").environment["BPE_EXPLORER_RUNS"]
    assert runs == "/data/bpe-explorer/runs"


def test_a_folder_named_for_runs_is_the_caller_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BPE_EXPLORER_RUNS", "mine")
    assert start_of(8501, "::1").environment["BPE_EXPLORER_RUNS"] == str(tmp_path / "mine")


@pytest.mark.parametrize("package", ["streamlit", "plotly", "pandas"])
def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # how Python marks what is not there
    with pytest.raises(MissingExtraError, match=r'pip install "bpe-explorer\[app\]"$'):
        start_of(8501, "127.0.0.1")
    result = CliRunner().invoke(commands.main, ["explore"])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"Error: The app needs a package that is not installed (No module named '{package}'). "
        'Run: pip install "bpe-explorer[app]"'
    ]


def test_an_app_without_its_files_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = installed(tmp_path, monkeypatch)
    (app / "serve.py").unlink()
    monkeypatch.setattr(explore, "_BESIDE", tmp_path)
    with pytest.raises(UnavailableError, match="--force-reinstall"):
        start_of(8501, "127.0.0.1")


@pytest.mark.parametrize("port", ["0", "70000", "http"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    result = CliRunner().invoke(commands.main, ["explore", "--port", port])
    assert result.exit_code == 2
    assert "--port" in result.stderr
