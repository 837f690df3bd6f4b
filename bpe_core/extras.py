"""Optional packages: raise an error that names what to install if one is missing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Literal

from bpe_core.errors import MissingExtraError

DISTRIBUTION: Final = "bpe-explorer"
Extra = Literal["app", "cluster", "compile", "formats", "hub", "mixture", "notebook", "tables"]


def missing_extra(extra: Extra, task: str, problem: object) -> MissingExtraError:
    """Return the error for a task that needs a package from an extra.

    >>> print(missing_extra("tables", "Reading notes.parquet", "No module named 'pyarrow'"))
    Reading notes.parquet needs a package that is not installed (No module named 'pyarrow'). \
Run: pip install "bpe-explorer[tables]"
    """
    return MissingExtraError(
        f"{task} needs a package that is not installed ({problem}). "
        f'Run: pip install "{DISTRIBUTION}[{extra}]"'
    )


class needs_extra:  # noqa: N801 - used as a statement: `with needs_extra(...): import ...`
    """Raise `MissingExtraError` if an import inside the block fails.

    >>> with needs_extra("tables", "Reading notes.parquet"):
    ...     import no_such_package
    Traceback (most recent call last):
    bpe_core.errors.MissingExtraError: Reading notes.parquet needs a package that is not installed \
(No module named 'no_such_package'). Run: pip install "bpe-explorer[tables]"
    """

    def __init__(self, extra: Extra, task: str) -> None:
        self._extra: Extra = extra
        self._task = task

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, ImportError) and not isinstance(error, MissingExtraError):
            raise missing_extra(self._extra, self._task, error) from error


def import_arrow(task: str, *modules: str) -> Any:
    """Return pyarrow, which has no types, with some of its modules; raises `MissingExtraError`.

    >>> import_arrow("Reading notes.parquet", "compute").compute.sum([1, 2]).as_py()
    3
    """
    with needs_extra("tables", task):
        for name in modules:
            import_module(f"pyarrow.{name}")
        return import_module("pyarrow")


def to_frame(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as a pandas DataFrame; raises `MissingExtraError` if pandas is not installed.

    >>> list(to_frame([{"id": 1, "count": 2}]).columns)
    ['id', 'count']
    """
    with needs_extra("app", "to_frame()"):
        pandas: Any = import_module("pandas")

    return pandas.DataFrame(list(rows))
