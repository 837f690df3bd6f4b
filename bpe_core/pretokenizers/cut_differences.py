"""Compare two pre-tokenizers: a proof that they cut every text alike, or texts that they do not.

Patterns that compile to automata (see `scanners`) are followed together. If both read the same
characters and say the same of each, in every pair of states that a text can reach, they cut every
text alike. Otherwise the shortest texts that lead to a difference are cut by both, because an
automaton may say something else and yet cut in the same places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core.errors import PatternError
from bpe_core.pretokenizers.named_patterns import ALPHABET
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.pretokenizers.scanners import Automaton, compile_automaton

_CUSTOM: Final = "regex:"
_MAX_STATES: Final = 20_000
_MAX_TEXTS: Final = 50
_MAX_TRIED: Final = 5_000
_AFTER: Final = ("", "a", " ", "\n", "1", "!", " a", "aa")


@dataclass(frozen=True, slots=True)
class CutComparison:
    """Whether two pre-tokenizers cut every text alike."""

    equal: bool | None
    """True if that is proved, False if there are `texts`, None if neither is known."""
    texts: tuple[str, ...] = ()
    """Texts that they cut differently, the shortest first."""
    characters: tuple[str, ...] = ()
    """Characters that the patterns tell apart, one of each kind."""


def compare_cuts(one: Pretokenizer, other: Pretokenizer) -> CutComparison:
    """Compare how two pre-tokenizers cut texts; their normalizers are not looked at.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> found = compare_cuts(get_pretokenizer("llama3"), get_pretokenizer("qwen2"))
    >>> found.equal, found.texts[0]
    (False, '00')
    >>> compare_cuts(get_pretokenizer("regex:a|[^a]"), get_pretokenizer("regex:[^a]|a")).equal
    True
    """
    if one.cut == other.cut:
        return CutComparison(equal=True)
    first, second = _compile(one), _compile(other)
    if first is None or second is None:
        letters = ("a", "A", "0", " ", "\n", "!", "'", "s", "é", "漢", "\u0301", "_", "/", "\t")
        texts = _differing(one, other, _short_texts(letters))
        return CutComparison(False if texts else None, texts, letters)
    kinds: dict[tuple[int, int], str] = {}
    for character in sorted(ALPHABET, key=_preference):
        kinds.setdefault((first.columns[character], second.columns[character]), character)
    letters = tuple(kinds.values())
    suspects, is_complete = _follow(first, second, kinds)
    texts = _differing(one, other, (text + end for text in suspects for end in _AFTER))
    # The two engines know different versions of Unicode.
    same_engine = one.cut.startswith(_CUSTOM) == other.cut.startswith(_CUSTOM)
    is_proved = is_complete and not suspects and same_engine
    return CutComparison(False if texts else (True if is_proved else None), texts, letters)


def _follow(
    first: Automaton, second: Automaton, kinds: dict[tuple[int, int], str]
) -> tuple[list[str], bool]:
    """Return the shortest texts after which automata differ, and whether all pairs were seen."""
    reached: dict[tuple[int, int], str] = {(0, 0): ""}
    waiting = deque([(0, 0)])
    suspects: list[str] = []
    ends = first.n_columns - 1, second.n_columns - 1
    while waiting:
        pair = waiting.popleft()
        text = reached[pair]
        for columns, character in [*kinds.items(), (ends, "")]:
            next_one, flags = first.rows[pair[0]][columns[0]]
            next_other, other_flags = second.rows[pair[1]][columns[1]]
            if flags != other_flags:
                suspects.append(text + character)
            following = (next_one, next_other)
            if character and following not in reached:
                if len(reached) >= _MAX_STATES:
                    return suspects, False
                reached[following] = text + character
                waiting.append(following)
    return suspects, True


def _differing(one: Pretokenizer, other: Pretokenizer, texts: Iterator[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for n_tried, text in enumerate(texts):
        if n_tried >= _MAX_TRIED or len(found) >= _MAX_TEXTS:
            break
        if one.spans(text) != other.spans(text):
            found[text] = None
    return tuple(sorted(found, key=len))


def _short_texts(letters: tuple[str, ...]) -> Iterator[str]:
    texts = [""]
    for _ in range(3):
        texts = [text + letter for text in texts for letter in letters]
        yield from texts


def _compile(pretokenizer: Pretokenizer) -> Automaton | None:
    """Return the automaton of a pre-tokenizer, or None if none stands for its pattern exactly."""
    pattern = pretokenizer.pattern
    if pattern is None or (pretokenizer.cut.startswith(_CUSTOM) and not _is_plain(pattern)):
        return None
    try:
        return compile_automaton(pattern, dropped=r"\s+" if pretokenizer.drops_text else None)
    except (PatternError, ValueError, IndexError):
        return None


def _is_plain(pattern: str) -> bool:
    r"""Return True if an engine for regular expressions reads a pattern as the automaton does.

    Classes of capitals are one class there, an engine's `$` may match before a last line end, and
    characters beyond ASCII are in no class of their own.

    >>> _is_plain(r"\p{L}+"), _is_plain(r"\p{Lu}"), _is_plain("é"), _is_plain("a$")
    (True, False, False, False)
    """
    return (
        pattern.isascii()
        and pattern.count(r"\p{Lu}") == pattern.count(r"\p{Lt}")
        and not any(part in pattern for part in ("$", "^.", r"\d", r"\w", r"\b", "(?i:k", "."))
        and not ("(?i" in pattern and "k" in pattern.lower())
    )


def _preference(character: str) -> tuple[bool, bool, bool, int]:
    """Sort characters that are easy to read first."""
    plain = character.isascii()
    return (not plain, not character.isalnum(), not character.isprintable(), ord(character))
