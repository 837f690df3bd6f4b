"""Split the cases of a costly test between `make test` and `make test-more`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


def first_of(cases: Iterable[str], *first: str) -> list[str | ParameterSet]:
    """Return the cases, of which only the first that are named run in `make test`.

    The others walk the same road on more files, so `make test-more` runs them.
    """
    listed = list(cases)
    assert set(first) <= set(listed), f"{set(first) - set(listed)} are not cases"
    more = (pytest.param(case, marks=pytest.mark.more) for case in listed if case not in first)
    return [*first, *more]
