"""Words that pages share: tokens, numbers and a visitor's words as text, terms defined, runs named.

docs/glossary.md holds the same definitions for a lay reader. Runs in lists to choose from are
labelled so that no two labels are alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

import regex

from bpe_core.checks import counted as counted
from bpe_core.types import TrainingConfig

GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Token": (
            "A token is a piece of text with a number, its id: a single byte, part of a word, or "
            "a whole word. A language model reads tokens, not letters."
        ),
        "Pre-token": (
            "A pre-token is a piece into which text is cut before training, usually a word with "
            "the space before it. No merge crosses the boundary between two pre-tokens."
        ),
        "Held-out text": (
            "Held-out text is text that training never sees: whole folders or documents of the "
            "corpus, because new text comes in new ones, or files of your own. It shows how well "
            "the tokenizer works on new text."
        ),
        "Special token": (
            "A special token is a marker for the model, such as <|endoftext|>, rather than "
            "ordinary text. It is never split and never merged."
        ),
        "Chat template": (
            "A chat template is a small program in a chat model’s files. It writes the text that "
            "the model reads: each message with its role, between special tokens that training "
            "used."
        ),
        "Merge": (
            "A merge joins two neighbouring tokens into one new token, wherever they stand side "
            "by side. Training learns one merge at a time, always of the most frequent pair."
        ),
        "Tie": (
            "A tie is a step at which several pairs are the most frequent. A fixed rule then "
            "decides which of them is merged."
        ),
        "Mark": (
            "A mark is how a tokenizer’s file writes what is not a letter of the text: ▁ for a "
            "space, ## where a word continues, <0xE2> for a single byte. Text that looks like ## "
            "or <0xE2> is ordinary text; some tokenizers read a ▁ in it as a space."
        ),
        "Byte fallback": (
            "Byte fallback is the spelling of rare characters with the tokens of their bytes, "
            "which no merge joins. The most frequent characters, up to a share of the text that "
            "is called the coverage, are base symbols."
        ),
    }
)
"""Each term with its definition, in the order in which a reader meets them."""

_WITHOUT_PICTURE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_MAX_LABEL_LENGTH = 40
_MAX_STEM_LENGTH = 40
_GLYPHS = {"\t": "→", "\n": "↵"}
# What Streamlit still turns into links, its logo and arrows after Markdown is parsed, when the
# backslashes have been removed: the places to break such text.
_STILL_MARKUP = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)|(?<=:)(?=streamlit:)|(?<=[-<>~])(?=[-=>])", re.IGNORECASE
)
_WORD_JOINER = "\u2060"
_RIGHT_TO_LEFT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}]")
# Arabic digits, too, would change the order of the numbers next to them.
_RUNS_FROM_RIGHT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}\p{bc=AN}]")
_MARKER: Final = regex.compile(r"<[^<>\s]+>")
_CONTROL: Final = regex.compile("[\u202a-\u202e\u2066-\u2069]")
RIGHT_TO_LEFT: Final = (
    "Right-to-left text is drawn from the right, and so are its tokens: the first one stands "
    "rightmost. Counts and ids follow the order in which the text is stored."
)
MAX_TITLE_LENGTH: Final = 44
_MAX_SETTING_LENGTH: Final = 24


def definitions(*terms: str) -> list[tuple[str, str]]:
    """Return terms with their definitions, in the form that components take.

    >>> [term for term, _ in definitions("Merge", "Tie")]
    ['Merge', 'Tie']
    """
    return [(term, GLOSSARY[term]) for term in terms]


def tooltip(*terms: str) -> str:
    """Return the definitions of some terms as the Markdown of a tooltip.

    >>> tooltip("Tie").split(". ")[0]
    'A tie is a step at which several pairs are the most frequent'
    """
    return "\n\n".join(GLOSSARY[term] for term in terms)


def token_label(token: bytes) -> str:
    """Return a token as one line, with ␣ for a space, → for a tab and ↵ for a line feed.

    Other invisible characters are written U+XXXX, and bytes of incomplete characters in hex.

    >>> token_label(b" the"), token_label(b"\\n"), token_label(b"a\\xe6\\x97")
    ('␣the', '↵', 'a<E6 97>')
    """
    label = re.sub(
        "[\udc80-\udcff]+",
        lambda cut: f"<{cut[0].encode('utf-8', 'surrogateescape').hex(' ').upper()}>",
        "".join(
            c if "\udc80" <= c <= "\udcff" else _shown(c)
            for c in token.decode("utf-8", "surrogateescape")
        ),
    )
    # Between two emoji a joiner makes one of them; at an end it would be invisible.
    label = re.sub("^\u200d+|\u200d+$", lambda joiners: "U+200D" * len(joiners[0]), label)
    return label if len(label) <= _MAX_LABEL_LENGTH else label[: _MAX_LABEL_LENGTH - 1] + "…"


def size_text(n_bytes: float) -> str:
    """Format a number of bytes with its unit.

    >>> size_text(64), size_text(4_004), size_text(466_195), size_text(2_000_000)
    ('64 B', '4.0 kB', '466 kB', '2.0 MB')
    """
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.{1 if n_bytes < 10 * size else 0}f} {unit}"
    return f"{n_bytes:,.0f} B"


def share_text(part: int, whole: int) -> str:
    """Write a part of a whole in percent: 0% and 100% only for nothing and everything.

    >>> share_text(1, 10_000), share_text(9_999, 10_000), share_text(3, 9), share_text(2, 2)
    ('less than 0.1%', '99.9%', '33.3%', '100%')
    """
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "less than 0.1%"
    return f"{min(percent, 99.9) if part < whole else 100:.3g}%"


def plain_text(text: str, longest: int = 60) -> str:
    """Return a visitor's text as one visible line, cut to `longest` characters.

    >>> plain_text("notes\u202e.txt")
    'notesU+202E.txt'
    """
    one_line = "".join(" " if c in "\r\n\t" else _shown(c, space=" ") for c in text)
    return one_line if len(one_line) <= longest else one_line[: longest - 1] + "…"


def plain_markdown(text: str, longest: int = 60) -> str:
    """Return a visitor's text as one line of Markdown without markup, cut to `longest`.

    >>> plain_markdown("notes_[1].txt")
    'notes\\\\_\\\\[1\\\\]\\\\.txt'
    """
    return escape_markdown(plain_text(text, longest))


def escape_markdown(line: str) -> str:
    r"""Escape a line of plain text for Markdown, so that nothing in it is markup or a link.

    Addresses, which Streamlit links even if they are escaped, are broken by an invisible character.

    >>> escape_markdown("a*b"), escape_markdown("www.hug")
    ('a\\*b', 'www\u2060\\.hug')
    """
    broken = _STILL_MARKUP.sub(_WORD_JOINER, line)
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", broken)


def file_stem(title: str) -> str:
    """Return a visitor's text as the start of a file name: lower case, digits and hyphens.

    >>> file_stem("Python's built-in help"), file_stem("../<b>"), file_stem("日本")
    ('python-s-built-in-help', 'b', 'run')
    """
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", letters).strip("-")[:_MAX_STEM_LENGTH].rstrip("-") or "run"


def _shown(character: str, space: str = "␣") -> str:
    if character == " ":
        return space
    if character in _GLYPHS:
        return _GLYPHS[character]
    if character == "\u200d":
        return character
    if unicodedata.category(character) in _WITHOUT_PICTURE:
        return f"U+{ord(character):04X}"
    return character


def isolated(text: str) -> str:
    """Return a text with controls that keep its direction from changing the order around it.

    An end-of-word marker in right-to-left text reads from the left. Text that runs from the left
    needs no controls.

    >>> isolated("hug"), isolated("ם</w>") == "\\u2068ם\\u2066</w>\\u2069\\u2069"
    ('hug', True)
    """
    if not _RUNS_FROM_RIGHT.search(text):
        return text
    return "\u2068" + _MARKER.sub("\u2066\\g<0>\u2069", text) + "\u2069"


def order_note(text: str) -> str:
    """Return what a reader must know about the order of a text on the screen, or nothing.

    >>> order_note("hug"), order_note("שלום") == RIGHT_TO_LEFT
    ('', True)
    >>> order_note("hug\\u202egup")
    'The text has an invisible character that changes the order on the screen: U+202E.'
    """
    found = sorted({f"U+{ord(control):04X}" for control in _CONTROL.findall(text)})
    notes = [RIGHT_TO_LEFT] if _RIGHT_TO_LEFT.search(text) else []
    if len(found) == 1:
        notes.append(
            f"The text has an invisible character that changes the order on the screen: {found[0]}."
        )
    elif found:
        notes.append(
            "The text has invisible characters that change the order on the screen: "
            f"{', '.join(found)}."
        )
    return " ".join(notes)


@dataclass(frozen=True, slots=True)
class RunName:
    """The data for a run's label, available without loading the run."""

    id: str
    title: str
    """Typed by a visitor: any text of any length."""
    vocab_size: int
    """The number of tokens at the end of the run."""
    config: TrainingConfig
    trained_at: datetime | None = None
    """When it was stored, with a time zone; None for the sample."""


