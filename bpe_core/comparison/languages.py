"""Compare the cost of languages: tokens for the same sentences, and merges per script."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a, several
from bpe_core.comparison.comparison import name_encoders
from bpe_core.comparison.measurement import (
    ShouldStop,
    TokenizerMetrics,
    efficiency_together,
    measure,
)
from bpe_core.corpus import Corpus, ParallelText
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.extras import to_frame
from bpe_core.tokenizer import Encoder, Tokenizer, Trained
from bpe_core.unicode import token_script


@dataclass(frozen=True, slots=True)
class LanguageCosts:
    """The number of tokens that one tokenizer needs for the same sentences in each language."""

    reference: int
    """The index of the language that parity is measured against."""
    metrics: tuple[TokenizerMetrics, ...]
    """One per language, in the order of the texts."""
    parity: tuple[float, ...]
    """One per language: its tokens per token of the reference; see `relative_costs`."""
    gini: float
    """The inequality of the languages' numbers of tokens; see `gini`.

    Source: Foroutan et al. 2025, "Parity-aware byte-pair encoding", section on fairness measures.
    """
    renyi_efficiency: float
    """The efficiency over all languages together; see `measurement.renyi_efficiency`."""

    @property
    def n_tokens(self) -> int:
        """The tokens of all languages together."""
        return sum(metrics.n_tokens for metrics in self.metrics)

    @property
    def mean_parity(self) -> float:
        """The mean parity of all languages but the reference."""
        others = [value for i, value in enumerate(self.parity) if i != self.reference]
        return sum(others) / len(others)


@dataclass(frozen=True, slots=True)
class ScriptMerges:
    """The number of a tokenizer's merges that made tokens of each script, after each merge."""

    names: tuple[str, ...]
    """The names that `token_script` returns for merged tokens, most frequent first."""
    after: NDArray[np.int64]
    """int64[n_names, n_merges + 1]."""

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Self:
        """Count, after each merge, how many tokens of each script the merges have made so far.

        A token belongs to the script that `bpe_core.unicode.characters.token_script` returns. In
        scripts of three bytes per character, a byte tokenizer's first merges make partial
        characters.

        >>> from bpe_core.tokenizer import gpt2
        >>> spent = ScriptMerges.of(gpt2())
        >>> spent.names[0], spent.after.shape[1], int(spent.after[:, -1].sum())
        ('Latin', 50001, 50000)
        """
        made = [token_script(tokenizer.vocab[merge.id]) for merge in tokenizer.merges]
        names = [name for name, _ in Counter(made).most_common()]
        place = {name: i for i, name in enumerate(names)}
        after = np.zeros((len(names), len(made) + 1), np.int64)
        after[[place[name] for name in made], np.arange(1, len(made) + 1)] = 1
        return cls(tuple(names), np.cumsum(after, axis=1))


@dataclass(frozen=True, slots=True)
class LanguageMetrics:
    """One tokenizer on the same sentences in several languages."""

    metrics: tuple[TokenizerMetrics, ...]
    """One per language, in the order of the texts."""
    renyi_efficiency: float
    """The efficiency over all languages together."""

    @classmethod
    def measure(
        cls,
        texts: Sequence[ParallelText],
        encoder: Encoder,
        should_stop: ShouldStop | None = None,
    ) -> Self:
        """Measure one tokenizer on each language; raises `ConfigError` for fewer than two.

        Each sentence is encoded separately.
        `should_stop` is asked before each language, with the sentences measured and all sentences;
        once it returns True, CancelledError is raised.
        """
        if len(texts) < 2:
            raise ConfigError(f"Expected at least 2 languages to compare, found {len(texts)}.")

        def corpora() -> Iterator[Corpus]:
            n_in_each = len(texts[0].sentences)
            n_in_all = len(texts) * n_in_each
            for place, text in enumerate(texts):
                if should_stop is not None and should_stop(place * n_in_each, n_in_all):
                    raise CancelledError
                yield Corpus.from_documents(list(text.sentences))

        found = measure(corpora(), encoder)
        return cls(tuple(each.metrics for each in found), efficiency_together(found, encoder))

    def costs(self, names: Sequence[str], reference: str) -> LanguageCosts:
        """Return the costs of these languages, by their names, against one of them.

        Raises `ConfigError` for a reference that is not among the names or has no tokens.

        >>> from bpe_core.tokenizer import gpt2
        >>> from bpe_core.corpus import parallel_texts
        >>> chosen = [text for text in parallel_texts() if text.code in ("en", "th")]
        >>> measured = LanguageMetrics.measure(chosen, gpt2())
        >>> costs = measured.costs(["English", "Thai"], "English")
        >>> costs.parity[0], costs.parity[1] > 5
        (1.0, True)
        """
        n_tokens = [row.n_tokens for row in self.metrics]
        relative = relative_costs(dict(zip(names, n_tokens, strict=True)), reference)
        return LanguageCosts(
            reference=list(names).index(reference),
            metrics=self.metrics,
            parity=tuple(relative.values()),
            gini=gini(n_tokens),
            renyi_efficiency=self.renyi_efficiency,
        )


