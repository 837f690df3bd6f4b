"""Train the run that ships with the app, so that every page has something to show.

Writes ui/data/sample_run/: a GPT-2 style tokenizer of 4,096 tokens on Python's built-in help,
8 % of its text held out. The help differs between versions of Python, so the run is
stored with its documents rather than trained on each machine.

    python -m scripts.make_sample_run
"""

from __future__ import annotations

import shutil

from bpe_core.corpus import load_sample
from bpe_core.trainers import train
from bpe_core.types import TrainingConfig
from ui.storage import SAMPLE_FOLDER, Trained, write_run

TITLE = "Python’s built-in help"
HELD_OUT_SHARE = 0.08


def main() -> None:
    training, held_out = load_sample("python-help").split(HELD_OUT_SHARE, seed=0)
    run = train(training, TrainingConfig(vocab_size=4_096))
    shutil.rmtree(SAMPLE_FOLDER, ignore_errors=True)
    write_run(SAMPLE_FOLDER, Trained(TITLE, run, held_out, training))
    SAMPLE_FOLDER.chmod(
        0o755
    )  # visitors' runs are readable only by the server's user; this one is public
    size = sum(path.stat().st_size for path in SAMPLE_FOLDER.iterdir())
    print(f"{len(run.merges):,} merges from {training.n_bytes:,} bytes; {size:,} bytes written")


if __name__ == "__main__":
    main()
