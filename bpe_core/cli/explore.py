"""Start the app from wherever it is installed: the command `bpe explore`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from bpe_core.errors import UnavailableError
from bpe_core.extras import missing_extra

_BESIDE: Final = Path(__file__).absolute().parents[2]
_INSTALLED: Final = _BESIDE / "bpe_explorer"
_PACKAGES: Final = ("streamlit", "plotly", "pandas")


class Start(NamedTuple):
    """How the app's server is started."""

    command: tuple[str, ...]
    folder: Path
    """Where it runs: the app's own folder, whose modules and .streamlit/config.toml it finds."""
    environment: Mapping[str, str]


def start_of(port: int, host: str) -> Start:
    """Return how to start the app on a port of an address.

    Raises `MissingExtraError` if Streamlit is not installed, and `UnavailableError` if the app's
    files are missing.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise missing_extra("app", "The app", f"No module named {package!r}")
    folder = next((place for place in (_INSTALLED, _BESIDE) if _is_app(place)), None)
    if folder is None:
        raise UnavailableError(
            f"The app's files are missing from {_INSTALLED}. "
            'Run: pip install --force-reinstall "bpe-explorer[app]"'
        )
    environment = dict(os.environ)
    if runs := environment.get("BPE_EXPLORER_RUNS"):
        # The server runs in another folder than the caller's.
        environment["BPE_EXPLORER_RUNS"] = str(Path(runs).absolute())
    elif folder == _INSTALLED:
        # Installed packages are replaced by the next version, and often can't be written to.
        environment["BPE_EXPLORER_RUNS"] = str(_data_folder() / "bpe-explorer" / "runs")
    options = (f"--server.port={port}", f"--server.address={host}")
    command = (sys.executable, "-m", "streamlit", "run", str(folder / "serve.py"), *options)
    return Start(command, folder, environment)


def start_app(port: int, host: str) -> NoReturn:
    """Become the app's server; raises what `start_of` raises."""
    command, folder, environment = start_of(port, host)
    os.chdir(folder)
    sys.stdout.flush()
    os.execve(command[0], command, environment)


def _is_app(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("app.py", "serve.py"))


def _data_folder() -> Path:
    """Return the folder for a user's data, by the XDG base directory specification."""
    named = os.environ.get("XDG_DATA_HOME")
    return Path(named) if named else Path.home() / ".local" / "share"
