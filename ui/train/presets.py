"""The presets of settings on Train, and the choice of a size for one.

A slider over usual sizes stands next to a field for any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.checks import times
from bpe_core.corpus import Corpus
from bpe_core.pretokenizers import SPACE_ADDING
from bpe_core.trainers import LargestSize
from bpe_core.types import Base, Characters, TrainingConfig
from ui.look import counted, tooltip
from ui.run import corpus_summary
from ui.shell import FieldLimits, checked, number_input, whole_number, workspace

CUTS: Final = {"gpt2": "GPT-2", "cl100k": "GPT-4", "o200k": "GPT-4o", "llama3": "Llama 3"}
"""The pre-tokenizers that have a preset, with its name."""
LLAMA: Final = "Llama 2 style"
CLASSROOM: Final = "Classroom"
CUSTOM: Final = "Custom"
"""The choice of every setting, next to the presets."""
MIN_FREQUENCY: Final = 2
"""A pair that occurred only once spells one word of the text by heart. On a few pages these are
half of the merges; without them new text takes about a tenth more tokens: see docs/decide.md."""
CONFIGS: Final = {
    **{
        name: TrainingConfig(pretokenizer=cut, min_frequency=MIN_FREQUENCY)
        for cut, name in CUTS.items()
    },
    LLAMA: TrainingConfig(
        min_frequency=MIN_FREQUENCY,
        pretokenizer="metaspace",
        alphabet=Characters(coverage=0.9995),
        special_tokens=("<unk>", "<s>", "</s>"),
    ),
    CLASSROOM: TrainingConfig(
        pretokenizer="whitespace",
        alphabet="characters",
        end_of_word="</w>",
        special_tokens=(),
    ),
}
"""The settings of each preset but Custom."""
DIVISIONS: Final = {
    "GPT-2": "words, numbers and signs apart (GPT-2)",
    "GPT-4": "digits in threes (GPT-4)",
    "GPT-4o": "vowel signs stay in words (GPT-4o)",
    "Llama 3": "digits in threes (Llama 3)",
    LLAMA: "a space begins each word (Llama 2)",
    CLASSROOM: "at spaces, with an end mark (classroom)",
    CUSTOM: "my own settings",
}
"""What the cut of each preset does, with the model that it is from."""
HOW_FAR: Final = (
    "Each merge adds one token to the vocabulary. The first ones shorten a text most; in the end "
    "only pairs are left that occur once, whose merges hardly help any other text."
)
EXPLAINED: Final = (
    "GPT-2, GPT-4, GPT-4o and Llama 3: all 256 bytes, with the text cut as that model cuts it. "
    "Llama 2 style: the characters that make up 99.95% of the text, and bytes for all others; a "
    "space begins each word. Classroom: the characters of the text and an end-of-word marker, cut "
    "at white space. In all of them ties go to the lower ids, as on Start and in Hugging Face’s "
    "trainer. In all but Classroom a pair must occur twice, because a merge of a pair that "
    "occurred only once learns the text by heart. Custom: every setting, including your own "
    "regular expression."
)


def with_cut(config: TrainingConfig, cut: str) -> TrainingConfig:
    """Return settings with another pre-tokenizer, and the base that it needs.

    >>> with_cut(CONFIGS["Llama 2 style"], "gpt2").alphabet
    'characters'
    """
    if cut in SPACE_ADDING:
        base = replace(CONFIGS[LLAMA], pretokenizer=cut)
        return replace(
            base,
            vocab_size=config.vocab_size,
            special_tokens=config.special_tokens,
            min_frequency=config.min_frequency,
        )
    alphabet = "characters" if config.base == "characters" else config.alphabet
    return replace(config, pretokenizer=cut, alphabet=alphabet)


_LABEL = "Vocabulary size"
_BYTE_SIZES = (
    257,
    300,
    400,
    512,
    768,
    1_024,
    1_536,
    2_048,
    3_072,
    4_096,
    6_144,
    8_192,
    12_288,
    16_384,
    24_576,
    32_768,
    50_257,
)
FIRST_SIZE = 4_096
MAX_SIZE = 1_000_000
_CLASSROOM_MERGES = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_CLASSROOM_MERGE_COUNT = 15
_FIELD_WIDTH = 150
_MOVES: Final = "settings_size_moves"
_AMOUNT_TURNS: Final = "settings_amount_turns"
FIRST: dict[str, str | float] = {
    _MOVES: 0,
    "settings_byte_size": FIRST_SIZE,
    f"settings_exact_byte_size_{FIRST_SIZE}": float(FIRST_SIZE),
}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class ShownSize:
    """The size last shown, for a text that gives its preset other sizes to choose from."""

    preset: str = ""
    start_total: int = 0
    """The number of tokens before the first merge."""
    size: float = 0


@dataclass(frozen=True, slots=True)
class Start:
    """The number of tokens in a vocabulary before the first merge, by kind."""

    base: Base
    n_base: int
    n_special: int
    n_marker: int
    n_bytes: int = 0
    """Those of bytes for characters outside the alphabet."""

    @property
    def total(self) -> int:
        return self.n_base + self.n_bytes + self.n_special + self.n_marker

    @property
    def parts(self) -> list[str]:
        """The number of each kind, in words.

        >>> Start("bytes", 256, 1, 0).parts
        ['256 bytes', '1 special']
        """
        parts = [counted(self.n_base, self.base[:-1])]
        if self.n_bytes:
            parts.append(f"{self.n_bytes} bytes")
        if self.n_special:
            parts.append(f"{self.n_special:,} special")
        if self.n_marker:
            parts.append("1 end-of-word marker")
        return parts


def size_field(preset: str, start: Start, heading: DeltaGenerator) -> int | None:
    """Draw the choice of a size for a preset; show an invalid size as an error and return None.

    `heading` is the row of the heading, where the usual sizes are chosen by what they give.
    """
    limits = FieldLimits(
        least=start.total,
        most=MAX_SIZE,
        why_least=f"A vocabulary starts with {' + '.join(start.parts)}; each merge adds one.",
        why_most="The pages show vocabularies up to this size, four times the largest in use. "
        "`python -m bpe_core train` can train larger ones.",
    )
    if preset == CUSTOM:
        return whole_number(
            _LABEL,
            limits,
            FIRST_SIZE,
            key="settings_vocab_size",
            help="The number of tokens: base symbols, special tokens, the marker, and one for "
            f"each merge. {tooltip('Token')}",
        )
    slider = _slider(preset, start.total)
    last = workspace.get(ShownSize)
    if last.preset == preset and last.start_total != start.total:
        workspace.set_widgets(size_widgets(preset, _carried(last, slider), start.total))
    value = _slider_and_field(slider)
    workspace.update(ShownSize, preset=preset, start_total=start.total, size=value)
    size = checked(value, limits)
    with heading:
        _choose_amount(slider, size)
    return size


def size_widgets(preset: str, size: float, start_total: int) -> dict[str, str | float]:
    """Return the values of the widgets that choose a size for a preset.

    `start_total` is the number of tokens before the first merge.

    >>> size_widgets("GPT-2", 5_000, 257)
    {'settings_size_moves': 0, 'settings_byte_size': 4096, 'settings_exact_byte_size_4096': 5000.0}
    """
    if preset == CUSTOM:
        return {"settings_vocab_size": float(size)}
    slider = _slider(preset, start_total)
    nearest = _nearest(slider.sizes, size)
    return {_MOVES: 0, **_moved(slider.key, 0, nearest, size)}


def _carried(last: ShownSize, slider: _Slider) -> float:
    """Return the size to show for another text: the same one, or the same place on the slider.

    >>> _carried(ShownSize(CLASSROOM, 17, 32), _slider(CLASSROOM, 20))
    35
    >>> _carried(ShownSize(CLASSROOM, 17, 33), _slider(CLASSROOM, 20))
    33
    """
    before = _slider(last.preset, last.start_total)
    if last.size == before.first:
        return slider.first
    # On the Classroom's slider, a place stands for a number of merges.
    is_place = last.preset == CLASSROOM and last.size in before.sizes
    return slider.sizes[before.sizes.index(int(last.size))] if is_place else last.size


def size_sentence(
    size: int, start: Start, found: LargestSize | None = None, *, removes: bool = False
) -> str:
    """Return the size of a vocabulary and what it consists of, in Markdown.

    `found` is the largest size that the corpus can fill, if known. If training `removes` tokens
    again, it takes more merges.

    >>> start = Start("bytes", 256, 1, 0)
    >>> print(size_sentence(4_096, start, LargestSize(343, is_exact=True)))
    Join the most frequent pair **86 times**. :gray[Vocabulary size **4,096** = 256 bytes + \
1 special + room for 3,839]
    >>> print(size_sentence(300, start, removes=True))
    Join the most frequent pair **43 times**, and once more for each token taken out again. \
