"""Terms are read from hostile lists, cut as tokenizers cut them, and shown without harm."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.comparison import (
    TermCut,
)
from bpe_core.comparison.cuts import MAX_TERM_LENGTH, MAX_TERMS, Terms
from bpe_core.corpus import load_sample
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from ui.compare.terms import (
    cut_label,
    one_token_sentence,
    term_rows,
    terms_csv,
    total_sentence,
)

OWN = bpe.train(load_sample("multilingual"), bpe.TrainingConfig(400)).tokenizer
FOREIGN = library_encoder(models.described(models.word_piece()))
HARD = [
    "hug",
    "New York",
    "=cmd|' /C calc'!A0",
    "naïve café",
    "漢字",
    "🤗",
    "a\u202eb",
    "<|endoftext|>",
]


def spelled(n_tokens: int) -> TermCut:
    return TermCut((7,) * n_tokens, (b"x",) * n_tokens, n_tokens, is_spelled=True)


def unspelled() -> TermCut:
    return TermCut((0,), (b"x",), 1, is_spelled=False)


def test_lines_are_terms_whatever_ends_them() -> None:
    assert Terms.read("a\nb\r\nc\rd").terms == ("a", "b", "c", "d")
    # Python treats these as white space, but they do not end a line of a list.
    assert Terms.read("a\u2028b\x0bc").terms == ("a\u2028b\x0bc",)


def test_blank_lines_and_white_space_around_terms_are_ignored() -> None:
    assert Terms.read("") == Terms(())
    assert Terms.read(" \n\t\n\u3000hug\u00a0\n") == Terms(("hug",))


def test_what_is_left_out_is_counted_by_reason() -> None:
    longest = "x" * MAX_TERM_LENGTH
    lines = [longest, longest + "y", "hug", "hug", "Hug", "\ud800"]
    found = Terms.read("\n".join(lines))
    assert found.terms == (longest, "hug", "Hug")
    assert found[1:] == (1, 1, 1, 0)


def test_a_long_list_is_cut_after_its_first_terms() -> None:
    lines = [str(number) for number in range(MAX_TERMS + 5)]
    found = Terms.read("\n".join([*lines, *lines]))
    assert found.terms == tuple(lines[:MAX_TERMS])
    assert found.n_beyond == 5
    assert found.n_repeated == len(lines)


@pytest.mark.parametrize("encoder", [OWN, bpe.gpt2()], ids=["own", "gpt2"])
def test_cuts_are_what_the_tokenizer_encodes(encoder: object) -> None:
    tokenizer = OWN if encoder is OWN else bpe.gpt2()
    for term, cuts in zip(HARD, Terms(tuple(HARD)).cut(tokenizer), strict=True):
        for cut, text in ((cuts.in_text, f" {term}"), (cuts.alone, term)):
            assert list(cut.ids) == tokenizer.encode(text)
            assert [tokenizer.vocab[id_] for id_ in tokenizer.encode(text)] == list(cut.parts)
            assert b"".join(cut.parts) == text.encode()
            assert cut.n_tokens == len(cut.ids)
            assert cut.is_spelled


def test_one_token_is_one_token_of_the_whole_term() -> None:
    [the, hugging] = Terms(("the", "hugging")).cut(bpe.gpt2())
    assert (the.in_text.is_one_token, the.alone.is_one_token) == (True, True)
    assert (hugging.in_text.is_one_token, hugging.alone.is_one_token) == (True, False)


def test_text_that_means_unknown_is_not_spelled_but_dropped_white_space_is() -> None:
    assert FOREIGN.drops_text
    word = next(
        token.decode()
        for id_, token in FOREIGN.vocab.items()
        if id_ not in FOREIGN.special_tokens.values() and token.isalpha() and len(token) > 2
    )
    [known, unknown] = Terms((word, "漢字🤗")).cut(FOREIGN)
    assert known.in_text.ids[0] is None
    assert known.in_text.is_one_token
    assert b"".join(known.in_text.parts) == f" {word}".encode()
    assert not unknown.in_text.is_spelled
    assert not unknown.alone.is_one_token


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_the_parts_of_a_cut_are_its_text(term: str) -> None:
    for encoder in (OWN, bpe.gpt2(), FOREIGN):
        [cuts] = Terms((term,)).cut(encoder)
        assert b"".join(cuts.in_text.parts) == f" {term}".encode()
        assert b"".join(cuts.alone.parts) == term.encode()


def test_terms_are_sorted_by_loss_and_then_by_code_points() -> None:
    own = [spelled(3), spelled(2), spelled(3), spelled(1), unspelled()]
    other = [spelled(1), spelled(2), spelled(1), spelled(4), spelled(2)]
    found = Terms(("b", "c", "B", "d", "z")).by_loss([own, other])
    assert [(each.term, each.loss) for each in found] == [
        ("z", None),
        ("B", 2),
        ("b", 2),
        ("c", 0),
        ("d", 0),
    ]
    assert [each.fewest for each in found] == [2, 1, 1, 2, 1]


def test_another_tokenizer_can_be_the_chosen_one() -> None:
    own, other = [spelled(3), spelled(1)], [spelled(1), spelled(4)]
    found = Terms(("a", "b")).by_loss([own, other], chosen=1)
    assert [(each.term, each.loss) for each in found] == [("b", 3), ("a", 0)]


def test_a_tokenizer_that_cannot_spell_a_term_is_never_the_best() -> None:
    [found] = Terms(("a",)).by_loss([[spelled(3)], [unspelled()]])
    assert found.loss == 0
    [found] = Terms(("a",)).by_loss([[unspelled()], [unspelled()]])
    assert (found.loss, found.fewest) == (None, None)


@pytest.mark.parametrize("chosen", [-1, 2, True, 0.0])
def test_a_wrong_index_raises(chosen: int) -> None:
    with pytest.raises((bpe.ArgumentTypeError, bpe.OutOfRangeError), match="from 0 to 1"):
        Terms(("a",)).by_loss([[spelled(1)], [spelled(1)]], chosen)


def test_cuts_of_other_terms_raise() -> None:
    with pytest.raises(bpe.ConfigError, match="Expected 2 cuts by each, got 1"):
        Terms(("a", "b")).by_loss([[spelled(1)]])


# Terms in sentences, rows and CSV


ENCODERS = [OWN, bpe.gpt2(), FOREIGN]
NAMES = ["Your tokenizer", "GPT-2", '=HYPERLINK("x")']
TERMS = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "漢字", "the", 'say "hi", you', "a\u202eb"]


def all_cuts() -> list[list]:
    return [[cut.in_text for cut in Terms(tuple(TERMS)).cut(encoder)] for encoder in ENCODERS]


def test_nothing_left_out_says_nothing() -> None:
    assert not Terms(("hug",)).left_out


def test_each_reason_is_named_with_its_number() -> None:
    found = Terms((), n_repeated=1, n_too_long=2, n_invalid=1, n_beyond=3_000)
    assert found.left_out == (
        "Left out: 1 line that repeats a term, 2 lines of more than 200 characters, 1 line that is "
        "not valid text, 3,000 terms after the first 2,000."
    )


def test_the_sentences_agree_with_the_core() -> None:
    counts = [sum(len(e.encode(f" {term}")) == 1 for term in TERMS) for e in ENCODERS[:2]]
    total = [sum(len(e.encode(f" {term}")) for term in TERMS) for e in ENCODERS[:2]]
    assert one_token_sentence(NAMES[:2], all_cuts()[:2]) == (
        f"{counts[0]} of 8 terms {'is' if counts[0] == 1 else 'are'} one token with your "
        f"tokenizer, {counts[1]} with GPT-2."
    )
    assert total_sentence(NAMES[:2], all_cuts()[:2]) == (
        f"Tokens for all of them: {total[0]} with your tokenizer, {total[1]} with GPT-2."
    )
    n = sum(not cut.is_spelled for cut in all_cuts()[2])
    assert n
    assert f"(which cannot spell {n} of them)" in total_sentence(NAMES, all_cuts())


def test_many_tokenizers_are_summed_up() -> None:
    one = all_cuts()[0]
    names = [f"number {place}" for place in range(9)]
    assert one_token_sentence(names, [one] * 9).endswith("with 3 more.")


def test_rows_mark_the_fewest_unless_all_are_the_same() -> None:
    found = Terms(tuple(TERMS)).by_loss(all_cuts())
    for row, each in zip(term_rows(found, ENCODERS), found, strict=True):
        assert row.term == each.term
        for cell, cut in zip(row.cells, each.cuts, strict=True):
            assert cell.count == (f"{cut.n_tokens:,}" if cut.is_spelled else "cannot spell")
            assert not cell.is_best or cut.n_tokens == each.fewest
    same = Terms(tuple(TERMS)).by_loss([all_cuts()[0], all_cuts()[0]])
    assert not any(cell.is_best for row in term_rows(same, [OWN, OWN]) for cell in row.cells)


def test_the_csv_holds_every_term_exactly_and_no_formula() -> None:
    both_ways = [Terms(tuple(TERMS)).cut(encoder) for encoder in ENCODERS]
    found = Terms(tuple(TERMS)).by_loss(all_cuts())
    by_term = dict(zip(TERMS, zip(*both_ways, strict=True), strict=True))
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
    [cut] = Terms(("hugging face",)).cut(bpe.gpt2())
    assert cut_label(cut.in_text) == "␣hugging | ␣face"
    assert cut_label(cut.alone) == "h | ug | ging | ␣face"
    assert "\n" not in cut_label(Terms.read("a\u2028b").cut(bpe.gpt2())[0].alone)
