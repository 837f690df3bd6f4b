"""The special tokens of published .tiktoken files, which hold none themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def numbered(names: list[str], first: int) -> Mapping[str, int]:
    return MappingProxyType({name: first + place for place, name in enumerate(names)})


def llama3_special() -> Mapping[str, int]:
    named = [
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
    reserved = [f"reserved_special_token_{2 + number}" for number in range(256 - len(named))]
    return numbered([f"<|{name}|>" for name in named + reserved], 128_000)


def llama4_special() -> Mapping[str, int]:
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
    rest = [f"reserved_special_token_{number}" for number in range(2_048 - len(names))]
    return numbered([f"<|{name}|>" for name in names + rest], 200_000)
