"""Parts of Adapt: names of files, held-out text, and the tables of new and removed tokens."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.adapting import extend, replace
from bpe_core.comparison import embedding_rows
from tests.waiting import OfKind, wait_until
from ui.adapt import in_background
from ui.adapt.adapting_process import HELD_OUT, TRAINING, judged
from ui.adapt.new_tokens import list_new_tokens, token_rows, tokens_csv
from ui.adapt.replace_mode import gone_for_good
from ui.adapt.result_parts import files_label, without_folders
from ui.run import rows_of_cuts
from ui.storage import StoredRun


def test_names_of_uploaded_files_are_no_markup_and_no_paths() -> None:
    hostile = {"../[x](http://a).json": b"1", "/etc/merges.txt": b"2"}
    assert list(without_folders(hostile)) == ["a).json", "merges.txt"]
    assert "\\[" in files_label(["[x](y).json"])
    assert files_label(["x" * 100]) == "Tokenizer files"


@pytest.mark.slow
def test_the_saving_of_a_token_is_measured_where_its_pair_overlaps_itself() -> None:
    corpus = bpe.Corpus.from_word_counts({"łłł": 7, "qzqz": 3})
    run = extend(bpe.gpt2(), corpus, n_tokens=3)
    stored = cast(StoredRun, SimpleNamespace(run=run, title="łłł", base=None))
    before = [run.truncated(n) for n in range(len(run.merges) + 1)]
    tokens = [7 * len(t.encode("łłł")) + 3 * len(t.encode("qzqz")) for t in before]
    saved = [a - b for a, b in pairwise(tokens)]
    # The savings and the counts differ on this text; otherwise it would test nothing.
    assert saved != [merge.count for merge in run.merges]
    new = list_new_tokens(stored, len(run.merges))
    assert [row.loss for row in token_rows(new, range(len(new.ids)))] == [f"{n:,}" for n in saved]
    lines = list(csv.DictReader(io.StringIO(tokens_csv(new).decode("utf-8-sig"))))
    assert [int(line["tokens saved"]) for line in lines] == saved
    found = [saved[place] for place in new.by_saving(range(len(new.ids)))]
    assert found == sorted(saved, reverse=True)


@pytest.mark.slow
def test_held_out_text_may_hold_symbols_that_the_base_lacks() -> None:
    config = bpe.TrainingConfig(14, base="characters", special_tokens=())
    base = bpe.train(bpe.Corpus.from_text("hug pug hugs pugs bun hug " * 5), config).tokenizer
    text = "".join(f"hug bun pug hugs zebra {n}\n" for n in range(100))
    assert "zebra" in bpe.Corpus.from_text(text).split(0.2)[1].documents[0]
    order = in_background.Order(base, bpe.Corpus.from_text(text), 0.2)
    in_background.begin_replacing(order, 1)
    status = in_background.replacing(order, 1)
    assert status is not None
    status = wait_until(OfKind(in_background.REPLACE), status.id)
    assert status.result is not None, status.problem
    before, after = status.result.judged.tokens
    assert before >= after > 0


def test_tokens_that_were_learned_again_are_not_gone() -> None:
    corpus = bpe.Corpus.from_text("the then zzxqkvbnmjhg " * 3)
    adapted = replace(bpe.gpt2().truncated(12), corpus, n_tokens=12)
    old, new = adapted.base.vocab, set(adapted.tokenizer.vocab.values())
    gone = gone_for_good(adapted)
    assert gone == [id for id in adapted.removed if old[id] not in new]
    assert 0 < len(gone) < len(adapted.removed)


def test_the_rows_and_size_of_a_cut_are_those_of_its_tokenizer() -> None:
    base = bpe.gpt2().truncated(40)  # its special token keeps the id 50256, after a gap
    run = extend(base, bpe.Corpus.from_text("hugging hugged " * 3), n_tokens=4, terms=["hugging"])
    n = len(run.merges)
    assert n > 1
    for kept in range(n + 1):
        cut = run.truncated(kept)
        assert rows_of_cuts(run)[kept] == embedding_rows(cut)
        assert run.tokenizer.vocab_size - (n - kept) == cut.vocab_size


def test_tokens_that_were_taken_out_again_keep_their_rows() -> None:
    run = bpe.train(["the and then and there and hand band land sand "], vocab_size=280, picky=0.6)
    assert run.tokenizer.table.removals
    assert rows_of_cuts(run)[-1] == embedding_rows(run.tokenizer) > run.tokenizer.vocab_size
    assert len(rows_of_cuts(run)) == len(run.merges) + 1


# An adapted tokenizer is judged by held-out text, or else by the training text


def test_a_held_out_part_without_tokens_does_not_judge() -> None:
    tokens = np.array([9, 7])
    assert judged(np.zeros(2, np.int64), tokens) == (TRAINING, tokens)
    assert judged(tokens, np.zeros(2, np.int64)) == (HELD_OUT, tokens)
