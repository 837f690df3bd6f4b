"""Reading the tokens that a visitor wants to keep."""

from __future__ import annotations

import pytest

from bpe_core.tokenizer import gpt2
from ui.adapt.order_form import read_kept_tokens
from ui.look import token_label

VOCAB = gpt2().vocab


@pytest.mark.parametrize(
    "text", ["", " \n\t\r\n", "the", " the", "␣the", "\n\n the\r\n", "<E6 97>", "↵", "→"]
)
def test_lines_are_read_as_tokens_are_written(text: str) -> None:
    kept = read_kept_tokens(text, gpt2())
    assert not kept.problem
    assert len(kept.ids) == bool(text.strip())
    for id in kept.ids:
        line = text.strip("\r\n")
        assert VOCAB[id] == line.encode() or token_label(VOCAB[id]) == line


def test_every_label_of_a_token_is_read_as_that_token_or_one_of_its_text() -> None:
    ids = {token: id for id, token in VOCAB.items()}
    labels = {id: token_label(token) for id, token in VOCAB.items()}
    whole = {id: label for id, label in labels.items() if "…" not in label and "U+" not in label}
    assert len(whole) > 49_000
    kept = read_kept_tokens("\n".join(whole.values()), gpt2())
    assert not kept.problem
    assert kept.ids == tuple(sorted({ids.get(label.encode(), id) for id, label in whole.items()}))
    for id in [*list(whole)[::5_000], ids[" →".encode()]]:
        expected = ids.get(whole[id].encode(), id)
        assert read_kept_tokens(whole[id], gpt2()).ids == (expected,)


def test_lines_that_are_not_tokens_are_named_and_the_others_read() -> None:
    kept = read_kept_tokens("the\nhug\n<b>\ud800", gpt2())
    assert kept.ids == (1169,)
    assert kept.problem.startswith("“hug”, “<b>U+D800” are not tokens of this tokenizer. Correct")
    assert kept.problem.endswith("Did you mean “␣hug”?")
    many = read_kept_tokens("\n".join(f"zzqx{n}" for n in range(9)), gpt2())
    assert "and 4 more are not tokens" in many.problem
