"""What published files of ranks do not hold: their special tokens, and tiktoken's names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


def number_tokens(tokens: list[str], first: int) -> Mapping[str, int]:
    """Return tokens with their ids, from the first id on.

    >>> dict(number_tokens(["<|endoftext|>", "<|im_start|>"], 151_643))
    {'<|endoftext|>': 151643, '<|im_start|>': 151644}
    """
    return MappingProxyType({token: first + place for place, token in enumerate(tokens)})


def llama3_special() -> Mapping[str, int]:
    """Return the special tokens of Llama 3, of which most are reserved.

    >>> llama3_special()["<|eot_id|>"], len(llama3_special())
    (128009, 256)
    """
    names = [
        "begin_of_text",
        "end_of_text",
        "reserved_special_token_0",
        "reserved_special_token_1",
        "finetune_right_pad_id",
        "step_id",
        "start_header_id",
        "end_header_id",
        "eom_id",
        "eot_id",
        "python_tag",
        "image",
    ]
    return _fill_up(names, 256, 2, 128_000)


def llama4_special() -> Mapping[str, int]:
    """Return the special tokens of Llama 4, of which most are reserved.

    >>> llama4_special()["<|eot|>"], len(llama4_special())
    (200008, 2048)
    """

    def reserved(of: str, numbers: range) -> list[str]:
        return [f"{of}_reserved_special_token_{number}" for number in numbers]

    names = [
        "begin_of_text",
        "end_of_text",
        "fim_prefix",
        "fim_middle",
        "fim_suffix",
        "header_start",
        "header_end",
        "eom",
        "eot",
        "step",
        *reserved("text_post_train", range(6)),
        "python_start",
        "python_end",
        "finetune_right_pad",
        *reserved("text_post_train", range(8, 69)),
        "image_start",
        "image_end",
        *reserved("vision", range(2)),
        "tile_x_separator",
        "tile_y_separator",
        *reserved("vision", range(2, 6)),
        "image",
        *reserved("vision", range(6, 7)),
        "patch",
        *reserved("vision", range(7, 1048)),
        *reserved("reasoning", range(8)),
        "reasoning_thinking_start",
        "reasoning_thinking_end",
    ]
    return _fill_up(names, 2_048, 0, 200_000)


def _fill_up(names: list[str], n: int, first_reserved: int, first_id: int) -> Mapping[str, int]:
    """Return n special tokens: those named, and reserved ones after them."""
    numbers = range(first_reserved, first_reserved + n - len(names))
    names = names + [f"reserved_special_token_{number}" for number in numbers]
    return number_tokens([f"<|{name}|>" for name in names], first_id)


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
