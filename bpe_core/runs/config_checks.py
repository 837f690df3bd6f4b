"""Check the fields of a training configuration that do not depend on the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from numbers import Real
from typing import Final, cast

import numpy as np

from bpe_core.checks import check_choice, check_whole, describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import Alphabet, Base, TieBreak, TrainingConfig

_MAX_ID: Final = int(np.iinfo(np.int32).max)
_MAX_COUNT: Final = int(np.iinfo(np.int64).max)


def check_config(config: TrainingConfig) -> None:
    """Raise `ConfigError` for a field that is invalid for every corpus.

    >>> check_config(TrainingConfig(special_tokens=("[CLS]", "[CLS]")))
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: The special token '[CLS]' is given twice. List each one once.
    """
    if not is_a(config, TrainingConfig):
        raise ArgumentTypeError(
            f"Expected a TrainingConfig, got {describe(config)}. For a size alone: vocab_size=300."
        )
    check_choice("base", config.base, Base, ConfigError)
    check_choice("alphabet", config.alphabet, Alphabet, ConfigError)
    check_choice("tie_break", config.tie_break, TieBreak, ConfigError)
    check_whole("vocab_size", config.vocab_size, 1, _MAX_ID)
    # Counts of weighted words can exceed the largest id.
    check_whole("min_frequency", config.min_frequency, 0, _MAX_COUNT)
    if config.max_token_bytes is not None:
        check_whole("max_token_bytes", config.max_token_bytes, 1, _MAX_ID)
    _check_fallback(config)
    _check_special_tokens(config)


def _check_fallback(config: TrainingConfig) -> None:
    fallback, coverage = config.byte_fallback, config.character_coverage
    if not is_a(fallback, bool):
        raise ArgumentTypeError(f"byte_fallback is {describe(fallback)}. Use True or False.")
    check_coverage(coverage)
    if coverage < 1 and not fallback:
        raise ConfigError(
            f"character_coverage is {coverage}, but without byte_fallback no token would spell the "
            "other characters. Set byte_fallback=True, or a coverage of 1."
        )
    adds_space = get_pretokenizer(config.pretokenizer).adds_space
    if fallback != adds_space:
        missing = "the pre-tokenizer metaspace or llama2" if fallback else "byte_fallback=True"
        given = "byte_fallback" if fallback else f"The pre-tokenizer {config.pretokenizer}"
        raise ConfigError(f"{given} needs {missing}, and base='characters'. Set all three.")
    if fallback and config.base != "characters":
        raise ConfigError(
            f"byte_fallback spells characters outside the alphabet in bytes, and the base is "
            f"{config.base!r}. Use base='characters'."
        )
    if fallback and config.end_of_word is not None:
        raise ConfigError(
            f"byte_fallback and an end-of-word marker, {config.end_of_word!r:.60}, do not go "
            "together: a space begins each word. Use end_of_word=None."
        )


def check_coverage(coverage: float, *, may_be_zero: bool = False) -> None:
    """Raise `ConfigError` unless this share of a text can be covered by an alphabet.

    An alphabet that is trained needs a character; one that is extended may get none.

    >>> check_coverage(0, may_be_zero=True)
    >>> check_coverage(2, may_be_zero=True)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: character_coverage is 2. Use a share from 0 to 1.
    """
    if not is_a(coverage, Real) or is_a(coverage, bool):
        raise ArgumentTypeError(
            f"character_coverage is {describe(coverage)}. Use a number, such as 0.9995."
        )
    if not (0 < coverage <= 1 or (may_be_zero and coverage == 0)):
        share = "from 0 to 1" if may_be_zero else "above 0, up to 1, such as 0.9995"
        raise ConfigError(f"character_coverage is {coverage}. Use a share {share}.")


def _check_special_tokens(config: TrainingConfig) -> None:
    wrong = is_a(config.special_tokens, str) or not is_a(config.special_tokens, Iterable)
    names = [] if wrong else list(config.special_tokens)
    if wrong or not all(isinstance(token, str) for token in cast("list[object]", names)):
        raise ArgumentTypeError(
            f"Expected special_tokens as a tuple of str, such as ('[CLS]',), "
            f"got {config.special_tokens!r}."
        )
    times_given = Counter(names)
    for token in names:
        if not token:
            raise ConfigError(
                "A special token is empty. Remove it, or give it at least 1 character."
            )
        if times_given[token] > 1:
            raise ConfigError(f"The special token {token!r} is given twice. List each one once.")
    if config.end_of_word is not None:
        if not is_a(config.end_of_word, str):
            raise ArgumentTypeError(
                "Expected the end-of-word marker as a str, such as '</w>', "
                f"got {describe(config.end_of_word)}."
            )
        if not config.end_of_word:
            raise ConfigError(
                "The end-of-word marker is empty. Use a text such as '</w>', or end_of_word=None."
            )
        if config.end_of_word in names:
            raise ConfigError(
                f"{config.end_of_word!r} is both a special token and the end-of-word marker. "
                "Rename one of them."
            )
        names.append(config.end_of_word)
    for token in names:
        try:
            token.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"{token!r} contains a lone surrogate at character {error.start}, which UTF-8 "
                "cannot represent. Remove it."
            ) from None
