"""Read the merges of SentencePiece's family from a list, as a tokenizer.json has it, or write it.

The base symbols are characters, and tokens such as <0xE2> spell those that are not tokens. In the
merges that are returned, ▁ is a space. `sentencepiece_scores` reads models without a list; of files
that have both, such as Gemma's GGUF, the list is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.description import Merges
from bpe_core.formats.gpt2_files import ids_by_text, number_listed
from bpe_core.formats.listed_merges import check_ids, find_live_merges, without_dead_merges
from bpe_core.formats.sentencepiece_model import BYTE_PIECES
from bpe_core.pretokenizers import AddedToken, Spaces
from bpe_core.tokenizer import Tokenizer, Triples, to_list
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
    >>> from bpe_core.tokenizer import to_triples
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
