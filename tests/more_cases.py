"""Split the cases of a costly test between `make test` and `make test-more`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet

Case = str | int | tuple[str, ...]
"""The value of a parameter, or those of several."""


def first_of(cases: Iterable[Case], *first: Case) -> list[Case | ParameterSet]:
    """Return the cases, of which only the first that are named run in `make test`.

    The others walk the same road on more files, so `make test-more` runs them.
    """
    listed = list(cases)
    assert set(first) <= set(listed), f"{set(first) - set(listed)} are not cases"
    more = [case for case in listed if case not in first]
    marks = pytest.mark.more
    return [
        *first,
        *(
            pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks)
            for case in more
        ),
    ]
