"""Terms in sentences, rows and CSV are exact, and no term or name can do harm."""

from __future__ import annotations

import csv
import io

import bpe_core as bpe
from bpe_core.comparison.terms import TermList, cut_terms, read_terms, terms_by_loss
from bpe_core.corpus.samples import load_sample
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from ui.compare.terms_part import (
    cut_label,
    one_token_sentence,
    term_rows,
    terms_csv,
    total_sentence,
)
from ui.look.term_lists import lines_left_out

OWN = bpe.train(load_sample("multilingual"), bpe.TrainingConfig(400)).tokenizer
FOREIGN = library_encoder(models.described(models.word_piece()))
ENCODERS = [OWN, bpe.gpt2(), FOREIGN]
NAMES = ["Your tokenizer", "GPT-2", '=HYPERLINK("x")']
TERMS = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "漢字", "the", 'say "hi", you', "a\u202eb"]


def cuts() -> list[list]:
    return [[cut.in_text for cut in cut_terms(TERMS, encoder)] for encoder in ENCODERS]


def test_nothing_left_out_says_nothing() -> None:
    assert not lines_left_out(TermList(("hug",)))


def test_each_reason_is_named_with_its_number() -> None:
    found = TermList((), n_repeated=1, n_too_long=2, n_invalid=1, n_beyond=3_000)
    assert lines_left_out(found) == (
        "Left out: 1 line that repeats a term, 2 lines of more than 200 characters, 1 line that is "
        "not valid text, 3,000 terms after the first 2,000."
    )


def test_the_sentences_agree_with_the_core() -> None:
    counts = [sum(len(e.encode(f" {term}")) == 1 for term in TERMS) for e in ENCODERS[:2]]
    total = [sum(len(e.encode(f" {term}")) for term in TERMS) for e in ENCODERS[:2]]
    assert one_token_sentence(NAMES[:2], cuts()[:2]) == (
        f"{counts[0]} of 8 terms {'is' if counts[0] == 1 else 'are'} one token with your "
        f"tokenizer, {counts[1]} with GPT-2."
    )
    assert total_sentence(NAMES[:2], cuts()[:2]) == (
        f"Tokens for all of them: {total[0]} with your tokenizer, {total[1]} with GPT-2."
    )
    n = sum(not cut.is_spelled for cut in cuts()[2])
    assert n
    assert f"(which cannot spell {n} of them)" in total_sentence(NAMES, cuts())


def test_many_tokenizers_are_summed_up() -> None:
    one = cuts()[0]
    names = [f"number {place}" for place in range(9)]
    assert one_token_sentence(names, [one] * 9).endswith("with the 3 others.")


def test_rows_mark_the_fewest_unless_all_are_the_same() -> None:
    found = terms_by_loss(TERMS, cuts())
    for row, each in zip(term_rows(found, ENCODERS), found, strict=True):
        assert row.term == each.term
        for cell, cut in zip(row.cells, each.cuts, strict=True):
            assert cell.count == (f"{cut.n_tokens:,}" if cut.is_spelled else "cannot spell")
            assert not cell.is_best or cut.n_tokens == each.fewest
    same = terms_by_loss(TERMS, [cuts()[0], cuts()[0]])
    assert not any(cell.is_best for row in term_rows(same, [OWN, OWN]) for cell in row.cells)


def test_the_csv_holds_every_term_exactly_and_no_formula() -> None:
    all_cuts = [cut_terms(TERMS, encoder) for encoder in ENCODERS]
    found = terms_by_loss(TERMS, cuts())
    by_term = dict(zip(TERMS, zip(*all_cuts, strict=True), strict=True))
    data = terms_csv(NAMES, 0, found, by_term).decode("utf-8-sig")
    head, *lines = csv.reader(io.StringIO(data, newline=""), strict=True)
    assert head[:2] == ["term", "loss of Your tokenizer"]
    assert len(head) == 2 + 4 * len(NAMES)
    assert [line[0].removeprefix("'") for line in lines] == [each.term for each in found]
    for cell in (*head, *(cell for line in lines for cell in line)):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    for line, each in zip(lines, found, strict=True):
        assert line[1] == ("" if each.loss is None else str(each.loss))
        assert line[6:8] == [
            str(len(bpe.gpt2().encode(text))) for text in (f" {each.term}", each.term)
        ]
        assert list(map(int, line[9].split())) == bpe.gpt2().encode(f" {each.term}")


def test_a_cut_is_one_line() -> None:
    [cut] = cut_terms(["hugging face"], bpe.gpt2())
    assert cut_label(cut.in_text) == "␣hugging | ␣face"
    assert cut_label(cut.alone) == "h | ug | ging | ␣face"
    assert "\n" not in cut_label(cut_terms(read_terms("a\u2028b").terms, bpe.gpt2())[0].alone)
