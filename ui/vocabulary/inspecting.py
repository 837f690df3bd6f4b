"""Choose a tokenizer and a text, and compute the table, trees and audit of the vocabulary once.

The text is the one in which the uses of its tokens are counted. What takes long runs in the
background: counting uses, searching for unreachable tokens and previewing pruned vocabularies. Each
is identified by its inputs, so visitors who need the same one share it. Short ones finish while the
page waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.corpus import Corpus, load_sample, samples
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.vocabulary import (
    Audit,
    Derivations,
    PrefixTree,
    Pruned,
    Reachability,
    Vocabulary,
    uses_in_corpus,
)
from ui.corpus import text_field
from ui.host import cached
from ui.look import tooltip
from ui.shell import bound
from ui.storage import StoredRun
from ui.tokenizers import add_button, choose_tokenizer, draw_shelf_problems, shelf
from ui.work import Progress, Status, Task, WorkKind, queue, stopper

_MIN_LETTERS, _MAX_LETTERS = 4, 14
_MIN_FOLDED = 3
_MIN_FAMILY_LETTERS = 3
_MAX_FAMILIES = 3


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that the page shows of a tokenizer, apart from its unreachable tokens."""

    name: str
    """May contain a visitor's own words."""
    encoder: Encoder
    table: Vocabulary
    derivations: Derivations | None
    """None if no merges are known, because another library runs the tokenizer."""
    prefixes: PrefixTree
    text: CountedText
    audit: Audit | None
    """None until the uses are counted."""

    special_ids: frozenset[int]
    blank_ids: frozenset[int]
    """Tokens of three or more white-space characters, whose trees only repeat themselves."""
    first_token: int
    """The token opened by default: a long word, so that its tree has branches."""
    families: list[tuple[int, tuple[int, ...]]]
    """The words on which most others are built, each with these; none if no merges are known."""
    untrained: tuple[int, ...] | None = None
    """The tokens that look untrained in the figures of a model, ascending; None until a file of
    them is opened."""

    def find_row(self, id: int) -> int:
        """Return the row of a token in the table; the first row for an unknown id."""
        row = int(np.searchsorted(self.table.ids, id))
        return row if row < len(self.table) and self.table.ids[row] == id else 0

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The encoder if its merges are known, else None."""
        return self.encoder.merged_by


def inspect_vocabulary(
    name: str, encoder: Encoder, text: CountedText, uses: NDArray[np.int64] | None
) -> Inspection:
    """Return a vocabulary as table, trees and trie; `uses` is None until they are counted."""
    is_counted = uses is not None
    return _inspect(name, encoder, text.id, text, uses, is_counted=is_counted)


@cached(spinner="Laying out the tokens")
def _inspect(
    name: str,
    encoder: Encoder,
    text_id: str,
    _text: CountedText,
    _uses: NDArray[np.int64] | None,
    *,
    is_counted: bool,
) -> Inspection:
    table = Vocabulary(encoder, _uses)
    # Computed here, so that the first search need not wait for it.
    _ = table.scripts
    derivations, prefixes = _structure(encoder)
    audited = None if _uses is None else Audit.of(encoder, _uses)
    special = frozenset(encoder.special_tokens.values())
    texts = ((id, token.decode(errors="replace")) for id, token in encoder.vocab.items())
    blank = frozenset(id for id, text in texts if len(text) >= _MIN_FOLDED and text.isspace())
    return Inspection(
        name,
        encoder,
        table,
        derivations,
        prefixes,
        _text,
        audited,
        special,
        blank,
        _first_token(table),
        _families(table, derivations),
    )


def _families(
    table: Vocabulary, derivations: Derivations | None
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the largest families of words; of two letters only where no word has three."""
    if derivations is None:
        return []
    for least in (_MIN_FAMILY_LETTERS, _MIN_FAMILY_LETTERS - 1):
        words = table.ids[table.letters >= least].tolist()
        if found := derivations.families(words, _MAX_FAMILIES):
            return found
    return []


