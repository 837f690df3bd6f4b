"""Run the command line: `python -m bpe_core`, and `bpe` once it is installed."""

from bpe_core.cli import main

if __name__ == "__main__":
    main(prog_name="python -m bpe_core")
