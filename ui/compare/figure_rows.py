"""Format the figures of a comparison as rows of a table, and say what they are based on."""

from __future__ import annotations

import math
from collections.abc import Callable

from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.measurement import TokenizerMetrics
from ui.compare.definitions import COVERED_BYTES, COVERED_CHARACTERS, FIGURES
from ui.components.figures import Row

_MEANINGS = {definition.name: definition.line for definition in FIGURES}


def figure_rows(comparison: Comparison) -> list[Row]:
    """Return the figures of all tokenizers, marking the best one of each row."""
    rows = [
        _row("Tokens", comparison, lambda m: m.n_tokens, "{:,}", -1),
        *_per_token(comparison),
        _row("Tokens per word", comparison, lambda m: m.tokens_per_word, "{:.3f}", -1),
        _row("Words kept whole", comparison, lambda m: m.share_of_words_whole, "{:.1%}", 1),
        _row("Rényi efficiency", comparison, lambda m: m.renyi_efficiency, "{:.3f}", 0),
        _row("Vocabulary", comparison, lambda m: m.vocab_size, "{:,}", 0),
        _row("Only in this vocabulary", comparison, lambda m: m.n_exclusive, "{:,}", 0),
        _row("Uses of those tokens", comparison, lambda m: m.n_tokens_exclusive, "{:,}", 0),
    ]
    if any(m.uncovered_bytes for m in comparison.rows):
        rows.append(_row("Bytes in no token", comparison, lambda m: m.uncovered_bytes, "{:,}", -1))
    return rows


def _per_token(comparison: Comparison) -> list[Row]:
    """Return the rows per token: of all text, or of covered text if some is left out."""
    if any(m.uncovered_bytes for m in comparison.rows):
        return [
            _row(COVERED_BYTES, comparison, lambda m: m.covered_bytes_per_token, "{:.2f}", 1),
            _row(
                COVERED_CHARACTERS,
                comparison,
                lambda m: m.covered_characters_per_token,
                "{:.2f}",
                1,
            ),
        ]
    return [
        _row("Bytes per token", comparison, lambda m: m.bytes_per_token, "{:.2f}", 1),
        _row("Characters per token", comparison, lambda m: m.characters_per_token, "{:.2f}", 1),
    ]


def size_of(comparison: Comparison) -> str:
    """Return how much text the figures are based on."""
    n = comparison.n_documents
    documents = f"{n:,} {'document' if n == 1 else 'documents'}, " if n else ""
    return f"{documents}{comparison.n_bytes:,} bytes"


def shared_sentence(comparison: Comparison) -> str:
    """Return how many tokens all vocabularies share, as a sentence."""
    n, all_of_them = comparison.n_shared, "both" if len(comparison.rows) == 2 else "all"
    tokens = "token is" if n == 1 else "tokens are"
    return f"{n:,} {tokens} in {all_of_them} vocabularies, special tokens not counted."


def _row(
    name: str,
    comparison: Comparison,
    figure: Callable[[TokenizerMetrics], float],
    shape: str,
    direction: int,
) -> Row:
    values = [figure(metrics) for metrics in comparison.rows]
    shown = tuple("–" if math.isnan(value) else shape.format(value) for value in values)
    best = ()
    if direction and len(values) > 1 and not any(map(math.isnan, values)):
        place = max(range(len(values)), key=lambda place: values[place] * direction)
        # Where the figures read the same, a dot at one of them would look like a mistake.
        best = (place,) if shown.count(shown[place]) == 1 else ()
    # A smaller count is not better if it leaves text out.
    if any(m.uncovered_bytes for m in comparison.rows) and name != "Bytes in no token":
        best = ()
    return Row(name, shown, best, _MEANINGS[name])