@cached()
def _structure(encoder: Encoder) -> tuple[Derivations | None, PrefixTree]:
    known = encoder.merged_by
    return None if known is None else Derivations(known), PrefixTree(encoder.vocab)


def _first_token(table: Vocabulary) -> int:
    words = [
        (len(token), row)
        for row, token in enumerate(table.tokens)
        if _MIN_LETTERS < len(token) <= _MAX_LETTERS
        and token.removeprefix(b" ").decode(errors="replace").isalpha()
    ]
    return int(table.ids[max(words, key=lambda word: (word[0], -word[1]))[1] if words else -1])


@dataclass(frozen=True, slots=True)
class CountedText:
    """A text in which uses are counted; without a corpus, the training text of its run."""

    id: str
    name: str
    """As used in a sentence, such as "the held-out text"."""
    run: StoredRun | None = None
    corpus: Corpus | None = None


def training_text(stored: StoredRun) -> CountedText:
    """Return a run's training text, of which only the words and their counts are stored."""
    return CountedText(f"training:{stored.id}", "the training text", run=stored)


def held_out_text(stored: StoredRun) -> CountedText | None:
    """Return a run's held-out text, or None."""
    if not stored.held_out.n_bytes:
        return None
    return CountedText(f"held-out:{stored.id}", "the held-out text", corpus=stored.held_out)


TRAINING: Final = "Training text"
HELD_OUT: Final = "Held-out text"
OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here to see which tokens it uses."
_SAMPLES: Final = ("python-help", "python-library", "multilingual")


def choose_tokenizer_and_text(stored: StoredRun) -> tuple[str, Encoder, CountedText]:
    """Draw the choice of tokenizer and text; return the tokenizer's name, and both."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium", key="vocabulary_choice"
    ):
        chosen = choose_tokenizer(stored, key="vocabulary_of")
        add_button(stored)
        # In one container, so that a line break never separates the label from its field.
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            counted = _choose_text(stored, is_own=chosen.key == shelf.OWN)
    draw_shelf_problems()
    return chosen.name, chosen.encoder, counted


def _choose_text(stored: StoredRun, *, is_own: bool) -> CountedText:
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    held_out = held_out_text(stored)
    options = [*([TRAINING] if is_own else []), *([HELD_OUT] if held_out else [])]
    st.markdown(
        "Count uses in", width="content", help=tooltip("Held-out text") if held_out else None
    )
    options += [*titles, OWN_TEXT]
    box = partial(st.selectbox, "Count uses in", options, label_visibility="collapsed", width=260)
    # A separate key for each list of options: Streamlit drops a value missing from the list.
    picked = bound(box, key="uses_on" if is_own else "uses_of_other_on", usable=options)
    if picked == TRAINING:
        return training_text(stored)
    if picked == HELD_OUT and held_out is not None:
        return held_out
    if picked in titles:
        id = titles[picked]
        return CountedText(f"sample:{id}", f"“{picked}”", corpus=load_sample(id))
    text = text_field(_FIRST_TEXT, key="vocabulary_text")
    corpus = Corpus.from_text(text) if text else None
    return CountedText(f"own:{corpus.sha256 if corpus else ''}", "your text", corpus=corpus)


Uses = NDArray[np.int64]
FEW_TOKENS: Final = 5_000
"""A vocabulary of this size is searched for unreachable tokens in a quarter of a second."""
FEW_BYTES: Final = 500_000
"""A text of this size is encoded in a quarter of a second."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The length of a text in tokens, before and after pruning."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class PruningPreview:
    """A pruned tokenizer and its cost on each text."""

    pruned: Pruned
    costs: tuple[Cost, ...]


SEARCH: Final = WorkKind[Progress, Reachability]("unreachable", is_unasked=True)
COUNT: Final = WorkKind[Progress, Uses]("uses", is_unasked=True)
PREVIEW: Final = WorkKind[Progress, PruningPreview]("pruning")


