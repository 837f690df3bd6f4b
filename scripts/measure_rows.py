"""Measure `bpe undertrained` on a model that it writes: what it finds, and its peak memory.

python -m scripts.measure_rows FOLDER --gb 2 writes the embedding rows of a model of that size in
shards, in which some rows of GPT-2's tokens are as they were before training, and prints the table
of docs/models.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np

import bpe_core as bpe
from bpe_core.models import from_float32, make_header
from bpe_core.vocabulary import Reachability

N_ROWS = 131_072
BLOCK = 512
N_PLANTED = 200


def write_model(folder: Path, n_columns: int, planted: set[int], *, seed: int) -> None:
    """Write input and output rows as bfloat16, in a shard each; `planted` are untrained."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    untrained = np.array(sorted(planted))
    common, drift = rng.normal(0, 1, (2, n_columns))
    names = ("model.embed_tokens.weight", "lm_head.weight")
    shards = {name: f"model-0000{n}-of-00002.safetensors" for n, name in enumerate(names, 1)}
    for name, file_name in shards.items():
        with (folder / file_name).open("wb") as file:
            file.write(make_header({name: ("BF16", (N_ROWS, n_columns))}))
            for first in range(0, N_ROWS, BLOCK):
                block = rng.normal(0, 1, (BLOCK, n_columns))
                here = untrained[(untrained >= first) & (untrained < first + BLOCK)] - first
                start = rng.normal(0, 0.2, (len(here), n_columns))
                if name == names[0]:
                    block[here] = start
                else:
                    block[here] = start + drift
                    block += 3 * common
                file.write(from_float32(block.astype(np.float32), "BF16"))
    index = {"metadata": {}, "weight_map": shards}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps({"tie_word_embeddings": False}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gb", type=float, default=2.0)
    options = parser.parse_args()
    tokenizer = bpe.gpt2()
    unreachable = set(Reachability.of(tokenizer).unreachable)
    others = sorted(tokenizer.vocab.keys() - unreachable - {50256})
    planted = set(np.random.default_rng(1).choice(others, N_PLANTED, replace=False).tolist())
    n_columns = int(options.gb * 1e9 / (2 * 2 * N_ROWS)) // 64 * 64
    write_model(options.folder, n_columns, planted | unreachable | {*range(50257, N_ROWS)}, seed=0)
    n_bytes = sum(path.stat().st_size for path in options.folder.iterdir())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    found = bpe.undertrained(options.folder, tokenizer)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chosen = set(found.candidates)
    print(f"{n_bytes / 1e9:.2f} GB in {len([*options.folder.glob('*.safetensors')])} shards")
    print(f"indicator {found.indicator}")
    precision, recall = (len(chosen & planted) / len(each) for each in (chosen or {0}, planted))
    print(f"precision {precision:.3f}, recall {recall:.3f}")
    memory = f"{peak / 1e3:.0f} MB, {before / 1e3:.0f} MB of it before"
    print(f"{seconds:.0f} s of processor time, peak memory {memory}")


if __name__ == "__main__":
    main()
