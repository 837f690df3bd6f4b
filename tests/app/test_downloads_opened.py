"""Train opens each download in the library that reads it, and shows the result."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from bpe_core.formats.checking.readers import find_reader
from bpe_core.formats.transformers_folder import FOLDER
from tests.app.pages import OpenApp, page_text, unescaped_text
from tests.app.training import known_work
from tests.waiting import wait_until
from ui.run.downloads import checks, downloads
from ui.storage.run_store import SAMPLE_RUN_ID, load_run
from ui.work.background import TooMuchWorkError
from ui.work.task import Status

FORMATS = ("huggingface", "transformers", "gpt2", "tiktoken", "gguf", "native")


def test_each_download_is_opened_in_the_background(open_app: OpenApp) -> None:
    app = open_app()
    wait_until(checks(), known_work(checks()))
    app.run()
    shown = unescaped_text(app)
    for format in FORMATS:
        assert f"no reader of {format}" in shown
    assert "Opening it" not in shown


def test_the_lines_that_load_a_download_are_beside_it(open_app: OpenApp) -> None:
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    shown = [code.value for code in open_app().code]
    for format in FORMATS:
        lines = find_reader(format).lines(tokenizer).code.strip()
        assert any(code.endswith(lines) for code in shown)
    assert "bpe encode-corpus corpus/ -t tokenizer.json --out tokens/" in shown


def test_the_transformers_folder_unzips_to_the_folder_that_its_lines_open() -> None:
    (folder,) = (each for each in downloads(SAMPLE_RUN_ID) if each.format == "transformers")
    assert folder.data is not None
    with ZipFile(BytesIO(folder.data())) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {FOLDER}
    assert f'from_pretrained("{FOLDER}")' in folder.code


def test_slow_checks_and_a_busy_server_leave_the_downloads(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise TooMuchWorkError("32 others are already waiting.")

    live = Status("id", "", "running", 0, None, False, 0.0, 0.0, None, None)
    monkeypatch.setattr(checks(), "status", lambda _: live)
    for check, said in ((lambda *_: live, "Opening it with"), (refuse, "Not checked yet")):
        monkeypatch.setattr("ui.run.download_rows.check_formats", check)
        app = open_app()
        assert not app.error
        assert len(app.get("download_button")) == 6
        assert said in page_text(app)
