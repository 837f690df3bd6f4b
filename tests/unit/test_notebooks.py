"""The notebooks in docs/notebooks run from the first cell to the last."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bpe_core.views import View
from tests.new_process import ROOT

PAGE = ROOT / "docs" / "notebooks.md"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
N_VIEWS = {
    "adapt-a-tokenizer": 1,
    "decide-whether-to-train": 1,
    "prepare-training-data": 1,
    "see-tokens": 4,
}


def read(path: Path) -> Any:
    import nbformat  # takes as long as the imports of ten other modules

    return nbformat.read(path, as_version=4)


def test_each_notebook_is_known_and_stored_without_outputs() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(N_VIEWS)
    for path in NOTEBOOKS:
        cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
        assert [cell.outputs for cell in cells] == [[] for _ in cells]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_views(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbclient import NotebookClient  # takes 2 s to import

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder = tmp_path / "work"
    folder.mkdir()
    notebook = read(path)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    shown = [
        output.data.get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "execute_result"
    ]
    assert sum("data-bpe-view" in html for html in shown) == N_VIEWS[path.stem]


def test_the_examples_of_the_page_on_notebooks_show_views() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    made: dict[str, Any] = {}
    values = [_run(line, made) for line in code.splitlines()]
    assert sum(isinstance(value, View) for value in values) == 3


def _run(line: str, names: dict[str, Any]) -> Any:
    try:
        return eval(line, names)
    except SyntaxError:
        return exec(line, names)
