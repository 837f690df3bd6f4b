"""Write an adapted tokenizer into a tokenizer.json and the JSON files next to it.

In a tokenizer.json, the vocabulary, the merges and the ids of added tokens are replaced; the
normalizer, the pre-tokenizer, the template and every other byte stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from bpe_core.adapting import Adapted
from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.across_words import reads_as
from bpe_core.formats.adapted.adapted_vocabulary import (
    build_vocabulary,
    check_same,
    kept_merges,
    new_merges,
    renumbered,
    unlisted,
)
from bpe_core.formats.folder_files import ADDED_TOKENS, CONFIG
from bpe_core.formats.json_files import checked_ids, parse_json, parse_text
from bpe_core.formats.load_save import read_merges

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")


class JsonMember(NamedTuple):
    """A value in a JSON text: its key or index, the span of its key and its own span."""

    key: str | int
    key_start: int
    start: int
    end: int


def members(text: str, start: int = 0) -> Iterator[JsonMember]:
    """Yield the values of the object or array that starts at a place of a valid JSON text.

    >>> text = '{"a": [1, 22], "b": {}}'
    >>> [(each.key, text[each.start : each.end]) for each in members(text)]
    [('a', '[1, 22]'), ('b', '{}')]
    >>> [text[each.start : each.end] for each in members(text, 6)]
    ['1', '22']
    """
    at = _skip(text, start)
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "]}":
        key: str | int = index
        key_start = at
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield JsonMember(key, key_start, at, end)
        index += 1
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def member(text: str, key: str | int, start: int = 0) -> JsonMember | None:
    """Return one value of an object or array, or None if it has no such key.

    >>> member('{"a": 1}', "a"), member('{"a": 1}', "b")
    (JsonMember(key='a', key_start=1, start=6, end=7), None)
    """
    return next((each for each in members(text, start) if each.key == key), None)


def replace_spans(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with spans replaced, each as start, end and new text; they don't overlap.

    >>> replace_spans("abc", [(2, 3, "z"), (0, 1, "xy")])
    'xybz'
    """
    written: list[str] = []
    last = 0
    for start, end, new in sorted(changes):
        written += (text[last:start], new)
        last = end
    written.append(text[last:])
    return "".join(written)


def write_like(value: object, text: str, place: JsonMember) -> str:
    """Return a value as JSON in the style of the one that stands at a place.

    The style is the indentation, the white space after colons and commas, and whether characters
    beyond ASCII are escaped.

    >>> text = '{"vocab": {"é":0,"b":1}}'
    >>> write_like({"a": 0, "é": 1}, text, member(text, "vocab"))
    '{"a":0,"é":1}'
    """
    old = text[place.start : place.end]
    escaped = old.isascii() and "\\u" in old
    first_two = list(islice(members(text, place.start), 2))
    if first_two and "\n" in text[place.start : first_two[0].key_start]:
        line_start = text.rfind("\n", 0, place.start) + 1
        outer = text[line_start : _skip(text, line_start)]
        inner_start = text.rfind("\n", 0, first_two[0].key_start) + 1
        step = first_two[0].key_start - inner_start - len(outer)
        written = json.dumps(value, ensure_ascii=escaped, indent=max(step, 0))
        return written.replace("\n", "\n" + outer)
    item, colon = ",", ":"
    if len(first_two) == 2:
        item = text[first_two[0].end : first_two[1].key_start]
    if first_two:
        colon = text[: first_two[0].start][first_two[0].key_start :].rpartition('"')[2] or ":"
    return json.dumps(value, ensure_ascii=escaped, separators=(item, colon))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


_Change = tuple[int, int, str]


