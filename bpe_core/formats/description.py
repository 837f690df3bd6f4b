"""What a tokenizer's files say, whatever their format: enough to build its encoder without them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from bpe_core.chat import ChatTemplate
from bpe_core.checks import counted
from bpe_core.errors import ConfigError, FormatError, IntegrityError
from bpe_core.formats.sidecars import Sidecars
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import NORMALIZERS, Spaces, get_pretokenizer
from bpe_core.tokenizer import AddedToken, Tokenizer
from bpe_core.types import Base

Engine = Literal["bpe_core", "tokenizers", "tiktoken", "sentencepiece"]


@dataclass(frozen=True, slots=True)
class Merges:
    """Byte-pair encoding: the arguments of a `Tokenizer`."""

    vocab: Mapping[int, bytes]
    merges: Sequence[tuple[int, int, int]]
    pretokenizer: str
    base: Base = "bytes"
    special_tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    end_of_word: str | None = None
    end_of_word_id: int | None = None
    counts: Sequence[int] | None = None
    whole_words_first: bool = False
    byte_fallback: Sequence[int] = ()
    added: Sequence[AddedToken] = ()
    spaces: Spaces | None = None
    leaves_out: bool = False
    removals: Sequence[tuple[int, int]] = ()

    def tokenizer(self) -> Tokenizer:
        """Build the tokenizer.

        Raises `FormatError` if the parts contradict each other, and `ConfigError` for an unknown
        pre-tokenizer, which is not the fault of a file.

        >>> Merges({0: b"a", 1: b"aa"}, [(0, 0, 1)], "none").tokenizer().encode("aaa")
        [1, 0]
        """
        get_pretokenizer(self.pretokenizer)
        try:
            with without_garbage_collection():
                return Tokenizer(**{each.name: getattr(self, each.name) for each in fields(self)})
        except ConfigError as error:
            raise FormatError(
                f"The vocabulary and the merges contradict each other. {error}"
            ) from error


@dataclass(frozen=True, slots=True)
class Ranks:
    """Tokens with their ids in the order of their ranks, and how the text before them is cut."""

    ids: Mapping[bytes, int]
    pattern: str
    special_tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A tokenizer as its files describe it.

    A reader fills in what the files say. `choose_engine` then sets `provenance`, and drops what the
    engine does not need: the merges if another library encodes.
    """

    name: str
    """The files' names; untrusted text."""
    origin: str = ""
    """A sentence on the files; may be empty."""
    merges: Merges | None = None
    """The merges and the vocabulary; None if they are not plain byte-pair encoding."""
    why_not: str = ""
    """Why bpe_core cannot run it, in sentences."""
    unknown: str | None = None
    """The token for text outside the vocabulary, which plain byte-pair encoding does not have."""
    fingerprint: str | None = None
    """The fingerprint that the tokenizer must have, if the file names one."""
    added_tokens: Sequence[AddedToken] = ()
    """Those of a tokenizer.json whose merges bpe_core can read."""
    special: Sequence[str] = ()
    """The texts of the added tokens that are found only where special tokens are allowed."""
    normalizer: str = ""
    """What changes text before it is cut, if that is not run here; the pre-tokenizer of the merges
    has what is."""
    spaces: Spaces | None = None
    """Set if the merges go across words and have a space for ▁."""
    library: Engine = "bpe_core"
    """The library that the files are made for, and that can encode if bpe_core cannot."""
    ranks: Ranks | None = None
    """What tiktoken is given."""
    source: bytes = b""
    """What another library is given: a tokenizer.json or a SentencePiece model."""
    parsed: Mapping[str, Any] | None = None
    """The tokenizer.json that `source` is written from where it is needed; large."""
    names_cut: bool = False
    """True if the files say how text is cut into pre-tokens."""
    is_known: bool = False
    """True for published files, which the tests compare with the library, so that nobody else has
    to."""
    note: str = ""
    """A sentence that ends the provenance; may be empty."""
    first_token: str = ""
    """The text of the token that the library puts before every text; "" for none."""
    chat: ChatTemplate | None = None
    """The chat template, if the files have one."""
    provenance: str = ""
    """Where the tokenizer is from and which library encodes, in sentences."""


