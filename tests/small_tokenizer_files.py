"""Small tokenizer.json files of every shape, drawn at random, and texts that show what they do."""

from __future__ import annotations

import json
from base64 import b64encode
from random import Random
from typing import Any

from bpe_core.unicode import to_printable

_BYTES = [to_printable(bytes([byte])) for byte in range(256)]
_LETTERS = "ab<s>/ é1A"
_ADDED = (
    "<s>",
    "</s>",
    "[/INST]</s>",
    "<s",
    "s>",
    "<",
    ">a",
    "ab",
    "a",
    " a",
    "a ",
    " ",
    "  ",
    "é",
    "É",
    "e\u0301",
    "ﬁ",
    "<s><s>",
    "a<s>",
    "<s>a",
    "aaa",
    "<pad>",
    "1",
    "\n",
    "bab",
    "A",
)
_TEXTS = (
    "<s>",
    "</s>",
    "[/INST]</s>",
    "a",
    "b",
    "ab",
    "aab",
    "aaaa",
    "é",
    "e\u0301",
    "ﬁ",
    "İ",
    "漢",
    "1",
    "12",
    "345",
    "A",
    "'s",
    "!",
    "<",
    "s",
    ">",
    "/",
    "_",
    " ",
    "  ",
    "\n",
    "\t",
    "\u3000",
    "👩\u200d👧",
)
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Part = dict[str, Any]


def draw_file(random: Random) -> Part:
    """Return a parsed tokenizer.json; most are such as `tokenizers` itself would write."""
    by_bytes = random.random() < 0.85
    model = _model(random, by_bytes)
    return {
        "version": "1.0",
        "truncation": _rarely(random, {**_TRUNCATION}),
        "padding": None,
        "added_tokens": _added_tokens(random, model["vocab"]),
        "normalizer": _normalizer(random),
        "pre_tokenizer": _pre_tokenizer(random, by_bytes),
        "post_processor": random.choice([None, None, _byte_level(random), _TEMPLATE]),
        "decoder": random.choice([None, {**_PLAIN, "use_regex": True}]),
        "model": model,
    }


def draw_text(random: Random, file: Part) -> str:
    """Return a text made of what the file's tokens are made of, and of others."""
    added = [each["content"] for each in file["added_tokens"]]
    kinds = [_TEXTS, _LETTERS, added or _TEXTS]
    return "".join(random.choice(random.choice(kinds)) for _ in range(random.randint(1, 14)))


_PLAIN = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
_TRUNCATION = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
_TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "a", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"a": {"id": "a", "ids": [0], "tokens": ["a"]}},
}


def _rarely(random: Random, value: Any, otherwise: Any = None) -> Any:
    return value if random.random() < 0.03 else otherwise


def _model(random: Random, by_bytes: bool) -> Part:
    letters = list(_LETTERS)
    if by_bytes:
        letters = [_printable(byte) for byte in _LETTERS.encode()]
    symbols = [*_BYTES] if by_bytes else list(dict.fromkeys("".join([*_LETTERS, *_TEXTS])))
    if random.random() < 0.05:
        symbols = [each for each in symbols if random.random() < 0.9]
    known = [each for each in letters if each in symbols] or symbols
    merges: list[tuple[str, str]] = []
    for _ in range(random.randint(0, random.choice([3, 10, 30]))):
        made = [left + right for left, right in merges]
        pair = random.choice(known + made), random.choice(known + made)
        if pair not in merges and len("".join(pair)) < 9:
            merges.append(pair)
    tokens = [*symbols, *map("".join, merges)]
    for _ in range(random.choice([0, 0, 0, 1, 4])):
        tokens += ["".join(random.choice(letters) for _ in range(random.randint(2, 5)))]
    tokens = list(dict.fromkeys(tokens))
    ignore_merges = random.random() < 0.35
    if random.random() < 0.2:
        random.shuffle(tokens)
    if random.random() < 0.1:
        random.shuffle(merges)
    n_ids = len(tokens) + _rarely(random, random.randint(1, 5), 0)
    ids = sorted(random.sample(range(n_ids), len(tokens)))
    vocab = dict(zip(tokens, ids, strict=True))
    if random.random() < (0.5 if ignore_merges else 0.05):
        # As transformers writes them from ranks: every two tokens that spell a third.
        merges = [
            (token[:cut], token[cut:])
            for token in vocab
            for cut in range(1, len(token))
            if token[:cut] in vocab and token[cut:] in vocab
        ]
    as_pairs = any(" " in token for token in tokens) or random.random() < 0.5
    unknown = random.choice(tokens) if random.random() < 0.1 else None
    return {
        "type": "BPE",
        "dropout": _rarely(random, 0.0),
        "unk_token": unknown,
        "continuing_subword_prefix": _rarely(random, ""),
        "end_of_word_suffix": _rarely(random, random.choice(["", "</w>"])),
        "fuse_unk": random.random() < 0.2,
        "byte_fallback": _rarely(random, True, False),
        "ignore_merges": ignore_merges,
        "vocab": vocab,
        "merges": list(map(list, merges)) if as_pairs else [" ".join(pair) for pair in merges],
    }


def _printable(byte: int) -> str:
    return to_printable(bytes([byte]))


def _added_tokens(random: Random, vocab: dict[str, int]) -> list[Part]:
    contents = random.sample(_ADDED, random.choice([0, 1, 1, 2, 3, 5]))
    all_special = random.random() < 0.4
    next_id = len(vocab)
    found: list[Part] = []
    for content in contents:
        id = vocab.get(content, next_id)
        next_id += content not in vocab
        special = all_special or random.random() < 0.5
        found.append(
            {
                "id": _rarely(random, id + random.randint(1, 3), id),
                "content": content,
                "single_word": _rarely(random, True, False),
                "lstrip": _rarely(random, True, False),
                "rstrip": _rarely(random, True, False),
                "normalized": random.random() < 0.5 if random.random() < 0.3 else not special,
                "special": special,
            }
        )
    if found and random.random() < 0.03:
        found.append(found[0] | {"special": random.random() < 0.5})
    if random.random() < 0.8:
        found.sort(key=lambda each: each["id"])
    return found


