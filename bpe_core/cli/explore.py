"""Start the app from wherever it is installed: the command `bpe explore`."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import click

from bpe_core.errors import UnavailableError
from bpe_core.extras import missing_extra, needs_extra
from bpe_core.files import Store
from bpe_core.kernels import PLAIN_PYTHON, lacks_kernels
from bpe_core.views import CHECKOUT, INSTALLED

_ALL_ADDRESSES: Final = ("0.0.0.0", "::")
_ELSEWHERE: Final = ("192.0.2.1", 9)
"""An address that no machine has: it is in a range for documentation."""
_PACKAGES: Final = ("streamlit", "plotly", "pandas", "platformdirs")


class ServerCommand(NamedTuple):
    """The command that starts the app's server, with its folder and environment."""

    command: tuple[str, ...]
    folder: Path
    """The app's own folder, in which the server finds its modules and .streamlit/config.toml."""
    environment: Mapping[str, str]


def plan_start(port: int, host: str) -> ServerCommand:
    """Return how to start the app on a port of an address.

    Raises `MissingExtraError` if Streamlit is not installed, and `UnavailableError` if the app's
    files are missing.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise missing_extra("app", "The app", f"No module named {package!r}")
    folder = next((each for each in (INSTALLED, CHECKOUT) if (each / "app.py").is_file()), None)
    if folder is None:
        raise UnavailableError(
            f"The app's files are missing from {INSTALLED}. "
            'Run: pip install --force-reinstall "bpe-explorer[app]"'
        )
    environment = dict(os.environ)
    if runs := environment.get(Store.VARIABLE):
        # The server runs in a different folder from the caller's.
        environment[Store.VARIABLE] = str(Path(runs).absolute())
    printed = "127.0.0.1" if host in _ALL_ADDRESSES else host
    options = (
        f"--server.port={port}",
        f"--server.address={host}",
        f"--browser.serverAddress={f'[{printed}]' if ':' in printed else printed}",
    )
    command = (sys.executable, "-m", "streamlit", "run", str(folder / "app.py"), *options)
    return ServerCommand(command, folder, environment)


def start_app(port: int, host: str, *, classroom: bool = False) -> NoReturn:
    """Replace this process with the app's server, or on Windows wait for it to end.

    classroom: print the address for others, also as a QR code. Raises what `plan_start` raises, and
    `UnavailableError` if this machine has no such address, or none for others.
    """
    command, folder, environment = plan_start(port, host)
    is_loopback = check_address(host)
    if classroom and is_loopback:
        raise UnavailableError(
            f"Only this machine can open {host}. Give its address in the network of the class with "
            "--host, or leave --host out."
        )
    if lacks_kernels():
        click.echo(PLAIN_PYTHON, err=True)
    if classroom:
        is_everywhere = host in _ALL_ADDRESSES
        network = "every network of this machine" if is_everywhere else f"the network of {host}"
        address = find_address() if is_everywhere else host
        place = f"http://{f'[{address}]' if ':' in address else address}:{port}"
        click.echo(
            f"Everyone in {network} can use the app until you press Ctrl+C here. "
            f"Their browsers open\n\n  {place}\n"
        )
        for line in draw_qr_code(place):
            # In these colours on every terminal; a code with light squares on dark may not be read.
            click.secho(line, fg="bright_white", bg="black")
    elif host in _ALL_ADDRESSES:
        click.echo(
            f"Other machines can open the app at this machine's network address, on port {port}.\n"
            "To let them use a name, set STREAMLIT_SERVER_ALLOWED_HOSTS to it."
        )
    os.chdir(folder)
    sys.stdout.flush()
    if sys.platform == "win32":  # the prompt would come back while the server runs
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    os.execve(command[0], command, environment)


def check_address(host: str) -> bool:
    """Return True if only this machine can open an address of its own.

    Raises `UnavailableError` if it has no such address; Streamlit would show a traceback.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, 0), family=family) as server:
            return ip_address(server.getsockname()[0]).is_loopback
    except (OSError, UnicodeError):
        raise UnavailableError(
            f"This machine has no address {host}. Give one of its own with --host, or leave it out."
        ) from None


def find_address() -> str:
    """Return this machine's address in its network.

    Raises `UnavailableError` if it is in none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            # Nothing is sent: the system only chooses the address to send from.
            asking.connect(_ELSEWHERE)
        except OSError:
            raise UnavailableError(
                "This machine has no address that others could open. Connect it to their network, "
                "or give its address with --host."
            ) from None
        return asking.getsockname()[0]


def draw_qr_code(text: str) -> list[str]:
    """Return the lines that show a QR code in a terminal, two rows of squares in each.

    Raises `MissingExtraError` if the package that makes it is not installed.
    """
    with needs_extra("app", "A QR code"):
        import segno

    drawn = io.StringIO()
    segno.make(text, error="m", micro=False).terminal(drawn, compact=True)
    return drawn.getvalue().splitlines()
