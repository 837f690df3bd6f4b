"""Explain how a word becomes its tokens: its initial symbols, and each merge applied to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bpe_core.tokenizer.rank_merging import merge_steps
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.types import ExplainedMerge, Explanation, Merge


def explain_pieces(
    word: str, start: int, table: TokenTable, merges: Sequence[Merge]
) -> Iterator[Explanation | None]:
    """Explain each piece of a pre-token; yield None for one missing from the alphabet.

    `start` is the pre-token's start in the text, in characters; `merges` are those of the table.

    >>> table = TokenTable(vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[(0, 1, 2)])
    >>> found = list(explain_pieces("ab?a", 0, table, table.merges()))
    >>> [each and (each.start, each.text, each.ids) for each in found]
    [(0, 'ab', (2,)), None, (3, 'a', (0,))]
    """
    at = 0
    whole = table.word_ids.get(word.encode())
    pieces = table.pieces(word)
    if whole is not None and any(symbols is None for symbols, _ in pieces):
        yield Explanation(start, word, (), (), looked_up=whole)
        return
    for symbols, piece in pieces:
        if symbols is None:
            yield None
        else:
            steps = tuple(
                ExplainedMerge(merges[rank], ids)
                for rank, ids in merge_steps(symbols, table.ranks, table.made)
            )
            piece_start = start + len(word.encode()[:at].decode(errors="ignore"))
            shown = piece.decode(errors="replace")
            explained = Explanation(piece_start, shown, tuple(symbols), steps)
            if whole is not None and explained.ids != (whole,):
                explained = replace(explained, looked_up=whole)
            yield explained
        at += len(piece)


def explain_word(word: str, table: TokenTable, merges: Sequence[Merge]) -> list[Explanation]:
    """Explain one pre-token, given whole, without the pieces missing from the alphabet.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> [len(each.steps) for each in explain_word("The end", gpt2().table, gpt2().merges)]
    [5]
    """
    return [each for each in explain_pieces(word, 0, table, merges) if each is not None]
