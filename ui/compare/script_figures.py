"""Format merges per script as table rows; the core counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bpe_core.comparison.languages import ScriptMerges, merges_per_script
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.figures import Row
from ui.memory.sized_cache import cached

_PARTS = 4
_LEAST_SHARE = 0.0005


def merges_of_scripts(tokenizer: Tokenizer) -> ScriptMerges:
    """Return how many merges each script got over training."""
    return _merges(tokenizer.fingerprint, tokenizer)


@cached(spinner="Counting the merges of each script")
def _merges(fingerprint: str, _tokenizer: Tokenizer) -> ScriptMerges:
    return merges_per_script(_tokenizer)


def script_rows(spent: Sequence[ScriptMerges]) -> list[Row]:
    """Return rows of merges per script and their share, the largest total first."""
    last = [dict(zip(one.names, one.after[:, -1].tolist(), strict=True)) for one in spent]
    in_all = Counter[str]()
    for counts in last:
        in_all.update(counts)
    return [
        Row(name, tuple(_with_share(counts.get(name, 0), sum(counts.values())) for counts in last))
        for name, _ in in_all.most_common()
    ]


def script_steps(spent: ScriptMerges) -> tuple[list[str], list[Row]]:
    """Return the columns and rows of one tokenizer's merges per script by quarter of training."""
    n_merges = spent.after.shape[1] - 1
    steps = sorted({n_merges * part // _PARTS for part in range(1, _PARTS + 1)} - {0})
    return (
        [f"after {step:,} merges" for step in steps],
        [
            Row(name, tuple(f"{count:,}" for count in after[steps].tolist()))
            for name, after in zip(spent.names, spent.after, strict=True)
        ],
    )


def _with_share(count: int, of: int) -> str:
    if not count:
        return "0"
    share = count / of
    return f"{count:,} ({f'{share:.1%}' if share >= _LEAST_SHARE else '<0.1%'})"
