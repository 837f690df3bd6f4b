"""Find llama.cpp's name for how a tokenizer cuts text, or a text on which no name fits.

A GGUF file holds no pattern: `tokenizer.ggml.pre` names one of the cuts that llama.cpp was compiled
with. "BPE pre-tokenizer was not recognized" means that a converter found no name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

from bpe_core.errors import ConfigError
from bpe_core.extras import needs_extra
from bpe_core.formats.checking.probe import PROBE
from bpe_core.formats.gguf.gguf_cuts import BYTE_LEVEL, FAMILIES, find_cut
from bpe_core.formats.patterns import isolated, pre_tokenizer_part
from bpe_core.formats.running.base_encoders import library_failures
from bpe_core.formats.running.run_by_tiktoken import TiktokenTokenizer
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.running.run_here import NativeTokenizer
from bpe_core.tokenizer import Encoder, NamedEncoder, Tokenizer

Part = dict[str, Any]
Pieces = tuple[str, ...]

_BYTES: Final[Part] = {**BYTE_LEVEL, "use_regex": False}
# What cuts differ by: each pair of these, side by side, is a text.
_WORDS: Final = ["a", "Hug", "HUG", "é", "e\u0301", "ß", "漢", "カ", "한", "ไ", "ہ", "क्ष"]
_SUFFIXES: Final = ["’s", "'s", "'LL"]
_NUMBERS: Final = ["1", "1234", "½", "²", "१२"]
_OTHER: Final = ["!", "...", "_", "-", "/", "«", "+", "€", "😀", "\u200d"]
_SPACES: Final = [" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u0085"]
_KINDS: Final = _WORDS + _SUFFIXES + _NUMBERS + _OTHER + _SPACES
TEXTS: Final = [*PROBE.split(" "), PROBE, *map("".join, permutations(_KINDS, 2))]
"""The texts that cuts are compared on."""


@dataclass(frozen=True, slots=True)
class LlamaCppCut:
    """llama.cpp's names for a cut; if there is none, the nearest name and where it fails."""

    names: tuple[str, ...]
    """What `tokenizer.ggml.pre` may be; empty if no name fits."""
    nearest: str = ""
    """The name whose cut agrees on the most texts, in order."""
    text: str = ""
    """The first text that is cut otherwise under every name; "" if only the use of the merges
    differs."""
    pieces: Pieces = ()
    """The pieces of this text, written as GPT-2 writes bytes."""
    nearest_pieces: Pieces = ()
    """Its pieces under the nearest name."""

    @property
    def sentence(self) -> str:
        """What was found, in a sentence or two.

        >>> LlamaCppCut(("gpt-2", "phi-2")).sentence
        'llama.cpp calls this cut gpt-2 (also phi-2).'
        """
        if self.names:
            first, *others = self.names
            also = f" (also {', '.join(others)})" if others else ""
            return f"llama.cpp calls this cut {first}{also}."
        if not self.text:
            return (
                f"llama.cpp has no name for this tokenizer: it cuts text as {self.nearest} does, "
                "but differs in whether whole pre-tokens are looked up before they are merged."
            )
        return (
            f"llama.cpp has no name for this cut. The nearest is {self.nearest}, which cuts "
            f"{self.text!r} into {' | '.join(self.nearest_pieces)} instead of "
            f"{' | '.join(self.pieces)}."
        )


def llama_cpp_cut(encoder: Encoder | NamedEncoder) -> LlamaCppCut:
    """Return llama.cpp's name for how a byte-level BPE tokenizer cuts text.

    Cuts are compared on some 1,500 texts. Raises `ConfigError` for a tokenizer of another
    kind, whose GGUF file names no cut, and `MissingExtraError` if `tokenizers` is not installed.

    >>> from bpe_core.tokenizer import gpt2
    >>> llama_cpp_cut(gpt2()).names[0]
    'gpt-2'
    """
    part, whole_words_first = _find_part(encoder)
    cut = _cutter(part)
    cuts = [(each.names, each.whole_words_first, _cutter(_joined(each.steps))) for each in FAMILIES]
    nearest = cuts
    for text in TEXTS:
        pieces = cut(text)
        same = [found for found in nearest if found[-1](text) == pieces]
        if not same:
            names, _, other = nearest[0]
            return LlamaCppCut((), names[0], text, pieces, other(text))
        nearest = same
    fitting = [names for names, first, _ in nearest if first == whole_words_first]
    if not fitting:
        return LlamaCppCut((), nearest[0][0][0])
    return LlamaCppCut(tuple(name for names in fitting for name in names))


def _find_part(encoder: Encoder | NamedEncoder) -> tuple[Part | None, bool]:
    """Return a tokenizer.json's pre-tokenizer, and whether pre-tokens are looked up first."""
    if isinstance(encoder, NamedEncoder):
        encoder = encoder.encoder
    if isinstance(encoder, TiktokenTokenizer):
        return _joined([dict(isolated(encoder.pattern)), _BYTES]), True
    if isinstance(encoder, ForeignTokenizer) and _is_byte_level(encoder):
        described = encoder.described
        return described["pre_tokenizer"], bool(described["model"].get("ignore_merges"))
    own = encoder.tokenizer if isinstance(encoder, NativeTokenizer) else encoder
    if isinstance(own, Tokenizer) and own.base == "bytes":
        cut = own.pretokenizer
        # GGUF has no cut that drops text, so there is none to compare in its place.
        if cut.drops_text:
            return pre_tokenizer_part(cut, by_bytes=True), own.table.whole_words_first
        return find_cut(None, cut.name)[0], own.table.whole_words_first
    raise ConfigError(
        "Only byte-level BPE needs a name for its cut: the GGUF file of another model has no "
        "tokenizer.ggml.pre."
    )


def _is_byte_level(encoder: ForeignTokenizer) -> bool:
    """Return whether a tokenizer.json writes text in GPT-2's printable bytes."""
    steps = [encoder.described.get("pre_tokenizer"), encoder.described.get("normalizer")]
    return encoder.model == "BPE" and '"ByteLevel"' in json.dumps(steps)


def _joined(steps: Sequence[Part]) -> Part:
    return {"type": "Sequence", "pretokenizers": list(steps)}


def _cutter(part: Part | None) -> Callable[[str], Pieces]:
    """Return a function that cuts a text as `tokenizers` does."""
    with needs_extra("formats", "Comparing with llama.cpp's cuts"):
        import tokenizers

    described: Part = {"pre_tokenizer": part, "model": {"type": "BPE", "vocab": {}, "merges": []}}
    peer: Any = tokenizers.Tokenizer.from_str(json.dumps(described)).pre_tokenizer

    def cut(text: str) -> Pieces:
        with library_failures(lambda _: ConfigError(f"tokenizers cannot cut {text!r:.60}.")):
            return (
                (text,) if peer is None else tuple(each for each, _ in peer.pre_tokenize_str(text))
            )

    return cut