@dataclass(frozen=True, slots=True)
class Parity:
    """What the same sentences cost in each language under each tokenizer; made by `parity`."""

    languages: tuple[str, ...]
    tokenizers: tuple[str, ...]
    """A distinct name for each tokenizer."""
    costs: tuple[LanguageCosts, ...]
    """One for each tokenizer."""

    @property
    def reference(self) -> str:
        """The language that the others are measured against."""
        return self.languages[self.costs[0].reference]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, with a dict for each tokenizer in "rows".

        >>> found = parity({"English": ["a bare byte"], "Thai": ["ไบต์"]}, ["gpt2"]).to_dict()
        >>> found["reference"], [row["tokenizer"] for row in found["rows"]]
        ('English', ['GPT-2'])
        """
        return {
            "reference": self.reference,
            "rows": [
                {
                    "tokenizer": name,
                    "n_tokens": one.n_tokens,
                    "mean_parity": one.mean_parity,
                    "gini": one.gini,
                    "renyi_efficiency": one.renyi_efficiency,
                    "languages": self._languages(one),
                }
                for name, one in zip(self.tokenizers, self.costs, strict=True)
            ],
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each language under each tokenizer.

        `gini` is that of the tokenizer over all languages.

        >>> frame = parity({"English": ["a bare byte"], "Thai": ["ไบต์"]}, ["gpt2"]).to_frame()
        >>> frame[["tokenizer", "language", "n_tokens"]].values.tolist()
        [['GPT-2', 'English', 3], ['GPT-2', 'Thai', 8]]
        """
        named = zip(self.tokenizers, self.costs, strict=True)
        return to_frame(
            [
                {"tokenizer": name, **figures, "gini": one.gini}
                for name, one in named
                for figures in self._languages(one)
            ]
        )

    def _languages(self, costs: LanguageCosts) -> list[dict[str, Any]]:
        return [
            {
                "language": language,
                "n_bytes": row.n_bytes,
                "n_tokens": row.n_tokens,
                "parity": relative,
                "bytes_per_token": row.bytes_per_token,
                "tokens_per_word": row.tokens_per_word,
                "unknown_bytes": row.unknown_bytes,
            }
            for language, row, relative in zip(
                self.languages, costs.metrics, costs.parity, strict=True
            )
        ]


