"""Show how the chosen token's pre-token was merged, and where the training text has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.checks import times
from bpe_core.errors import BpeError
from bpe_core.tokenizer import (
    Encoder,
    Explanation,
    Tokenizer,
    explain_word,
    gpt2,
)
from bpe_core.trainers import is_superword
from bpe_core.views import token_for_browser
from bpe_core.vocabulary import SourceLines
from bpe_core.vocabulary import token_origin as find_origin
from ui.components import (
    OriginLine,
    OriginWord,
    SymbolRow,
    Tile,
    Tiles,
    TokenOriginData,
    draw_symbol_rows,
    draw_token_origin,
    find_pair,
)
from ui.corpus import OwnReading
from ui.host import cached, fragment
from ui.look import plain_markdown, token_label
from ui.shell import workspace
from ui.storage import MAX_KEPT, StoredRun, load_run

MAX_EXPLAINED = 64
"""The longest pre-token, in bytes, whose steps are shown; of longer ones, those of a token."""


@dataclass(frozen=True, slots=True)
class WordSteps:
    """The pre-token around a token, and the steps that merged it."""

    word: str
    rows: tuple[SymbolRow, ...]
    note: str
    """How to read the rows, or why there are no steps."""


def index_chosen(message: object, reading: OwnReading) -> int | None:
    """Return the index of the chosen segment, or the suggested one if the message is not valid.

    The browser sends a stamp and an index. Neither is trusted: the message may have any shape, or
    belong to another text.
    """
    if isinstance(message, dict):
        stamp, index = message.get("stamp"), message.get("index")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if (
            stamp == reading.stamp
            and isinstance(index, int)
            and 0 <= index < len(reading.found.ids)
        ):
            return index
    return reading.first_chosen


def word_steps(reading: OwnReading, encoder: Encoder, index: int) -> WordSteps:
    """Return the steps that merged the pre-token around a segment of the text."""
    token_id = int(reading.found.ids[index])
    if token_id < 0:
        return WordSteps("", (), "This text is in no token, so nothing was merged.")
    if token_id in encoder.special_tokens.values():
        return WordSteps("", (), "Special tokens are matched whole, without merges.")
    own = encoder.merged_by
    if own is None:
        note = f"{encoder.engine} encodes with this tokenizer and does not report its steps."
        return WordSteps("", (), note)
    if token_id in own.special_tokens.values():
        return WordSteps("", (), "Added tokens are found in any text, before the merges.")
    return _steps(reading, own, index)


@cached()
def origin_in_run(run_id: str, token_id: int) -> TokenOriginData:
    """Return the training words and lines in which a token of a run was made.

    Training may continue a tokenizer whose merges are not the run's: one extended, or the one whose
    words join. Raises what `load_run` raises, and FormatError if the training text kept with the
    run is damaged.
    """
    run = load_run(run_id).run
    tokenizer = run.tokenizer
    if token_id in tokenizer.special_tokens.values():
        return TokenOriginData(
            "Special tokens are defined in advance, not learned from text.", (), (), ""
        )
    origin = find_origin(run, token_id)
    if not origin.n_made:
        return TokenOriginData("It does not occur in the training text.", (), (), "")
    made_by = next((merge for merge in run.merges if merge.id == token_id), None)
    if made_by is not None:
        source = (
            f"Merge {made_by.rank + 1:,} of {len(run.merges):,} made it from a pair that occurred "
            f"{times(made_by.count or 0)}."
        )
    elif any(merge.id == token_id for merge in tokenizer.merges):
        source = "A merge from before this part of the training made it."
    else:
        source = "It is in the alphabet."
    words = "word" if origin.n_words == 1 else "distinct words"
    sentence = (
        f"{source} It occurred {times(origin.n_made)} in the training text, in "
        f"{origin.n_words:,} {words}; {_survivors(origin.n_kept, origin.n_made)} after the last "
        "merge."
    )
    lines, note = _lines(run_id, token_id)
    return TokenOriginData(
        sentence,
        tuple(
            OriginWord(_byte_pieces(each.word, each.spans), each.count, each.n_kept > 0)
            for each in origin.words
        ),
        lines,
        note,
    )


def _steps(reading: OwnReading, tokenizer: Tokenizer, index: int) -> WordSteps:
    word, is_cut = _word_around(reading, tokenizer, index)
    if is_cut:
        return WordSteps(word, (), "The shown text ends inside this pre-token.")
    return _list_steps(word, int(reading.found.ids[index]), tokenizer)


def _list_steps(word: str, token_id: int, tokenizer: Tokenizer) -> WordSteps:
    """List the steps of a pre-token; of a long one, or of several words, those of the token."""
    part, only, n_bytes = word, "", len(word.encode())
    if n_bytes > MAX_EXPLAINED or is_superword(word.encode()):
        part = tokenizer.table.content[token_id].decode(errors="replace")
        only = f"It has {n_bytes:,} bytes, so only the steps of the chosen token are shown. "
    explained = [] if len(part.encode()) > MAX_EXPLAINED else explain_word(part, tokenizer.table)
    # Next to other text, the token may have been made in another way.
    if only and [_end_of(each) for each in explained] != [(token_id,)]:
        note = f"This pre-token has {n_bytes:,} bytes. The merge tree shows how the token was made."
        return WordSteps(word, (), note)
    rows = [row for each in explained for row in _rows(each, tokenizer)]
    note = "No merge applies to it."
    if any(each.steps for each in explained):
        note = "Each step merges the ringed pair: the one learned first among the pairs present."
    return WordSteps(word, tuple(rows), only + note)


def _end_of(explained: Explanation) -> tuple[int, ...]:
    return tuple(explained.steps[-1].symbols if explained.steps else explained.symbols)


def _lines(run_id: str, token_id: int) -> tuple[tuple[OriginLine, ...], str]:
    stored = load_run(run_id)
    run, kept = stored.run, stored.training_text
    if kept is None:
        return (), "The training text was not kept with this run, so its lines cannot be shown."
    if not kept.corpus.documents:
        return (), "The run was trained on weighted words, so there are no lines to show."
    found = SourceLines.find(run, kept.corpus, token_id)
    lines = tuple(
        OriginLine(
            place=f"{each.document}, line {each.line:,}",
            pieces=tuple(_pieces(each.text, each.spans)),
            cut_before=each.cut_before,
            cut_after=each.cut_after,
        )
        for each in found.lines
    )
    if lines and kept.is_whole:
        return lines, ""
    if not kept.is_whole:
        part = f"Only the first {MAX_KEPT:,} characters of the training text are kept with the run"
        return lines, f"{part}." if lines else f"{part}, and the token is not in them."
    if found.is_all:
        return (), "No line of the training text contains it."
    return (
        (),
        f"It is not in the first {min(found.n_searched, SourceLines.MAX_SEARCHED):,} characters.",
    )


def _word_around(reading: OwnReading, tokenizer: Tokenizer, index: int) -> tuple[str, bool]:
    """Return the pre-token around a segment, and whether the shown text ends inside it.

    It is the pre-token that is merged: with the space that is put in front of it, and in the normal
    form that its tokens spell.
    """
    found = reading.found
    ids: list[int] = found.ids.tolist()
    ends = [0, *found.byte_ends.tolist()]
    content = tokenizer.table.content
    starts = np.flatnonzero(found.starts_pretoken).tolist()
    # An end-of-word marker on its own starts no pre-token: it belongs to the word before it.
    k = int(np.searchsorted(starts, index, "right")) - 1
    first = starts[k] if k >= 0 else 0
    is_last = k + 1 >= len(starts)
    stop = len(ids) if is_last else starts[k + 1]
    text = reading.text.encode()
    pieces = [
        content[ids[at]] if ids[at] >= 0 else text[ends[at] : ends[at + 1]]
        for at in range(first, stop)
        if ids[at] >= 0 or not tokenizer.drops_text
    ]
    return b"".join(pieces).decode(errors="replace"), is_last and not reading.is_all


def _rows(explained: Explanation, tokenizer: Tokenizer) -> Iterator[SymbolRow]:
    rounds = [explained.symbols, *(step.symbols for step in explained.steps)]
    joined = [step.merge for step in explained.steps]
    for n, symbols in enumerate(rounds):
        rings = find_pair(symbols, joined[n].pair) if n < len(joined) else ()
        tiles = tuple(
            Tile(tokenizer.vocab[id], id if id in tokenizer.table.parts else None) for id in symbols
        )
        yield SymbolRow(
            label=f"{n}" if n else "start",
            cells=(Tiles(tiles, rings),),
            note=f"merge {joined[n - 1].rank + 1:,}" if n else "",
        )
    if explained.looked_up is not None:
        id = explained.looked_up
        tiles = (Tile(tokenizer.vocab[id], id if id in tokenizer.table.parts else None),)
        yield SymbolRow(label="whole", cells=(Tiles(tiles, ()),), note="looked up whole")


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Yield pieces of the text, and whether a span covers each one. Spans may overlap."""
    at = 0
    for start, end in spans:
        if start > at:
            yield text[at:start], False
        if end > max(at, start):
            yield text[max(at, start) : end], True
        at = max(at, end)
    if at < len(text):
        yield text[at:], False