def tokenizer_json(
    adapted: Adapted, data: bytes, beside: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """Return a tokenizer.json with the adapted vocabulary; `beside` are the adapted files with it.

    Raises `ConfigError` if it would encode differently.

    >>> import bpe_core as bpe
    >>> from bpe_core.formats import write_huggingface
    >>> from bpe_core.formats import loads
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> written = tokenizer_json(shrunk, write_huggingface(bpe.gpt2()))
    >>> loads({"tokenizer.json": written}) == shrunk.tokenizer
    True
    """
    described, mark, text = parse_text(data, "tokenizer.json")
    model = cast("dict[str, Any]", described["model"])
    new_id = renumbered(adapted, "tokenizer.json")
    changes: list[_Change] = []
    top = {each.key: each for each in members(text)}
    for each in members(text, top["model"].start):
        if each.key == "vocab":
            vocabulary = build_vocabulary(adapted, model["vocab"])
            vocabulary |= unlisted(vocabulary, adapted.tokenizer.special_tokens)
            changes.append((each.start, each.end, write_like(vocabulary, text, each)))
        elif each.key == "merges":
            listed = cast("list[Any]", model["merges"])
            pairs = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in listed]
            kept = kept_merges(adapted, model["vocab"], cast("Any", pairs))
            new = new_merges(adapted)
            as_text = not listed or isinstance(listed[0], str)
            merges = [listed[place] for place in kept]
            merges += [" ".join(pair) if as_text else list(pair) for pair in new]
            changes.append((each.start, each.end, write_like(merges, text, each)))
    for name, ids_in in (
        ("added_tokens", _added_ids),
        ("post_processor", _template_ids),
        ("padding", _padding_id),
    ):
        if name not in top:
            continue
        try:
            places = list(ids_in(text, top[name].start))
        except (ValueError, IndexError):  # a number, say, where an object belongs
            raise FormatError(
                f"{name} in tokenizer.json does not have the form that Hugging Face's tokenizers "
                "write."
            ) from None
        for start, end in places:
            if not re.fullmatch("[0-9]{1,10}", text[start:end]):
                raise FormatError(
                    f"Expected an id in {name} of tokenizer.json, got {text[start:end]:.60}."
                )
            changes.append((start, end, str(new_id(int(text[start:end])))))
    written = replace_spans(text, changes)
    read = read_merges({"tokenizer.json": written.encode(), **beside}, across_words=True)
    check_same("tokenizer.json", is_equal=reads_as(read, adapted.tokenizer))
    return (mark + written).encode()


def _added_ids(text: str, start: int) -> Iterator[tuple[int, int]]:
    if text[start] == "[":
        for added in members(text, start):
            place = member(text, "id", added.start)
            if place is not None:
                yield place.start, place.end


def _padding_id(text: str, start: int) -> Iterator[tuple[int, int]]:
    place = member(text, "pad_id", start) if text[start] == "{" else None
    if place is not None:
        yield place.start, place.end


def _template_ids(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the ids in a post-processor, and in those of a sequence."""
    if text[start] != "{":
        return
    for each in members(text, start):
        if each.key == "processors":
            for processor in members(text, each.start):
                yield from _template_ids(text, processor.start)
        elif each.key in ("sep", "cls") and text[each.start] == "[":
            place = member(text, 1, each.start)
            if place is not None:
                yield place.start, place.end
        elif each.key == "special_tokens" and text[each.start] == "{":
            for token in members(text, each.start):
                place = member(text, "ids", token.start)
                if place is not None:
                    yield from ((id.start, id.end) for id in members(text, place.start))


def tokenizer_config(adapted: Adapted, data: bytes) -> bytes:
    """Return a tokenizer_config.json with the keys of `added_tokens_decoder` renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> tokenizer_config(shrunk, b'{"added_tokens_decoder": {"50256": {}}}')
    b'{"added_tokens_decoder": {"299": {}}}'
    """
    parsed, mark, text = parse_text(data, CONFIG)
    listed: object = parsed.get("added_tokens_decoder")
    place = member(text, "added_tokens_decoder")
    if place is None:
        return data
    if not isinstance(listed, dict):
        raise FormatError(
            f"Expected an object of ids and added tokens as added_tokens_decoder in "
            f"{CONFIG}, got {type(listed).__name__}."
        )
    new_id = renumbered(adapted, CONFIG)
    changes: list[_Change] = []
    for each in members(text, place.start):
        key = str(each.key)
        start, end = each.key_start + 1, each.key_start + 1 + len(key)
        if not re.fullmatch("[0-9]{1,10}", key) or text[start:end] != key:
            raise FormatError(
                f"Expected ids as keys of added_tokens_decoder in {CONFIG}, got {key!r:.60}."
            )
        changes.append((start, end, str(new_id(int(key)))))
    decoder = {str(new_id(int(id))): token for id, token in cast("dict[str, Any]", listed).items()}
    written = (mark + replace_spans(text, changes)).encode()
    _check_again(CONFIG, written, {**parsed, "added_tokens_decoder": decoder})
    return written


def added_tokens_file(adapted: Adapted, data: bytes) -> bytes:
    """Return an added_tokens.json with its ids renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> added_tokens_file(shrunk, b'{"<|endoftext|>": 50256}')
    b'{"<|endoftext|>": 299}'
    """
    parsed, mark, text = parse_text(data, ADDED_TOKENS)
    checked_ids(parsed, ADDED_TOKENS)
    new_id = renumbered(adapted, ADDED_TOKENS)
    changes = [
        (each.start, each.end, str(new_id(int(text[each.start : each.end]))))
        for each in members(text)
    ]
    written = (mark + replace_spans(text, changes)).encode()
    _check_again(ADDED_TOKENS, written, {text: new_id(id) for text, id in parsed.items()})
    return written


def _check_again(name: str, written: bytes, expected: dict[str, Any]) -> None:
    if parse_json(written, name) != expected:
        raise ConfigError(f"{name} cannot be renumbered: a key occurs twice in it. Delete one.")