@dataclass(frozen=True, slots=True)
class Given:
    """A tokenizer's file, what is next to it, and what a caller says about it."""

    name: str
    data: bytes
    beside: Sidecars = field(default_factory=Sidecars)
    """The files of transformers next to it."""
    pretokenizer: str | None = None
    special_tokens: Mapping[str, int] | None = None


def plain_tokenizer(described: Description) -> Tokenizer:
    """Build the tokenizer of a description's merges.

    Raises `FormatError` if it has no merges, if they and the rest contradict each other, or for a
    normalizer that is not run here.

    >>> merges = Merges({0: b"a", 1: b"aa"}, [(0, 0, 1)], "none")
    >>> plain_tokenizer(Description(name="mine", merges=merges)).encode("aaa")
    [1, 0]
    """
    if described.merges is None:
        has_door = described.library in ("tiktoken", "sentencepiece")
        hint = " Open it with bpe_core.open_encoder." if has_door else ""
        raise FormatError(f"{described.why_not}{hint}")
    if described.normalizer:
        raise FormatError(
            f"It has a normalizer ({described.normalizer}) that changes text, and only the normal "
            f"forms of Unicode ({', '.join(NORMALIZERS)}) are computed here."
        )
    tokenizer = described.merges.tokenizer()
    if described.unknown is not None and not tokenizer.table.complete:
        raise FormatError(
            f"The alphabet has only {counted(len(tokenizer.base_ids), tokenizer.base[:-1])}, and "
            f"the model uses the token {described.unknown!r:.60} for the rest. Unknown tokens are "
            "not supported."
        )
    saved = described.fingerprint  # that of the tokenizer takes long where there are many tokens
    if saved is not None and saved != tokenizer.fingerprint:
        raise IntegrityError(
            f"The saved tokenizer was altered: its fingerprint is {tokenizer.fingerprint}, but "
            f"{described.fingerprint} was saved with it. Use the original file."
        )
    return tokenizer


_HELD_BY: Final = {
    "spaces": "native format",
    "marker": "native format, or train with end_of_word=None",
}


def refuse_steps(tokenizer: Tokenizer, format: str, holds: Collection[str] = ()) -> None:
    """Raise `ConfigError` for a step that a format cannot hold, and name the step.

    `holds` are the steps that it can: "normalizer", "added", "spaces", "left out",
    "characters".

    >>> from bpe_core.tokenizer import gpt2
    >>> refuse_steps(gpt2(), "GGUF")
    """
    cut = tokenizer.pretokenizer
    steps = {
        "normalizer": cut.normalizer and f"text is normalized to {cut.normalizer.name} first",
        "added": any(not each.is_special or each.is_normalized for each in tokenizer.added)
        and "added tokens are found in any text, or in the normalized text",
        "spaces": tokenizer.own_spaces is not None
        and "spaces are written as ▁ after added tokens are found",
        "left out": tokenizer.left_out and "bytes that are not tokens are left out",
        "marker": tokenizer.end_of_word
        and f"each word ends with the marker {tokenizer.end_of_word!r:.60}",
    }
    for name, said in steps.items():
        if said and name not in holds:
            wanted = _HELD_BY.get(name, "huggingface or native format")
            raise ConfigError(f"{format} cannot express that {said}. Save it in the {wanted}.")
    if tokenizer.base != "bytes" and "characters" not in holds:
        raise ConfigError(
            f"{format} has only byte tokens, and this tokenizer has characters as symbols. Save it "
            "in the native format, or train with base='bytes'."
        )


def check_not_overruled(
    name: str,
    tokenizer: Tokenizer,
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None,
) -> None:
    """Raise `ConfigError` if an argument contradicts what a loaded tokenizer already has.

    >>> from bpe_core.tokenizer import gpt2
    >>> check_not_overruled("gpt2", gpt2(), "gpt2", None)
    """
    cut = tokenizer.pretokenizer
    if pretokenizer not in (None, cut.name, cut.cut):
        raise ConfigError(
            f"The pre-tokenizer of {name} is {cut.name!r}, not "
            f"{pretokenizer!r}. Leave out the pre-tokenizer."
        )
    own = tokenizer.special_tokens
    if any(own.get(text) != id for text, id in (special_tokens or {}).items()):
        raise ConfigError(f"{name} has special tokens of its own. Leave out special tokens.")
