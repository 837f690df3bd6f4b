"""Draw Replace: exchange the tokens that a corpus uses least for new ones, at the same size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from bpe_core.adapting import DEFAULT_COVERAGE, Adapted
from bpe_core.comparison import embedding_rows
from bpe_core.corpus import Corpus
from bpe_core.trainers import count_with_missing
from ui.adapt import in_background as work
from ui.adapt.adapting_process import Swapped, TextTokens, general_titles
from ui.adapt.in_background import Order
from ui.adapt.new_tokens import (
    Choices,
    NewTokens,
    TokenChoices,
    ask_for_terms,
    choose_tokens,
    draw_term_costs,
    draw_token_list,
)
from ui.adapt.order_form import (
    Asked,
    ask_for_coverage,
    ask_for_order,
    ask_what_may_go,
    draw_by_script,
)
from ui.adapt.result_parts import (
    Gain,
    Offered,
    choose_general,
    draw_gain_costs,
    draw_gain_curves,
    draw_gain_figures,
    draw_kind_gains,
    offer_adapted,
)
from ui.components import TermCell, TermRow, draw_term_table, verdict
from ui.corpus import leave_address, read_address_text, text_to_address
from ui.host import cached, errors_shown, fragment
from ui.look import counted, plain_text, token_label
from ui.shell import FieldLimits, whole_number, work_form, workspace
from ui.storage import StoredRun

_MAX_ROWS: Final = 500
_REPLACES_AGAIN: Final = (
    "Replaces tokens of the same base again, with the corpus and all choices of the form above."
)

Again = Callable[[TokenChoices], None]
_CHOICES: Final = "replace_choices"
_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = FieldLimits(
    1,
    50_000,
    "Replace at least one token.",
    "Each replaced token is a row of the embedding to train again.",
)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One of the sizes of a result."""

    id: str
    """The same for the same result only."""
    place: int
    adapted: Adapted


def _lead_with_replaced(asked: Asked, found: Swapped) -> None:
    """Draw the sentence on what is gained with the requested number of tokens replaced."""
    name = plain_text(asked.base.name.name)
    n = found.n_tokens
    gain = _domain(found)
    fewer, (before, after) = float(gain.fewer[-1]), gain.tokens[[0, -1]].tolist()
    verdict(
        [
            (f"With {counted(n, 'token')} replaced, {found.where} takes ", False),
            (f"{abs(fewer):.1f}% {'fewer' if fewer >= 0 else 'more'} tokens", True),
            (f"{found.how_sure.in_brackets} than with {name}, with the same vocabulary ", False),
            (f"size, {found.base.vocab_size:,}.", False),
        ],
        f"{before:,} → {counted(after, 'token')}. Text unlike yours can take more, because tokens "
        "that your text hardly uses are removed. "
        f"{found.how_sure.method}",
        key="replace_verdict",
    )


@fragment()
def _draw_replaced(asked: Asked, work_id: str, found: Swapped, again: Again) -> None:
    """Draw the size slider and all that follows it; `again` is called with other choices."""
    id = hashlib.sha256(work_id.encode()).hexdigest()[:12]
    place, general = _choose_size(asked, id, found)
    size = found.sizes[place]
    chosen = _Chosen(id, place, _adapted(id, place, found))
    draw_kind_gains(size.kinds, found.where, (size.n_tokens, size.more))
    names = [plain_text(asked.base.name.name), f"With {size.n_tokens:,} replaced"]
    adapted = found.base, chosen.adapted.tokenizer
    draw_gain_costs(
        names,
        _domain(found),
        general,
        (0, place + 1),
        [embedding_rows(each) for each in adapted],
    )
    if size.terms:
        st.divider()
        title = _title(asked, found, place)
        n_characters = len(size.characters)
        draw_term_costs(size.terms, title, key="replace_terms", n_characters=n_characters)
    st.divider()
    _draw_new(asked, found, chosen, again)
    st.divider()
    _draw_gone(asked, chosen.adapted)
    st.divider()
    st.header("Files for your model", anchor=False)
    made = chosen.adapted
    offered = Offered(f"{made.base.fingerprint} {id} {place}", made.base, lambda: made)
    title = _title(asked, found, place)
    offer_adapted(offered, asked.base.name, names[0], title, key="replace_files")


