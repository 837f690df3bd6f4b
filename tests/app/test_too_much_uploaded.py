"""The limit on a visitor's uploads: stated at each uploader, and again once it is exceeded."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.formats.load_save import dumps
from bpe_core.tokenizer.gpt2 import gpt2
from tests.app.pages import OpenApp, page_text
from tests.app.training import assert_press_is_refused, choose, in_address
from ui.shell import file_upload

TEXT = b"hug hugs pug pugs\n" * 60
LIMIT = "Up to 500 MB in total."
PROBLEM = "Your files exceed 0 MB in total"


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_upload, "MAX_BYTES", 2_000)


def errors(app: AppTest) -> str:
    return "\n".join(error.value for error in app.error)


def submit(app: AppTest, uploader: str, button: str, files: dict[str, bytes]) -> AppTest:
    (field,) = (each for each in app.file_uploader if (each.key or "").startswith(uploader))
    field.set_value([(name, data, "text/plain") for name, data in files.items()]).run()
    (pressed,) = (each for each in app.button if each.label == button)
    pressed.click().run()
    return app


@pytest.mark.usefixtures("small_limit")
def test_train_reads_files_up_to_the_limit(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Upload")
    assert LIMIT in page_text(app)
    uploader = app.file_uploader(key="corpus_uploads")
    uploader.set_value([("a.txt", TEXT, "text/plain")]).run()
    assert not app.error
    assert not app.button(key="train").disabled
    uploader = app.file_uploader(key="corpus_uploads")
    uploader.set_value([(name, TEXT, "text/plain") for name in ("a.txt", "b.txt")]).run()
    assert PROBLEM in errors(app)
    assert_press_is_refused(app)


@pytest.mark.usefixtures("small_limit")
def test_other_pages_read_files_up_to_the_limit(open_app: OpenApp) -> None:
    files = [(name, TEXT, "text/plain") for name in ("a.txt", "b.txt")]
    app = open_app("pair_frequencies", part="How large?")
    app.file_uploader(key="held_out_files").set_value(files).run()
    assert PROBLEM in errors(app)
    app = open_app("token_boundaries")
    app.file_uploader(key="boundaries_file").upload("c.txt", 2 * TEXT, "text/plain").run()
    assert PROBLEM in errors(app)


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize(
    ("uploader", "button"),
    [("add_upload", "Add from files"), ("parallel_upload", "Compare these")],
)
def test_the_forms_of_compare_take_files_up_to_the_limit(
    open_app: OpenApp, uploader: str, button: str
) -> None:
    app = open_app("compare", part="Languages")
    assert page_text(app).count(LIMIT) == 2
    submit(app, uploader, button, {"a.txt": TEXT, "b.txt": TEXT})
    assert errors(app).startswith(PROBLEM)


def test_tokenizers_are_kept_for_one_visit_up_to_the_limit(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("compare")
    first, second = (dumps(gpt2().truncated(n), "native") for n in (20, 21))
    monkeypatch.setattr(file_upload, "MAX_BYTES", sum(map(len, first.values())) + 1_000)
    for files in (first, second):
        submit(app, "add_upload", "Add from files", files)
    assert "kept for you would exceed" in errors(app)
    assert in_address(app, "with").count("file-") == 1


def test_sentences_are_kept_for_one_visit_up_to_the_limit(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("compare", part="Languages")
    table = b"English,German\nGood morning.,Guten Morgen.\n"
    monkeypatch.setattr(file_upload, "MAX_BYTES", len(table) + 1)
    submit(app, "parallel_upload", "Compare these", {"a.csv": table})
    assert not app.error
    kept = in_address(app, "sentences")
    submit(app, "parallel_upload", "Compare these", {"a.csv": table.upper()})
    assert "kept for you would exceed" in errors(app)
    assert in_address(app, "sentences") == kept
