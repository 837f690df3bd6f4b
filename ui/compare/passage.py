"""Show one passage under each tokenizer, and what differs between two of them.

How each builds one word is shown too. What differs is a proof, or a text that both cut in their own
ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple

import numpy as np
import streamlit as st

from bpe_core.comparison import Comparison, Stretches
from bpe_core.corpus import Corpus
from bpe_core.diagnosis import Diff, Witness, diff, diff_files
from bpe_core.formats import dumps
from bpe_core.tokenizer import (
    Boundaries,
    Encoder,
    GoldenCase,
    boundaries,
    find_own,
    gpt2,
    gpt2_golden_cases,
    gpt2_golden_result,
)
from bpe_core.views import PackedSpans, PackedTokens, pack_boundaries, pack_spans
from ui.compare.compared import Evaluation
from ui.compare.wording import HELD_OUT
from ui.components import (
    FigureRow,
    Reading,
    SymbolRow,
    Tile,
    Tiles,
    draw_symbol_rows,
    figure_table,
    token_compare,
    verdict,
    word_trees,
)
from ui.host import cached
from ui.look import counted, plain_markdown, plain_text
from ui.run import csv_table, offer_csv
from ui.shell import bound, choose_one, workspace
from ui.storage import StoredRun
from ui.tokenizers import GPT2, Member, add_button, draw_all_normalized
from ui.work import Progress, Status, Task, WorkKind, call_apart, queue, show_work, stopper

_WORD_KEY: Final = "word"
_FIRST_WORD = " tokenization"
MAX_TILES = 16
"""How many tokens of a golden text are drawn."""
MAX_CHARACTERS = 4_000_000
"""Longer texts are cut here, because browsers become slow."""
MAX_WORD_LENGTH = 40
_EXCERPT_CHARACTERS = 1_500
_LONG_ENOUGH = 400
_MAX_EXCERPTS = 16


class Passage(NamedTuple):
    """The text shown in detail, and where it comes from."""

    text: str
    source: str


def passage_part(
    stored: StoredRun,
    members: Sequence[Member],
    evaluation: Evaluation,
    comparison: Comparison | None,
) -> None:
    """Draw the passage under all tokenizers, and one word."""
    text, source = choose_passage(members, evaluation, comparison)
    if not text:
        st.info("There is no text yet. Type some above.")
        return
    read = read_by_all(text, [member.encoder for member in members])
    token_compare(
        text,
        _drawn_readings(members, read),
        read.spans,
        source=source,
        key="compare_passage",
    )
    draw_all_normalized([(member.name, member.encoder) for member in members], text)
    _word_part(members, read.longest or _FIRST_WORD)
    if any(member.key == GPT2 for member in members):
        _golden_part()
    add_button(stored)


def choose_passage(
    members: Sequence[Member], evaluation: Evaluation, comparison: Comparison | None
) -> Passage:
    """Return the text that was typed, or the passage of the documents most like all of them."""
    if evaluation.typed or comparison is None:
        return Passage(evaluation.typed[:MAX_CHARACTERS], "your own text")
    return _typical_passage(members, evaluation, comparison)


def _typical_passage(
    members: Sequence[Member], evaluation: Evaluation, comparison: Comparison
) -> Passage:
    found = typical_excerpt(
        evaluation.corpus,
        [member.encoder for member in members[:2]],
        comparison.verdict().percent_fewer_tokens,
    )
    part = "" if found.is_whole else ", an excerpt"
    kind = "held-out" if evaluation.where == HELD_OUT else "your"
    return Passage(found.text, f"{kind} document “{found.document}”{part}")


def _word_part(members: Sequence[Member], suggested: str) -> None:
    is_asked_for = bool(workspace.widget_text(_WORD_KEY)) or workspace.has_query(_WORD_KEY)
    with st.expander("One word under each tokenizer", expanded=is_asked_for):
        field = partial(
            st.text_input,
            "A word; a leading space matters",
            placeholder=suggested,
            max_chars=MAX_WORD_LENGTH,
            width=320,
        )
        typed = bound(
            field,
            key=_WORD_KEY,
            usable=lambda word: len(word) <= MAX_WORD_LENGTH,
            expected=f"a text of at most {MAX_WORD_LENGTH} characters",
        )
        word = typed or suggested
        read = read_by_all(word, [member.encoder for member in members])
        word_trees(word, _drawn_readings(members, read), key="compare_word")


def _drawn_readings(members: Sequence[Member], read: Readings) -> list[Reading]:
    return [
        _read_passage(member, packed, n_tokens)
        for member, packed, n_tokens in zip(members, read.packed, read.n_tokens, strict=True)
    ]


def _read_passage(member: Member, packed: PackedTokens, n_tokens: int) -> Reading:
    if member.key != GPT2:
        return Reading(member.name, packed, n_tokens)
    exact, of = gpt2_golden_result()
    badge = f"{'✓ ' if exact == of else ''}exact: {exact} of {of}"
    return Reading(member.name, packed, n_tokens, badge, is_exact=exact == of)


def _golden_part() -> None:
    """Draw how many golden texts are exact, and all of them in an expander."""
    cases = gpt2_golden_cases()
    exact = sum(case.is_exact for case in cases)
    with st.expander(f"GPT-2 exact: {exact} of {len(cases)} golden texts, computed here"):
        for number, (provenance, n) in enumerate(provenances(cases).items(), start=1):
            texts = "text" if n == 1 else "texts"
            st.markdown(f"**[{number}]** {n} {texts}: {plain_markdown(provenance, 400)}.")
        draw_symbol_rows(
            golden_rows(cases),
            key="compare_golden",
            caption="Golden texts in GPT-2’s tokens, with their ids",
            columns=("The text in its tokens",),
        )
        offer_csv(
            lambda: golden_csv(cases),
            "golden-texts.csv",
            key="compare_golden_csv",
            help="One line per text, with its published ids, their source, and whether they match.",
        )


def golden_csv(cases: Sequence[GoldenCase]) -> bytes:
    """Return each golden text as CSV, with its ids."""
    return csv_table(
        ["group", "text", "ids", "is exact", "source"],
        [
            [
                case.group,
                case.text,
                " ".join(map(str, case.ids)),
                int(case.is_exact),
                case.provenance,
            ]
            for case in cases
        ],
    )


def provenances(cases: Sequence[GoldenCase]) -> dict[str, int]:
    """Return each source of ids with its number of texts."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.provenance] = counts.get(case.provenance, 0) + 1
    return counts


