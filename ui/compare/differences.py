"""Draw what differs between two tokenizers: a proof, or a text that both cut in their own ways."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import streamlit as st

from bpe_core.diagnosis import Diff, Witness, diff, diff_files
from bpe_core.formats import dumps
from bpe_core.tokenizer import find_own
from ui.components import FigureRow, SymbolRow, Tile, Tiles, draw_symbol_rows, figure_table, verdict
from ui.look import counted, plain_text
from ui.shell import choose_one
from ui.tokenizers import Member
from ui.work import Progress, Status, Task, WorkKind, call_apart, queue, show_work, stopper

DIFF = WorkKind[Progress, Diff]("diff", max_per_visitor=4)
_MAX_STEP = 120
_MAX_TILES = 64
_MAX_EXAMPLES = 5


def differences_part(members: Sequence[Member]) -> None:
    """Draw what differs between your tokenizer and another one."""
    one, other = members[0], members[1]
    if len(members) > 2:
        by_name = {member.name: member for member in members[1:]}
        other = by_name[choose_one("Compared with", list(by_name), key="differs_from")]
    status = compare_both(one, other)
    show_work(status, unit="Merges", what="search for differences", key="differs")
    if status.result is not None:
        draw_differences(one.name, other.name, status.result)


def compare_both(one: Member, other: Member) -> Status[Progress, Diff]:
    """Return the status of the search for differences, starting it if needed."""

    def work(task: Task[Progress]) -> Diff:
        mine, theirs = find_own(one.encoder), find_own(other.encoder)
        if mine is None or theirs is None:
            return diff(one.encoder, other.encoder, should_stop=stopper(task))
        # In a thread, it would slow down the pages of all visitors six times, and stop them for up
        # to two seconds. What a library runs takes its time in the library, which lets others run.
        files = [data for each in (mine, theirs) for data in dumps(each, "native").values()]
        return call_apart(
            diff_files,
            *files,
            n_bytes=sum(map(len, files)),
            on_progress=lambda progress: task.report(Progress(*progress)),
            should_stop=lambda: task.is_cancelled,
        )

    return queue.begin(DIFF, _id_of(one, other), work)


def found_differences(members: Sequence[Member]) -> list[tuple[Member, Diff]]:
    """Return the tokenizers that the first one was compared with, and what was found."""
    found: list[tuple[Member, Diff]] = []
    for other in members[1:]:
        status = queue.find(DIFF, _id_of(members[0], other))
        if status is not None and status.result is not None:
            found.append((other, status.result))
    return found


def _id_of(one: Member, other: Member) -> str:
    return f"{one.encoder.fingerprint} {other.encoder.fingerprint}"


def draw_differences(one: str, other: str, found: Diff) -> None:
    """Draw the answer, the texts that show it, and what is not the same."""
    one, other = plain_text(one), plain_text(other)
    sentence, aside = leading_sentence(one, other, found)
    verdict(sentence, aside, key="differs_verdict")
    st.space("small")
    witness = found.tokens.witness or found.ids.witness
    if witness is not None:
        draw_symbol_rows(
            [_cut(name, witness, place) for place, name in enumerate((one, other))],
            key="differs_cuts",
            caption=f"Both tokenizers on “{plain_text(witness.text, 200)}”",
        )
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Tokens and merges", anchor=False)
        figure_table(
            [one, other],
            list_counts(found),
            caption="Tokens and merges that are not the same",
            key="differs_counts",
        )
    with right:
        st.header("Steps", anchor=False)
        if found.steps:
            figure_table(
                [one, other],
                [
                    FigureRow(name, (plain_text(a, _MAX_STEP), plain_text(b, _MAX_STEP)))
                    for name, a, b in found.steps
                ],
                caption="Steps that are not the same",
                key="differs_steps",
            )
        else:
            st.markdown(":gray[All steps before and after the merges are the same.]")
    examples = list_examples(one, other, found)
    if examples:
        st.header("Only in one of them", anchor=False)
        draw_symbol_rows(
            examples, key="differs_examples", caption="Tokens and merges that only one has"
        )


def leading_sentence(one: str, other: str, found: Diff) -> tuple[list[tuple[str, bool]], str]:
    """Return the part's first sentence, as pieces with whether each is bold, and an aside."""
    answer = found.ids if found.tokens.witness is None else found.tokens
    pair = f"{one} and {other}"
    if answer.equal:
        aside = plain_text(answer.why, 600)
        return [(f"{pair} give every text ", False), ("the same ids", True), (".", False)], aside
    if answer.witness is None:
        texts = counted(answer.n_texts, "text")
        aside = f"That proves nothing. {plain_text(answer.why, 600)}"
        return [
            (f"{pair} give the same ids to all of ", False),
            (texts, True),
            (" that were tried.", False),
        ], aside
    n_bytes = len(answer.witness.text.encode())
    if answer.witness.is_shortest:
        aside = "No shorter text differs: that is proved."
    else:
        aside = "It is the shortest text that was found; a shorter one may differ."
    if answer.witness.with_special_tokens:
        aside += " They differ only where special tokens are recognised."
    if found.tokens.equal:
        aside += " They cut every text into the same tokens, which only have other ids."
    how = "give" if answer is found.ids and found.tokens.equal is not False else "cut"
    return [
        (f"{pair} {how} ", False),
        (f"a text of {counted(n_bytes, 'byte')}", True),
        (" other ids." if how == "give" else " into other tokens.", False),
    ], aside


