"""Draw where ids differ from those that their own text is encoded to, both cuts side by side."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import nullcontext
from html import escape
from typing import Any, Final, cast

import streamlit as st

from bpe_core.chat import ChatTemplate
from bpe_core.errors import BpeError, ChatTemplateError
from bpe_core.tokenizer import Drift, Encoder, find_drift, listed_ids
from ui.corpus import MAX_CHARACTERS
from ui.host import cached
from ui.look import counted, plain_markdown, token_label
from ui.token_boundaries.template_turns import turns
from ui.tokenizers import Member

IDS: Final = "drift_ids"
FIRST: Final = "[71, 1018, 82]"
_MAX_IDS: Final = 2_000
_MAX_ROWS: Final = 200
_NUMBERS: Final = re.compile(r"[\s,]*[0-9]{1,10}(?:[\s,]+[0-9]{1,10})*[\s,]*")


def draw_ids() -> list[list[int]] | None:
    """Draw the field for ids; return each sequence, or None and say why there is none."""
    text = st.text_area(
        "Ids, a sequence on each line: numbers, a JSON list, or an object with input_ids",
        FIRST,
        key=IDS,
        height=140,
        max_chars=MAX_CHARACTERS,
        help="A model may write ids that its tokenizer would not give for the same text. Once the "
        "text is encoded again, as in the next turn, they are others.",
        persist_state="session",
    )
    try:
        found = read_sequences(text or "")
    except ChatTemplateError as error:
        st.error(plain_markdown(str(error), 600))
        return None
    n_ids = sum(map(len, found))
    if n_ids > _MAX_IDS:
        st.error(
            f"Expected at most {_MAX_IDS:,} ids, got {n_ids:,}. `bpe chat --drift` in a shell "
            "reads more."
        )
        return None
    return found


def read_sequences(text: str) -> list[list[int]]:
    """Return the ids on each line; raise `ChatTemplateError` for a line that has none.

    >>> read_sequences('[71, 1018]\\n{"input_ids": [82]}\\n464, 2068')
    [[71, 1018], [82], [464, 2068]]
    >>> read_sequences("[\\n 71,\\n 1018\\n]")
    [[71, 1018]]
    >>> read_sequences('{"input_ids":\\n [71, 1018]}')
    [[71, 1018]]
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        whole: object = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, list):
        values = cast("list[object]", whole)
        is_one = all(isinstance(each, int) for each in values)
        return [_ids_of(values, 1)] if is_one else [_ids_of(each, 1) for each in values]
    if isinstance(whole, dict):
        return [_ids_of(cast("object", whole), lines[0][0])]
    if not lines:
        raise ChatTemplateError("There are no ids. Expected some, such as [71, 1018, 82].")
    found: list[list[int]] = []
    for number, line in lines:
        if _NUMBERS.fullmatch(line):
            found.append([int(each) for each in re.findall("[0-9]+", line)])
            continue
        try:
            found.append(_ids_of(json.loads(line), number))
        except (ValueError, RecursionError) as error:
            if isinstance(error, ChatTemplateError):
                raise
            raise ChatTemplateError(
                f"Line {number:,} has neither ids nor valid JSON: {error}."
            ) from None
    return found


def _ids_of(value: object, line: int) -> list[int]:
    listed = listed_ids(value)
    if listed is None or any(type(each) is not int for each in listed):
        raise ChatTemplateError(
            f"Line {line:,} has no ids. Expected a list of whole numbers, or an object that has it "
            "as input_ids."
        )
    return cast("list[int]", listed)


def draw_drift(chosen: Member, sequences: Sequence[Sequence[int]]) -> None:
    """Draw where the ids of each sequence differ, and whose turn it is by the chat template."""
    try:
        found = _find(json.dumps(sequences), repr(chosen.chat), chosen.encoder, chosen.chat)
    except ChatTemplateError:
        # Whose turn it is cannot be said, which is no reason not to say what differs.
        found = _find(json.dumps(sequences), "", chosen.encoder, None)
    if isinstance(found, str):
        st.error(plain_markdown(found, 600))
        return
    n_lines = sum(map(bool, found))
    if not n_lines:
        st.markdown("**No difference**: these are the ids that their text is encoded to.")
        return
    places = [(number, each) for number, drifts in enumerate(found, 1) for each in drifts]
    of = f"{n_lines:,} of {counted(len(found), 'sequence')}: " if len(found) > 1 else ""
    st.markdown(
        f"**{of}{counted(len(places), 'place')}** where encoding the text again gives other ids."
    )
    has_roles = any(each.role for _, each in places)
    vocab = chosen.encoder.vocab
    heads = ["Where", *(["Whose turn"] if has_roles else []), "Given", "Encoded again"]
    rows: list[str] = []
    for number, each in places[:_MAX_ROWS]:
        where = f"byte {each.start:,}"
        where = f"sequence {number:,}, {where}" if len(found) > 1 else where
        cells = [where, *([escape(each.role)] if has_roles else [])]
        cells += [_cut(cut, vocab) for cut in (each.given, each.encoded)]
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    # Keyboard users scroll a wide table.
    st.html(
        "<div class='chat-drift' tabindex='0'><table>"
        f"<thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    if len(places) > _MAX_ROWS:
        st.markdown(f"The first {_MAX_ROWS:,} places are shown.")


def _cut(ids: Sequence[int], vocab: Any) -> str:
    """Return tokens with their ids, as HTML."""
    return "".join(
        f"<span class='token'>{escape(token_label(vocab[id]))}<small>{id}</small></span>"
        for id in ids
    )


@cached(spinner="Encoding again")
def _find(
    ids: str, template_key: str, encoder: Encoder, _template: ChatTemplate | None
) -> list[list[Drift]] | str:
    """Return the places of each sequence; or which ids the tokenizer lacks.

    Raises `ChatTemplateError` if the template says nothing.
    """
    found: list[list[Drift]] = []
    with turns.of(template_key) if _template else nullcontext():
        for number, sequence in enumerate(json.loads(ids), start=1):
            try:
                found.append(find_drift(sequence, encoder, _template))
            except ChatTemplateError:
                raise
            except BpeError as error:
                return f"Sequence {number:,}: {error}"
    return found
