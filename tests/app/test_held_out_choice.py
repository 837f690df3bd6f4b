"""The choice of what is held out on Train: folders, the values of a column, or own files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.adapting import shrink
from bpe_core.corpus import Corpus, HeldOut, ReadOptions, reading_process
from bpe_core.corpus.corpus import FIGURES
from bpe_core.corpus.reading_process import open_large
from bpe_core.files import Entry
from bpe_core.processes import Report
from tests.app.adapting import small_base
from tests.app.pages import (
    OpenApp,
    in_address,
    page_text,
    read_query,
    sentence,
    unescaped_text,
    upload,
)
from tests.app.training import choose, train
from tests.projects import projects
from tests.zipping import make_zip
from ui.adapt import in_background
from ui.adapt.in_background import Order, replace_in_process, shrink_in_process
from ui.corpus.uploads import USUAL
from ui.storage import (
    HELD_OUT_SEED,
    BaseName,
    CorpusOrigin,
    Extension,
    keep_uploaded,
    load_run,
    upload_folder,
)
from ui.work import Task, jobs
from ui.work.jobs import TrainingRequest, train_in_process

DOCUMENTS = {
    f"{n // 6}/{n // 2}/{n}.txt": "".join(f"{n} {line} word{n % 7} of it\n" for line in range(60))
    for n in range(30)
}
OWN = {"new.txt": "A text that nothing else has.\n" * 40, "copy.txt": DOCUMENTS["1/4/9.txt"]}
AUTHORS = "author,words\n" + "".join(
    f'{"ABCDEFGH"[n % 8]},"{n} words of a post, and {"more " * (n % 5)}"\n' for n in range(400)
)


def open_archive(open_app: OpenApp, documents: dict[str, str]) -> AppTest:
    """Upload an archive on Train."""
    app = choose(open_app(), source="Upload")
    return upload(app, "corpus_uploads", ("all.zip", packed(documents)))


def packed(documents: dict[str, str]) -> bytes:
    return make_zip({name: text.encode() for name, text in documents.items()})


def hold_out(app: AppTest, by: str) -> AppTest:
    app.selectbox(key="corpus_held_by").set_value(by).run()
    return app


def test_near_copies_are_counted_with_the_held_out_documents(open_app: OpenApp) -> None:
    copies = {f"copies/{name}": f"{text}One more line.\n" for name, text in DOCUMENTS.items()}
    documents = {**DOCUMENTS, **copies}
    app = open_archive(open_app, documents)
    training, held_out = Corpus.from_documents(list(documents.values()), list(documents)).split(
        0.08, seed=HELD_OUT_SEED
    )
    assert training.n_sources + held_out.n_sources == len(documents)
    n = held_out.n_sources
    assert f"from {n} documents ({n // 2} without near copies) are held" in unescaped_text(app)


def test_folders_are_held_out_at_a_chosen_depth_and_after_a_reload(open_app: OpenApp) -> None:
    app = open_archive(open_app, DOCUMENTS)
    labels = app.selectbox(key="corpus_held_by").options
    assert labels == ["Documents", "Folders", "Folders, 1 level deep", "Your own files"]
    hold_out(app, "folder:1")
    assert "from 1 folder are held out" in page_text(app)
    again = open_app(**read_query(app))
    assert again.selectbox(key="corpus_held_by").value == "folder:1"
    train(again)
    stored = load_run(in_address(again, "run"))
    assert stored.held_out.how == HeldOut("folder:1", 1, 0.0)
    assert open_app(**read_query(again)).selectbox(key="corpus_held_by").value == "folder:1"
    # The choice ends with the folders.
    upload(app, "corpus_uploads", ("one.txt", DOCUMENTS["0/0/0.txt"].encode()))
    assert app.selectbox(key="corpus_held_by").value == USUAL
    assert not app.error


def test_folders_are_held_out_by_default_if_there_are_twenty(open_app: OpenApp) -> None:
    documents = {f"{n}/{name}": text for n, (name, text) in enumerate(DOCUMENTS.items())}
    app = open_archive(open_app, documents)
    found = app.selectbox(key="corpus_held_by")
    assert found.options[:3] == ["Folders or documents", "Documents", "Folders"]
    assert "from 2 folders are held out" in page_text(app)
    assert "held_by" not in app.query_params
    train(app)
    stored = load_run(in_address(app, "run"))
    assert stored.held_out.how == HeldOut("folder:1", 2, 0.0)
    # The folders of the corpus are compared with nothing else.
    assert stored.newness is not None
    assert stored.newness.unseen_by_folder is None
    kept = stored.came_from
    assert kept is not None
    assert kept.origin.held_out_by is None
    assert open_app("train", run=stored.id).selectbox(key="corpus_held_by").value == USUAL
    # The visitor's own choice holds, after a reload too.
    hold_out(app, "document")
    assert "from 2 documents are held out" in page_text(app)
    again = open_app(**read_query(app))
    assert again.selectbox(key="corpus_held_by").value == "document"
    assert "from 2 documents are held out" in page_text(again)
    # Of equal texts without folders, documents are held out.
    flat = {name.replace("/", "_"): text for name, text in documents.items()}
    assert "from 2 documents are held out" in page_text(open_archive(open_app, flat))


def test_all_rows_of_some_authors_are_held_out(open_app: OpenApp) -> None:
    app = choose(open_app(), source="Upload")
    upload(app, "corpus_uploads", ("posts.csv", AUTHORS.encode()))
    hold_out(app, "column:author")
    assert "from 1 value of “author” are held out" in page_text(app)
    train(app)
    stored = load_run(in_address(app, "run"))
    assert stored.held_out.how == HeldOut("column:author", 1, 0.0)
    assert stored.run.origin.split is not None
    assert stored.run.origin.split.by == "column:author"
    kept = stored.came_from
    assert kept is not None
    assert kept.corpus is not None
    assert set(kept.corpus.columns) == {"author"}
    # From the run alone, and from the address.
    for again in (open_app("train", run=stored.id), open_app(**read_query(app))):
        assert again.selectbox(key="corpus_held_by").value == "column:author"
        assert "from 1 value of “author” are held out" in page_text(again)


def test_a_column_that_cannot_be_divided_by_is_explained_and_can_be_left(
    open_app: OpenApp,
) -> None:
    rows = AUTHORS.replace("author,", "author,same,").replace(',"', ',x,"')
    app = choose(open_app(), source="Upload")
    upload(app, "corpus_uploads", ("posts.csv", rows.encode()))
    hold_out(app, "column:same")
    assert "All text is in one unit" in app.error[0].value
    hold_out(app, "column:author")
    assert not app.error
    assert "of “author” are held out" in page_text(app)


def test_own_files_are_held_out_and_their_copies_are_not_trained_on(open_app: OpenApp) -> None:
    app = open_archive(open_app, DOCUMENTS)
    hold_out(app, "file")
    assert "Nothing is held out yet" in page_text(app)
    upload(app, "corpus_held_files", ("bad.png", b"\x89PNG\r\n\x1a\n\x00\x00"))
    assert "not text" in app.error[0].value
    assert "Nothing is held out yet" in page_text(app)
    upload(app, "corpus_held_files", ("own.zip", packed(OWN)))
    assert not app.error
    n_bytes = sum(map(len, OWN.values()))
    said = page_text(app)
    assert f"Your own files, {n_bytes:,} bytes in 2 documents, are held out." in said
    assert "1 document of the corpus is also in them, and left out of the training text." in said
    train(app)
    stored = load_run(in_address(app, "run"))
    assert list(stored.held_out.documents) == list(OWN.values())
    assert stored.held_out.how == HeldOut("file", 2, 0.0)
    assert stored.run.corpus_bytes == sum(map(len, DOCUMENTS.values())) - len(OWN["copy.txt"])
    assert stored.run.origin.split is not None
    assert stored.run.origin.split.by == f"file:{stored.held_out.sha256}"
    assert sentence(open_app("compare", run=stored.id)).startswith("On your own files")
    # From the run alone, and from the address.
    for again in (open_app("train", run=stored.id), open_app(**read_query(app))):
        assert f"Your own files, {n_bytes:,} bytes in 2 documents" in page_text(again)
    again.button(key="corpus_held_files_close").click().run()
    assert "Nothing is held out yet" in page_text(again)
    hold_out(again, USUAL)
    assert "more bytes from 2 documents are held out" in page_text(again)
    assert "held_file" not in again.query_params


def test_compare_proposes_to_hold_out_by_folder_where_folders_are_newer(open_app: OpenApp) -> None:
    app = hold_out(open_archive(open_app, projects()), "document")
    app.number_input(key="settings_exact_byte_size_4096").set_value(400).run()
    train(app)
    run_id = in_address(app, "run")
    app.switch_page("pages/compare.py").run()
    # In the session that trained, and in one that opens a link to the run.
    for session in (app, open_app("compare", run=run_id)):
        assert "Will your text come from other projects" in page_text(session)
        session.button(key="hold_out_by_folder").click().run()
        assert session.title[0].value == "Train"
        assert session.selectbox(key="corpus_held_by").value == "folder"
        assert "folders are held out" in page_text(session)
        assert in_address(session, "held_by") == "folder"
    train(session)
    stored = load_run(in_address(session, "run"))
    assert stored.held_out.how == HeldOut("folder", 3, 0.0)
    assert stored.run.tokenizer.vocab_size == 400
    session.switch_page("pages/compare.py").run()
    assert "Will your text come" not in page_text(session)


def test_own_files_that_are_no_longer_kept_are_asked_for_again(open_app: OpenApp) -> None:
    app = open_app("train", held_by="file", held_file=Entry.new_id())
    assert "no longer kept" in app.warning[0].value
    assert "Nothing is held out yet" in page_text(app)
    hold_out(app, USUAL)
    assert not app.warning
    assert "more bytes" in page_text(app)


def on_disk(corpus: Corpus, folder: Path) -> Corpus:
    """Return a corpus as a large upload: in a folder, with its figures."""
    texts = enumerate(corpus.documents)
    folder.mkdir()
    for number, text in texts:
        (folder / f"upload-{number}").write_text(text, newline="")
    names = [f"{number}.txt" for number in range(len(corpus.documents))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_process.Uploads, "MAX_BYTES_IN_MEMORY", 0)
        reading_process.read_files(folder, names, ReadOptions(), 0.5, "document", Report(id))
    return open_large(folder)


def call_here(function: Callable[..., object], *arguments: object, **_: object) -> object:
    """Call a function as `call_apart` does, without the seconds that a process takes to start."""
    return function(*arguments, Report(id))


@pytest.mark.parametrize("is_large", [False, True], ids=["small", "large"])
def test_adapting_is_judged_on_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_large: bool
) -> None:
    if is_large:
        for module in (in_background, jobs):
            monkeypatch.setattr(module, "call_apart", call_here)
    own = Corpus.from_documents(list(OWN.values()))
    corpus = Corpus.from_documents(list(DOCUMENTS.values()))
    training, held_out = corpus.hold_out(own)
    given = on_disk(corpus, tmp_path / "text") if is_large else corpus
    upload_id = keep_uploaded(on_disk(own, tmp_path / "own") if is_large else own, "own")
    assert (upload_folder(upload_id) / FIGURES).exists() == is_large
    by = f"upload:{upload_id}"
    base = small_base()
    order = Order(base, given, held_out_by=by)
    before = sum(len(base.encode(text)) for text in OWN.values())
    removals = shrink_in_process(order, Task()).removals
    assert removals.held_out_tokens_after is not None
    assert removals.held_out_tokens_after[0] == before
    size = base.vocab_size - 100
    shrunk = shrink(base, training, vocab_size=size).tokenizer
    assert removals.at(size).tokenizer == shrunk
    swapped = replace_in_process(order, 5, Task())
    assert swapped.judged.tokens[0] == before
    request = TrainingRequest(
        id=Entry.new_id(),
        title="own",
        extension=Extension(BaseName("gpt2", "A base"), n_tokens=5),
        held_out_share=0.0,
        origin=CorpusOrigin("upload", "", 0, held_out_by=by),
    )
    stored = train_in_process(
        request,
        given,
        base=base,
        n_bytes=given.n_bytes,
        report=lambda _: None,
        is_cancelled=lambda: False,
        is_wanted=lambda: True,
    )
    assert stored is not None
    run = load_run(stored.run_id)
    assert (run.held_out.sha256, run.run.corpus_sha256) == (held_out.sha256, training.sha256)
