"""Learn merges with kernels or in plain Python, whichever is faster; the merges are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from bpe_core.corpus import Layout
from bpe_core.kernels import use_kernels
from bpe_core.trainers import incremental
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import ContinuedVocabulary
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.parity import LearnedParity, ParityRule, learn_parity_reference
from bpe_core.trainers.picky import PickyState
from bpe_core.types import TrainingConfig

_MAX_IDS: Final = 1 << 29  # of all languages, see `kernels.row.JOINED`


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
) -> LearnedMerges:
    """Learn the same merges as `incremental.learn_merges`, from the same arguments.

    Kernels are not waited for. The layout may be modified in place.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> layout = Layout.of_words([vocabulary.start(b"abab")], [1])
    >>> learn_merges(layout, vocabulary, config, lambda done, saved, count: False).merges
    [(64, 65, 256), (256, 256, 257)]
    """
    if config.picky is not None:
        if use_kernels(layout.n_text_bytes):
            from bpe_core.trainers import compiled

            return compiled.learn_picky(layout, vocabulary, config, should_stop, done)
        start = partial(PickyState, picky=config.picky)
        return incremental.learn_merges(layout, vocabulary, config, should_stop, done, start)
    # Kernels know no bytes that are apart, which only Falcon has.
    is_plain = vocabulary.forbidden is None or not vocabulary.forbidden.apart
    if not is_plain or not use_kernels(layout.n_text_bytes):
        return incremental.learn_merges(layout, vocabulary, config, should_stop, done)
    # Imported when needed, because it loads the kernels.
    from bpe_core.trainers import compiled

    return compiled.learn_merges(layout, vocabulary, config, should_stop, done)


def learn_parity(
    training: Sequence[Layout],
    measured: Sequence[Layout] | None,
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    rule: ParityRule,
    should_stop: Callable[[int, int, int], bool],
) -> LearnedParity:
    """Learn the same merges as `parity.learn_parity_reference`, from the same arguments.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
    >>> never = lambda done, saved, count: False
    >>> learn_parity(words, None, vocabulary, config, ParityRule(), never).picked.tolist()
    [1, 0]
    """
    layouts = [*training, *(measured or ())]
    n_ids = len(layouts) * config.vocab_size
    if n_ids > _MAX_IDS or not use_kernels(sum(each.n_text_bytes for each in layouts)):
        return learn_parity_reference(training, measured, vocabulary, config, rule, should_stop)
    # Imported when needed, because it loads the kernels.
    from bpe_core.trainers import compiled

    return compiled.learn_parity(training, measured, vocabulary, config, rule, should_stop)
