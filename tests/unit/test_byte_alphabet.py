"""GPT-2's table of bytes and printable characters."""

from __future__ import annotations

from tokenizers.pre_tokenizers import ByteLevel

from bpe_core.unicode.byte_alphabet import (
    BYTE_ORDER,
    BYTE_TO_CHARACTER,
    from_printable,
    to_printable,
)


def test_every_byte_survives_the_round_trip() -> None:
    every_byte = bytes(range(256))
    assert from_printable(to_printable(every_byte)) == every_byte


def test_the_characters_are_the_same_as_in_hugging_face() -> None:
    assert set(BYTE_TO_CHARACTER) == set(ByteLevel.alphabet())


def test_base_ids_follow_the_order_of_the_characters() -> None:
    assert [BYTE_TO_CHARACTER[byte] for byte in BYTE_ORDER] == sorted(BYTE_TO_CHARACTER)
    assert BYTE_ORDER[220] == ord(" ")