def _byte_pieces(
    word: bytes, spans: Sequence[tuple[int, int]]
) -> tuple[tuple[str | list[int], bool], ...]:
    # Latin-1 maps each byte to one character, so spans in bytes hold for the text.
    pieces = _pieces(word.decode("latin-1"), spans)
    return tuple((token_for_browser(part.encode("latin-1")), inside) for part, inside in pieces)


def _survivors(n_kept: int, n_made: int) -> str:
    if n_kept == 0:
        return "none is still a token" if n_made > 1 else "it is no longer a token"
    if n_kept == n_made:
        return "all are still tokens" if n_made > 1 else "it is still a token"
    return f"{n_kept:,} {'is still a token' if n_kept == 1 else 'are still tokens'}"


_ORIGIN_KEY = "boundaries_origin"
_GPT2_ORIGIN = (
    "GPT-2’s merges were learned from web pages that OpenAI never published, so there are no "
    "lines to show. Choose your own tokenizer to see its training lines."
)
_OTHER_ORIGIN = (
    "The text that this tokenizer was trained on is not here. Choose your own tokenizer to see its "
    "training lines."
)


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """The token chosen in the text."""

    message: object = None
    """The browser's last message about it, not validated yet."""


@fragment()
def story_columns(stored: StoredRun, reading: OwnReading, encoder: Encoder) -> None:
    """Draw the steps and the origin of the chosen token side by side."""
    index = index_chosen(workspace.get(ChosenToken).message, reading)
    steps_column, origin_column = st.columns(2, gap="large")
    token_id = -1 if index is None else int(reading.found.ids[index])
    with steps_column:
        st.header("Step by step", anchor=False)
        if index is None:
            st.markdown(
                ":gray[Choose a token in the text to see its pre-token merged step by step.]"
            )
        else:
            _draw_steps(reading, encoder, index)
    with origin_column:
        st.header("In the training text", anchor=False)
        draw_token_origin(
            _origin(stored, encoder, token_id),
            token_id=token_id,
            key=_ORIGIN_KEY,
            on_chosen=_keep_chosen,
        )


def _draw_steps(reading: OwnReading, encoder: Encoder, index: int) -> None:
    found = word_steps(reading, encoder, index)
    lead = (
        [f"The pre-token {plain_markdown(token_label(found.word.encode()))}."] if found.word else []
    )
    lead.append(found.note)
    st.markdown(f":gray[{' '.join(lead)}]")
    if found.rows:
        draw_symbol_rows(
            found.rows, key="boundaries_steps", caption="The pre-token after each merge"
        )


def _origin(stored: StoredRun, encoder: Encoder, token_id: int) -> TokenOriginData:
    if token_id < 0:
        return TokenOriginData("No token is chosen.", (), (), "")
    if encoder != stored.run.tokenizer:
        return TokenOriginData(_GPT2_ORIGIN if encoder == gpt2() else _OTHER_ORIGIN, (), (), "")
    try:
        return origin_in_run(stored.id, token_id)
    except BpeError as error:
        return TokenOriginData(str(error), (), (), "")


def _keep_chosen() -> None:
    workspace.update(ChosenToken, message=workspace.component_value(_ORIGIN_KEY, "chosen"))
