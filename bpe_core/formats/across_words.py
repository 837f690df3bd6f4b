"""Read the merges of SentencePiece's family from a list, as a tokenizer.json has it, or write it.

The base symbols are characters, and tokens such as <0xE2> spell those that are not tokens. In the
merges that are returned, ▁ is a space. `describe_sentencepiece` reads models without a list; of
files that have both, such as Gemma's GGUF, the list is followed.

SentencePiece's models are described as merges where their scores imply those, else for the library.
Whatever two neighbours make a piece is joined, the highest score first, the leftmost of equals.
`write_sentencepiece` writes a model with such scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import groupby
from typing import Any, Final

import numpy as np

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.description import Description, Given, Merges, refuse_steps
from bpe_core.formats.gpt2_files import ids_by_text, number_listed
from bpe_core.formats.listed_merges import check_ids, find_live_merges, without_dead_merges
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    BYTE_PIECES,
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
from bpe_core.formats.token_parts import Triple, Triples, to_list, to_triples
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import Spaces
from bpe_core.tokenizer import AddedToken, Tokenizer, merge_symbols
from bpe_core.unicode import META


def read_listed_merges(
    ids: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    added: Sequence[AddedToken],
    spaces: Spaces,
) -> Merges:
    """Return the merges that a tokenizer.json lists.

    Raises `FormatError` if they join tokens of bytes, if a byte is not a token, and for added
    tokens that are hidden by others or that the normalizer changes.

    >>> ids = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"▁": 256, "a": 257, "▁a": 258}
    >>> read = read_listed_merges(ids, [("▁", "a")], (), Spaces())
    >>> read.vocab[258], read.merges, read.vocab[0xE2], read.pretokenizer
    (b' a', [(256, 257, 258)], b'\\xe2', 'sentencepiece')
    """
    if spaces.prefix == "always" and not spaces.if_missing:
        for each in added:
            if each.is_normalized:
                raise FormatError(f"Its normalizer changes the added token {each.text!r:.60}.")
    always = {each.text for each in added if not each.is_special}
    # What is found in any text as it is never gets to the merges.
    found = {text for text in always if META not in text and " " not in text}
    _check_hidden(found, [each.text for each in added if each.is_special])
    listed = number_listed(ids, merges, found)
    return build_merges(ids, listed, {each.text: each.id for each in added}, found)


def build_merges(
    ids: Mapping[str, int],
    listed: Triples,
    added: Mapping[str, int],
    found: Collection[str],
) -> Merges:
    """Return the merges of a list; `found` are the added tokens that never get to them.

    >>> ids = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256, "b": 257, "ab": 258}
    >>> from bpe_core.formats.token_parts import to_triples
    >>> build_merges(ids, to_triples([(256, 257, 258)]), {}, ()).merges
    [(256, 257, 258)]
    """
    _check_characters((*ids, *added))
    check_ids(ids)
    is_made = np.zeros(1 + max(ids.values(), default=0), np.bool_)
    is_made[listed[:, 2]] = True
    made = set(np.flatnonzero(is_made).tolist())
    texts = {
        id: text for text, id in ids.items() if id in made or (len(text) == 1 and text not in found)
    }
    bytes_of = {ids[text]: byte for text, byte in BYTE_PIECES.items() if text in ids}
    if np.isin(listed, list(bytes_of)).any():
        raise FormatError("Its merges join or make tokens for single bytes.")
    alphabet = {text.replace(META, " ").encode() for text in texts.values() if len(text) == 1}
    for byte in BYTE_PIECES.values():
        if byte not in alphabet and byte not in bytes_of.values():
            raise FormatError(f"No token spells the byte 0x{byte.hex().upper()}.")
    merges = find_live_merges(listed, texts)
    pretokenizer = _find_cut(merges, texts)
    special = {text: id for text, id in added.items() if id not in texts}
    vocab = dict(zip(ids.values(), _spell(ids), strict=True))
    # An added token is found as it is, so it keeps its ▁.
    vocab |= {id: text.encode() for text, id in special.items()}
    return Merges(
        vocab={**vocab, **bytes_of},
        merges=to_list(merges),
        pretokenizer=pretokenizer,
        base="characters",
        special_tokens=special,
        byte_fallback=list(bytes_of),
    )


def reads_as(read: Tokenizer, wanted: Tokenizer) -> bool:
    """Return True if a file was read as the tokenizer that it was written from.

    Without a merge that was removed, a file of this family may be cut at more places. Another file
    may keep merges that never apply, because it lists each token once, or leave them out.

    >>> from bpe_core.tokenizer import gpt2
    >>> reads_as(gpt2(), gpt2())
    True
    """
    if wanted.table.byte_ids:
        read = Tokenizer.from_table(read.table, wanted.pretokenizer.name)
    return read == wanted or without_dead_merges(read) == without_dead_merges(wanted)


def write_texts(tokenizer: Tokenizer) -> dict[int, str]:
    """Return each token as files write it: with ▁ for a space, and <0xE2> for a byte.

    Raises `ConfigError` if two tokens are written alike.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" a"}
    >>> merges = {"merges": [], "pretokenizer": "metaspace", "base": "characters"}
    >>> tokenizer = Tokenizer(
    ...     vocab=vocab, special_tokens={" a": 256}, byte_fallback=range(256), **merges
    ... )
    >>> write_texts(tokenizer)[0xE2]
    '<0xE2>'
    """
    special = set(tokenizer.special_tokens.values())
    texts = {
        id: token.decode() if id in special else token.decode().replace(" ", META)
        for id, token in tokenizer.vocab.items()
        if id not in tokenizer.table.byte_ids.values()
    }
    texts |= {id: f"<0x{byte[0]:02X}>" for byte, id in tokenizer.table.byte_ids.items()}
    ids_by_text(texts)
    return texts


def unknown_token(tokenizer: Tokenizer) -> str | None:
    """Return the token for text that neither characters nor bytes spell, or None.

    >>> from bpe_core.tokenizer import gpt2
    >>> unknown_token(gpt2())
    """
    return "<unk>" if tokenizer.table.byte_ids and "<unk>" in tokenizer.special_tokens else None


def write_steps(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the parts of a tokenizer.json that write spaces as ▁, and the model, as in Llama 2's.

    Raises what `write_texts` raises.
    """
    texts = write_texts(tokenizer)
    to_meta = {"type": "Replace", "pattern": {"String": " "}, "content": META}
    to_space = {"type": "Replace", "pattern": {"String": META}, "content": " "}
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": META}, to_meta],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                to_space,
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown_token(tokenizer),
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": {text: id for id, text in texts.items()},
            "merges": [(texts[left], texts[right]) for left, right, _ in tokenizer.table.triples],
        },
    }