def run_labels(runs: Sequence[RunName], now: datetime) -> list[str]:
    r"""Return a Markdown label for each run, each different from all others.

    A label has the title and the size. If two would be alike, it adds what differs: a setting, else
    the time of training in the time zone of `now`, else a number.

    >>> runs = [RunName(preset, "Hugs", 300, TrainingConfig(pretokenizer=preset))
    ...         for preset in ("gpt2", "cl100k")]
    >>> run_labels(runs, datetime.now())[0]
    'Hugs :gray[300 tokens, pre\\-tokenizer gpt2]'
    """
    titles = [plain_text(run.title, MAX_TITLE_LENGTH).strip() or "Untitled" for run in runs]
    details = [[counted(run.vocab_size, "token")] for run in runs]
    for describe in (*_SETTINGS, _times):
        for alike in _alike(list(map(_label, titles, details))):
            words = describe([runs[at] for at in alike], now)
            if len(set(words)) > 1:
                for at, word in zip(alike, words, strict=True):
                    details[at] += [word] if word else []
    return _numbered(runs, titles, details)


def _label(title: str, details: Sequence[str]) -> str:
    return f"{escape_markdown(title)} :gray[{', '.join(map(escape_markdown, details))}]"


def _alike(labels: Sequence[str]) -> list[list[int]]:
    """Return the places of labels that look the same, one list per group."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, label in enumerate(labels):
        places[_look(label)].append(at)
    return [alike for alike in places.values() if len(alike) > 1]


def _look(label: str) -> str:
    """Return a label reduced to what a reader can see.

    A browser shows several spaces as one, and hides a joiner that joins nothing.
    """
    return " ".join(unicodedata.normalize("NFC", label).replace("\u200d", "").split())


def _numbered(
    runs: Sequence[RunName], titles: Sequence[str], details: Sequence[Sequence[str]]
) -> list[str]:
    # Numbered by time of training: opening a run moves it in the list but must not rename it.
    order = sorted(range(len(runs)), key=lambda at: (_seconds(runs[at].trained_at), runs[at].id))
    labels = list(map(_label, titles, details))
    taken: set[str] = set()
    for at in order:
        number = 1
        while _look(labels[at]) in taken:
            number += 1
            labels[at] = _label(titles[at], (*details[at], f"no. {number}"))
        taken.add(_look(labels[at]))
    return labels


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else 0.0


_Describe = Callable[[Sequence[RunName], datetime], list[str]]
"""Return a few words about each run; empty if there is nothing to add."""


def _setting(words: Callable[[TrainingConfig], str]) -> _Describe:
    return lambda runs, now: [words(run.config) for run in runs]


def _end_of_word(config: TrainingConfig) -> str:
    if config.end_of_word is None:
        return "no end-of-word marker"
    return f"marker {_short(config.end_of_word)}"


def _special_tokens(config: TrainingConfig) -> str:
    if not config.special_tokens:
        return "no special tokens"
    return f"special tokens {_short(' '.join(config.special_tokens))}"


def _longest_token(config: TrainingConfig) -> str:
    if config.max_token_bytes is None:
        return "tokens of any length"
    return f"tokens up to {counted(config.max_token_bytes, 'byte')}"


def _short(text: str) -> str:
    return plain_text(text, _MAX_SETTING_LENGTH)


# The most telling settings come first.
_SETTINGS: Final[tuple[_Describe, ...]] = (
    _setting(lambda config: f"pre-tokenizer {_short(config.pretokenizer)}"),
    _setting(lambda config: f"base {config.base}"),
    _setting(lambda config: f"alphabet {config.to_dict()['alphabet']}"),
    _setting(_end_of_word),
    _setting(_special_tokens),
    _setting(lambda config: f"ties {config.tie_break}"),
    _setting(lambda config: f"minimum count {config.min_frequency:,}"),
    _setting(_longest_token),
    _setting(lambda config: f"coverage {config.character_coverage:.6g}"),
    _setting(lambda config: f"{config.vocab_size:,} asked for"),
)


def _times(runs: Sequence[RunName], now: datetime) -> list[str]:
    """Return when each run was trained, to the second if two share a minute."""
    known = [run.trained_at.astimezone(now.tzinfo) for run in runs if run.trained_at is not None]
    minutes = {time.replace(second=0, microsecond=0) for time in known}
    clock = "%H:%M" if len(minutes) == len(known) else "%H:%M:%S"
    return [_time(run.trained_at, now, clock) if run.trained_at is not None else "" for run in runs]


def _time(time: datetime, now: datetime, clock: str) -> str:
    local = time.astimezone(now.tzinfo)
    at = f"at {local:{clock}}"
    if local.date() == now.date():
        return f"trained {at}"
    year = f" {local.year}" if local.year != now.year else ""
    return f"trained on {local.day} {local:%B}{year} {at}"
