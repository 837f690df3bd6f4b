"""Small files that unpack to huge ones are refused or read in a process with little memory."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.corpus import archives, has_more_cells, has_more_values
from tests.bombs import BOMBS
from tests.more_cases import first_of
from tests.new_process import run_python

MAX_BYTES = 2**30
# On an idle machine, each file takes a few seconds.
MAX_PROCESSOR_SECONDS = 30
READ = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MAX_BYTES}, {MAX_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({MAX_PROCESSOR_SECONDS}, {MAX_PROCESSOR_SECONDS}))
from bpe_core.corpus.read import read_corpus
from bpe_core.corpus.readers import ReadOptions, tables_in
from bpe_core.errors import CorpusError
list(tables_in([PATH], ReadOptions(), 9))
try:
    read_corpus(PATH)
except CorpusError as error:
    print(error)
"""
# A file is refused, is read without its empty entries, or has no text at all.
EXPECTED = {
    "a dictionary of one long string": "takes too much memory or time to unpack",
    "deltas of one long string": "takes too much memory or time to unpack",
    "20 million empty strings": "has no column of text",
    "one letter a row": "more than 250,000 rows",
    "empty rows of csv": "more than 250,000 rows",
    "empty objects": "more than 250,000 rows",
    "blank lines of JSON": "more than 250,000 rows",
    "broken lines of JSON": "more than 250,000 rows",
    "a list of empty lists": "more than 250,000 rows",
    "a key of empty lists": "more than 20,000,000 JSON values",
    "a line of empty lists": "more than 20,000,000 JSON values on line 2",
    "many keys": "more than 50,000 columns",
    "many keys in one object": "more than 50,000 columns",
    "many columns": "more than 50,000 columns",
    "many values in a row": "more than 1,000,000 values in a row",
    "many values in a row of many lines": "more than 1,000,000 values in a row",
    "lines that are not UTF-8": "",
}

# One for each reader, and for each limit.
FIRST = (
    "a dictionary of one long string",
    "one letter a row",
    "broken lines of JSON",
    "a line of empty lists",
    "many keys",
    "many columns",
    "many values in a row",
    "lines that are not UTF-8",
)


@pytest.mark.slow
@pytest.mark.parametrize("what", first_of(BOMBS, *FIRST))
def test_no_small_file_takes_a_gigabyte(what: str, tmp_path: Path) -> None:
    name, make = BOMBS[what]
    path = tmp_path / name
    path.write_bytes(make())
    printed = run_python(f"PATH = {str(path)!r}\n{READ}")
    assert EXPECTED[what] in printed


def test_rows_are_counted_over_all_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(archives, "MAX_ROWS", 1_100)
    names = [tmp_path / f"{letter}.csv" for letter in "abc"]
    for path in names:
        path.write_text("text\n" + "hug\n" * 512)
    corpus = bpe.read_corpus(names)
    assert len(corpus.documents) == 1_024
    assert "c.csv exceeds the 1,100 rows" in " ".join(corpus.notes)


def test_a_packed_table_has_a_row_for_every_two_of_its_bytes() -> None:
    allowed = archives.Budget()
    allowed.begin(2_000_000)
    allowed.take_rows(1_000_000, "a.csv")
    with pytest.raises(bpe.UnsupportedFileError, match=r"a\.csv has more than 1,000,000 rows"):
        allowed.take_rows(1, "a.csv")


def test_punctuation_in_strings_is_not_counted() -> None:
    text = json.dumps({"text": 'a "quoted" [list], {of}: \\', "n": [1, 2, 3]})
    assert not has_more_values(text, 7)
    assert has_more_values(text, 6)
    assert not has_more_cells('a,"b,""c,d",e\n', ",", 2)
    assert has_more_cells('a,"b,""c,d",e\n', ",", 1)


def test_the_limits_of_a_child_are_its_own() -> None:
    code = (
        "import resource; from bpe_core.processes.limits import *; limit = limit_this_process;"
        "limit(Limits(7, 2**31)); print(resource.getrlimit(resource.RLIMIT_CPU)[0]);"
        "limit(Limits(9, 2**32)); print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    before = resource.getrlimit(resource.RLIMIT_CPU)
    assert run_python(code).split() == ["7", str(2**31)]
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
