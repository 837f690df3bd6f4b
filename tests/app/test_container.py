"""The container image, built and started by its own commands, writes only to its data folder."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit

from tests.browser.serving import running_app
from tests.image import (
    bare_environment,
    build_image,
    files_in,
    read_dockerfile,
    without_privileges,
)
from tests.new_process import ROOT

# Building the image compiles all kernels, which can take long.
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.more(why="half a minute for an image; the same server is tested without one"),
]


class Container:
    """A server that runs as it would in a container."""

    def __init__(self, url: str, app: Path, folder: Path) -> None:
        self.url = url
        self.app = app
        self.log_path = folder / "server.log"

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace")

    def health(self, port: str) -> int:
        command = read_dockerfile().health
        return subprocess.run(command, cwd=self.app, env=bare_environment(PORT=port)).returncode


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_image(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def container(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    folder = tmp_path_factory.mktemp("volume")
    (folder / "data").mkdir()
    start = without_privileges(read_dockerfile().start)

    def command(port: int) -> list[str]:
        settings = {"BPE_DATA": str(folder / "data"), "PORT": str(port), "HOST": "127.0.0.1"}
        named = [f"{name}={value}" for name, value in bare_environment(**settings).items()]
        return ["env", "-i", *named, "BPE_EXPLORER_METRICS=1", *start]

    before = files_in(image)
    with running_app(folder, command_of=command, folder=image) as url:
        yield Container(url, image, folder)
    assert files_in(image) == before


def test_the_health_check_succeeds_only_while_the_server_answers(container: Container) -> None:
    assert container.health(container.url.rpartition(":")[2]) == 0
    assert container.health("1") != 0


def test_kernels_are_built_in(container: Container) -> None:
    lines = [json.loads(line) for line in container.log.splitlines() if line.startswith("{")]
    (started,) = [line for line in lines if line["event"] == "server_started"]
    assert started["kernels_compiled"] is True


def test_the_policy_allows_the_script_in_streamlits_page() -> None:
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in (ROOT / "deploy" / "nginx.conf").read_text("utf-8")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"BPE_EXPLORER_QUEUE": "lots"}, "BPE_EXPLORER_QUEUE is 'lots'; expected a whole number"),
        ({"BPE_DATA": "/proc/nowhere"}, "/proc/nowhere cannot be written by user "),
    ],
)
def test_a_container_that_cannot_start_says_why(
    image: Path, tmp_path: Path, variables: dict[str, str], message: str
) -> None:
    done = subprocess.run(
        read_dockerfile().start,
        cwd=image,
        env=bare_environment(**{"BPE_DATA": str(tmp_path), **variables}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"BPE Explorer did not start: {message}")


def test_another_start_keeps_the_kernels_and_the_runs(image: Path, tmp_path: Path) -> None:
    # Replace the server with a program that prints its environment.
    data = tmp_path / "data"
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", image, copy], check=True)
    os.unlink(copy / ".venv")
    (copy / ".venv" / "bin").mkdir(parents=True)
    python = copy / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\nenv | grep -E 'NUMBA|TMPDIR|RUNS' | sort\n")
    python.chmod(0o755)

    def start() -> dict[str, str]:
        done = subprocess.run(
            read_dockerfile().start,
            cwd=copy,
            env=bare_environment(BPE_DATA=str(data)),
            capture_output=True,
            text=True,
            check=True,
        )
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    first = start()
    folder = Path(first["NUMBA_CACHE_DIR"])
    assert first["BPE_EXPLORER_RUNS"] == str(data / "runs")
    stamps = [path.name for path in (image / "kernels").glob("kernels-*")]
    assert folder == data / "kernels" / stamps[0]
    assert {path.name for path in (image / "kernels").iterdir()} == {
        path.name for path in folder.iterdir()
    }
    (folder / "of_this_processor").touch()
    (data / "runs" / "a").touch()
    (data / "tmp" / "left").touch()
    assert start() == first
    assert (folder / "of_this_processor").exists()
    assert (data / "runs" / "a").exists()
    assert not (data / "tmp" / "left").exists()
    # The kernels of a newer image replace the old ones.
    (copy / "kernels").chmod(0o755)
    os.rename(copy / "kernels" / stamps[0], copy / "kernels" / "kernels-other")
    assert Path(start()["NUMBA_CACHE_DIR"]) == data / "kernels" / "kernels-other"
    assert not folder.exists()
