"""Compare encoding with the published tokenizers that are on this machine with their own library.

`bpe fetch NAME...` brings them; what is not here is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from tiktoken import Encoding

from benchmarks import corpora
from benchmarks.encoding import ROUNDS, ratio_of, speed, timed
from benchmarks.report import table
from bpe_core.errors import BpeError
from bpe_core.formats.json_files import parse_json
from bpe_core.formats.open_encoder import open_encoder
from bpe_core.formats.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.run_here import NativeTokenizer
from bpe_core.formats.tekken import read_tekken
from bpe_core.formats.tiktoken_file import read_ranks
from bpe_core.published.cache import read_cached
from bpe_core.published.catalogue import CATALOGUE, Published
from bpe_core.tokenizer.compiled import CompiledEncoder
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.tokenizer import Tokenizer

Encode = Callable[[str], Iterable[int]]
_BYTES = 1_000_000


def by_name(folder: Path | None) -> list[str]:
    """Measure each tokenizer on English and on mixed text, one thread, after checking its ids."""
    texts = {
        "English": corpora.english(_BYTES).text,
        "mixed": corpora.mixed(_BYTES, folder).text,
    }
    kernel_of_gpt2 = _kernel(gpt2())
    rows: list[list[str]] = []
    absent: list[str] = []
    for name, published in CATALOGUE.items():
        try:
            opened = open_encoder(name)
        except BpeError:
            absent.append(name)
            continue
        encoder = opened.encoder
        if isinstance(encoder, Tokenizer):
            own, other = _kernel(encoder), kernel_of_gpt2
            peer_name, peer = _peer(published, encoder)
        elif isinstance(encoder, NativeTokenizer):
            # What it does before the merges takes time too, so whole calls are compared.
            own, other = encoder.encode, gpt2().encode
            peer_name, peer = "tokenizers", ForeignTokenizer(encoder.described).encode
        else:
            rows.append([name, f"run by {opened.engine}", "", "", "", ""])
            continue
        for kind, text in texts.items():
            if list(own(text)) != list(peer(text)):
                raise SystemExit(f"{name} and {peer_name} encode {kind} text differently.")
            times = _measured([own, other, peer], text)
            n = len(text.encode())
            rows.append(
                [
                    name,
                    kind,
                    speed(n, times[0]),
                    f"{ratio_of(times[0], times[1]):.2f}",
                    f"{peer_name} {speed(n, times[2])}",
                    f"{ratio_of(times[2], times[0]):.1f}",
                ]
            )
    head = ["name", "text", "MB/s", "time / GPT-2's", "its library, MB/s", "times as fast"]
    missing = f"Not fetched here: {', '.join(absent)}." if absent else ""
    how = (
        "One thread, warm; the same ids first. Of those with added tokens or a normalizer whole "
        "calls are compared, of the others kernels."
    )
    return [how, "", table(head, rows), "", missing]


def _kernel(tokenizer: Tokenizer) -> Encode:
    """Return the function that encodes in one thread, without checks and without a list."""
    encoder = CompiledEncoder(tokenizer._table, tokenizer.pretokenizer)
    return lambda text: encoder.encode(text, 1)


def _measured(functions: Sequence[Encode], text: str) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for place, function in enumerate(functions):
            times[place].append(timed(partial(function, text)))
    return times


def _peer(published: Published, tokenizer: Tokenizer) -> tuple[str, Encode]:
    """Return the library that the tokenizer was published for, and its function."""
    pattern = tokenizer.pretokenizer.pattern or ""
    if published.package is None:
        special = set(tokenizer.special_tokens.values())
        ranks = {token: id for id, token in tokenizer.vocab.items() if id not in special}
        return "tiktoken", Encoding(
            published.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary
    data = read_cached(published)
    if data.lstrip().startswith(b"{"):
        described = parse_json(data, published.file_name)
        if "model" in described:
            return "tokenizers", ForeignTokenizer(described).encode
        found = read_tekken(described)
        ranks, pattern = dict(found.ids), found.pattern
    else:
        ranks = read_ranks(data)
    return "tiktoken", Encoding(
        published.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    ).encode_ordinary