def gone_for_good(adapted: Adapted) -> list[int]:
    """Return the base's ids of the removed tokens that were not learned again, in that order."""
    kept = set(adapted.old_ids.tolist())
    return [id for id in adapted.removed if id not in kept]


@cached(spinner="Replacing the tokens")
def _adapted(id: str, place: int, _found: Swapped) -> Adapted:
    return _found.at(place)


def _title(asked: Asked, found: Swapped, place: int) -> str:
    return f"{plain_text(asked.base.name.name)} {found.sizes[place].n_tokens} replaced"


def _domain(found: Swapped) -> Gain:
    return _gain(found.where, found, found.judged)


@cached(spinner="Counting the tokens of your text")
def _on_text(id: str, sha256: str, _found: Swapped, _corpus: Corpus) -> Gain:
    """Return what is gained on a visitor's own text."""
    adapted = (_adapted(id, place, _found).tokenizer for place in range(len(_found.sizes)))
    tokens = tuple(count_with_missing(each, _corpus) for each in (_found.base, *adapted))
    return _gain("your text", _found, TextTokens(_corpus.n_bytes, tokens))


def _gain(title: str, found: Swapped, text: TextTokens) -> Gain:
    sizes = (0, *(size.n_tokens for size in found.sizes))
    return Gain(title, text.n_bytes, np.array(text.tokens, np.int64), sizes)


def _choose_size(asked: Asked, id: str, found: Swapped) -> tuple[int, Gain]:
    """Draw the slider over the sizes, figures and curves; return the size's place."""
    sizes = [size.n_tokens for size in found.sizes]
    domain = _domain(found)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How many tokens are worth replacing?", anchor=False)
        st.markdown(
            ":small[:gray[Each number on the slider was computed on its own: other tokens are "
            "removed, so others are learned. Everything below follows the slider.]]"
        )
        picked = sizes[-1]
        if len(sizes) > 1:
            picked = st.select_slider(
                "Tokens replaced",
                sizes,
                sizes[-1],
                format_func="{:,}".format,
                key=f"tokens_replaced_{id}",
            )
        general = choose_general(
            found.general_id,
            lambda id: _gain(general_titles()[id], found, found.general[id]),
            lambda corpus: _on_text(id, corpus.sha256, found, corpus),
            key="replace",
        )
        place = sizes.index(picked)
        draw_gain_figures(domain, general, place + 1)
    with picture:
        draw_gain_curves(
            domain,
            general,
            place + 1,
            base=plain_text(asked.base.name.name),
            title=_title(asked, found, len(sizes) - 1),
            entries=np.arange(len(domain.tokens)),
        )
    return place, general


def _draw_new(asked: Asked, found: Swapped, chosen: _Chosen, again: Again) -> None:
    size, adapted = found.sizes[chosen.place], chosen.adapted
    end = len(adapted.old_ids)
    ids = range(end - size.n_tokens, end)  # new tokens follow all others
    # A token that was removed and learned again has no parts: it keeps its row.
    parts = {id: adapted.parts.get(id, (int(adapted.old_ids[id]),)) for id in ids}
    offered = draw_token_list(
        NewTokens(
            _title(asked, found, chosen.place),
            plain_text(asked.base.name.name),
            ids,
            adapted.tokenizer.vocab,
            parts,
            adapted.base.vocab,
            size.saved,
        )
    )
    if offered is None:
        return
    before = workspace.get(Choices).to_replace
    if before is None or before.run_id != adapted.base.fingerprint:
        before = TokenChoices(chosen.id, (), ())
    picked = choose_tokens(
        chosen.id,
        offered,
        before,
        again="Replace again",
        explanation=_REPLACES_AGAIN,
    )
    if picked is not None:
        again(picked)


def _draw_gone(asked: Asked, adapted: Adapted) -> None:
    gone = gone_for_good(adapted)
    n_again = len(adapted.removed) - len(gone)
    st.header("Removed tokens", anchor=False)
    back = f" {n_again:,} of these were learned again and keep their rows." if n_again else ""
    by_uses = asked.order is None or asked.order.removable.order == "fewest-uses"
    first = "least used first" if by_uses else "last learned first"
    n = len(adapted.removed)
    were = "was" if n == 1 else "were"
    st.markdown(f":gray[{counted(n, 'token')} {were} removed, {first}.{back}]")
    draw_by_script(adapted.base, adapted.removed, caption="Removed tokens, by script")
    if not gone:
        return
    vocab = adapted.base.vocab
    draw_term_table(
        [plain_text(asked.base.name.name)],
        [
            TermRow(token_label(vocab[id]), f"{id}", (TermCell("1", ((vocab[id], id),)),))
            for id in gone[:_MAX_ROWS]
        ],
        caption="Removed tokens that were not learned again",
        loss_of="Id",
        term_of="Token",
        key="replace_gone",
    )