def golden_rows(cases: Sequence[GoldenCase]) -> list[SymbolRow]:
    """Return a row per text: its published ids as tiles and numbers, and whether they match."""
    vocab = gpt2().vocab
    numbers = {provenance: n for n, provenance in enumerate(provenances(cases), start=1)}
    rows: list[SymbolRow] = []
    for case in cases:
        shown = case.ids[:MAX_TILES]
        left = len(case.ids) - len(shown)
        ids = " ".join(map(str, shown)) + (f" and {left:,} more" if left else "")
        rows.append(
            SymbolRow(
                label=f"{'✓' if case.is_exact else '✗'} {case.group} [{numbers[case.provenance]}]",
                cells=(Tiles(tuple(Tile(vocab[id], id) for id in shown)),),
                note=ids,
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Readings:
    """One text under several tokenizers."""

    packed: tuple[PackedTokens, ...]
    n_tokens: tuple[int, ...]
    spans: PackedSpans
    """Where they do not all agree."""
    longest: str
    """The longest word, or part of one, on which they disagree; may be empty."""


@cached(spinner="Encoding the text")
def read_by_all(text: str, encoders: Sequence[Encoder]) -> Readings:
    """Encode a text with several tokenizers and find where they disagree.

    Special tokens are ordinary text. Raises InvalidTextError for a lone surrogate, and
    TokenizationError if another library fails.
    """
    found = [_read_by_one(text, encoder) for encoder in encoders]
    differing = Stretches.between([each.found.byte_ends for each in found], text)
    return Readings(
        packed=tuple(each.packed for each in found),
        n_tokens=tuple(int(np.count_nonzero(each.found.ids >= 0)) for each in found),
        spans=pack_spans(text, differing),
        longest=differing.longest_word(text, MAX_WORD_LENGTH),
    )


class _ReadByOne(NamedTuple):
    found: Boundaries
    packed: PackedTokens


@cached()
def _read_by_one(text: str, encoder: Encoder) -> _ReadByOne:
    found = boundaries(text, encoder)
    return _ReadByOne(found, pack_boundaries(found, encoder))


class Excerpt(NamedTuple):
    """A passage of a corpus to show in detail."""

    document: str
    text: str
    is_whole: bool
    """True if it is a whole document."""


@cached()
def typical_excerpt(
    corpus: Corpus, encoders: Sequence[Encoder], percent_fewer_tokens: float
) -> Excerpt:
    """Return the excerpt whose figure is closest to that of the whole corpus.

    `percent_fewer_tokens` is the gain of the first tokenizer over the second on the whole corpus.
    One document in five may contradict it, and visitors believe what they see.
    """

    def distance(candidate: Excerpt) -> float:
        n_first, n_second = (
            np.count_nonzero(boundaries(candidate.text, each).ids >= 0) for each in encoders[:2]
        )
        return abs(100 * (1 - n_first / max(n_second, 1)) - percent_fewer_tokens)

    return min(excerpts(corpus), key=distance)


def excerpts(corpus: Corpus) -> list[Excerpt]:
    """Return the beginnings of the first long documents, each up to the end of a line.

    Returns one excerpt if none is long, and an empty one if the corpus has no documents.
    """
    long = (i for i, text in enumerate(corpus.documents) if len(text) >= _LONG_ENOUGH)
    chosen = list(islice(long, _MAX_EXCERPTS)) or [0]
    if not corpus.documents:
        return [Excerpt("", "", is_whole=True)]
    return [_beginning(corpus.names[i], corpus.documents[i]) for i in chosen]


def _beginning(name: str, text: str) -> Excerpt:
    if len(text) <= _EXCERPT_CHARACTERS:
        return Excerpt(name, text, is_whole=True)
    line_end = text.rfind("\n", 0, _EXCERPT_CHARACTERS) + 1
    return Excerpt(name, text[: line_end or _EXCERPT_CHARACTERS], is_whole=False)


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
