"""Write what the engine in the browser needs besides the compiled kernels."""

from __future__ import annotations

import io
import json
import sys
from functools import cache
from typing import Any

import numpy as np
from tokenizers import normalizers

from bpe_core import Tokenizer
from bpe_core.errors import ConfigError
from bpe_core.files import write_arrays
from bpe_core.formats import cuts_by_steps, pre_tokenizer_part, write_huggingface
from bpe_core.kernels import caller_sizes
from bpe_core.pretokenizers import SCANNERS, get_pretokenizer, get_scanner
from bpe_core.tokenizer import END_OF_TEXT, can_compile
from static_site.browser_patterns import inside_class


def engine_data() -> str:
    """Return the tables of the cuts, and sizes, as JSON; `browser/engine/cutting.js` reads it."""
    table = get_scanner("gpt2").classes
    starts = np.flatnonzero(np.diff(table, prepend=table[:1] + 1))
    sizes = np.diff(starts, append=table.size)
    runs = np.stack([sizes, table[starts]], axis=1).reshape(-1)
    data: dict[str, Any] = {**caller_sizes()}
    data["classes"] = runs.tolist()
    data["scanners"] = {name: _scanner(name) for name in cut_names()}
    data["cuts"] = {
        steps: name for steps, name in cuts_by_steps().items() if name in data["scanners"]
    }
    data["changing"] = changing_pattern()
    data["file"] = _empty_file()
    return json.dumps(data, separators=(",", ":"))


def _empty_file() -> dict[str, Any]:
    """Return a tokenizer.json with one special token, without its vocabulary and merges."""
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: END_OF_TEXT.encode()}
    special = {END_OF_TEXT: 256}
    tokenizer = Tokenizer(vocab=vocab, merges=[], pretokenizer="gpt2", special_tokens=special)
    described = json.loads(write_huggingface(tokenizer))
    described["model"] |= {"vocab": {}, "merges": []}
    return described


@cache
def changing_pattern() -> str:
    """Return a pattern of the stretches of a text that its normal form may change.

    `tokenizers` normalizes as Unicode 9 says, and browsers as a later version, which changes
    characters that did not exist before. Those that existed never change differently, and the
    others have no part in a stretch: so a browser that normalizes stretches alone does what
    `tokenizers` does.
    """
    points = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]

    def each(form: Any, before: str = "", after: str = "") -> list[str]:
        text = "\n".join(f"{before}{chr(code)}{after}" for code in points)
        return form.normalize_str(text).split("\n")

    canonical = each(normalizers.NFD())
    # Marks of the classes 1 and 240, the lowest and the highest: each other mark changes places
    # with one of them.
    low, high = each(normalizers.NFD(), "a", "\u0334"), each(normalizers.NFD(), "a\u0345")
    changing: set[int] = set()
    firsts: set[int] = set()
    for code, whole, compatible, after, before in zip(
        points, canonical, each(normalizers.NFKD()), low, high, strict=True
    ):
        if (compatible, after, before) != (chr(code), f"a{chr(code)}\u0334", f"a\u0345{chr(code)}"):
            changing.add(code)
        if len(whole) > 1:
            firsts.add(ord(whole[0]))
            changing.update(map(ord, whole[1:]))
    return f"[{_class(firsts)}]?[{_class(changing)}]+"


def _class(codes: set[int]) -> str:
    return inside_class((code, code) for code in sorted(codes))


def cut_names() -> list[str]:
    """Return the names of the cuts that the engine in the browser knows.

    >>> cut_names()[:3]
    ['gpt2', 'cl100k', 'o200k']
    """
    return [name for name in SCANNERS if get_scanner(name).rows.size]


def _scanner(name: str) -> dict[str, Any]:
    scanner, cut = get_scanner(name), get_pretokenizer(name)
    return {
        "columns": scanner.columns.tolist(),
        "rows": scanner.rows.tolist(),
        "flags": scanner.flags.tolist(),
        "rules": scanner.rules,
        "before_space_only": cut.drops_text or not cut.ends_before_space,
        "pre_tokenizer": pre_tokenizer_part(cut, by_bytes=True),
    }


def packed_tokenizer(tokenizer: Tokenizer) -> bytes:
    """Return a byte tokenizer as `browser/engine/tokenizer_file.js` unpacks it.

    Its arrays, as `write_arrays` writes them: the length of each token by id, 0 for an id without
    a token; for each merge how many bytes the left one of its two tokens has; the ids that merges
    make, unless they are in order; and the bytes of all tokens. Raises ConfigError for a tokenizer
    that the browser does not run.
    """
    table = tokenizer.table
    form, _, name = tokenizer.pretokenizer.name.rpartition("+")
    found = [token for token in tokenizer.added if not token.is_special]
    tokens = [tokenizer.vocab.get(id, b"") for id in range(max(tokenizer.vocab) + 1)]
    special = {id: text for text, id in tokenizer.special_tokens.items()}
    spelled = [token for id, token in tokenizer.vocab.items() if id not in special]
    if (
        name not in cut_names()
        or table.base != "bytes"
        or not can_compile(table)
        or len(set(spelled)) < len(spelled)
        or max(map(len, tokens)) > 255
        or any(token.is_normalized for token in found)
    ):
        raise ConfigError("The engine in the browser does not run this tokenizer exactly.")
    made = np.array(table.made, np.int32)
    first = int(made[0]) if made.size else 0
    in_order = bool((made == np.arange(first, first + made.size)).all())
    facts = {
        "cut": name,
        "normal_form": form,
        "special": list(tokenizer.special_tokens.items()),
        "added": [(token.text, token.id) for token in found],
        "whole_words_first": table.whole_words_first,
        "first_made": first,
    }
    arrays = {
        "lengths": np.array([len(token) for token in tokens], np.uint8),
        "lefts": np.array([len(tokens[left]) for left, _, _ in table.triples], np.uint8),
        "letters": np.frombuffer(b"".join(tokens), np.uint8),
    }
    packed = io.BytesIO()
    write_arrays(packed, facts, arrays if in_order else {**arrays, "made": made})
    return packed.getvalue()
