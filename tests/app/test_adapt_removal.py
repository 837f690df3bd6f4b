"""Adapt: visitors choose which tokens Shrink and Replace may remove."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.adapting import Removals, replace
from bpe_core.unicode import token_script
from tests.app.adapting import TEXT, choose, open_small_base, read_verdict, small_base
from tests.app.pages import OpenApp, paste, read_query, unescaped_text
from tests.app.training import assert_press_is_refused, draw_after
from tests.waiting import OfKind, wait_until
from ui.adapt import in_background
from ui.adapt.adapting_process import Removable, Swapped
from ui.adapt.in_background import REPLACE, SHRINK, Order
from ui.look import token_label
from ui.storage import HELD_OUT_SEED


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """Return a list that records each order begun from now on."""
    begun: list[Order] = []

    def noting(begin: Callable[..., None]) -> Callable[..., None]:
        def note_and_begin(order: Order, *args: Any) -> None:
            begun.append(order)
            begin(order, *args)

        return note_and_begin

    for name in ("begin_shrinking", "begin_replacing"):
        monkeypatch.setattr(in_background, name, noting(getattr(in_background, name)))
    return begun


def last_whole_token(tokenizer: bpe.Tokenizer, script: str) -> int:
    """Return the last learned token of a script that is valid UTF-8."""
    return max(
        id
        for id, token in tokenizer.vocab.items()
        if token_script(token) == script and "<" not in token_label(token)
    )


def shrunk(app: AppTest, order: Order) -> Removals:
    """Return the removals of an order, once the page shows them."""
    status = draw_after(app, OfKind(SHRINK), order.id)
    assert status.result is not None
    return status.result.removals


def divided(order: Order) -> tuple[bpe.Corpus, bpe.Corpus]:
    """Return the training text and the held-out text of an order."""
    assert isinstance(order.corpus, bpe.Corpus)
    return order.corpus.split(order.held_out_share, seed=HELD_OUT_SEED)


def test_shrink_removes_the_chosen_tokens_in_the_chosen_order(
    open_app: OpenApp, orders: list[Order]
) -> None:
    base = small_base()
    app = open_small_base(open_app, "Shrink")
    app.segmented_control(key="shrink_order").set_value("last-learned").run()
    scripts = app.multiselect(key=f"shrink_only_{base.fingerprint[:12]}")
    assert any(option.startswith("Latin (") for option in scripts.options)
    scripts.set_value(["Cyrillic", "Latin"]).run()
    kept = [last_whole_token(base, script) for script in ("Cyrillic", "Latin")]
    lines = "\n".join(token_label(base.vocab[id]) for id in kept)
    app.text_area(key="adapt_keep").set_value(lines).run()
    app.button(key="shrink").click().run()
    (order,) = orders
    assert order.removable.pinned == tuple(sorted(kept))
    found = shrunk(app, order)
    parts = [part for id in kept for part in base.table.parts[id]]
    assert not {*kept, *parts} & set(found.order)
    assert {token_script(base.vocab[id]) for id in found.order} == {"Cyrillic", "Latin"}
    assert "those that must stay" in read_verdict(app)
    training, held_out = divided(order)
    removals = Removals.of(
        base,
        training,
        held_out=held_out,
        order="last-learned",
        scripts=["Cyrillic", "Latin"],
        pinned=kept,
    )
    assert found.order == removals.order
    shown, tokens = found.held_out_tokens_after, removals.held_out_tokens_after
    assert shown is not None
    assert tokens is not None
    assert shown.tolist() == tokens.tolist()


@pytest.mark.parametrize("mode", ["Shrink", "Replace"])
def test_lines_that_are_not_tokens_are_refused(open_app: OpenApp, mode: str) -> None:
    app = paste(choose(open_app("adapt"), mode), TEXT)
    button = mode.lower()
    assert not app.button(key=button).disabled
    app.text_area(key="adapt_keep").set_value("the\n<b>zzqx</b>").run()
    (error,) = app.error
    assert "zzqx" in error.value
    assert "<b>" not in error.value
    assert_press_is_refused(app, button)


def test_replace_takes_terms_scripts_and_tokens_to_keep(
    open_app: OpenApp, orders: list[Order]
) -> None:
    base = small_base()
    app = open_small_base(open_app, "Replace")
    kept = last_whole_token(base, "Cyrillic")
    app.number_input(key="replace_tokens").set_value(9.0).run()
    app.segmented_control(key="shrink_order").set_value("last-learned").run()
    app.multiselect(key=f"shrink_only_{base.fingerprint[:12]}").set_value(["Cyrillic"]).run()
    app.text_area(key="replace_terms").set_value("Zookeeper\nNew York").run()
    app.text_area(key="adapt_keep").set_value(token_label(base.vocab[kept])).run()
    app.button(key="replace").click().run()
    (order,) = orders
    status = draw_after(app, OfKind(REPLACE), f"{order.id} 9")
    assert isinstance(status.result, Swapped)
    found = status.result.adapted
    terms = ["Zookeeper", "New York"]
    training, _ = divided(order)
    reduce = partial(
        replace, base, training, 9, scripts=["Cyrillic"], order="last-learned", terms=terms
    )
    expected = reduce(pinned=[kept])
    assert found.tokenizer == expected.tokenizer
    assert found.terms == expected.terms
    assert dict(found.parts) == dict(expected.parts)
    assert found.old_ids.tolist() == expected.old_ids.tolist()
    assert {token_script(base.vocab[id]) for id in found.removed} == {"Cyrillic"}
    assert kept not in found.removed
    assert kept in reduce().removed
    text = unescaped_text(app)
    assert "9 tokens were removed, last learned first." in text
    assert "1 of 2 terms is one token." in text
    assert "1 of them does not occur in the training text." in text


def test_other_choices_are_other_work() -> None:
    text = bpe.Corpus.from_text("hug")
    choices = (
        Removable(),
        Removable("last-learned"),
        Removable(scripts=("Latin",)),
        Removable(pinned=(256,)),
        Removable(terms=("hugs",)),
        Removable(made_again=("6875",)),
        Removable(left_out=("6875",)),
    )
    ids = {Order(bpe.gpt2(), text, 0.1, removable).id for removable in choices}
    assert len({*ids, Order(bpe.gpt2(), text, 0.2).id}) == len(choices) + 1
    assert Order(bpe.gpt2(), text, 0.1).id in ids


def test_the_result_of_replacing_survives_a_reload(open_app: OpenApp, orders: list[Order]) -> None:
    app = open_small_base(open_app, "Replace")
    app.number_input(key="replace_tokens").set_value(5.0)
    app.segmented_control(key="shrink_order").set_value("last-learned")
    app.text_area(key="replace_terms").set_value("Zookeeper")
    app.text_area(key="adapt_keep").set_value("a").run()
    app.button(key="replace").click().run()
    (order,) = orders
    found = wait_until(OfKind(REPLACE), f"{order.id} 5").result
    assert found is not None
    unwanted = found.at(1).tokenizer.vocab[int(found.sizes[1].merges[-1, 2])]
    app.run()
    (left_out,) = (each for each in app.multiselect if each.label == "Leave out")
    left_out.set_value([unwanted.hex()]).run()
    app.button(key="extend_again").click().run()
    again = wait_until(OfKind(REPLACE), f"{orders[1].id} 5").result
    assert again is not None
    assert unwanted in found.adapted.tokenizer.vocab.values()
    assert unwanted not in again.adapted.tokenizer.vocab.values()
    app.run()
    assert "New tokens left out: 1. Pinned: 0." in unescaped_text(app)
    assert "With 5 tokens replaced" in read_verdict(app)
    # The browser puts what is chosen in these widgets in the address.
    bound = {"adapt": "Replace", "replace_tokens": "5", "shrink_order": "Last learned first"}
    reloaded = open_app("adapt", **read_query(app) | bound)
    assert read_verdict(reloaded) == read_verdict(app)


def test_wrong_choices_in_the_address_are_ignored(open_app: OpenApp) -> None:
    for wrong in ("x", "[]", '["a", ["zz"], []]', "[" * 900, '["a", 1, 2]'):
        app = open_app("adapt", adapt="Replace", replace_choices=wrong)
        assert not app.error
