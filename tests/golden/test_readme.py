"""The README's worked example matches the program."""

import doctest
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_worked_example_runs_as_shown():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0
