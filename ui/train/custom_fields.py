"""Draw a field for each training setting, for the Custom preset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.corpus import WordCounts
from bpe_core.pretokenizers import PRETOKENIZER_NAMES, SPACE_ADDING
from bpe_core.types import Characters, TrainingConfig
from ui.look import counted, plain_markdown, token_label, tooltip
from ui.shell import FieldLimits, whole_number, workspace
from ui.train.presets import CONFIGS, FIRST_SIZE, LLAMA, MAX_SIZE, MIN_FREQUENCY

MIN_COVERAGE: Final = 0.001
_MAX_NAMED = 8
_CUSTOM_REGEX = "your own regular expression"
EMPTY_REGEX = "regex:"
"""The name of a pre-tokenizer whose pattern is still empty."""

_MIN_COUNTS = FieldLimits(
    least=0,
    most=WordCounts.MAX_COUNT,
    why_least="With 0 or 1, any pair that occurs may merge.",
    why_most="Pages cannot show larger counts exactly.",
)
_MAX_LONGEST_TOKENS = FieldLimits(
    least=0,
    most=1_000_000,
    why_least="A length of 0 sets no limit.",
    why_most="No token gets that long. A length of 0 sets no limit.",
)
_PLAIN, _SUPERWORDS, _PICKY = "Plain BPE", "Superwords (SuperBPE)", "Removals (PickyBPE)"
_PARITY: Final = "Parity between languages"
_TRAINERS: Final = {
    _PLAIN: "Every token stays, and none crosses the end of a word.",
    _SUPERWORDS: "From some size on, up to four words may join, so that “ of the” becomes a token.",
    _PICKY: "A token that is nearly always a part of another is taken out again. "
    "Only BPE Explorer’s own format holds it.",
    _PARITY: "The language whose text is the longest in tokens picks each merge, so that none "
    "takes far more tokens than others. The text needs a folder, or a file, for each language.",
}
"""The trainers, with a sentence on each."""
_FIRST_PICKY: Final = 0.9
_FROM: Final = "settings_superwords_from"
_FROM_SLIDER: Final = "settings_superwords_slider"
_SUPERWORDS_FROM = FieldLimits(
    least=0,
    most=MAX_SIZE,
    why_least="With 0, words never join.",
    why_most="No vocabulary gets that large here. With 0, words never join.",
)


@dataclass(frozen=True, slots=True)
class ReadSymbols:
    """The tokens read from a field, and the notes shown below it, in Markdown."""

    tokens: tuple[str, ...]
    notes: tuple[str, ...]


def read_special_tokens(text: str) -> ReadSymbols:
    """Read a field with a special token on each line.

    >>> read_special_tokens("[CLS]\\n\\nmy token").tokens
    ('[CLS]', 'my token')
    >>> read_special_tokens("  \\n").notes
    ('Read as no special token.', 'Line 1 holds only spaces and is ignored.')
    """
    # Empty lines are ignored without a note; lines of spaces look the same, so they get one.
    lines = [(number, line) for number, line in enumerate(re.split("\r\n|\r|\n", text), 1) if line]
    tokens = tuple(token for _, line in lines if (token := line.strip()))
    notes = [f"Read as {_listed(tokens)}."]
    blank = [f"{number:,}" for number, line in lines if not line.strip()]
    if blank:
        verb = "holds only spaces and is" if len(blank) == 1 else "hold only spaces and are"
        notes.append(f"Line{'s' * (len(blank) > 1)} {_some(blank)} {verb} ignored.")
    padded = [f"{number:,}" for number, line in lines if line.strip() not in ("", line)]
    if padded:
        notes.append(
            f"Spaces around the token{'s' * (len(padded) > 1)} on "
            f"line{'s' * (len(padded) > 1)} {_some(padded)} are ignored."
        )
    return ReadSymbols(tokens, tuple(notes))


def read_marker(text: str) -> ReadSymbols:
    """Read the field of the end-of-word marker, which may be empty.

    >>> read_marker(" </w>").tokens, read_marker(" ").notes
    (('</w>',), ('Only spaces, so there is no marker.',))
    """
    marker = text.strip()
    if marker == text:
        return ReadSymbols((marker,) if marker else (), ())
    if not marker:
        return ReadSymbols((), ("Only spaces, so there is no marker.",))
    return ReadSymbols((marker,), (f"Read as {_name(marker)}, without the spaces around it.",))


def _listed(tokens: tuple[str, ...]) -> str:
    if not tokens:
        return "no special token"
    names = _some([_name(token) for token in tokens])
    return f"{counted(len(tokens), 'special token')}: {names}"


def _some(names: list[str]) -> str:
    """Join the first few names, and count the rest."""
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def _name(token: str) -> str:
    return f"**{plain_markdown(token_label(token.encode('utf-8', 'surrogatepass')))}**"


@dataclass(frozen=True, slots=True)
class CustomSettings:
    """The configuration made from the fields, and whether all of them are valid."""

    config: TrainingConfig
    is_complete: bool


def custom_fields(cut: str | None = None) -> CustomSettings:
    """Draw a field for each setting except the size, and return the settings.

    `cut` is the only pre-tokenizer possible, if the words of the corpus were cut by one.
    An invalid field shows an error and leaves its setting at the default.
    """
    # The cut of superwords is for their second stage: text would not be cut into words at all.
    named = (name for name in PRETOKENIZER_NAMES if name != "superwords")
    cuts = [*named, _CUSTOM_REGEX]
    # The run of an adapted base, or a link, may name a cut that normalizes first, such as NFC+gpt2.
    held = workspace.widget_text("settings_pretokenizer")
    left, right = st.columns(2)
    with left:
        name = st.selectbox(
            "Pre-tokenizer",
            cuts if held in ("", *cuts) else [held, *cuts],
            key="settings_pretokenizer",
            help=f"The rule that cuts the text into pre-tokens. {tooltip('Pre-token')}",
            persist_state="session",
            disabled=cut is not None,
        )
        adds_space = (cut or name) in SPACE_ADDING
        base = st.segmented_control(
            "Base symbols",
            ("bytes", "characters"),
            default="bytes",
            required=True,
            key="settings_base",
            help="Bytes can spell any text; characters only text made of the corpus’s characters, "
            "except with metaspace and llama2, which always take characters, and bytes for the "
            "others.",
            disabled=adds_space,
            persist_state="session",
        )
        tie_break = st.segmented_control(
            "Ties go to",
            ("smallest-pair", "first-seen"),
            default="smallest-pair",
            required=True,
            key="settings_tie_break",
            help=f"{tooltip('Tie')} Choose the pair with the lower ids, as Hugging Face does, or "
            "the pair that was seen first.",
            persist_state="session",
        )
        min_frequency = whole_number(
            "Minimum count of a pair",
            _MIN_COUNTS,
            MIN_FREQUENCY,
            key="settings_min_frequency",
            help="Training ends when no pair occurs this often. With 0 or 1, any pair may merge, "
            "even if it occurred only once: such merges learn the text by heart.",
        )
        trainer = st.selectbox(
            "Trainer", _TRAINERS, key="settings_trainer", persist_state="session"
        )
        st.markdown(f":gray[:small[{_TRAINERS[trainer or _PLAIN]}]]")
        superwords_from, picky = 0, None
        if trainer == _SUPERWORDS:
            superwords_from = _superwords_from()
        if trainer == _PICKY:
            picky = st.number_input(
                "Remove above this share of uses",
                min_value=0.01,
                max_value=0.99,
                value=_FIRST_PICKY,
                step=0.05,
                format="%.2f",
                key="settings_picky",
                help="With 0.90, a token is taken out again once a merge takes more than 90% of "
                "its uses. Seeds, vetoes and whole characters are for the other trainers.",
                persist_state="session",
            )
        whole_characters = st.toggle(
            "Keep characters whole",
            key="settings_whole_characters",
            help="No merge joins a part of a character with anything but the rest of it.",
            persist_state="session",
        )
    with right:
        special = st.text_area(
            "Special tokens, one per line",
            "<|endoftext|>",
            key="settings_special_tokens",
            height=68,
            help=f"{tooltip('Special token')} Special tokens get the first ids. They cannot "
            "contain line breaks.",
            persist_state="session",
        )
        special = read_special_tokens(special or "")
        _show_notes(special.notes)
        if adds_space:
            coverage = st.number_input(
                "Character coverage",
                min_value=MIN_COVERAGE,
                max_value=1.0,
                value=CONFIGS[LLAMA].character_coverage,
                step=0.0005,
                format="%.4f",
                key="settings_coverage",
                help="The base symbols are the most frequent characters that make up this share of "
                "the text. Bytes spell the others.",
                persist_state="session",
            )
            alphabet = Characters(coverage=coverage)
        else:
            of_bytes = st.segmented_control(
                "Byte alphabet",
                ("full", "seen"),
                default="full",
                required=True,
                key="settings_alphabet",
                help="All 256 bytes, or only those that occur in the corpus.",
                disabled=base == "characters",
                persist_state="session",
            )
            by_bytes = "seen" if of_bytes == "seen" else "bytes"
            alphabet = "characters" if base == "characters" else by_bytes
        end_of_word = st.text_input(
            "End-of-word marker",
            key="settings_end_of_word",
            placeholder="none",
            help="A symbol added to each pre-token, such as </w>. Leave empty for none.",
            disabled=adds_space,
            persist_state="session",
        )
        marker = read_marker(end_of_word or "")
        _show_notes(marker.notes)
        max_token_bytes = whole_number(
            "Longest token, in bytes",
            _MAX_LONGEST_TOKENS,
            0,
            key="settings_max_token_bytes",
            help="Pairs that would make a longer token are skipped. 0 sets no limit.",
        )
        seeds = st.text_area(
            "Tokens that must exist, one per line",
            key="settings_seeds",
            height=68,
            placeholder="none",
            help="Each is made by the first merges, as a word of its own, with a space before it "
            "or without, whichever the text has more often.",
            persist_state="session",
        )
        vetoes = st.text_area(
            "Tokens that must not exist, one per line",
            key="settings_vetoes",
            height=68,
            placeholder="none",
            help="Spaces count: a word in the middle of a text begins with one. A line such as "
            "regex:[0-9] forbids every token that the pattern matches a part of.",
            persist_state="session",
        )
    if cut is not None:
        name = cut
    elif name == _CUSTOM_REGEX:
        pattern = st.text_input(
            "Regular expression",
            r"\p{L}+|\p{N}{1,3}|\s+",
            key="settings_pattern",
            help="Each match is a pre-token, and so is the text between two matches.",
            persist_state="session",
        )
        name = f"{EMPTY_REGEX}{pattern or ''}"
    config = TrainingConfig(
        pretokenizer=name,
        alphabet=alphabet,
        end_of_word=None if adds_space else next(iter(marker.tokens), None),
        special_tokens=special.tokens,
        min_frequency=min_frequency or 0,
        tie_break="first-seen" if tie_break == "first-seen" else "smallest-pair",
        max_token_bytes=max_token_bytes or None,
        superwords_from=superwords_from or None,
        seeds=_lines(seeds),
        vetoes=_lines(vetoes),
        whole_characters=whole_characters,
        picky=picky,
        parity=trainer == _PARITY,
    )
    return CustomSettings(config, None not in (min_frequency, max_token_bytes, superwords_from))


def _superwords_from() -> int | None:
    """Draw a field for when words may join, and a slider over the vocabulary that fills it in."""
    chosen = whole_number(
        "Let words join after N tokens",
        _SUPERWORDS_FROM,
        0,
        key=_FROM,
        help="Merges stay within words until the vocabulary has this many tokens. With 0, "
        "words never join.",
    )
    size = int(min(workspace.widget_number("settings_vocab_size") or FIRST_SIZE, MAX_SIZE))
    if chosen is not None and size > 0:
        workspace.set_widget(_FROM_SLIDER, min(chosen, size))
        st.slider(
            "Let words join after this part of the vocabulary",
            0,
            size,
            key=_FROM_SLIDER,
            label_visibility="collapsed",
            on_change=lambda: workspace.set_widget(
                _FROM, float(workspace.widget_number(_FROM_SLIDER) or 0)
            ),
        )
    return chosen


def custom_widgets(config: TrainingConfig) -> dict[str, str | float]:
    """Return the values of the fields that give these settings, except the size.

    >>> custom_widgets(TrainingConfig(special_tokens=("[CLS]", "[SEP]")))["settings_special_tokens"]
    '[CLS]\\n[SEP]'
    """
    is_custom = config.pretokenizer.startswith(EMPTY_REGEX)
    pattern = {"settings_pattern": config.pretokenizer.removeprefix(EMPTY_REGEX)}
    return {
        "settings_pretokenizer": _CUSTOM_REGEX if is_custom else config.pretokenizer,
        **(pattern if is_custom else {}),
        "settings_base": config.base,
        "settings_tie_break": config.tie_break,
        "settings_min_frequency": float(config.min_frequency),
        "settings_special_tokens": "\n".join(config.special_tokens),
        "settings_alphabet": config.to_dict()["alphabet"],
        "settings_end_of_word": config.end_of_word or "",
        "settings_max_token_bytes": float(config.max_token_bytes or 0),
        "settings_coverage": max(config.character_coverage, MIN_COVERAGE),
        "settings_trainer": _trainer(config),
        _FROM: float(config.superwords_from or 0),
        "settings_picky": _FIRST_PICKY if config.picky is None else config.picky,
        "settings_seeds": "\n".join(config.seeds),
        "settings_vetoes": "\n".join(config.vetoes),
        "settings_whole_characters": config.whole_characters,
    }


def _trainer(config: TrainingConfig) -> str:
    if config.picky is not None:
        return _PICKY
    if config.parity:
        return _PARITY
    return _PLAIN if config.superwords_from is None else _SUPERWORDS


def _lines(text: str | None) -> tuple[str, ...]:
    """Return the lines of a field that hold more than spaces, as they are."""
    return tuple(line for line in (text or "").splitlines() if line.strip())


def _show_notes(notes: Sequence[str]) -> None:
    """Show how a field was read, below it."""
    if notes:
        st.markdown(f":gray[:small[{' '.join(notes)}]]")
