"""No kernel reads or writes past its arrays.

Compiled kernels have no bounds checks. Here plain Python runs them on the smallest arrays that
they accept, and NumPy raises an error for an index past the end.
"""

from __future__ import annotations

import pytest

from tests.new_process import run_without_compilation

START = """
import random
from bpe_core.tokenizer.rank_merging import explain_word
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus import count_compiled as counting
from bpe_core.kernels import block_encoder, encoder_tables, word_cache, word_counter
from bpe_core.tokenizer.steps import IsolatingPretokenizer
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.pretokenizers.scanners import get_scanner
from bpe_core.trainers.training import train
from bpe_core.tokenizer.compiled import CompiledEncoder
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.types import TrainingConfig

drawn = random.Random(1)

def some(letters, n):
    return "".join(drawn.choices(letters, k=n))

def trained(text):
    return train(Corpus.from_text(text), TrainingConfig(300)).tokenizer
"""

WORDS_OF_EVERY_WIDTH = """
text = " ".join(some("abc", n) for n in range(1, 70) for _ in range(2))
tokenizer = trained(text)
encoders = [CompiledEncoder(tokenizer.table, tokenizer.pretokenizer) for _ in range(2)]
# One without a trie, as where two merges make the same token.
symbols = encoder_tables._symbols(tokenizer.table)
plain = encoders[1].kernels
plain.trie = encoder_tables._empty_trie(symbols, plain.trie.width, 0)
plain._workers[0] = block_encoder.Worker(plain, encoder_tables.empty_cache())
for encoder in encoders:
    for _ in range(2):  # the second time from the word cache
        assert encoder.encode(text).tolist() == tokenizer.encode(text)
"""

SMALL_BUFFERS = """
block_encoder._SCAN_AHEAD = 24
encoder_tables._BATCH = 3
encoder_tables._CACHE_ROWS = 2
encoder_tables._ARENA_PER_ROW = 20
encoder_tables._LETTERS_PER_ROW = 32
word_cache.MAX_ROWS = 4
text = "it's 12 na\u00efve\u3000 \u65e5\u672c\U0001f642 " + "ab" * 40 + " " * 33 + "xyz" * 3
text += "'ll " + " ".join(some("\u0101\u0102\u0103", 5) for _ in range(30))
tokenizer = trained(text)
for name in ("gpt2", "cl100k", "o200k", "whitespace", "words-punctuation", "regex:[0-9]+"):
    pretokenizer = get_pretokenizer(name)
    encoder = CompiledEncoder(tokenizer.table, pretokenizer)
    for part in (text, text[::-1], text[3:], text[:-1]):
        words = pretokenizer.split(part)
        explained = [explain_word(word, tokenizer.table) for word in words]
        expected = [id for word in explained for each in word for id in each.ids]
        assert encoder.encode(part).tolist() == expected, name
    assert len(encoder.kernels._workers[0].cache.others) == 4 * word_cache.WORD_ROW
"""

DROPPED = """
block_encoder._SCAN_AHEAD = 24
tokenizer = trained("ab ab")
pretokenizer = get_pretokenizer("whitespace")
tables = encoder_tables.EncoderTables.build(tokenizer.table, get_scanner(pretokenizer.name))
for n in range(16, 50):
    encoder = CompiledEncoder(tokenizer.table, pretokenizer, tables)
    # A word of about as many pieces as a buffer has bytes, and then words that lose all of theirs.
    word = "-" * n + "\u00e9"  # cut, as it ends in a wide character
    encoded = encoder.encode(word + " #" * 60, left_out=b"#").tolist()
    assert encoded == tokenizer.encode(word)
"""

