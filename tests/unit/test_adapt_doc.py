"""The code in docs/adapt.md that resizes embeddings runs, and does what the text claims."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.formats import row_files, write_files

DOCUMENT = Path(__file__).parents[2] / "docs" / "adapt.md"
CORPUS = bpe.Corpus.from_text("Der Fluss fließt, die Flüsse fließen. " * 9)


@cache
def adapt(how: str) -> Adapted:
    if how == "extend":
        return Adapted.of(bpe.gpt2(), extend(bpe.gpt2(), CORPUS, 7).tokenizer)
    return shrink(bpe.gpt2(), CORPUS, 900) if how == "shrink" else replace(bpe.gpt2(), CORPUS, 7)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["extend", "shrink", "replace"])
@pytest.mark.parametrize("tied", [True, False])
def test_the_lines_resize_a_checkpoint(
    how: str, tied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"(?s)```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"))
    (lines,) = (block for block in blocks if "safetensors" in block)
    random = np.random.default_rng(1)
    old = {
        "wte.weight": random.standard_normal((50_257, 4), np.float32),
        "h.0.ln_1.weight": random.standard_normal(4, np.float32),
    }
    if not tied:
        old["lm_head.weight"] = random.standard_normal((50_257, 4), np.float32)
    Path("model").mkdir()
    save_file(old, "model/model.safetensors")
    adapted = adapt(how)
    write_files(row_files(adapted), "adapted")
    exec(lines, {})
    new = load_file("adapted/model.safetensors")
    assert new.keys() == old.keys()
    assert (new["h.0.ln_1.weight"] == old["h.0.ln_1.weight"]).all()
    for name in old.keys() - {"h.0.ln_1.weight"}:
        assert new[name].shape == (adapted.tokenizer.vocab_size, 4)
        for id, row in enumerate(new[name]):
            if adapted.old_ids[id] >= 0:
                assert (row == old[name][adapted.old_ids[id]]).all()
            else:
                mean = old[name][list(adapted.parts[id])].mean(axis=0)
                assert np.allclose(row, mean)
    assert bool(adapted.parts) == (how != "shrink")
