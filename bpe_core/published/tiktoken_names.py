"""OpenAI's encodings by the names that tiktoken uses for them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class TiktokenEncoding(NamedTuple):
    """An encoding of tiktoken's, and how it differs from a published tokenizer."""

    published: str
    """The name of the published tokenizer whose file contains its ranks."""
    more_ranks: Mapping[bytes, int] = MappingProxyType({})
    """The tokens that it has in addition."""
    special_tokens: Mapping[str, int] | None = None
    """All of its special tokens; None if it has those of the published tokenizer."""


_END: Final = {"<|endoftext|>": 50_256}
# Runs of 2 to 25 spaces: with these 24 lines added, the ranks of GPT-2 are those of p50k_base.
_SPACES: Final = {b" " * n: 50_255 + n for n in range(2, 26)}
_FILLING_IN: Final = {"<|fim_prefix|>": 50_281, "<|fim_middle|>": 50_282, "<|fim_suffix|>": 50_283}
_HARMONY: Final = {
    199_998: "<|startoftext|>",
    199_999: "<|endoftext|>",
    200_002: "<|return|>",
    200_003: "<|constrain|>",
    200_005: "<|channel|>",
    200_006: "<|start|>",
    200_007: "<|end|>",
    200_008: "<|message|>",
    200_012: "<|call|>",
    200_018: "<|endofprompt|>",  # tiktoken also accepts <|reserved_200018|> for this id
}


def _harmony_special() -> Mapping[str, int]:
    ids = range(199_998, 201_088)
    return MappingProxyType({_HARMONY.get(id, f"<|reserved_{id}|>"): id for id in ids})


TIKTOKEN_ENCODINGS: Final[Mapping[str, TiktokenEncoding]] = MappingProxyType(
    {
        "r50k_base": TiktokenEncoding("gpt2"),
        "p50k_base": TiktokenEncoding("gpt2", _SPACES, _END),
        "p50k_edit": TiktokenEncoding("gpt2", _SPACES, {**_END, **_FILLING_IN}),
        "cl100k_base": TiktokenEncoding("gpt4"),
        "o200k_base": TiktokenEncoding("gpt4o"),
        "o200k_harmony": TiktokenEncoding("gpt4o", special_tokens=_harmony_special()),
    }
)
"""By tiktoken's name; "gpt2" has the same name in the catalogue."""
