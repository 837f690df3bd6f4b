"""Compile the kernels, once per machine: `python -m bpe_core.kernels.compiling`."""

from __future__ import annotations

from bpe_core.kernels.compiling.choose import compile_or_report, may_compile


def main() -> None:
    """Compile all kernels if they are not compiled yet and there is a compiler."""
    if may_compile():
        compile_or_report(set_up=True)


if __name__ == "__main__":
    main()
