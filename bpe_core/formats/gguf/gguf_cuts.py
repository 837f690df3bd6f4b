"""How the text of a GGUF file's byte-level BPE is cut: `tokenizer.ggml.pre` names it.

Each name stands for the pre-tokenizer of the tokenizer.json from which such files are made. They
are llama.cpp's names; its own patterns are adapted to an engine that knows fewer classes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.patterns import BY_REGEX, FALCON, STEPS, isolated
from bpe_core.pretokenizers import get_pretokenizer

Part = dict[str, Any]

BYTE_LEVEL: Final[Part] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
_BYTES: Final[Part] = {**BYTE_LEVEL, "use_regex": False}
_QWEN35: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# The letters of the scripts with two cases, as DeepSeek lists them.
_CASED: Final = (
    "A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1"
    "\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5"
    "\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    "\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3"
    "\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115"
    "\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_EAST_ASIAN: Final = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_DEEPSEEK_LLM: Final = (
    "[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _EAST_ASIAN,
    r"\p{N}+",
)
_DEEPSEEK_CODER: Final = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, r"\p{N}")


def _splits(*patterns: str) -> list[Part]:
    return [*(dict(isolated(pattern)) for pattern in patterns), _BYTES]


def _named(name: str) -> list[Part]:
    """Return the parts that cut as a named pre-tokenizer of bpe_core does."""
    cut = get_pretokenizer(name)
    if cut.drops_text:
        raise ConfigError(
            f"The pre-tokenizer {name!r:.80} drops white space, which that of a GGUF file never "
            "does. Name another one."
        )
    if cut.normalizer is not None:
        raise ConfigError(
            f"The pre-tokenizer {name!r:.80} normalizes text, which that of a GGUF file never "
            f"does. Name {cut.cut!r:.80}."
        )
    return _splits(cut.pattern) if cut.pattern is not None else [_BYTES]


class Family(NamedTuple):
    """A cut that llama.cpp has names for."""

    names: tuple[str, ...]
    """llama.cpp's names; files that are written get the first."""
    steps: list[Part]
    pretokenizer: str | None = None
    """The pre-tokenizer of bpe_core that cuts alike; the first family that has it stands for it."""
    whole_words_first: bool = False
    """True if whole pre-tokens are looked up before they are merged."""


FAMILIES: Final = (
    Family(
        ("gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling"),
        [BYTE_LEVEL],
        "gpt2",
    ),
    Family(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"),
        [dict(STEPS["starcoder"][0]), BYTE_LEVEL],
        "starcoder",
    ),
    Family(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "glm4"),
        _named("llama3"),
        "llama3",
        whole_words_first=True,
    ),
    Family(("dbrx", "smaug-bpe"), _named("llama3"), "llama3"),
    Family(("qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan"), _named("qwen2"), "qwen2"),
    Family(("qwen35",), _splits(_QWEN35)),
    Family(("tekken",), _named("tekken"), "tekken", whole_words_first=True),
    Family(("gpt-4o", "llama4"), _named("o200k"), "o200k"),
    Family(("deepseek-v3",), [*map(dict, STEPS["deepseek-v3"]), _BYTES], "deepseek-v3"),
    Family(("deepseek-llm",), _splits(*_DEEPSEEK_LLM)),
    Family(("deepseek-coder",), _splits(*_DEEPSEEK_CODER)),
    Family(
        ("falcon",),
        [BYTE_LEVEL if step == BY_REGEX else dict(step) for step in FALCON],
        "falcon",
    ),
)
_BY_NAME: Final = {name: family for family in FAMILIES for name in family.names}
_BY_PRETOKENIZER: Final = {
    family.pretokenizer: family for family in reversed(FAMILIES) if family.pretokenizer is not None
}
KNOWN_CUTS: Final = tuple(_BY_NAME)
"""The known values of `tokenizer.ggml.pre`."""


def find_cut(name: str | None, pretokenizer: str | None = None) -> tuple[Part, bool]:
    """Return the pre-tokenizer of a name, and whether whole pre-tokens are looked up first.

    If the name is missing or not known, it is the named `pretokenizer` of bpe_core. Raises
    `FormatError` if none is named, and `ConfigError` for one that cannot stand for a GGUF file's.

    >>> part, whole_words_first = find_cut("starcoder")
    >>> [each["type"] for each in part["pretokenizers"]], whole_words_first
    (['Digits', 'ByteLevel'], False)
    >>> find_cut("brand-new")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The GGUF file cuts text by the pre-tokenizer 'brand-new', which \
is not known here. Name its pre-tokenizer, such as gpt2 or llama3, or use the tokenizer.json of \
the same model.
    >>> find_cut("brand-new", "starcoder") == find_cut("starcoder")
    True
    """
    family = _BY_NAME.get(name or "") or _BY_PRETOKENIZER.get(pretokenizer or "")
    if family is None and pretokenizer is None:
        problem = (
            f"cuts text by the pre-tokenizer {name!r:.80}, which is not known here"
            if name is not None
            else "does not say how it cuts text: it lacks the key tokenizer.ggml.pre"
        )
        raise FormatError(
            f"The GGUF file {problem}. Name its pre-tokenizer, such as gpt2 or llama3, or use the "
            "tokenizer.json of the same model."
        )
    family = family or Family((), _named(pretokenizer or ""))
    parts = family.steps
    part = parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}
    return part, family.whole_words_first
