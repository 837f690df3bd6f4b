"""Describe SentencePiece's models: as merges where their scores imply those, else for the library.

Whatever two neighbours make a piece is joined, the highest score first, the leftmost of equals.
`write_sentencepiece` writes a model with such scores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Final

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.across_words import build_merges, write_texts
from bpe_core.formats.description import Description, Given, Merges, refuse_steps
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    SentencePieceModel,
    read_model,
    write_model,
)
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import AddedToken, Spaces
from bpe_core.tokenizer import Tokenizer, Triple, merge_symbols, to_triples

_MAX_CUTS: Final = 100_000_000
"""The most letters that are copied to find the two parts at each cut of all pieces."""
_MAX_RUN: Final = 128
"""The longest run of equal score that is checked, in a second; those of Llama 2 have 16 spaces."""


def describe_sentencepiece(
    given: Given, data: bytes, *, origin: str = "", names_cut: bool = True
) -> Description:
    """Describe a `.model` file; raises what `read_model` raises."""
    model = read_model(data)
    left_out = given.beside.special({piece.text for piece in model.pieces})
    note = ""
    if left_out:
        note = (
            f"Left out: {len(left_out):,} special tokens of the folder that the model itself "
            f"does not have, such as {next(iter(left_out))}."
        )
    merges: Merges | None = None
    added: list[AddedToken] = []
    spaces: Spaces | None = None
    why_not = ""
    try:
        merges, added, spaces = derive_merges(model)
    except FormatError as error:
        why_not = str(error)
    return Description(
        name=given.name,
        origin=f"{origin} A SentencePiece model ({model.kind}).".strip(),
        merges=merges,
        why_not=why_not,
        added_tokens=added,
        spaces=spaces,
        library="sentencepiece",
        source=data,
        names_cut=names_cut,
        note=note,
    )


def derive_merges(model: SentencePieceModel) -> tuple[Merges, list[AddedToken], Spaces]:
    """Return the merges of a SentencePiece model, its added tokens and where it puts spaces.

    Raises `FormatError` for a model that does more than that, and for pieces of equal score whose
    order matters.

    >>> pieces = [Piece(text, 0, NORMAL) for text in ("▁", "a", "▁a")]
    >>> pieces = (*pieces, *(Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)))
    >>> model = SentencePieceModel(pieces, "BPE", True, "identity", changes_text=False)
    >>> derive_merges(model)[0].merges
    [(0, 1, 2)]
    """
    if model.kind != "BPE":
        raise FormatError(f"It is a {model.kind} model, which has no merges.")
    if not model.byte_fallback:
        raise FormatError("It has no bytes for characters outside the vocabulary.")
    if model.changes_text:
        name = f" ({model.normalizer!r:.60})" if model.normalizer else ""
        raise FormatError(f"Its normalizer{name} changes text in ways that are not run here.")
    ids: dict[str, int] = {}
    normal: dict[str, int] = {}
    special: dict[str, int] = {}
    added: list[AddedToken] = []
    for id, piece in enumerate(model.pieces):
        ids[piece.text] = id
        if " " in piece.text and piece.type in (NORMAL, USER_DEFINED):
            raise FormatError(f"The piece {piece.text!r:.60} has a space in it.")
        if "\0" in piece.text:
            raise FormatError(f"The piece {piece.text!r:.60} has a null character in it.")
        if piece.type == NORMAL:
            normal[piece.text] = id
        elif piece.type not in (BYTE, UNUSED):
            special[piece.text] = id
        if piece.type in (CONTROL, USER_DEFINED):
            is_special = piece.type == CONTROL
            added.append(AddedToken(piece.text, id, is_special, not is_special))
    with without_garbage_collection():
        _check_unused(model.pieces, normal)
        listed = _list_cuts(normal, model.pieces)
        found = {each.text for each in added if not each.is_special}
        read = build_merges(ids, to_triples(listed), special, found)
    return read, added, Spaces("always" if model.dummy_prefix else "never")


def write_sentencepiece(tokenizer: Tokenizer) -> bytes:
    """Return a `.model` file, whose scores fall from merge to merge, then over the characters.

    The unknown piece, which a model must have, is `<unk>`, or else the first special token; the
    others are control pieces. Raises `ConfigError` if the model would encode otherwise.
    """
    refuse_steps(tokenizer, "A SentencePiece model", ("characters",))
    if not tokenizer.pretokenizer.adds_space:
        raise ConfigError(
            "A SentencePiece model merges characters, with bytes for rare ones and ▁ for spaces. "
            "This one puts no space in front of a text. Train with base='characters', "
            "byte_fallback=True and the pre-tokenizer metaspace or llama2, or save this tokenizer "
            "in the native format."
        )
    special = sorted(tokenizer.special_tokens, key=tokenizer.special_tokens.__getitem__)
    if not special or set(tokenizer.vocab) != set(range(tokenizer.vocab_size)):
        raise ConfigError(
            "A SentencePiece model has ids without gaps, and an unknown piece. Train with a "
            "special token, such as <unk>, or save this tokenizer in another format."
        )
    types = {tokenizer.special_tokens[text]: CONTROL for text in special}
    types[tokenizer.special_tokens["<unk>" if "<unk>" in special else special[0]]] = UNKNOWN
    types |= dict.fromkeys(tokenizer.table.byte_ids.values(), BYTE)
    in_order = dict.fromkeys([*tokenizer.table.made, *tokenizer.base_ids.values()])
    scores = {id: -float(place) for place, id in enumerate(in_order)}
    texts = write_texts(tokenizer)
    pieces = [
        Piece(texts[id], scores.get(id, 0.0), types.get(id, NORMAL))
        for id in range(tokenizer.vocab_size)
    ]
    written = write_model(pieces, "BPE")
    try:
        merges, _, _ = derive_merges(read_model(written))
    except FormatError as error:
        raise ConfigError(f"SentencePiece cannot express this tokenizer. {error}") from None
    if tuple(merges.merges) != tokenizer.table.triples:
        raise ConfigError(
            "SentencePiece joins whatever makes a piece, which would encode otherwise than these "
            "merges. Save this tokenizer in another format."
        )
    return written


def _list_cuts(normal: Mapping[str, int], pieces: Sequence[Piece]) -> list[Triple]:
    """Return every way in which two pieces make a third, the highest score first."""
    if sum(len(text) ** 2 for text in normal) > _MAX_CUTS:
        raise FormatError(
            "Its pieces are so long that looking for their parts would take too long."
        )
    in_order = sorted(
        (text for text in normal if len(text) > 1),
        key=lambda text: (-pieces[normal[text]].score, normal[text]),
    )
    for text in in_order:
        if not all(character in normal for character in text):
            raise FormatError(f"The piece {text!r:.60} has characters that are not pieces.")
    _check_ties(in_order, normal, pieces)
    return [
        (normal[text[:cut]], normal[text[cut:]], normal[text])
        for text in in_order
        for cut in range(1, len(text))
        if text[:cut] in normal and text[cut:] in normal
    ]


def _check_unused(pieces: Sequence[Piece], normal: Collection[str]) -> None:
    """Raise if merges may make a piece that is not used: it is taken apart again."""
    for text in (piece.text for piece in pieces if piece.type == UNUSED):
        cuts = ((text[:cut], text[cut:]) for cut in range(1, len(text)))
        if len(text) == 1 or any(left in normal and right in normal for left, right in cuts):
            raise FormatError(f"Its merges make the piece {text!r:.60}, which is not used.")


def _check_ties(
    in_order: Sequence[str], normal: Mapping[str, int], pieces: Sequence[Piece]
) -> None:
    """Raise unless pieces of equal score are joined alike by rank and from left to right.

    That is known for runs of one character, such as Llama's runs of spaces, if no piece of a higher
    score has two of it in a row: whatever else is joined before, they are joined on their own. Then
    pieces of lower scores are joined. If these have runs too, each run must be made before.
    """
    scored = groupby(in_order, key=lambda text: pieces[normal[text]].score)
    end = 0
    for _, each in scored:
        same = list(each)
        start, end = end, end + len(same)
        if len(same) == 1:
            continue
        (first, *_), lengths = same[0], [len(text) for text in same]
        are_runs = set("".join(same)) == {first}
        inside = any(first * 2 in text for text in in_order[:start])
        if not are_runs or inside or max(lengths) > _MAX_RUN:
            raise FormatError(
                f"The pieces {same[0]!r:.60} and {same[1]!r:.60} have the same score."
            )
        has_later = any(set(text) == {first} for text in in_order[end:])
        listed = _list_runs(lengths)
        ranks = {(left, right): rank for rank, (left, right, _) in enumerate(listed)}
        made = [length for _, _, length in listed]
        for n in range(2, 4 * max(lengths) + 1):
            joined = _joined_from_left(n, set(lengths))
            is_late = has_later and n in lengths and joined != [n]
            if is_late or joined != merge_symbols([1] * n, ranks, made):
                raise FormatError(f"The runs of {first!r} have the same score.")


def _list_runs(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return every way in which two runs of one character make a third, by their lengths."""
    known = {1, *lengths}
    return [
        (left, length - left, length)
        for length in lengths
        for left in range(1, length)
        if left in known and length - left in known
    ]


def _joined_from_left(n: int, lengths: Collection[int]) -> list[int]:
    """Return the same if the leftmost pair that makes a run is always joined."""
    runs = [1] * n
    at = 0
    while at < len(runs) - 1:
        if runs[at] + runs[at + 1] in lengths:
            runs[at : at + 2] = [runs[at] + runs[at + 1]]
            at = max(0, at - 1)
        else:
            at += 1
    return runs