def _cut(name: str, witness: Witness, place: int) -> SymbolRow:
    ids, tokens = witness.ids[place], witness.tokens[place]
    if ids is None or tokens is None:
        return SymbolRow(name, (), "cannot encode it")
    shown = list(zip(tokens, ids, strict=True))[:_MAX_TILES]
    more = f", and {len(ids) - _MAX_TILES:,} more" if len(ids) > _MAX_TILES else ""
    note = f"{'id' if len(ids) == 1 else 'ids'} {' '.join(str(id) for _, id in shown)}{more}"
    return SymbolRow(name, (Tiles(tuple(Tile(token, id) for token, id in shown)),), note)


def list_counts(found: Diff) -> list[FigureRow]:
    """Return how many tokens and merges of each are not the same in the other."""
    vocabulary, merges = found.vocabulary, found.merges
    rows = [
        ("Tokens only in this one", len(vocabulary.gone), len(vocabulary.new)),
        ("Tokens with another id", vocabulary.n_renumbered, vocabulary.n_renumbered),
        ("Ids of another token", len(vocabulary.other_token), len(vocabulary.other_token)),
    ]
    if merges is not None:
        rows += [
            ("Merges only in this one", len(merges.gone), len(merges.new)),
            ("Merges in another order", merges.n_moved, merges.n_moved),
        ]
    return [FigureRow(name, (f"{a:,}", f"{b:,}")) for name, a, b in rows]


def list_examples(one: str, other: str, found: Diff) -> list[SymbolRow]:
    """Return the first tokens and merges that only one of the two has."""
    vocabulary, merges = found.vocabulary, found.merges
    rows = [
        (f"{name}: tokens", [(token,) for token in tokens[:_MAX_EXAMPLES]])
        for name, tokens in ((one, vocabulary.gone), (other, vocabulary.new))
    ]
    if merges is not None:
        rows += [
            (f"{name}: merges", list(pairs[:_MAX_EXAMPLES]))
            for name, pairs in ((one, merges.gone), (other, merges.new))
        ]
    return [SymbolRow(name, (_in_a_row(groups),)) for name, groups in rows if groups]


def _in_a_row(groups: Sequence[tuple[bytes, ...]]) -> Tiles:
    """Return tokens as tiles, with a ring round those that belong together."""
    tiles = tuple(Tile(token) for group in groups for token in group)
    ends = [0, *accumulate(map(len, groups))]
    rings = tuple((start, end) for start, end in pairwise(ends) if end - start > 1)
    return Tiles(tiles, rings)
