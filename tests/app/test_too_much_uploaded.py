"""The limit on a visitor's uploads: stated at each uploader, and again once it is exceeded."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.formats.load_save import dumps
from bpe_core.tokenizer.gpt2 import gpt2
from tests.app.pages import OpenApp, errors, in_address, page_text, press, upload
from tests.app.training import assert_press_is_refused, choose
from ui.shell import file_upload

TEXT = b"hug hugs pug pugs\n" * 60
FILES = (("a.txt", TEXT), ("b.txt", TEXT))
LIMIT = "Up to 500 MB in total."
PROBLEM = "Your files exceed 0 MB in total"


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_upload, "MAX_BYTES", 2_000)


def submit(app: AppTest, uploader: str, button: str, *files: tuple[str, bytes]) -> AppTest:
    (key,) = (each.key for each in app.file_uploader if str(each.key).startswith(uploader))
    return press(upload(app, str(key), *files), button)


@pytest.mark.usefixtures("small_limit")
def test_train_reads_files_up_to_the_limit(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Upload")
    assert LIMIT in page_text(app)
    upload(app, "corpus_uploads", ("a.txt", TEXT))
    assert not app.error
    assert not app.button(key="train").disabled
    upload(app, "corpus_uploads", *FILES)
    assert PROBLEM in errors(app)
    assert_press_is_refused(app)


@pytest.mark.usefixtures("small_limit")
def test_other_pages_read_files_up_to_the_limit(open_app: OpenApp) -> None:
    app = open_app("pair_frequencies", part="How large?")
    upload(app, "held_out_files", *FILES)
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
    submit(app, uploader, button, *FILES)
    assert errors(app).startswith(PROBLEM)


def test_tokenizers_and_sentences_are_kept_for_one_visit_up_to_the_limit(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("compare")
    first, second = (dumps(gpt2().truncated(n), "native") for n in (20, 21))
    monkeypatch.setattr(file_upload, "MAX_BYTES", sum(map(len, first.values())) + 1_000)
    for files in (first, second):
        submit(app, "add_upload", "Add from files", *files.items())
    assert "kept for you would exceed" in errors(app)
    assert in_address(app, "with").count("file-") == 1
    app.segmented_control(key="part").set_value("Languages").run()
    submit(app, "parallel_upload", "Compare these", ("a.csv", b"English,German\nHi.,Hallo.\n" * 99))
    assert "kept for you would exceed" in errors(app)
    assert "sentences" not in app.query_params
