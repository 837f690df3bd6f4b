"""Each run of the tests gives every reader some damaged files; `make fuzz` tries many more."""

from __future__ import annotations

import random

import pytest

from bpe_core.errors import BpeError
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS

N_INPUTS = 40


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_with_an_error_of_ours(name: str) -> None:
    reader = READERS[name]
    good = dict(reader.files())
    reader.read(good)
    rng = random.Random(name)
    refused: list[str] = []
    for _ in range(max(2, int(N_INPUTS * reader.share))):
        which = rng.choice(list(good))
        try:
            reader.read({**good, which: mutated(good[which], list(good.values()), rng)})
        except BpeError as error:
            refused.append(str(error))
    assert refused
    assert [message for message in refused if not message.endswith((".", "?", "!"))] == []
