"""Threads that share a text encode all of it, in order, and an error in one stops the others."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.kernels.block_encoder import Worker
from bpe_core.pretokenizers import scanners
from bpe_core.tokenizer import CompiledEncoder, compiled, shared_blocks
from bpe_core.tokenizer.shared_blocks import Gathered, Waiting, cut_blocks

GPT2 = bpe.get_pretokenizer("gpt2")


def test_a_text_with_few_places_to_cut_is_not_converted_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    safe_split = scanners.safe_split

    def counted(name: str, data: bytes, near: int) -> int:
        looked_at.append(len(data))
        return safe_split(name, data, near)

    monkeypatch.setattr(shared_blocks, "_LOOK_BACK", 4)
    monkeypatch.setattr(scanners, "safe_split", counted)
    text = "é " * 40 + "é" * 5_000 + " é" * 8_000
    found = list(cut_blocks(text, GPT2, 64))
    parts = [block.text[: block.bounds[1]].tobytes() for block in found]
    assert b"".join(parts).decode() == text
    assert sum(looked_at) < 12 * len(text.encode())
    after_long_word = parts[[len(part) > 5_000 for part in parts].index(True) + 1 :]
    assert len(after_long_word) > 5
    assert max(len(part.decode()) for part in after_long_word) <= 2 * 64


def test_an_error_in_one_thread_ends_encoding_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_PIECE", 16)
    encoder = CompiledEncoder(bpe.gpt2().table, GPT2)
    write = Worker.write
    written: list[int] = []

    def failing(*arguments: object) -> object:
        written.append(1)
        if len(written) == 3:
            raise MemoryError
        return write(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Worker, "write", failing)
    with pytest.raises(MemoryError):
        encoder.encode("hug hugs " * 5_000, 3)
    assert len(written) < 20
    monkeypatch.undo()
    assert encoder.encode("hug hugs " * 50, 3).tolist() == bpe.gpt2().encode("hug hugs " * 50)


def test_a_short_text_is_encoded_without_what_threads_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    encoder = CompiledEncoder(bpe.gpt2().table, GPT2)
    monkeypatch.setattr(compiled, "Gathered", fail)
    wanted = bpe.gpt2().encode("hug é hugs")
    assert encoder.encode("hug é hugs").tolist() == wanted
    assert encoder.encode("hug\t é hugs", left_out=b"\t").tolist() == wanted
    ids, ends = encoder.encode_batch(["hug", "", " é hugs"])
    assert (ids.tolist(), ends.tolist()) == (wanted, [2, 2, len(wanted)])


def test_a_stopped_text_gives_out_no_more_blocks() -> None:
    waiting = Waiting(cut_blocks("hug hugs", GPT2, 2))
    assert waiting.take() is not None
    waiting.stop()
    assert waiting.take() is None


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_blocks_are_gathered_in_their_order(order: tuple[int, ...]) -> None:
    gathered = Gathered(3)  # fewer bytes than there are
    buffer = np.empty(2, np.int32)
    for number in order:
        buffer[:] = 2 * number, 2 * number + 1
        gathered.add(number, 5, buffer, np.array([0, 2]))
        buffer[:] = -1  # a thread uses it again
    ids, ends = gathered.finish()
    assert ids.tolist() == list(range(8))
    assert ends.tolist() == [0, 2, 2, 4, 4, 6, 6, 8]


def test_no_blocks_have_no_ids() -> None:
    ids, ends = Gathered(0).finish()
    assert ids.tolist() == ends.tolist() == []


def test_a_text_shorter_than_a_block_is_encoded_by_one_of_many_threads() -> None:
    encoder = CompiledEncoder(bpe.gpt2().table, GPT2)
    assert encoder.encode("hug hugs", 4).tolist() == bpe.gpt2().encode("hug hugs")
