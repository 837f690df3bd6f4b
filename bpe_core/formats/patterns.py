r"""Write a pre-tokenizer for another tool, and recognise the one that a pattern is equal to.

The same pre-tokenizer is written in several ways: with or without possessive quantifiers, with
`(?i:...)` around each contraction or around all. Each spelling below occurs in a released tokenizer
or in `tiktoken_ext/openai_public.py`, and matches exactly what the named one matches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import Part, flat_steps
from bpe_core.pretokenizers import HAN_AND_KANA, PRETOKENIZER_NAMES, Pretokenizer, get_pretokenizer

_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SUPERWORDS: Final = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""As SuperBPE's released tokenizers have it."""
_FROM_RIGHT: Final = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
"""Numbers in threes from the right, each of which looks ahead."""
_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "llama3": (),
    "digits-from-right": (
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{_FROM_RIGHT}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "qwen2": (),
    "tekken": (),
    "starcoder": (),
    "deepseek-v3": (),
    "falcon": (),
    "superwords": (_SUPERWORDS,),
    "gpt2": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ),
    # Left out: the older spelling without `\s++$`, which cuts trailing "\n  " in two.
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "o200k": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
}
_NAMES: Final = {
    pattern: name
    for name, spellings in _SPELLINGS.items()
    for pattern in (*spellings, get_pretokenizer(name).pattern)
}

Step = Mapping[str, Any]
"""A part of tokenizer.json's pre-tokenizer, without `trim_offsets`."""

BY_REGEX: Final[Step] = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
"""GPT-2's pattern, which in tokenizer.json is part of writing tokens in printable bytes."""

_BY_BYTES: Final[Step] = {"type": "ByteLevel", "add_prefix_space": False}
BYTE_LEVEL: Final[Step] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
WHITESPACE: Final[Step] = {"type": "WhitespaceSplit"}


def isolated(pattern: str) -> Step:
    """Return the step whose pieces are a pattern's matches and the gaps."""
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


STEPS: Final[Mapping[str, tuple[Step, ...]]] = {
    "starcoder": ({"type": "Digits", "individual_digits": True}, BY_REGEX),
    "superwords": (isolated(_SUPERWORDS),),
    "deepseek-v3": (
        isolated(r"\p{N}{1,3}"),
        isolated(f"[{HAN_AND_KANA}]+"),
        isolated(
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
            r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+"
            r"|\s+(?!\S)|\s+"
        ),
    ),
}
"""The pre-tokenizers that are published as several steps, each of which cuts the pieces of the one
before. The last is the one that their file ends with."""

FALCON: Final[tuple[Step, ...]] = (
    {"type": "Punctuation", "behavior": "Contiguous"},
    BY_REGEX,
    {"type": "Digits", "individual_digits": False},
    isolated("[0-9][0-9][0-9]"),
)
"""Falcon's steps. Tokens are written in printable bytes before numbers are cut out, so the bytes
written ² ³ ¹ ¼ ½ ¾ are numbers too, wherever they are in a character."""


def pre_tokenizer_part(cut: Pretokenizer, *, by_bytes: bool) -> dict[str, Any] | None:
    """Return how tokenizer.json writes a pre-tokenizer; None for one that cuts nothing.

    >>> pre_tokenizer_part(get_pretokenizer("whitespace"), by_bytes=False)
    {'type': 'WhitespaceSplit'}
    """
    name, pattern = cut.cut, cut.pattern
    if name == "gpt2" and by_bytes:
        return {**BYTE_LEVEL, "use_regex": True}
    steps = STEPS.get(name) if by_bytes else None
    if steps is not None:
        written = [dict(step) for step in steps]
        last = {**BYTE_LEVEL, "use_regex": steps[-1] == BY_REGEX}
        return {
            "type": "Sequence",
            "pretokenizers": [*(each for each in written if each != BY_REGEX), last],
        }
    parts: list[dict[str, Any]] = []
    if name == "whitespace":
        parts.append(WHITESPACE)
    elif pattern is not None:
        dropping = cut.drops_text
        parts.append(
            {
                "type": "Split",
                "pattern": {"Regex": pattern},
                "behavior": "Removed" if dropping else "Isolated",
                "invert": dropping,
            }
        )
    if by_bytes:
        parts.append({**BYTE_LEVEL, "use_regex": False})
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}


def normalizer_part(cut: Pretokenizer) -> dict[str, Any] | None:
    """Return how tokenizer.json writes the normalizer of a pre-tokenizer, or None.

    >>> normalizer_part(get_pretokenizer("NFC+gpt2")), normalizer_part(get_pretokenizer("gpt2"))
    ({'type': 'NFC'}, None)
    """
    return None if cut.normalizer is None else {"type": cut.normalizer.name}


def cuts_by_steps() -> dict[str, str]:
    """Return the name of each cut by the JSON, without spaces, of the steps that are read as it.

    Left out are `trim_offsets` and a last step that only writes tokens in printable bytes.

    >>> cuts_by_steps()['[{"type":"WhitespaceSplit"}]']
    'whitespace'
    """
    found = {_as_key([isolated(each)]): name for each, name in _NAMES.items() if each}
    found |= {_as_key(steps): name for name, steps in STEPS.items()}
    return found | {_as_key([BY_REGEX]): "gpt2", _as_key([WHITESPACE]): "whitespace"}