:gray[Vocabulary size **300** = 256 bytes + 1 special + 43 tokens from merges]
    """
    n_merges = size - start.total
    joined, merges = f"**{counted(n_merges, 'time')}**.", counted(n_merges, "merge")
    if found is not None and found.size < size:
        n_found = counted(max(0, found.size - start.total), "time")
        most = "" if found.is_exact else "at most "
        # Short, because a second line would move the button below when a text is pasted.
        joined, merges = f"**{most}{n_found}**.", f"room for {n_merges:,}"
    elif removes:
        joined = f"**{counted(n_merges, 'time')}**, and once more for each token taken out again."
        merges = counted(n_merges, "token") + " from merges"
    parts = " + ".join([*start.parts, merges])
    return f"Join the most frequent pair {joined} :gray[Vocabulary size **{size:,}** = {parts}]"


@dataclass(frozen=True, slots=True)
class _Slider:
    """The sizes that a slider offers, and the one that a new visitor sees."""

    key: str
    sizes: Sequence[int]
    first: int


def _slider(preset: str, total: int) -> _Slider:
    """Return the slider of a preset whose vocabulary starts with this many tokens.

    >>> _slider(LLAMA, 24_000)
    _Slider(key='llama_size_24000', sizes=[24000, 24576, 32768, 50257], first=24576)
    """
    # Where the choices depend on the corpus, the keys do too.
    if preset == CLASSROOM:
        sizes = [total + merges for merges in _CLASSROOM_MERGES]
        return _Slider(f"classroom_size_{total}", sizes, total + _CLASSROOM_MERGE_COUNT)
    if preset == LLAMA:
        sizes = [total, *(size for size in _BYTE_SIZES if size > total)]
        return _Slider(f"llama_size_{total}", sizes, max(FIRST_SIZE, min(sizes[1:], default=total)))
    return _Slider("byte_size", _BYTE_SIZES, FIRST_SIZE)


_AMOUNTS: Final = ("Few pieces", "Balanced", "Long pieces")
_MERGES: Final = (255, 3_000, 16_000)
_CLASSROOM_MERGES_NAMED: Final = (15, 100, 1_000)


def _named_sizes(slider: _Slider) -> dict[str, int]:
    """Return the sizes of a slider that are also chosen by what they give.

    >>> _named_sizes(_slider("GPT-2", 257))
    {'Few pieces': 512, 'Balanced': 4096, 'Long pieces': 16384}
    >>> _named_sizes(_slider(CLASSROOM, 10))
    {'Few pieces': 25, 'Balanced': 110, 'Long pieces': 1010}
    >>> _named_sizes(_slider(LLAMA, 40_000))
    {'Few pieces': 50257}
    """
    is_classroom = slider.key.startswith("classroom")
    merges = _CLASSROOM_MERGES_NAMED if is_classroom else _MERGES
    found: dict[int, str] = {}
    for name, n in zip(_AMOUNTS, merges, strict=True):
        size = next((size for size in slider.sizes if size >= slider.sizes[0] + n), None)
        if size is not None:
            found.setdefault(size, name)
    return {name: size for size, name in found.items()}


def _choose_amount(slider: _Slider, size: int | None) -> None:
    """Draw the sizes that have a name, with the number; none is chosen at any other size."""
    sizes = _named_sizes(slider)
    # This control follows the slider, so it takes its value from there at each redraw.
    chosen = next((name for name, own in sizes.items() if own == size), None)
    key = _amount_key()
    workspace.set_widget(key, chosen)
    st.segmented_control(
        "Amount of pieces",
        list(sizes),
        format_func=lambda name: f"{name} ({sizes[name]:,})",
        key=key,
        label_visibility="collapsed",
        on_change=lambda: _move_to_amount(slider, sizes, key),
    )


def _move_to_amount(slider: _Slider, sizes: Mapping[str, int], amount_key: str) -> None:
    """Move the slider to the size whose name was pressed.

    If another size was chosen since the names were drawn, the press was on the names of before.
    """
    name = workspace.widget_text(amount_key)
    if name in sizes and amount_key == _amount_key():
        _move(slider.key, sizes[name], sizes[name])


def _slider_and_field(slider: _Slider) -> float:
    """Draw a slider and a field for one size; the field decides, the slider shows the nearest.

    Each place of the slider has its own field. If one field were set after each step, steps
    that outrun the page would come back with the field's old value, and undo later ones.
    """
    key, sizes = slider.key, slider.sizes
    with st.container(horizontal=True, gap="medium"):
        with st.container(gap=None):
            size = st.select_slider(
                _LABEL,
                sizes,
                slider.first,
                format_func=lambda size: f"{size:,}",
                key=_slider_key(key, _moves()),
                label_visibility="collapsed",
                persist_state="session",
                on_change=lambda: _leave_field(key),
            )
            with st.container(horizontal=True):
                st.markdown(f":gray[:small[{sizes[0]:,}]]", width="content")
                st.space("stretch")
                st.markdown(f":gray[:small[{sizes[-1]:,}]]", width="content")
        # The first value is what an emptied field returns to: the suggested size.
        exact_key = _exact_key(key, _moves(), size)
        workspace.start_choice(exact_key, float(size))
        return number_input(
            "Exact vocabulary size",
            slider.first,
            key=exact_key,
            label_visibility="collapsed",
            width=_FIELD_WIDTH,
            on_change=lambda: _move_slider(key, exact_key, size, sizes),
        )


def _leave_field(key: str) -> None:
    """Begin the field of the place that the slider was moved to anew."""
    workspace.forget_widgets(f"settings_exact_{key}")
    _draw_amounts_anew()


def _move_slider(key: str, exact_key: str, size: int, sizes: Sequence[int]) -> None:
    """Move the slider to the place nearest to the number typed next to it."""
    typed = workspace.widget_number(exact_key)
    if typed is not None and (nearest := _nearest(sizes, typed)) != size:
        _move(key, nearest, typed)
    _draw_amounts_anew()


def _move(key: str, place: int, size: float) -> None:
    """Set the size, as a slider and a field with keys of their own.

    Until the browser has drawn them it may send the old ones' values again, with what refreshes
    itself. That would undo the move, if the new ones had the old keys.
    """
    workspace.forget_widgets(f"settings_exact_{key}")
    moves = _moves() + 1
    workspace.set_widgets({_MOVES: moves, **_moved(key, moves, place, size)})


def _moved(key: str, moves: int, place: int, size: float) -> dict[str, str | float]:
    return {_slider_key(key, moves): place, _exact_key(key, moves, place): float(size)}


def _moves() -> int:
    """Return how often the slider was moved by a number typed or a name pressed."""
    return _count(_MOVES)


def _count(key: str) -> int:
    return int(workspace.widget_number(key) or 0)


def _slider_key(key: str, moves: int) -> str:
    return f"settings_{key}" + (f"_moved_{moves}" if moves else "")


def _exact_key(key: str, moves: int, place: int) -> str:
    """Return the key of the field next to one place of a slider."""
    return f"settings_exact_{key}_{place}" + (f"_moved_{moves}" if moves else "")


def _amount_key() -> str:
    turns = _count(_AMOUNT_TURNS)
    return "settings_amount" + (f"_{turns}" if turns else "")


def _draw_amounts_anew() -> None:
    """Give the names of sizes another key, because their old choice may be sent once more."""
    workspace.set_widget(_AMOUNT_TURNS, _count(_AMOUNT_TURNS) + 1)


def _nearest(sizes: Sequence[int], value: float) -> int:
    """Return the size that is nearest to a value.

    >>> _nearest([257, 300, 400], 320), _nearest([257, 300, 400], 1e9)
    (300, 400)
    """
    return min(sizes, key=lambda size: abs(size - value))


def show_largest_size(training: Corpus, config: TrainingConfig) -> LargestSize | None:
    """Show the largest vocabulary this corpus can fill, and return it; None if it is not known.

    It is not known of words that may join, of tokens that are taken out again or must or must not
    exist, of whole characters, and of languages that take turns.
    """
    others = config.superwords_from, config.picky, config.seeds, config.vetoes, config.parity
    if any(others) or config.whole_characters:
        return None
    with st.spinner("Finding the largest size"):
        found = corpus_summary.largest_size(training, config)
    if found is not None:
        st.markdown(f":gray[:small[{largest_sentence(found)}]]")
    return found


def largest_sentence(found: LargestSize) -> str:
    """Return a sentence on the largest vocabulary this corpus can fill.

    >>> largest_sentence(LargestSize(286, is_exact=True))
    'With 286 tokens, this text has no pair left to join.'
    >>> largest_sentence(LargestSize(39_728, is_exact=False))
    'With 39,728 tokens or fewer, this text has no pair left to join.'
    >>> largest_sentence(LargestSize(1_331_650, is_exact=False))
    'This text is large enough for any size.'
    """
    if found.size >= MAX_SIZE:
        return "This text is large enough for any size."
    if found.is_exact:
        return f"With {found.size:,} tokens, this text has no pair left to join."
    return f"With {found.size:,} tokens or fewer, this text has no pair left to join."


def early_stop_sentence(found: LargestSize | None, config: TrainingConfig) -> str | None:
    """Return where training will stop before the wanted size; None unless that is certain.

    >>> early_stop_sentence(LargestSize(286, is_exact=True), TrainingConfig(4_096))
    'Training will stop at 286 tokens: then no pair is left that may merge.'
    >>> early_stop_sentence(LargestSize(286, is_exact=True), TrainingConfig(300, min_frequency=2))
    'Training will stop at 286 tokens: then no pair is left that occurs twice.'
    >>> early_stop_sentence(LargestSize(286, is_exact=True), TrainingConfig(286))
    """
    if found is None or config.vocab_size <= found.size:
        return None
    where = f"at {found.size:,}" if found.is_exact else f"before {found.size + 1:,}"
    least = config.min_frequency
    pair = f"occurs {times(least)}" if least > 1 else "may merge"
    return f"Training will stop {where} tokens: then no pair is left that {pair}."
