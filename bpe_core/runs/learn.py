"""Learn merges from words laid out as ids, and build the run: the end of every training."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from bpe_core.counting.word_row import Layout
from bpe_core.counting.words import CountedCorpus
from bpe_core.runs.continuation import Continuation, Continued
from bpe_core.runs.count import wait_if_worth_it
from bpe_core.runs.progress import Watch
from bpe_core.runs.run import RunOrigin, TrainingRun
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued_vocabulary import ContinuedVocabulary
from bpe_core.trainers.fastest import learn_merges, text_bytes
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.types import TrainingConfig


def learn_run(
    counted: CountedCorpus,
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    build_tokenizer: Callable[[LearnedMerges], Tokenizer],
    config: TrainingConfig,
    watch: Watch,
    continued: Continued | None = None,
) -> TrainingRun:
    """Learn merges from the counted words of a corpus, and return the run.

    `layout` holds the words as ids of the vocabulary, and is used up. `build_tokenizer` builds the
    tokenizer once the vocabulary holds the new tokens. `continued` says what the run begins with;
    None if it begins with the alphabet.

    >>> from bpe_core.counting.word_row import lay_out_pretokens
    >>> from bpe_core.types import PretokenCounts
    >>> words = PretokenCounts((b"aa",), np.array([5]))
    >>> config = TrainingConfig(2, base="characters", special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, [b"a"])
    >>> run = learn_run(
    ...     CountedCorpus(words, 10, lambda: "", frozenset()),
    ...     lay_out_pretokens(words, "characters", vocabulary.base_ids),
    ...     vocabulary,
    ...     lambda learned: Tokenizer(
    ...         vocab=dict(enumerate(vocabulary.tokens)),
    ...         merges=learned.merges,
    ...         pretokenizer="none",
    ...         base="characters",
    ...     ),
    ...     config,
    ...     Watch(1, 0.0, None, None),
    ... )
    >>> run.tokens_after.tolist()
    [10, 5]
    """
    counted_all = not watch.stopped
    n_symbols = layout.n_symbols
    watch.report(0, n_symbols, 0)
    wait_if_worth_it(text_bytes(layout), watch)
    choose = None if continued is None else continued.merge_terms
    first = None if choose is None else choose(layout)
    if first is not None:
        layout = first.applied_to(layout)
        watch.note_first(len(first.merges), sum(first.tokens_saved))
    learned = learn_merges(layout, vocabulary, config, watch.look)
    if first is not None:
        learned = first.then(learned)
    run = TrainingRun(
        tokenizer=build_tokenizer(learned),
        config=config,
        corpus_sha256=counted.sha256,
        corpus_bytes=counted.n_bytes,
        pretokens=counted.pretokens,
        joined_at=learned.joined_at,
        stop_reason=learned.stop_reason if counted_all else "cancelled",
        elapsed_seconds=watch.elapsed_seconds,
        origin=RunOrigin(_version(), counted.divided),
        tokens_after=n_symbols - np.append(0, np.cumsum(learned.tokens_saved)),
        continues=None
        if continued is None
        else Continuation(
            continued.base,
            tuple(learned.counts),
            tuple(continued.left_out),
            () if first is None else first.costs,
            tuple(continued.characters),
            continued.character_coverage,
        ),
    )
    if learned.counts:
        watch.report(len(learned.counts), int(run.tokens_after[-1]), learned.counts[-1])
    return run


def _version() -> str:
    """Return the version of bpe_core, which may run from a checkout without being installed.

    >>> _version()
    '0.1.0'
    """
    package = __name__.partition(".")[0]
    return str(import_module(package).__version__)
