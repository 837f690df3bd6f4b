"""Uploads: columns of tables, encodings of texts, notes on both, files of counts, and limits."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

import bpe_core as bpe
from bpe_core.formats import dumps
from bpe_core.tokenizer import gpt2
from tests.app.pages import OpenApp, errors, in_address, page_text, press, unescaped_text, upload
from tests.app.training import assert_press_is_refused, choose, train
from tests.zipping import make_zip
from ui.corpus import ReadUploads
from ui.shell import form_fields
from ui.shell.workspace import state_key
from ui.storage import load_run

TITLES = [f"No {number}" for number in range(50)]
STORIES = [f"Nobody knows the number {number}, <b>bold</b> or\u202e not." for number in range(50)]


def open_with(open_app: OpenApp, *files: tuple[str, bytes]) -> AppTest:
    return upload(choose(open_app(), source="Upload"), "corpus_uploads", *files)


def make_csv(**columns: list[str]) -> bytes:
    rows = [columns.keys(), *zip(*columns.values(), strict=True)]
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows).encode()


def make_parquet(**columns: list[str]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def figures(app: AppTest) -> str:
    """Return the figures of the corpus as they were sent to the browser."""
    (strip,) = (
        element.proto.json
        for element in app.get("bidi_component")
        if element.proto.component_name == "bpe.corpus_strip"
    )
    return strip


def test_the_column_with_the_text_is_taken_and_another_can_be_chosen(open_app: OpenApp) -> None:
    app = open_with(open_app, ("talk.parquet", make_parquet(title=TITLES, words=STORIES)))
    field = app.selectbox(key="corpus_column")
    assert field.value == "words"
    assert field.options == ["words, 91% of the characters", "title, 9% of the characters"]
    # Escaped for Markdown, and with a name for the character that would reverse the line.
    assert "\\<b\\>bold\\<\\/b\\>" in "".join(element.value for element in app.markdown)
    assert "orU+202E not." in unescaped_text(app)
    assert all(story.partition(",")[0] in unescaped_text(app) for story in STORIES[:3])
    assert STORIES[3].partition(",")[0] not in unescaped_text(app)
    # The column that was taken is noted, but not as a warning.
    assert not app.warning
    assert "talk.parquet: took the column 'words' (91% of the characters)." in unescaped_text(app)
    before = figures(app)
    app.selectbox(key="corpus_column").set_value("title").run()
    assert all(f"- {title}\n" in unescaped_text(app) + "\n" for title in TITLES[:3])
    assert figures(app) != before
    before = figures(app)
    app.switch_page("pages/compare.py").run()
    app.switch_page("pages/train.py").run()
    assert figures(app) == before
    assert "Uploaded before" in unescaped_text(app)


def test_a_chosen_column_is_remembered_for_the_next_file_that_has_it(open_app: OpenApp) -> None:
    app = open_with(open_app, ("a.csv", make_csv(title=TITLES, words=STORIES)))
    app.selectbox(key="corpus_column").set_value("title").run()
    upload(app, "corpus_uploads", ("b.csv", make_csv(title=TITLES, words=STORIES[::-1])))
    assert app.selectbox(key="corpus_column").value == "title"
    upload(app, "corpus_uploads", ("c.csv", make_csv(name=TITLES, text=STORIES)))
    assert app.selectbox(key="corpus_column").value == "text"


def test_each_set_of_columns_among_tables_has_a_choice_of_its_own(open_app: OpenApp) -> None:
    tables = make_zip(
        {
            "a.csv": make_csv(title=TITLES, words=STORIES),
            "notes.txt": b"No table.",
            "b.csv": make_csv(title=TITLES[::-1], words=STORIES[::-1]),
            "c.csv": make_csv(label=TITLES, body=STORIES),
        }
    )
    app = open_with(open_app, ("all.zip", tables), ("d.csv", make_csv(head=TITLES, tail=STORIES)))
    fields = [field for field in app.selectbox if field.label == "Column with the text"]
    assert [field.value for field in fields] == ["words", "body", "tail"]
    text = unescaped_text(app)
    assert "Rows of all.zip/a.csv, the first of 2 tables with these columns" in text
    assert "Rows of all.zip/c.csv" in text
    assert "Rows of d.csv" in text
    assert "4 tables have several columns, of which one was taken" in text
    app.selectbox(key="corpus_column").set_value("title").run()
    app.selectbox(key="corpus_column_2").set_value("head").run()
    corpus = app.session_state[state_key(ReadUploads)].corpus
    found = dict(zip(corpus.names, corpus.documents, strict=True))
    assert {name: text for name, text in found.items() if name.endswith("row 1")} == {
        "all.zip/a.csv row 1": TITLES[0],
        "all.zip/b.csv row 1": TITLES[-1],
        "all.zip/c.csv row 1": STORIES[0],
        "d.csv row 1": TITLES[0],
    }


def test_a_table_that_cannot_be_read_leaves_the_other_files(open_app: OpenApp) -> None:
    app = open_with(
        open_app,
        ("broken.parquet", b"PAR1 cut"),
        ("a.csv", make_csv(title=TITLES, words=STORIES)),
        *((f"{n}.txt", b"") for n in range(4)),
    )
    assert app.selectbox(key="corpus_column").value == "words"
    (warning,) = app.warning
    assert "broken.parquet is not a parquet file" in warning.value.replace("\\", "")
    assert "4 empty files were skipped: 0.txt, 1.txt, 2.txt, 3.txt." in unescaped_text(app)
    (details,) = (part for part in app.expander if part.label == "Each file")
    assert "3.txt is empty" in "".join(e.value for e in details.markdown).replace("\\", "")
    assert not app.button(key="train").disabled


def encoding_field(app: AppTest) -> Selectbox[str]:
    (field,) = (box for box in app.selectbox if "Encoding of" in box.label)
    return field


def test_a_guessed_encoding_is_shown_and_can_be_changed(open_app: OpenApp) -> None:
    text = "ačiū, labas rytas, šiandien gražu\n" * 30
    app = open_with(open_app, ("old.txt", text.encode("cp1257")), ("new.txt", b"plain words"))
    field = encoding_field(app)
    assert field.label.replace("\\", "") == "Encoding of old.txt"
    assert field.options[0] == "cp1257, guessed"
    assert "ačiū, labas rytas" in unescaped_text(app)
    assert "guess" in app.warning[0].value
    field.set_value("cp1250").run()
    assert text.encode("cp1257").decode("cp1250")[:4] in unescaped_text(app)
    assert not app.warning
    encoding_field(app).set_value("utf-8").run()
    assert "should be utf-8, but is not at byte 1" in app.warning[0].value.replace("\\", "")
    encoding_field(app).set_value(None).run()
    assert "ačiū, labas rytas" in unescaped_text(app)


def test_a_table_without_letters_is_read_by_the_column_that_is_chosen(open_app: OpenApp) -> None:
    table = make_csv(q=["12+34=46", "1+1=2"], a=["😀", "🙂"])
    app = open_with(open_app, ("sums.csv", table))
    assert "no column of text" in app.error[0].value.replace("\\", "")
    field = app.selectbox(key="corpus_column")
    assert field.value is None
    field.set_value("q").run()
    assert not app.error
    assert "- 12+34=46" in unescaped_text(app)


def test_an_encoding_can_be_named_for_many_files_and_bad_bytes_replaced(open_app: OpenApp) -> None:
    data = "première ligne\ndéjà vu é".encode() + b"\xff" + "été".encode()
    app = open_with(open_app, ("damaged.txt", data))
    assert "not text in any encoding tried" in errors(app)
    assert encoding_field(app).options[0] == "not found"
    encoding_field(app).set_value("cp1252").run()
    assert not app.error
    assert not app.button(key="train").disabled
    name = "Příliš žluťoučký kůň".encode("cp1250")
    upload(app, "corpus_uploads", *((f"{n}.txt", name) for n in range(9)))
    assert encoding_field(app).label == "Encoding of 9 files"
    assert "9 files are not UTF-8" in app.warning[0].value.replace("\\", "")
    encoding_field(app).set_value("cp1252").run()
    assert not app.warning
    upload(app, "corpus_uploads", ("a.txt", "größer und größer\n".encode() * 20 + b"h\xffg\n"))
    assert "0xFF" in app.error[0].value
    app.checkbox(key="corpus_replace").check().run()
    assert not app.error
    assert "with U+FFFD in 1 place" in app.warning[0].value.replace("\\", "")


COUNTED = "hug hugs, pug pugs: été\n" * 40 + "bun bunny\n" * 3
BESIDE = "hugs and buns\n" * 20


@pytest.fixture
def counts() -> bpe.WordCounts:
    """Return counts whose rare words were dropped."""
    found = bpe.count_words(bpe.Corpus.from_text(COUNTED), "whitespace")
    summary = found.summary._replace(floor=2, dropped_words=7, dropped_occurrences=9)
    return bpe.WordCounts(found.pretokens, summary)


@pytest.fixture
def counts_file(counts: bpe.WordCounts, tmp_path: Path) -> bytes:
    path = tmp_path / "counts.parquet"
    bpe.write_counts(counts, path)
    return path.read_bytes()


@pytest.mark.slow
def test_a_counts_file_trains_the_merges_of_the_command(
    open_app: OpenApp, counts: bpe.WordCounts, counts_file: bytes
) -> None:
    app = open_with(open_app, ("counts.parquet", counts_file))
    assert "7 words with fewer than 2 occurrences, 9 in all" in unescaped_text(app)
    assert "Words cut by whitespace, which training uses too." in unescaped_text(app)
    assert "nothing is held out" in unescaped_text(app)
    assert "so that is the pre-tokenizer, whatever the preset says" in unescaped_text(app)
    for value in (f"{len(counts.pretokens.words):,}", "distinct words", "occurrences"):
        assert value in figures(app)
    for preset in ("GPT-2", "Classroom"):
        train(choose(app, source="Upload", preset=preset))
        run = load_run(in_address(app, "run")).run
        assert run.config.pretokenizer == "whitespace"
        expected = bpe.train(counts, run.config)
        assert run.tokenizer == expected.tokenizer
        assert run.corpus_bytes == expected.corpus_bytes == len(COUNTED.encode())
        app.query_params.pop("run")


@pytest.mark.slow
def test_text_beside_the_counts_is_held_out(open_app: OpenApp, counts_file: bytes) -> None:
    files = ("notes.txt", BESIDE.encode()), ("counts.parquet", counts_file)
    app = open_with(open_app, *files)
    assert "the 280 B uploaded with the counts" in unescaped_text(app)
    app = train(app)
    stored = load_run(in_address(app, "run"))
    assert stored.held_out == bpe.Corpus.from_text(BESIDE)
    assert stored.held_out_tokens_after is not None
    assert stored.run.corpus_bytes == len(COUNTED.encode())


def test_two_files_of_counts_and_a_damaged_one_are_refused_and_adapt_asks_for_text(
    open_app: OpenApp, counts_file: bytes
) -> None:
    app = open_with(open_app, ("a.parquet", counts_file), ("b.parquet", counts_file))
    assert "bpe merge-counts" in errors(app)
    damaged = counts_file[:4] + bytes(60) + counts_file[64:]
    upload(app, "corpus_uploads", ("a.parquet", damaged))
    assert "a.parquet" in errors(app)
    assert_press_is_refused(app)
    app = open_app("adapt")
    app.segmented_control(key="corpus_source").set_value("Upload").run()
    upload(app, "corpus_uploads", ("counts.parquet", counts_file))
    assert "this page needs the text" in errors(app)


PUGS = b"hug hugs pug pugs\n" * 60
TOO_MUCH = (("a.txt", PUGS), ("b.txt", PUGS))
LIMIT = "Up to 500 MB in total."
PROBLEM = "Your files exceed 0 MB in total"


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_fields, "MAX_BYTES", 2_000)


def submit_files(app: AppTest, uploader: str, button: str, *files: tuple[str, bytes]) -> AppTest:
    (key,) = (each.key for each in app.file_uploader if str(each.key).startswith(uploader))
    return press(upload(app, str(key), *files), button)


@pytest.mark.usefixtures("small_limit")
def test_train_reads_files_up_to_the_limit(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Upload")
    assert LIMIT in page_text(app)
    upload(app, "corpus_uploads", ("a.txt", PUGS))
    assert not app.error
    assert not app.button(key="train").disabled
    upload(app, "corpus_uploads", *TOO_MUCH)
    assert PROBLEM in errors(app)
    assert_press_is_refused(app)


@pytest.mark.usefixtures("small_limit")
def test_other_pages_read_files_up_to_the_limit(open_app: OpenApp) -> None:
    app = open_app("pair_frequencies", part="How large?")
    upload(app, "held_out_files", *TOO_MUCH)
    assert PROBLEM in errors(app)
    app = open_app("token_boundaries")
    app.file_uploader(key="boundaries_file").upload("c.txt", 2 * PUGS, "text/plain").run()
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
    submit_files(app, uploader, button, *TOO_MUCH)
    assert errors(app).startswith(PROBLEM)


def test_tokenizers_and_sentences_are_kept_for_one_visit_up_to_the_limit(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("compare")
    first, second = (dumps(gpt2().truncated(n), "native") for n in (20, 21))
    monkeypatch.setattr(form_fields, "MAX_BYTES", sum(map(len, first.values())) + 1_000)
    for files in (first, second):
        submit_files(app, "add_upload", "Add from files", *files.items())
    assert "kept for you would exceed" in errors(app)
    assert in_address(app, "with").count("file-") == 1
    app.segmented_control(key="part").set_value("Languages").run()
    sentences = ("a.csv", b"English,German\nHi.,Hallo.\n" * 99)
    submit_files(app, "parallel_upload", "Compare these", sentences)
    assert "kept for you would exceed" in errors(app)
    assert "sentences" not in app.query_params
