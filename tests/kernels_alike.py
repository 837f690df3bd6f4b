"""Compare the kernels with plain Python: `python -m tests.kernels_alike`.

Prints whether Numba was imported.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from functools import partial

import bpe_core as bpe
from bpe_core.corpus import Layout, count_pretokens
from bpe_core.corpus.count_compiled import count_documents
from bpe_core.kernels import indexing
from bpe_core.pretokenizers import SCANNERS
from bpe_core.tokenizer import CompiledEncoder, explain_word
from bpe_core.trainers import GrowingVocabulary, compiled, incremental
from bpe_core.types import TieBreak


def compare() -> None:
    """Count, train and encode in both ways."""
    drawn = random.Random(5)
    letters = "aab 'slt12\n\u00e9\u65e5\u3000"
    texts = ["".join(drawn.choices(letters, k=n)) for n in (0, 1, 7, 300, 9_000)] + ["ab" * 2_000]
    for name in (*SCANNERS, "regex:[ab]+"):
        pretokenizer = bpe.get_pretokenizer(name)
        found = count_documents(texts, pretokenizer)
        words = Counter(word.encode() for text in texts for word in pretokenizer.split(text))
        assert found.words == tuple(words), name
        assert found.counts.tolist() == list(words.values()), name
    indexing._MIN_SLOTS = 1
    cases: list[tuple[TieBreak, int]] = [
        ("smallest-pair", 1),
        ("first-seen", 1),
        ("smallest-pair", 3),
    ]
    for rule, n_parts in cases:
        indexing.n_threads = partial(int, n_parts)
        config = bpe.TrainingConfig(500, special_tokens=(), tie_break=rule)
        pretokens = count_pretokens(
            bpe.Corpus.from_text("".join(texts)), bpe.get_pretokenizer("gpt2")
        )
        learned = []
        for trainer in (incremental, compiled):
            vocabulary = GrowingVocabulary(config, ())
            layout = Layout.of_symbols(pretokens, "bytes", vocabulary.base_ids)
            learned.append(trainer.learn_merges(layout, vocabulary, config, lambda *_: False))
        assert learned[0].merges == learned[1].merges
        assert learned[0].counts == learned[1].counts
        assert learned[0].joined_at.tolist() == learned[1].joined_at.tolist()
    tokenizer = bpe.train(bpe.Corpus.from_text("".join(texts)), bpe.TrainingConfig(500)).tokenizer
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    for text in texts:
        ids = encoder.encode(text)
        words = [explain_word(word, tokenizer.table) for word in tokenizer.pretokenizer.split(text)]
        assert ids.tolist() == [id for symbols in words for each in symbols for id in each.ids]
        decoded = encoder.decode(ids)
        assert decoded is not None
        assert decoded.tobytes().decode() == text


if __name__ == "__main__":
    compare()
    sys.stdout.write(f"{'numba' in sys.modules}\n")
