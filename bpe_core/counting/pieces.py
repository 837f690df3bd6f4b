"""Count the pre-tokens of documents that arrive as pieces of bytes, by kernels where faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

from bpe_core.counting.words import count_pieces
from bpe_core.kernels.compiling.choose import use_kernels
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.pretokenizers.scanners import SCANNERS
from bpe_core.types import PretokenCounts

_Item = TypeVar("_Item")


def count_in_runs(
    documents: Iterable[Iterator[bytes]],
    n_bytes: int,
    pretokenizer: Pretokenizer,
    *,
    run_bytes: int | None = None,
    n_threads: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[PretokenCounts]:
    """Yield the counts of documents of about `n_bytes` in all, run by run.

    A run has about `run_bytes` of text, by default and in plain Python all of it; if there is no
    text, there may be no run. Pieces end between characters; custom patterns and "none" need each
    document whole. If `should_stop()` returns True, the run ends with the counts so far. Raises
    what the pre-tokenizer and the documents raise.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> (found,) = count_in_runs([iter([b"hug hu", b"gs"])], 8, get_pretokenizer("gpt2"))
    >>> found.words
    (b'hug', b' hugs')
    """
    if not use_kernels(n_bytes):
        texts = (map(bytes.decode, pieces) for pieces in documents)
        yield count_pieces(texts, pretokenizer, should_stop=should_stop)
        return
    # Imported when needed, because they load the kernels.
    from bpe_core.counting.compiled import count_documents, count_sections
    from bpe_core.pretokenizers.blocks import sections

    if pretokenizer.name in SCANNERS:
        text = sections(documents, pretokenizer)
        for run in split_runs(text, lambda section: sum(map(len, section)), run_bytes):
            yield count_sections(run, pretokenizer, should_stop, n_threads)
    else:
        for whole in split_runs(map(b"".join, documents), len, run_bytes):
            yield count_documents(map(bytes.decode, whole), pretokenizer, should_stop)


def split_runs(
    items: Iterable[_Item], size: Callable[[_Item], int], run_bytes: int | None
) -> Iterator[Iterator[_Item]]:
    """Yield the items in runs, each to be used up before the next is taken.

    >>> [list(run) for run in split_runs(["ab", "c", "d"], len, 3)]
    [['ab', 'c'], ['d']]
    """
    waiting = iter(items)

    def run(first: _Item) -> Iterator[_Item]:
        n_bytes = 0
        for item in chain([first], waiting):
            yield item
            n_bytes += size(item)
            if run_bytes is not None and n_bytes >= run_bytes:
                return

    for first in waiting:
        yield run(first)
