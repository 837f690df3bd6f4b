"""Check in PyTorch that the lines which fit a model to an adapted tokenizer do so.

`python -m scripts.check_resizing` needs PyTorch and transformers, which are not among the
requirements. It makes tiny GPT-2 models with random weights, their two embeddings tied or not,
runs the lines of the Adapt page and those of docs/adapt.md as they stand, and compares every row.
It exits with an AssertionError if one is wrong.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
import transformers
from transformers import GPT2Config, GPT2LMHeadModel

from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.corpus import Corpus
from bpe_core.formats import row_files, write_files
from bpe_core.tokenizer import gpt2
from ui.adapt import MODEL_LINES

_DOCUMENT = Path(__file__).absolute().parents[1] / "docs" / "adapt.md"
_TEXT = "Der Fluss fließt, die Flüsse fließen; das Schiff auf dem Fluss. " * 9


def main() -> None:
    """Check all ways to adapt, with tied and untied embeddings, and print a line for each."""
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")
    corpus = Corpus.from_text(_TEXT)
    extended = extend(gpt2(), corpus, 20, terms=["Donaudampfschiff"])
    ways = {
        "extend": Adapted.of(gpt2(), extended.tokenizer),
        "shrink": shrink(gpt2(), corpus, 900),
        "replace": replace(gpt2(), corpus, 7),
    }
    blocks = re.findall(r"(?s)```python\n(.*?)```", _DOCUMENT.read_text(encoding="utf-8"))
    (documented,) = (block for block in blocks if "safetensors" in block)
    for way, adapted in ways.items():
        for is_tied in (True, False):
            for name, lines in (("page", MODEL_LINES), ("docs/adapt.md", documented)):
                with tempfile.TemporaryDirectory() as folder:
                    os.chdir(folder)
                    before, after = _run(lines, adapted, is_tied=is_tied)
                    _check(adapted, before, after, is_tied=is_tied)
                    os.chdir(_DOCUMENT.parent)
                print(f"{way}, {'tied' if is_tied else 'untied'}, lines of {name}: right")


def _run(lines: str, adapted: Adapted, *, is_tied: bool) -> tuple[Any, Any]:
    """Run lines in the current folder; return the model before and after."""
    torch.manual_seed(16)
    config = GPT2Config(n_embd=8, n_layer=1, n_head=2, tie_word_embeddings=is_tied)
    model = GPT2LMHeadModel(config).eval()
    model.save_pretrained("model")
    if "safetensors" in lines:
        write_files(row_files(adapted), "adapted")
        exec(lines, {})
        settings = json.loads(Path("model/config.json").read_text())
        settings["vocab_size"] = len(adapted.old_ids)
        Path("adapted/config.json").write_text(json.dumps(settings))
        return model, GPT2LMHeadModel.from_pretrained("adapted").eval()
    write_files(row_files(adapted), ".")
    found: dict[str, Any] = {}
    exec(lines.replace("the base’s model", "model"), found)
    return model, found["model"].eval()


def _check(adapted: Adapted, before: Any, after: Any, *, is_tied: bool) -> None:
    """Compare every row of both embeddings, and the logits of kept tokens."""
    n_rows = len(adapted.old_ids)
    kept = torch.tensor(adapted.old_ids) >= 0
    old_ids = torch.tensor(adapted.old_ids)[kept].long()
    layers = [
        (model.get_input_embeddings(), model.get_output_embeddings()) for model in (before, after)
    ]
    assert (layers[1][0].weight is layers[1][1].weight) == is_tied
    for old, new in zip(*layers, strict=True):
        assert new.weight.shape == (n_rows, 8)
        assert torch.equal(new.weight[kept], old.weight[old_ids])
        for id, parts in adapted.parts.items():
            assert torch.allclose(new.weight[id], old.weight[list(parts)].mean(0), atol=1e-6)
    assert after.config.vocab_size == n_rows
    ids = kept.nonzero().flatten()[:50]
    with torch.no_grad():
        had = before(torch.tensor(adapted.old_ids)[ids].long()[None]).logits[0][:, old_ids]
        has = after(ids[None]).logits[0][:, kept]
    assert torch.allclose(had, has, atol=1e-5)


if __name__ == "__main__":
    main()
