"""Group the notes on files that were read."""

from __future__ import annotations

import pickle

import pytest

import bpe_core as bpe
from bpe_core.corpus import Note, NoteGroup
from tests.uploads import Upload


def read_many() -> bpe.Corpus:
    western = "naïve été".encode("cp1252")
    return bpe.read_corpus(
        [
            Upload("good.txt", b"hug"),
            *(Upload(f"empty{n}.txt", b"") for n in range(5)),
            *(Upload(f"old{n}.txt", western) for n in range(2)),
            Upload("one.csv", b"id,text\n1,hug\n"),
            Upload("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(20)),
        ]
    )


def test_notes_of_one_kind_are_one_sentence_with_a_count_and_names() -> None:
    notes = read_many().notes
    assert len(notes) == 4
    assert "photo.png" in notes[0]
    assert notes[1] == (
        "2 files are not UTF-8 and were read in a guessed encoding (cp1252): old0.txt, old1.txt."
    )
    assert notes[2].startswith("one.csv: took the column 'text'")
    assert notes[3] == (
        "5 empty files were skipped: empty0.txt, empty1.txt, empty2.txt and 2 more."
    )


def test_every_file_keeps_its_own_note_and_only_lost_text_is_a_warning() -> None:
    groups = NoteGroup.of(read_many().file_notes)
    assert [len(group.notes) for group in groups] == [1, 2, 1, 5]
    assert [group.is_warning for group in groups] == [True, True, False, False]
    assert groups[1].notes[0].choice == "cp1252"
    assert groups[3].notes[0].text == "empty0.txt is empty and was skipped."


def test_notes_survive_pickling_and_splitting() -> None:
    corpus = read_many()
    assert pickle.loads(pickle.dumps(corpus)).notes == corpus.notes  # noqa: S301 - from this line
    assert all(part.notes == corpus.notes for part in corpus.split(0.5))


def test_the_error_for_many_unreadable_files_is_grouped() -> None:
    empty = [Upload(f"{n}.txt", b"") for n in range(1_000)]
    with pytest.raises(bpe.EmptyCorpusError) as caught:
        bpe.read_corpus(empty)
    message = str(caught.value)
    assert "1,000 empty files were skipped: 0.txt, 1.txt, 2.txt and 997 more." in message
    assert len(message) < 200


def test_the_most_serious_kind_comes_first() -> None:
    notes = [Note("mark", "a", "A."), Note("column", "b", "B."), Note("unreadable", "c", "C.")]
    assert [group.sentence for group in NoteGroup.of(notes)] == ["C.", "B.", "A."]
