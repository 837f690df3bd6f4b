"""Write bpe_core/data/unicode_classes.bin: the Unicode classes that tiktoken and tokenizers know.

Asks tiktoken for each class over every code point, asks tokenizers' regular expressions the same,
and writes nothing unless the two agree.

    python -m scripts.make_unicode_classes
"""

from __future__ import annotations

import zlib
from array import array
from itertools import groupby

import tiktoken
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from bpe_core.unicode import CLASSES, DATA_FILE

PATTERNS = {
    "space": r"\s",
    "upper": r"[\p{Lu}\p{Lt}]",
    "lower": r"\p{Ll}",
    "modifier": r"\p{Lm}",
    "letter": r"\p{Lo}",
    "number": r"\p{N}",
    "mark": r"\p{M}",
    "punctuation": r"\p{P}",
    "symbol": r"\p{S}",
}
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
EVERYTHING = "".join(map(chr, CODE_POINTS))


def members_by_tiktoken(pattern: str) -> set[int]:
    """Return the code points that tiktoken's regular expressions match with a pattern."""
    bytes_only = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "classes", pat_str=pattern, mergeable_ranks=bytes_only, special_tokens={}
    )
    # Only what the pattern matches becomes tokens, so decoding them returns the class.
    return set(map(ord, bytes(encoding.encode_ordinary(EVERYTHING)).decode()))


def members_by_tokenizers(pattern: str) -> set[int]:
    """Return the code points that Hugging Face's regular expressions match with a pattern."""
    kept = Split(Regex(pattern), behavior="removed", invert=True).pre_tokenize_str(EVERYTHING)
    return {ord(character) for piece, _ in kept for character in piece}


def main() -> None:
    class_of = dict.fromkeys(range(0x110000), 0)
    for name, pattern in PATTERNS.items():
        members = members_by_tiktoken(pattern)
        peers = members_by_tokenizers(pattern)
        if members != peers:
            differing = sorted(members ^ peers)
            raise SystemExit(f"{name}: {len(differing)} code points differ: {differing[:20]}")
        print(f"{name:9} {len(members):7,} code points, tiktoken and tokenizers agree")
        class_of.update(dict.fromkeys(members, CLASSES.index(name)))
    runs = [(index, len(list(run))) for index, run in groupby(class_of[c] for c in range(0x110000))]
    lengths = array("I", [length for _, length in runs])
    packed = len(runs).to_bytes(4, "little") + lengths.tobytes() + bytes(i for i, _ in runs)
    DATA_FILE.write_bytes(zlib.compress(packed, 9))
    print(f"{DATA_FILE.name}: {len(runs):,} runs in {DATA_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
