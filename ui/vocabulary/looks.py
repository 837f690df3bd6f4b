"""Vocabularies laid out for looking around in them: computed once, kept by tokenizer and text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.corpora.samples import load_sample
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary.audit import Audit, audit, uses_in_corpus, uses_in_run
from bpe_core.vocabulary.derivation import Derivations
from bpe_core.vocabulary.prefixes import PrefixTree
from bpe_core.vocabulary.pruning import Pruned, added_in_run, prune
from bpe_core.vocabulary.table import Vocabulary
from ui.run_store import StoredRun

_FEWEST_LETTERS, _MOST_LETTERS = 4, 14


@dataclass(frozen=True, slots=True)
class CountedText:
    """A text that uses are counted on; without a corpus it is what the run was trained on."""

    id: str
    name: str
    """As it stands in a sentence, such as "the held-out text"."""
    run: StoredRun | None = None
    corpus: Corpus | None = None


def training_text(stored: StoredRun) -> CountedText:
    """What a run was trained on: its words and their counts are kept with it, the text is not."""
    return CountedText(f"training:{stored.id}", "the training text", run=stored)


def held_out_text(stored: StoredRun) -> CountedText | None:
    """What a run's training never saw; None where nothing was held out."""
    if not stored.held_out.n_bytes:
        return None
    return CountedText(f"held-out:{stored.id}", "the held-out text", corpus=stored.held_out)


@dataclass(frozen=True, slots=True)
class Looked:
    """A tokenizer from all sides."""

    tokenizer: Tokenizer
    table: Vocabulary
    derivations: Derivations
    prefixes: PrefixTree
    text: CountedText
    audit: Audit

    special_ids: frozenset[int]
    first_token: int
    """The one to open where nobody has chosen: a long word, so that its tree has branches."""

    def row_of(self, id: int) -> int:
        """The row of the table that a token stands in; the first row for an id that is none."""
        row = int(np.searchsorted(self.table.ids, id))
        return row if row < len(self.table) and self.table.ids[row] == id else 0

    @property
    def key(self) -> tuple[str, str]:
        """What names the tokenizer and the text."""
        return self.tokenizer.fingerprint, self.text.id


def look_at(tokenizer: Tokenizer, text: CountedText) -> Looked:
    """A vocabulary as table, trees and trie, with its uses on a text."""
    return _look_at(tokenizer.fingerprint, text.id, tokenizer, text)


@st.cache_resource(max_entries=6, show_spinner="Counting how often each token is used")
def _look_at(fingerprint: str, text_id: str, _tokenizer: Tokenizer, _text: CountedText) -> Looked:
    if _text.corpus is not None:
        uses = uses_in_corpus(_tokenizer, _text.corpus)
    elif _text.run is not None:
        uses = uses_in_run(_text.run.run)
    else:
        uses = np.zeros(max(_tokenizer.vocab) + 1, np.int64)
    table = Vocabulary(_tokenizer, uses)
    # The first search would wait for what this lays out.
    _ = table.scripts
    derivations, prefixes = _structure(fingerprint, _tokenizer)
    audited = audit(_tokenizer, uses)
    special = frozenset(_tokenizer.special_tokens.values())
    return Looked(
        _tokenizer, table, derivations, prefixes, _text, audited, special, _first_token(table)
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _structure(fingerprint: str, _tokenizer: Tokenizer) -> tuple[Derivations, PrefixTree]:
    return Derivations(_tokenizer), PrefixTree(_tokenizer.vocab)


@st.cache_resource(max_entries=4, show_spinner=False)
def sample_corpus(sample_id: str) -> Corpus:
    """One of the samples that come with the app."""
    return load_sample(sample_id)


def _first_token(table: Vocabulary) -> int:
    words = [
        (len(token), row)
        for row, token in enumerate(table.tokens)
        if _FEWEST_LETTERS < len(token) <= _MOST_LETTERS
        and token.removeprefix(b" ").decode(errors="replace").isalpha()
    ]
    return int(table.ids[max(words, key=lambda word: (word[0], -word[1]))[1] if words else -1])


@dataclass(frozen=True, slots=True)
class Cost:
    """How long a text is in tokens, whole and pruned."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class PruningPreview:
    """A pruned tokenizer and what it costs, text by text."""

    pruned: Pruned
    costs: tuple[Cost, ...]


def preview_of(looked: Looked, stored: StoredRun, min_uses: int) -> PruningPreview:
    """A vocabulary without what is used less than `min_uses` times, and what that costs.

    The cost is told of the text that uses were counted on, and of the run's held-out text.
    """
    return _preview_of(*looked.key, stored.id, min_uses, looked, stored)


@st.cache_resource(max_entries=8, show_spinner="Pruning")
def _preview_of(
    fingerprint: str,
    text_id: str,
    run_id: str,
    min_uses: int,
    _looked: Looked,
    _stored: StoredRun,
) -> PruningPreview:
    pruned = prune(_looked.tokenizer, _looked.audit.uses, min_uses)
    text, before = _looked.text, int(_looked.audit.uses.sum())
    costs: list[Cost] = []
    if text.corpus is not None:
        after = int(uses_in_corpus(pruned.tokenizer, text.corpus).sum())
        costs.append(Cost(text.name, before, after))
    elif text.run is not None:
        costs.append(Cost(text.name, before, before + added_in_run(text.run.run, pruned)))
    other = held_out_text(_stored)
    if other is not None and other.id != text.id:
        costs.append(
            Cost(
                other.name,
                int(uses_in_corpus(_looked.tokenizer, _stored.held_out).sum()),
                int(uses_in_corpus(pruned.tokenizer, _stored.held_out).sum()),
            )
        )
    return PruningPreview(pruned, tuple(costs))
