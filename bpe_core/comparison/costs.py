"""What a tokenizer costs: tokens in money, text in a context window, rows of an embedding.

Prices, widths and windows are a visitor's own; none is built in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Self

from bpe_core.checks import check_whole, describe, is_a
from bpe_core.corpus import Corpus
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import Encoder

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """What a model charges and holds; None for a figure that is not known.

    Raises ConfigError for a figure that is out of range, infinite or not a number.

    >>> Rates(price=0.5, model_width=768).context_window is None
    True
    >>> Rates(context_window=0)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected the context window as a whole number from 1 to \
1,000,000,000, got 0 (int).
    """

    MAX_PRICE: ClassVar = 1_000_000_000
    """Per million tokens: 1,000 for one token."""
    MAX_MODEL_WIDTH: ClassVar = 1_000_000
    MAX_WINDOW: ClassVar = 1_000_000_000

    price: float | None = None
    """The price of a million tokens, in any currency."""
    model_width: int | None = None
    """The length of the vector that stands for a token."""
    context_window: int | None = None
    """The number of tokens that the model reads at once."""

    def __post_init__(self) -> None:
        price = self.price
        # In this order nan is refused too, because every comparison with it is false.
        if price is not None and not (is_a(price, int, float) and 0 <= price <= self.MAX_PRICE):
            raise ConfigError(
                f"Expected a price from 0 to {self.MAX_PRICE:,}, got {describe(price)}."
            )
        if self.model_width is not None:
            check_whole("the model width", self.model_width, 1, self.MAX_MODEL_WIDTH)
        if self.context_window is not None:
            check_whole("the context window", self.context_window, 1, self.MAX_WINDOW)


class Usage(NamedTuple):
    """A text under a tokenizer."""

    n_tokens: int
    n_bytes: int
    embedding_rows: int

    @classmethod
    def of(cls, corpus: Corpus, encoder: Encoder) -> Self:
        """Count the tokens of a corpus as `compare` does.

        Special tokens are treated as ordinary text; weighted words count as often as they occur.
        Raises what `encoder.encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> Usage.of(Corpus.from_documents(["the quick", "fox!"]), gpt2())
        Usage(n_tokens=4, n_bytes=13, embedding_rows=50257)
        """
        if corpus.word_counts is None:
            n = sum(len(encoder.encode_to_numpy(document)) for document in corpus.documents)
        else:
            counts = corpus.word_counts.items()
            n = sum(times * len(encoder.encode_to_numpy(word)) for word, times in counts)
        return cls(n, corpus.n_bytes, embedding_rows(encoder))

    def estimate_tokens(self, n_bytes: int) -> int | None:
        """Estimate the tokens of `n_bytes` of text like this one; None if this one is empty.

        >>> Usage(80, 400, 1_000).estimate_tokens(10_000)
        2000
        """
        return round(self.n_tokens * n_bytes / self.n_bytes) if self.n_bytes else None

    def costs(self, rates: Rates, other: Usage | None = None) -> Costs:
        """Return what the text costs, and what it saves against another tokenizer.

        >>> own, other = Usage(80, 400, 1_000), Usage(100, 400, 50_257)
        >>> costs = own.costs(Rates(price=2.5, model_width=768, context_window=4_000), other)
        >>> costs.price, costs.bytes_in_window
        (0.0002, 20000.0)
        >>> round(costs.window_saved, 3), round(costs.tokens_saved)
        (0.2, 800)
        >>> costs.parameters_tied, costs.parameters_untied
        (768000, 1536000)
        """
        window, width = rates.context_window, rates.model_width
        saved = None
        if window is not None and other is not None and other.n_tokens:
            saved = 1 - self.n_tokens / other.n_tokens
        return Costs(
            price=None if rates.price is None else self.n_tokens * rates.price / _MILLION,
            bytes_in_window=(
                window * self.n_bytes / self.n_tokens if window and self.n_tokens else None
            ),
            window_saved=saved,
            tokens_saved=None if saved is None or window is None else window * saved,
            parameters_tied=None if width is None else self.embedding_rows * width,
            parameters_untied=None if width is None else 2 * self.embedding_rows * width,
        )


class Costs(NamedTuple):
    """The costs of a text under a tokenizer; None where a rate is missing."""

    price: float | None
    """The price of all tokens of the text, in the currency of the rates."""
    bytes_in_window: float | None
    """How much text like this fills the context window; None without tokens."""
    window_saved: float | None
    """The share of the window that stays free with text that would fill it under the other
    tokenizer.

    Negative if the text does not fit; None if the other has no tokens."""
    tokens_saved: float | None
    """The same in tokens."""
    parameters_tied: int | None
    """The parameters of one matrix for input and output: rows × width."""
    parameters_untied: int | None
    """The parameters of a matrix for the input and another for the output."""


def embedding_rows(encoder: Encoder) -> int:
    """Return the rows of an embedding for a tokenizer: the highest id plus 1, gaps included.

    >>> from bpe_core.tokenizer import gpt2
    >>> embedding_rows(gpt2())
    50257
    """
    return max(encoder.vocab, default=-1) + 1