ADDED_TOKENS = """
block_encoder._SCAN_AHEAD = 24
encoder_tables._BATCH = 3
encoder_tables._CACHE_ROWS = 2
word_cache.MAX_ROWS = 4
vocab = {id: bytes([id]) for id in range(256)} | {256: b" ", 257: "\u00e9".encode()}
ids = {each: 300 + id for id, each in enumerate(["\\n", "<b>", "<b><i>", "\u00e9<", "=" * 17])}
vocab |= {id: token.encode() for token, id in ids.items()}
table = TokenTable(vocab=vocab, merges=[], base="characters", byte_fallback=range(256))
pretokenizer = IsolatingPretokenizer("sentencepiece", ids)
encoder = CompiledEncoder(table, pretokenizer)
pieces = [*ids, " ", "<", "\u00e9", "\u65e5", *(some("abc", 4) for _ in range(12))]
for n in range(150):
    part = "".join(drawn.choices(pieces, k=n))
    words = pretokenizer.split(part)
    expected = [ids.get(word) for word in words]
    found = encoder.encode(part).tolist()
    assert [id for id in found if id >= 300] == [id for id in expected if id], part
    assert b"".join(vocab[id] for id in found) == part.encode()
"""

DECODING = """
block_encoder._LIKELY_BYTES = 0
tokenizer = trained("ab" * 64 + " " + "c" * 9)
encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
widths = sorted((len(token), id) for id, token in tokenizer.vocab.items())
assert widths[-1][0] > 32
for n in range(1, 200):
    ids = [drawn.choice(widths[-12:])[1] for _ in range(n)] + [widths[0][1]] * drawn.randrange(40)
    assert encoder.decode(ids).tobytes() == tokenizer.decode_bytes(ids)
"""

COUNTING = """
word_counter._MIN_ENTRIES = 8
word_counter._SCAN_AHEAD = 24
word_counter._BATCH = 4
for longest in range(2, 28, 2):
    text = "".join(some("ab\u00e9", drawn.randrange(1, longest)) + " " for _ in range(60))
    for name in ("gpt2", "whitespace", "regex:[a-z]+"):
        pretokenizer = get_pretokenizer(name)
        found = counting.count_documents([text, text[::-1]], pretokenizer)
        expected = pretokenizer.split(text) + pretokenizer.split(text[::-1])
        assert [word.decode() for word in found.words] == list(dict.fromkeys(expected))
        assert found.counts.tolist() == [expected.count(w) for w in dict.fromkeys(expected)]
"""

TRAINING = """
import numpy as np

from bpe_core.corpus.word_row import Layout
from bpe_core.kernels import indexing, learning, merging
from bpe_core.kernels.row import MISSING
from bpe_core.trainers import compiled as trainer, incremental
from bpe_core.trainers.continued import ContinuedVocabulary
from bpe_core.types import TrainingConfig

merging._AT_ONCE = np.uint64(3)
indexing._MIN_ENTRIES = 2
indexing._MIN_SLOTS = 1
indexing.n_threads = lambda: 3
indexing.SPARE = learning.SPARE = 1
learning._THRESHOLD_SHARE = 2
for letters in (1, 2, 3, 6):
    for tie_break in ("smallest-pair", "first-seen"):
        symbols = [*range(letters), MISSING]
        words = [drawn.choices(symbols, k=drawn.randrange(1, 40)) for _ in range(12)]
        counts = [drawn.choice([1, 3, 2**31 - 1, 2**31, 2**40]) for _ in words]
        learned = []
        for learn in (incremental.learn_merges, trainer.learn_merges):
            vocabulary = ContinuedVocabulary({id: bytes([97 + id]) for id in range(letters)})
            config = TrainingConfig(300, special_tokens=(), tie_break=tie_break, max_token_bytes=9)
            found = learn(Layout.of_words(words, counts), vocabulary, config, lambda *_: False)
            learned.append((found.merges, found.counts, found.joined_at.tolist()))
        assert learned[0] == learned[1] and learned[0][0]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [WORDS_OF_EVERY_WIDTH, SMALL_BUFFERS, DROPPED, ADDED_TOKENS, DECODING, COUNTING, TRAINING],
    ids=[
        "words of every width",
        "small buffers",
        "dropped bytes",
        "added tokens",
        "decoding",
        "counting",
        "training",
    ],
)
def test_kernels_stay_within_their_arrays(code: str) -> None:
    assert run_without_compilation(f"{START}{code}\nprint('within')") == "within\n"