def parity(
    sentences: Mapping[str, Iterable[str]],
    tokenizers: Iterable[Encoder | Trained | str | os.PathLike[str]],
    reference: str | None = None,
    should_stop: ShouldStop | None = None,
) -> Parity:
    """Compare what the same sentences cost in several languages, under each of several tokenizers.

    `sentences` has those of each language by its name; the n-th of each mean the same. The parity
    of a language is its number of tokens, divided by that of `reference`, by default the first
    language: at 2 it pays twice. The Gini coefficient says how unequally tokens are spread over all
    languages. A tokenizer may be given by its path or name, as for `open_encoder`. Each sentence is
    encoded separately.

    `should_stop` is called before each language with the sentences measured and their total, for
    each tokenizer; once it returns True, `concurrent.futures.CancelledError` is raised.

    Raises ConfigError without tokenizers, for fewer than two languages, and for a reference that is
    not among them or has no tokens, and CorpusError if a sentence is missing.

    Source: Petrov et al. 2023, "Language model tokenizers introduce unfairness between languages",
    who call parity the premium; Foroutan et al. 2025, "Parity-aware byte-pair encoding", for the
    Gini coefficient.

    >>> from bpe_core.corpus import parallel_texts
    >>> sample = {text.name: text.sentences for text in parallel_texts()}
    >>> found = parity(sample, ["gpt2"], "English")
    >>> round(found.costs[0].mean_parity, 2), round(found.costs[0].gini, 2)
    (4.48, 0.34)
    """
    if not is_a(sentences, Mapping):
        raise ArgumentTypeError(
            f"Expected sentences by the name of their language, got {describe(sentences)}: give a "
            'dict such as {"English": ["Yes."], "German": ["Ja."]}.'
        )
    remedy = "give a list of str for each language"
    columns = {name: several(own, "sentences", remedy) for name, own in sentences.items()}
    for name, own in columns.items():
        if odd := next((each for each in (name, *own) if not is_a(each, str)), None):
            raise ArgumentTypeError(f"Expected names and sentences as str, got {describe(odd)}.")
    texts = ParallelText.from_columns(columns)
    named = name_encoders(tokenizers)
    first = next(iter(columns), "") if reference is None else reference
    return Parity(
        languages=tuple(columns),
        tokenizers=tuple(each.name for each in named),
        costs=tuple(
            LanguageMetrics.measure(texts, each.encoder, should_stop).costs([*columns], first)
            for each in named
        ),
    )


def relative_costs(n_tokens: Mapping[str, int], reference: str) -> dict[str, float]:
    """Return each language's tokens per token of the reference language, on parallel text.

    1 is parity; 2 means that the same sentences take twice as many tokens. Raises ConfigError for a
    reference that is missing or has no tokens.

    Source: Petrov et al. 2023, "Language model tokenizers introduce unfairness between languages",
    who call it the premium.

    >>> relative_costs({"English": 100, "Thai": 250}, "English")
    {'English': 1.0, 'Thai': 2.5}
    """
    if not n_tokens.get(reference):
        with_tokens = [repr(name) for name, count in n_tokens.items() if count]
        raise ConfigError(
            f"{reference!r} has no tokens to compare with. Choose one of {', '.join(with_tokens)}."
            if with_tokens
            else f"Neither {reference!r} nor any other language has tokens. Use a tokenizer that "
            "covers some of the text."
        )
    return {language: count / n_tokens[reference] for language, count in n_tokens.items()}


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient of costs: 0 if all are equal, near 1 if one has almost all.

    It is half the relative mean absolute difference, computed from the sorted costs. Raises
    ConfigError if there are no costs, if one is negative, or if all are zero.

    Source: Gini 1912; sorted form as in Damgaard and Weiner 2000, "Describing inequality in plant
    size or fecundity".

    >>> gini([1, 1, 1, 1]), gini([0, 0, 0, 4])
    (0.0, 0.75)
    """
    given = several(costs, "costs", "give a list of numbers")
    for number, cost in enumerate(given, 1):
        if not is_a(cost, int, float, np.integer, np.floating):
            raise ArgumentTypeError(
                f"Number {number:,} of {len(given):,} costs is {describe(cost)}. Expected a number."
            )
    if any(cost > sys.float_info.max for cost in given):
        raise ConfigError("A cost is infinite or too large. Expected finite numbers.")
    ordered = np.sort(np.array(given, np.float64))
    if not len(ordered) or ordered[0] < 0 or not ordered[-1] > 0:
        raise ConfigError(
            f"Expected at least one cost, none negative and not all 0, to measure inequality; got "
            f"{len(ordered)} costs."
        )
    n = len(ordered)
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float((weights * ordered).sum() / (n * ordered.sum()))
