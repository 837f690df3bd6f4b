"""Run the app without a browser: Python scripts run, JavaScript does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Reachability
from tests.browser.serving import running_app
from tests.new_process import ROOT
from ui.host import server_cache
from ui.serving.upkeep import warm_up_rest
from ui.shell.workspace import state_key
from ui.vocabulary import inspecting
from ui.work import Progress, Task, queue

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_RUN_SECONDS = 60


@pytest.fixture(scope="session")
def warm_cache() -> None:
    """Compute once what pages show of the sample run, which most tests open."""
    warm_up_rest()
    for page in ("train", "compare", "pair_frequencies", "vocabulary"):
        open_page(page)
    server_cache.note_lasting()


def open_page(
    page: str = "train", state: DataclassInstance | None = None, /, **query: str
) -> AppTest:
    """Open a page whose session begins with a state, such as the answers to questions."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=MAX_RUN_SECONDS)
    if state is not None:
        app.session_state[state_key(type(state))] = state
    app.query_params["goto"] = page
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server as `make run` does, and yield its address."""
    with running_app(tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture
def open_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_cache: None
) -> Iterator[Callable[..., AppTest]]:
    """Return a function that opens a page as a new visitor: open_app("compare", run="sample")."""
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "runs"))

    yield open_page
    queue.clear()
    server_cache.forget_all_but_lasting()


@pytest.fixture(scope="session", autouse=True)
def scan_packages_once() -> Iterator[None]:
    """Scan the installed packages for components once, not for each AppTest."""
    found = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda *_, **__: found)
        yield


@pytest.fixture(scope="session", autouse=True)
def compile_scripts_once() -> Iterator[None]:
    """Share one cache of compiled scripts, as a server does; AppTest makes one for each run."""
    shared = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: shared)
        yield


@pytest.fixture(scope="session", autouse=True)
def wait_for_scripts_and_allow_no_exception() -> Iterator[None]:
    """Wait for a script's thread, and fail if the page then shows an exception.

    AppTest polls a thousand times a second instead, which slows the script down.
    """
    require = local_script_runner.require_widgets_deltas

    def wait(runner: LocalScriptRunner, timeout: float) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(timeout)
        require(runner, timeout)
        drawn = [message.delta.new_element for message in runner.forward_msgs()]
        assert [each.exception for each in drawn if each.HasField("exception")] == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def search_small_vocabularies_once() -> Iterator[None]:
    """Search each small tokenizer once, because most tests need the sample tokenizer's result."""
    search = inspecting.find_unreachable

    @cache
    def found(tokenizer: Tokenizer) -> Reachability:
        return Reachability.of(tokenizer)

    def find(tokenizer: Tokenizer, task: Task[Progress]) -> Reachability:
        is_small = tokenizer.vocab_size <= inspecting.FEW_TOKENS
        return found(tokenizer) if is_small else search(tokenizer, task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspecting, "find_unreachable", find)
        yield
