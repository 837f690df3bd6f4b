"""Uploads on Train: the column of a table, the encoding of a text, and notes on both."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from tests.app.pages import OpenApp, errors, unescaped_text, upload
from tests.app.training import choose
from tests.zipping import make_zip
from ui.corpus.uploads import ReadUploads
from ui.shell.workspace import state_key

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