def _spell(texts: Iterable[str]) -> list[bytes]:
    """Return the bytes of each text, with a space for ▁; none has a lone surrogate.

    >>> _spell(["▁a", "é"])
    [b' a', b'\\xc3\\xa9']
    """
    border = "\ud800"  # one encoding of all texts is faster than one of each
    joined = border.join(texts).replace(META, " ").encode("utf-8", "surrogatepass")
    return joined.split(border.encode("utf-8", "surrogatepass"))


def _check_characters(texts: Iterable[str]) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            f"A token has a lone surrogate, U+{ord(error.object[error.start]):04X}, which UTF-8 "
            "cannot encode."
        ) from None


def _find_cut(merges: Triples, texts: Mapping[int, str]) -> str:
    """Return the pre-tokenizer whose cuts no merge crosses."""
    is_marked = np.zeros(1 + max(texts, default=0), np.bool_)
    is_marked[[id for id, text in texts.items() if text[:1] == META]] = True
    lefts = merges[is_marked[merges[:, 1]], 0].tolist()
    crossed = {texts[left][-1] for left in lefts} - {META}
    return "sentencepiece" if not crossed else "gemma3" if crossed == {">"} else "none"


def _check_hidden(found: Set[str], special: Sequence[str]) -> None:
    """Raise if the text of a special token that is not allowed may hide one that is found."""
    begins = {text[:end] for text in found for end in range(1, len(text) + 1)}
    lengths = set(map(len, found))
    for text in special:
        for start in range(len(text)):
            if text[start:] in begins or any(
                text[start : start + length] in found for length in lengths
            ):
                raise FormatError(f"The special token {text!r:.60} overlaps with another.")


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