def _make_preview(
    tokenizer: Tokenizer,
    uses: NDArray[np.int64],
    text: CountedText,
    stored: StoredRun,
    min_uses: int,
    task: Task[Progress],
) -> PruningPreview:
    """Prune the tokens used fewer than `min_uses` times, and compute the cost.

    The cost is given for the text in which uses were counted, and for the run's held-out text.
    Raises CancelledError if the task was cancelled.
    """
    pruned = Pruned.of(tokenizer, uses, min_uses)
    other = held_out_text(stored)
    to_count: list[tuple[Tokenizer, Corpus]] = []
    if text.corpus is not None:
        to_count.append((pruned.tokenizer, text.corpus))
    if other is not None and other.id != text.id:
        to_count += [(tokenizer, stored.held_out), (pruned.tokenizer, stored.held_out)]
    n_tokens = _counted(to_count, task)
    costs: list[Cost] = []
    before = int(uses.sum())
    if text.corpus is not None:
        costs.append(Cost(text.name, before, n_tokens.pop(0)))
    elif text.run is not None:
        costs.append(Cost(text.name, before, before + pruned.added_in(text.run.run)))
    if other is not None and n_tokens:
        costs.append(Cost(other.name, *n_tokens))
    return PruningPreview(pruned, tuple(costs))


def _counted(to_count: list[tuple[Tokenizer, Corpus]], task: Task[Progress]) -> list[int]:
    """Return the number of tokens of each corpus with its tokenizer; raises CancelledError."""
    sizes = [corpus.n_characters for _, corpus in to_count]
    found: list[int] = []
    for place, (tokenizer, corpus) in enumerate(to_count):

        def should_stop(done: int, of: int, place: int = place) -> bool:
            share = done * sizes[place] // max(1, of)
            task.report(Progress(sum(sizes[:place]) + share, sum(sizes)))
            return task.is_cancelled

        found.append(int(uses_in_corpus(tokenizer, corpus, should_stop).sum()))
    return found


def search(tokenizer: Tokenizer) -> Status[Progress, Reachability]:
    """Return the status of the search for unreachable tokens, starting it if needed."""
    id = tokenizer.fingerprint
    is_short = tokenizer.vocab_size <= FEW_TOKENS
    return queue.begin(SEARCH, id, partial(find_unreachable, tokenizer), is_short=is_short)


def count(encoder: Encoder, text: CountedText) -> Status[Progress, Uses]:
    """Return the status of counting the uses in a text, starting it if needed."""
    id = f"{encoder.fingerprint} {text.id}"
    is_short = text.corpus is None or text.corpus.n_bytes <= FEW_BYTES
    return queue.begin(COUNT, id, partial(_count, encoder, text), is_short=is_short)


def preview(
    tokenizer: Tokenizer, uses: Uses, text: CountedText, stored: StoredRun, min_uses: int
) -> Status[Progress, PruningPreview]:
    """Return the status of the preview of a pruned vocabulary, starting it if needed."""
    id = f"{tokenizer.fingerprint} {text.id} {stored.id} {min_uses}"
    corpora = [stored.held_out, *([text.corpus] if text.corpus is not None else [])]
    is_short = sum(corpus.n_bytes for corpus in corpora) <= FEW_BYTES
    make = partial(_make_preview, tokenizer, uses, text, stored, min_uses)
    return queue.begin(PREVIEW, id, make, is_short=is_short)


def _count(encoder: Encoder, text: CountedText, task: Task[Progress]) -> Uses:
    if text.corpus is not None:
        return uses_in_corpus(encoder, text.corpus, stopper(task))
    if text.run is not None:
        return text.run.run.count_uses()
    return np.zeros(max(encoder.vocab) + 1, np.int64)


def find_unreachable(tokenizer: Tokenizer, task: Task[Progress]) -> Reachability:
    """Find the tokens that no text encodes to; raises CancelledError if the task is cancelled."""
    return Reachability.of(tokenizer, stopper(task))