def _normalizer(random: Random) -> Part | None:
    one = random.choice(
        [
            *({"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")),
            {"type": "Prepend", "prepend": "a"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "a"},
        ]
    )
    nested = {"type": "Sequence", "normalizers": random.choice([[], [one], [one, {"type": "NFC"}]])}
    return random.choice([*[None] * 8, one, nested])


def _byte_level(random: Random) -> Part:
    return {
        "type": "ByteLevel",
        "add_prefix_space": _rarely(random, True, False),
        "trim_offsets": random.random() < 0.5,
        "use_regex": random.random() < 0.6,
    }


def _split(random: Random) -> Part:
    pattern = random.choice([_GPT2, _GPT2, _LLAMA3, r"\p{N}", r"\s+", r"\p{N}{1,3}", r"a|ab"])
    behaviour = random.choice(
        ["Isolated", "Isolated", "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext"]
    )
    return {
        "type": "Split",
        "pattern": _rarely(random, {"String": "a"}, {"Regex": pattern}),
        "behavior": behaviour,
        "invert": random.random() < (0.6 if behaviour == "Removed" else 0.05),
    }


def _step(random: Random) -> Part:
    return random.choice(
        [
            _split(random),
            _split(random),
            _byte_level(random),
            {"type": "Digits", "individual_digits": random.random() < 0.7},
            {"type": "Whitespace"},
            {"type": "WhitespaceSplit"},
            {"type": "Punctuation", "behavior": random.choice(["Isolated", "Contiguous"])},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        ]
    )


def _pre_tokenizer(random: Random, by_bytes: bool) -> Part | None:
    if not by_bytes:
        return random.choice([None, _step(random), {"type": "WhitespaceSplit"}])
    last = _byte_level(random)
    if random.random() < 0.5:
        return last
    if random.random() < 0.5:
        split = {"type": "Split", "pattern": {"Regex": random.choice([_GPT2, _LLAMA3])}}
        steps = [{**split, "behavior": "Isolated", "invert": False}]
        return {"type": "Sequence", "pretokenizers": [*steps, {**last, "use_regex": False}]}
    steps = [_step(random) for _ in range(random.choice([1, 1, 2]))]
    if steps and random.random() < 0.7:
        last["use_regex"] = False
    if steps and random.random() < 0.15:
        steps = [{"type": "Sequence", "pretokenizers": steps}]
    return {"type": "Sequence", "pretokenizers": [*steps, last]}


def as_bytes(file: Part) -> bytes:
    """Return the file as it would be saved."""
    return json.dumps(file, ensure_ascii=False).encode()


def draw_ranks(random: Random) -> dict[bytes, int]:
    """Return the ranks of all bytes and of a few tokens, some with a rank below their parts'."""
    letters = random.choice(["a", "ab", "abc", "abcdef"])
    tokens: set[str] = set()
    for _ in range(random.randint(1, random.choice([4, 8, 25, 60]))):
        if tokens and random.random() < 0.6:
            token = random.choice(sorted(tokens)) + random.choice([*sorted(tokens), *letters])
        else:
            token = "".join(random.choice(letters) for _ in range(random.randint(2, 6)))
        if len(token) < 15:
            tokens.add(token)
    ordered = sorted(tokens, key=lambda token: (len(token), token))
    if random.random() < 0.4:
        random.shuffle(ordered)
    else:
        for _ in range(random.randint(0, 3)):
            a, b = random.randrange(len(ordered)), random.randrange(len(ordered))
            ordered[a], ordered[b] = ordered[b], ordered[a]
    singles = {bytes([byte]): byte for byte in range(256)}
    return singles | {token.encode(): 256 + rank for rank, token in enumerate(ordered)}


def draw_ranks_text(random: Random, ranks: dict[bytes, int]) -> str:
    """Return a text made of the tokens and their letters, and a few spaces."""
    tokens = [token.decode() for token, rank in ranks.items() if rank >= 256]
    kinds = [tokens, sorted({*"".join(tokens)}), [" "] if random.random() < 0.2 else tokens]
    return "".join(random.choice(random.choice(kinds)) for _ in range(random.randint(1, 30)))


def ranks_as_bytes(ranks: dict[bytes, int]) -> bytes:
    """Return a .tiktoken file."""
    return b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


def ranks_as_tekken(ranks: dict[bytes, int], pattern: str) -> bytes:
    """Return a Tekken file with three special tokens, whose ids come first."""
    vocab = [
        {"rank": rank, "token_bytes": b64encode(token).decode()} for token, rank in ranks.items()
    ]
    config = {
        "pattern": pattern,
        "default_vocab_size": len(ranks) + 3,
        "default_num_special_tokens": 3,
    }
    return json.dumps({"config": config, "vocab": vocab}).encode()


def ranks_as_tokenizer_json(ranks: dict[bytes, int]) -> Part:
    """Return a tokenizer.json as transformers writes it from ranks: every two parts are a merge."""
    vocab = {to_printable(token): rank for token, rank in ranks.items()}
    merges = [
        [token[:cut], token[cut:]]
        for token in vocab
        for cut in range(1, len(token))
        if token[:cut] in vocab and token[cut:] in vocab
    ]
    model = {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": True}
    return {"version": "1.0", "added_tokens": [], "pre_tokenizer": {**_PLAIN}, "model": model}
