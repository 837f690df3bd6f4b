"""The commands and the training loop of docs/data.md run in order, with NumPy alone."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from bpe_core.corpus.samples import load_sample
from tests.commands import succeed
from tests.new_process import ROOT, run_python

PAGE = ROOT / "docs" / "data.md"


def test_the_steps_from_a_folder_of_text_to_the_first_batch_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus").mkdir()
    for number, document in enumerate(load_sample("notebook").documents):
        Path("corpus", f"{number:03}.txt").write_text(document * 9, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    [lines] = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    encode, inspect = lines.splitlines()
    succeed(*encode.split()[1:])
    assert "files have the SHA-256 of the manifest" in succeed(*inspect.split()[1:]).output
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    examples = "".join(each.source for each in doctest.DocTestParser().get_examples(code))
    modules = "print(sorted({name.split('.')[0] for name in sys.modules} & {'bpe_core', 'torch'}))"
    assert run_python(f"{examples}\nimport sys\n{modules}", folder=tmp_path) == "[]\n"
