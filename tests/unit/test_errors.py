"""Every error is a `BpeError`, and the built-in exception that a Python user would catch."""

from __future__ import annotations

import gzip
import inspect
import io
import zipfile
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core import errors
from bpe_core.corpus.archives import Budget, unpack
from bpe_core.formats.folder_files import unpacked

gpt2 = bpe.gpt2()
text = bpe.Corpus.from_text("hug hugs")
run = bpe.train(text, bpe.TrainingConfig(260))

CAUGHT: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "a corpus that is a text": (lambda: bpe.train("hug", bpe.TrainingConfig()), TypeError),
    "bytes to encode": (lambda: gpt2.encode(b"hug"), TypeError),  # type: ignore[arg-type]
    "ids that are text": (lambda: gpt2.decode(["a"]), TypeError),  # type: ignore[list-item]
    "a step that is a text": (lambda: run.pair_counts("1"), TypeError),  # type: ignore[arg-type]
    "k that is a text": (lambda: run.top_pairs(0, "1"), TypeError),  # type: ignore[arg-type]
    "nothing to save": (lambda: bpe.save(None, "x.json"), TypeError),  # type: ignore[arg-type]
    "a step out of range": (lambda: run.pair_counts(99), IndexError),
    "merges out of range": (lambda: gpt2.truncated(10**6), IndexError),
    "a row out of range": (lambda: bpe.compare("hug", [gpt2]).verdict(0, 1), IndexError),
    "an unknown id": (lambda: gpt2.decode([10**6]), IndexError),
    "no file to load": (lambda: bpe.load("gone.json"), FileNotFoundError),
    "no file to open": (lambda: bpe.open_encoder("gone.json"), FileNotFoundError),
    "no run": (lambda: bpe.load_run("gone.bpe-run"), FileNotFoundError),
    "no corpus": (lambda: bpe.read_corpus("gone.txt"), FileNotFoundError),
    "a lone surrogate": (lambda: gpt2.encode("\ud800"), ValueError),
    "no room": (lambda: bpe.train(text, bpe.TrainingConfig(100)), ValueError),
    "no text": (lambda: bpe.Corpus.from_text(""), ValueError),
    "an unknown pre-tokenizer": (lambda: bpe.get_pretokenizer("gpt9"), ValueError),
}


@pytest.mark.parametrize(("call", "built_in"), CAUGHT.values(), ids=CAUGHT)
def test_each_error_is_the_built_in_that_a_python_user_would_catch(
    call: Callable[[], object], built_in: type[Exception]
) -> None:
    with pytest.raises(built_in) as caught:
        call()
    assert isinstance(caught.value, bpe.BpeError)


def test_every_error_is_exported_and_also_a_built_in() -> None:
    found: list[Any] = [each for each in vars(errors).values() if inspect.isclass(each)]
    assert len(found) > 20
    for each in found:
        assert getattr(bpe, each.__name__) is each
        ancestors = {base for base in each.__mro__ if base.__module__ == "builtins"}
        assert each is bpe.BpeError or ancestors - {Exception, BaseException, object}
        assert "why" in str(copy(each("why")))


def test_a_step_out_of_range_is_not_a_config_error() -> None:
    with pytest.raises(bpe.OutOfRangeError, match="as a whole number from 0 to 3") as caught:
        run.layout_at(4)
    assert not isinstance(caught.value, bpe.ConfigError)


@pytest.mark.parametrize(
    ("name", "instead"),
    [("gpt2", r"Call bpe_core\.gpt2\(\)"), ("llama3", r"Call bpe_core\.open_encoder\('llama3'\)")],
)
def test_loading_a_name_says_what_to_call_instead(
    name: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bpe.MissingFileError, match=instead):
        bpe.load(name)


def test_damage_handlers_do_not_hide_an_error_that_says_more() -> None:
    """Since these errors are ValueErrors too, a handler of damage could take them for damage."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}.json", "{}")
    with pytest.raises(bpe.FormatError, match="Choose one tokenizer"):
        unpacked({"many.zip": packed.getvalue()})
    with pytest.raises(bpe.UnsupportedFileError, match="more than 100 times its size"):
        unpack(gzip.compress(bytes(17 << 20), 1), "gzip", "huge.gz", Budget())
