"""The special tokens of published .tiktoken files, which hold none themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


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
