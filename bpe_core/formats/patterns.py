r"""Write a pre-tokenizer for another tool, and recognise the one that a pattern is equal to.

The same pre-tokenizer is written in several ways: with or without possessive quantifiers, with
`(?i:...)` around each contraction or around all. Each spelling below occurs in a released tokenizer
or in `tiktoken_ext/openai_public.py`, and matches exactly what the named one matches.

Files of tokenizers that make a text many times longer, or take very long for some, are refused. A
normalizer that puts a million characters in front of each word takes gigabytes for a page of
text, and nothing can end another library once it runs. Published tokenizers write one character
for another, put ▁ in front, or apply a table of Unicode's compatibility forms.

Hugging Face's library gives up a pattern that takes ten million steps at one character, but not one
that takes a million at each: `(?:z|z){20}[^z]` needs 15 seconds for a thousand z. Such patterns are
slow on runs of what they mention.
"""

from __future__ import annotations

import json
import re
import struct
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.json_files import Part, check_tokens, flat_steps
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


_MAX_TIMES: Final = 100
_MAX_ADDED: Final = 1_000
_AFFIXES: Final = ("continuing_subword_prefix", "end_of_word_suffix")
_MAX_AFFIX_LENGTH: Final = 1_000
"""In characters; those of published tokenizers have 4 at most, as in "</w>"."""
_MAX_FORM_LENGTH: Final = 200
"""In bytes. The longest form that Unicode has for one character takes 33 bytes in UTF-8."""
_MAX_ID: Final = 1 << 24
"""The library lists all unused ids below the largest: 2^31 of them took 4 GB."""
_MAX_WORD_LENGTH: Final = 200
"""WordPiece's time grows with the cube of it; published files have 100 or 200."""
_CHARACTERS: Final = 1_000
_MAX_RUNS: Final = 200
_MAX_SECONDS: Final = 0.25
"""The most processor time for a run. Published tokenizers take a few milliseconds."""
_COMMON: Final = "aA1 \n!_\u00e9\u4e2d"
_ESCAPED: Final = re.compile(r"\\[xu]\{?([0-9A-Fa-f]{2,6})")


def check_growth(described: Mapping[str, Any]) -> None:
    """Raise FormatError if a tokenizer.json makes texts much longer, or takes long words whole.

    >>> check_growth({"normalizer": {"type": "Prepend", "prepend": "▁"}})
    >>> check_growth({"normalizer": {"type": "Prepend", "prepend": "hug" * 1_000}})
    Traceback (most recent call last):
    bpe_core.errors.FormatError: Its normalizer adds 3,000 characters to each text, more than the \
1,000 allowed. Use the file as it was saved.
    """
    times, added = 1, 0
    for part in _iterate_parts([described.get("normalizer"), described.get("pre_tokenizer")]):
        content, prepended = part.get("content"), part.get("prepend")
        if isinstance(content, str):
            times = min(times * _times(part.get("pattern"), content), 1 << 62)
        if isinstance(prepended, str):
            added += len(prepended)
        if isinstance(charsmap := part.get("precompiled_charsmap"), str):
            try:
                decoded = b64decode(charsmap)
            except ValueError:
                continue  # the library names the damage
            check_charsmap(decoded)
    if times > _MAX_TIMES:
        raise _refusal(f"makes a text more than {_MAX_TIMES} times longer")
    if added > _MAX_ADDED:
        raise _refusal(
            f"adds {added:,} characters to each text, more than the {_MAX_ADDED:,} allowed"
        )
    if isinstance(model := described.get("model"), dict):
        _check_model(cast("dict[str, Any]", model))


def check_charsmap(charsmap: bytes) -> None:
    """Raise FormatError if SentencePiece's table writes a very long text for a few characters.

    The table is the size of a trie, the trie, and the texts that it leads to, each with a NUL at
    its end.
    """
    if len(charsmap) < 4:
        return
    (size,) = struct.unpack("<I", charsmap[:4])
    longest = max(map(len, charsmap[4 + size :].split(b"\0")), default=0)
    if longest > _MAX_FORM_LENGTH:
        raise _refusal(f"writes {longest:,} bytes for one character, more than {_MAX_FORM_LENGTH}")


def _times(pattern: object, content: str) -> int:
    """Return the factor by which replacing a pattern can lengthen a text."""
    replaced: Mapping[str, object] = cast("Any", pattern) if isinstance(pattern, dict) else {}
    if isinstance(found := replaced.get("String"), str) and found:
        return max(1, -(-len(content) // len(found)))
    # An expression may match nothing, between two characters.
    return len(content) + 1


def _check_model(model: Mapping[str, Any]) -> None:
    vocab: object = model.get("vocab")
    if isinstance(vocab, (dict, list)):
        check_tokens(len(cast("list[object]", vocab)), "the vocabulary")
    ids = cast("dict[str, object]", vocab).values() if isinstance(vocab, dict) else ()
    all_ids = set(map(type, ids)) <= {int}
    numbers = ids if all_ids else (id for id in ids if isinstance(id, int))
    largest = max(cast("Iterable[int]", numbers), default=0)
    sizes = [("largest id", largest, _MAX_ID)]
    affixes = {name: model.get(name) for name in _AFFIXES}
    sizes += [
        (f"{name}'s length", len(affix), _MAX_AFFIX_LENGTH)
        for name, affix in affixes.items()
        if isinstance(affix, str)
    ]
    if isinstance(longest := model.get("max_input_chars_per_word"), int):
        sizes.append(("max_input_chars_per_word", longest, _MAX_WORD_LENGTH))
    for what, size, most in sizes:
        if size > most:
            raise FormatError(
                f"Its {what} is {size:,}, more than the {most:,} allowed. Use the file as it was "
                "saved."
            )


def _iterate_parts(described: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in parts of a tokenizer.json, at any depth."""
    left = [described]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            fields = cast("dict[str, object]", part)
            yield fields
            left.extend(fields.values())
        elif isinstance(part, list):
            left.extend(cast("list[object]", part))


def _refusal(what: str) -> FormatError:
    return FormatError(f"Its normalizer {what}. Use the file as it was saved.")


def check_patterns(described: Mapping[str, Any], encode: Callable[[str], object]) -> None:
    """Raise FormatError if a pattern of a tokenizer.json takes long on a run of characters.

    >>> check_patterns({"pre_tokenizer": {"pattern": {"Regex": "a+"}}}, list)
    """
    for part in _iterate_parts([described.get("normalizer"), described.get("pre_tokenizer")]):
        pattern = part.get("Regex")
        for text in islice(_runs(pattern) if isinstance(pattern, str) else (), _MAX_RUNS):
            started = time.process_time()
            # A pattern that the library refuses here is refused in use too.
            with suppress(BpeError):
                encode(text)
            if time.process_time() - started > _MAX_SECONDS:
                raise FormatError(
                    f"The pattern {pattern!r:.60} takes too long: a text of {_CHARACTERS:,} equal "
                    f"characters took more than {_MAX_SECONDS:g} seconds. Write it without "
                    "alternatives that match the same text."
                )


def _runs(pattern: str) -> Iterator[str]:
    """Yield runs of what a pattern mentions, characters and then pairs, each followed by U+0001."""
    points = [int(digits, 16) for digits in _ESCAPED.findall(pattern)]
    escaped = [chr(point) for point in points if point < 0xD800 or 0xE000 <= point < 0x110000]
    units = dict.fromkeys([*_COMMON, *escaped, *pattern])
    units |= dict.fromkeys(pattern[at : at + 2] for at in range(len(pattern) - 1))
    for unit in units:
        yield unit * (_CHARACTERS // len(unit)) + "\x01"