def draw_replacing(stored: StoredRun) -> None:
    """Draw the forms, the work in progress, and its result."""
    room = st.container()
    places = work_form()
    order = n_tokens = status = begin = None
    with places.form:
        asked = ask_for_order(stored)
        st.header("Tokens to replace", anchor=False)
        n_tokens = whole_number(
            "Tokens to replace",
            _LIMITS,
            _FIRST_TOKENS,
            key="replace_tokens",
            help="As many are removed as are added: the vocabulary keeps its size. The result "
            "shows smaller numbers too.",
            in_address=True,
        )
        terms = ask_for_terms("replace_terms", "")
        coverage = ask_for_coverage(asked.tokenizer, DEFAULT_COVERAGE, key="replace_coverage")
        may_go = None if asked.tokenizer is None else ask_what_may_go(asked.tokenizer)
        order = asked.order
        if order is not None and n_tokens is not None and may_go is not None:
            chosen = _choices_for(order)
            may_go = replace(
                may_go,
                terms=terms,
                made_again=chosen.pinned,
                left_out=chosen.left_out,
                character_coverage=coverage,
            )
            order = replace(order, removable=may_go)
            status = work.replacing(order, n_tokens)
            if status is None:
                begin = partial(work.begin_replacing, order, n_tokens)
    places.end(
        "Replace",
        begin,
        status,
        _explain,
        unit="Steps",
        what="replacement",
        keys=("replace", "replacing"),
    )
    if order is None or n_tokens is None or status is None or status.result is None:
        return
    asked = replace(asked, order=order)
    with room:
        _lead_with_replaced(asked, status.result)
    st.divider()
    _draw_replaced(asked, status.id, status.result, partial(_replace_again, order, n_tokens))


def _explain() -> None:
    with st.container(border=True, key="replace_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "The same number of tokens, but better ones for your text: those it uses least are "
            "removed, and new ones follow those that stay, so ids change. A removed token that is "
            "learned again keeps its row of the embedding."
        )


def _choices_for(order: Order) -> TokenChoices:
    """Draw what was chosen among new tokens of this base, and a button that forgets it."""
    id = order.tokenizer.fingerprint
    chosen = workspace.get(Choices).to_replace or _read_choices()
    if chosen is None or chosen.run_id != id or not (chosen.pinned or chosen.left_out):
        return TokenChoices(id, (), ())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":gray[:small[New tokens left out: {len(chosen.left_out):,}. Pinned: "
            f"{len(chosen.pinned):,}.]]",
            width="content",
        )
        if st.button("Forget these choices", type="tertiary", key="replace_forget"):
            workspace.update(Choices, to_replace=None)
            leave_address(_CHOICES)
            st.rerun()
    workspace.update(Choices, to_replace=chosen)
    packed = json.dumps([chosen.run_id, chosen.pinned, chosen.left_out])
    text_to_address(_CHOICES, packed, longest=len(packed))
    return chosen


def _read_choices() -> TokenChoices | None:
    """Return the choices before a reload; None if the address holds none, or anything else."""
    packed = read_address_text(_CHOICES)
    try:
        run_id, pinned, left_out = json.loads(packed or "")
        tokens = tuple(
            tuple(bytes.fromhex(token).hex() for token in each) for each in (pinned, left_out)
        )
    except (ValueError, TypeError, RecursionError):
        return None
    return TokenChoices(str(run_id), *tokens)


def _replace_again(order: Order, n_tokens: int, chosen: TokenChoices) -> None:
    """Begin to replace with other choices among the new tokens."""
    again = replace(order.removable, made_again=chosen.pinned, left_out=chosen.left_out)
    order = replace(order, removable=again)
    with errors_shown():
        if work.replacing(order, n_tokens) is None:
            work.begin_replacing(order, n_tokens)
        workspace.update(Choices, to_replace=replace(chosen, run_id=order.tokenizer.fingerprint))
        st.rerun()
