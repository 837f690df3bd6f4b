"""Run `bpe` in this process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from bpe_core.cli import commands


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run a command to its end."""
    return CliRunner().invoke(commands.main, [str(argument) for argument in arguments], input=stdin)


def succeed(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run a command that must end with status 0."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result