def _as_key(steps: Sequence[Step]) -> str:
    return json.dumps([*steps], sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def without_crossing_numbers(merges: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the merges of printable tokens that are all numbers or have none.

    After Falcon's steps no other merge ever happens, because numbers are in their own pieces.
    Raises `FormatError` for a merge of ASCII digits with other numbers, which the pre-tokenizer
    `falcon` keeps apart and those steps do not.

    >>> without_crossing_numbers([("1", "2"), ("a", "b"), ("Ã", "²")])
    [('1', '2'), ('a', 'b')]
    """
    kept: list[Sequence[str]] = []
    for pair in merges:
        joined = "".join(pair)
        if joined.isnumeric() and not joined.isascii() and any(map(str.isascii, joined)):
            raise FormatError(f"A merge makes {joined!r:.60}, of digits and other numbers.")
        if joined.isnumeric() or not any(map(str.isnumeric, joined)):
            kept.append(pair)
    return kept


class ReadCut(NamedTuple):
    """How a tokenizer.json cuts a text."""

    pretokenizer: str
    """The name of the pre-tokenizer that cuts alike."""
    by_bytes: bool
    """True if tokens are written in printable bytes."""
    by_falcons_steps: bool = False


def read_pre_tokenizer(part: object) -> ReadCut:
    """Return how a text is cut by the pre-tokenizer of a tokenizer.json.

    Raises `FormatError` for one that has no exact equivalent here.

    >>> read_pre_tokenizer({"type": "WhitespaceSplit"})[:2]
    ('whitespace', False)
    """
    parts = [_without(step, "trim_offsets") for step in flat_steps(part, "pretokenizers")]
    if parts == list(FALCON):
        return ReadCut("falcon", by_bytes=True, by_falcons_steps=True)
    byte_level = bool(parts) and _without(parts[-1], "use_regex") == _BY_BYTES
    if any(step.get("type") == "ByteLevel" for step in parts[:-1]):
        raise FormatError("Its pre-tokenizer writes bytes in printable characters twice.")
    if byte_level and parts.pop().get("use_regex", True):
        parts.append({**BY_REGEX})
    if not parts:
        return ReadCut("none", byte_level)
    if parts == [WHITESPACE]:
        return ReadCut("whitespace", byte_level)
    if parts == [BY_REGEX]:
        return ReadCut("gpt2", byte_level)
    name = _split_name(parts[0]) if len(parts) == 1 else name_steps(parts)
    if name is not None:
        return ReadCut(name, byte_level)
    raise FormatError(f"The pre-tokenizer {json.dumps(part)[:200]} has no exact equivalent here.")


def _without(step: Part, name: str) -> Part:
    return {key: value for key, value in step.items() if key != name}


def _split_name(split: Part) -> str | None:
    pattern = cast("Part", split["pattern"] if isinstance(split.get("pattern"), dict) else {})
    expression = pattern.get("Regex")
    if not isinstance(expression, str):
        return None
    how = split.get("behavior"), split.get("invert")
    if how == ("Isolated", False):
        return find_pretokenizer(expression)
    if how == ("Removed", True):
        # Only matches are kept, which is the same as isolating if the pattern always matches all
        # text.
        named = map(get_pretokenizer, PRETOKENIZER_NAMES)
        dropping = {each.pattern: each.name for each in named if each.drops_text}
        name = dropping.get(expression, find_pretokenizer(expression))
        return None if name.startswith("regex:") else name
    return None


def name_steps(steps: Sequence[Step]) -> str | None:
    """Return the name of the pre-tokenizer that cuts as several steps do, or None.

    >>> name_steps([{"type": "Digits", "individual_digits": True}, BY_REGEX])
    'starcoder'
    """
    found = [_as_written(step) for step in steps]
    return next((name for name, known in STEPS.items() if list(known) == found), None)


def _as_written(step: Step) -> Step:
    """Return a step as it is written above, if it is another spelling of one."""
    if step == isolated(r"\p{N}"):
        return STEPS["starcoder"][0]
    pattern = step.get("pattern")
    written = cast("Step", pattern).get("Regex") if isinstance(pattern, dict) else None
    if not isinstance(written, str) or step != isolated(written):
        return step
    return BY_REGEX if find_pretokenizer(written) == "gpt2" else isolated(_escaped(written))


def find_pretokenizer(pattern: str) -> str:
    r"""Return the name of the pre-tokenizer whose pieces are a pattern's matches and the gaps.

    >>> gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    >>> find_pretokenizer(gpt2)
    'gpt2'
    >>> find_pretokenizer(r"\d")
    'regex:\\d'
    """
    return _NAMES.get(_escaped(pattern), f"regex:{pattern}")


def _escaped(pattern: str) -> str:
    """Return a pattern with line ends as escapes; some files have the characters themselves."""
    return pattern.replace("\r", r"\r").replace("\n", r"\n")
