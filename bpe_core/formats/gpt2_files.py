"""GPT-2's two files: vocab.json, token -> id, and merges.txt, one merge per line in rank order.

Neither stores the pre-tokenizer or marks special tokens. Source: OpenAI's GPT-2 release
(encoder.json and vocab.bpe); the names vocab.json and merges.txt are Hugging Face's.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.description import Description, Given, Merges, refuse_steps
from bpe_core.formats.folder_files import PAIRS
from bpe_core.formats.json_files import checked_ids, parse_json
from bpe_core.formats.listed_merges import after_their_parts, check_ids, find_live_merges
from bpe_core.formats.patterns import BYTE_LEVEL, normalizer_part, pre_tokenizer_part
from bpe_core.formats.sidecars import added_token, with_added, with_prefix
from bpe_core.formats.token_parts import Triple, Triples, number_merges, to_list
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import CHARACTER_TO_BYTE, from_printable, from_printables, to_printable

VOCABULARY, MERGES = PAIRS[0]
_HEADER: Final = "#version: 0.2"


def write_gpt2_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the two files; raises `ConfigError` if they cannot express the tokenizer.

    >>> from bpe_core.tokenizer import gpt2
    >>> write_gpt2_files(gpt2())["merges.txt"].splitlines()[1].decode()
    'Ġ t'
    """
    if tokenizer.table.whole_words_first:
        raise ConfigError(
            "GPT-2's files cannot express that whole words are looked up before merging, as this "
            "tokenizer does. Save it in the huggingface, tiktoken or native format."
        )
    refuse_steps(tokenizer, "This format of two files")
    ids, merges = printable_model(tokenizer)
    missed = tokenizer.special_tokens.keys() - special_by_look(ids, merges).keys()
    if missed:
        raise ConfigError(
            f"GPT-2's files do not mark special tokens, and {min(missed)!r} would be read as an "
            f"ordinary one. Save this tokenizer in the huggingface or native format."
        )
    lines = [_HEADER, *(" ".join(pair) for pair in merges), ""]
    return {VOCABULARY: json.dumps(ids).encode(), MERGES: "\n".join(lines).encode()}


def describe_gpt2_files(given: Given, merges: bytes) -> Description:
    """Describe the tokenizer of the two files, of which `given` is the vocabulary.

    Without special tokens that are given, every token longer than a byte that no merge makes counts
    as special. Raises `FormatError`.

    >>> describe_gpt2_files(Given("mine", b'{"a": 0, "aa": 1}'), b"a a").merges.merges
    [(0, 0, 1)]
    """
    found = from_printable_model(
        checked_ids(parse_json(given.data, VOCABULARY), VOCABULARY),
        read_merge_lines(merges),
        pretokenizer=given.pretokenizer or "gpt2",
        special_tokens=given.special_tokens,
    )
    return Description(name=given.name, merges=found)


def join_pair(given: Given, merges: bytes) -> dict[str, Any]:
    """Return the tokenizer.json of GPT-2's two files and what is next to them.

    Raises `FormatError` for files of a class that cuts text in a way unknown here, unless that is
    given.
    """
    beside, known = given.beside, given.beside.reading_class
    ids = checked_ids(parse_json(given.data, VOCABULARY), VOCABULARY)
    pairs = read_merge_lines(merges)
    named = known and known.pretokenizer
    who = f"{beside.class_name} of transformers" if beside.class_name else ""
    if not who and beside.model_type:
        who = f"a model of type {beside.model_type!r:.60}"
    if who and named is None and given.pretokenizer is None:
        raise FormatError(
            f"vocab.json and merges.txt do not say how {who} cuts text. Use the folder's "
            "tokenizer.json, or name a pretokenizer."
        )
    cut = get_pretokenizer(named or given.pretokenizer or "gpt2")
    added = list(beside.added(known))
    if known is None:
        # As in GPT-2's two files alone.
        listed = {token["content"] for token in added}
        added += [
            added_token(text, VOCABULARY, special=True)
            for text in special_by_look(ids, pairs)
            if text not in listed
        ]
    described: dict[str, Any] = {
        "added_tokens": [],
        "normalizer": (known and known.normalizer) or normalizer_part(cut),
        "pre_tokenizer": pre_tokenizer_part(cut, by_bytes=True),
        "decoder": {**BYTE_LEVEL},
        "model": {"type": "BPE", "vocab": ids, "merges": [list(pair) for pair in pairs]},
    }
    return with_added(with_prefix(described, beside, known), added)


def read_merge_lines(merges: bytes) -> list[tuple[str, str]]:
    """Return the pairs of a merges.txt; raises `FormatError` for a line that is not one.

    >>> read_merge_lines(b"a b")
    [('a', 'b')]
    """
    try:
        lines = merges.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{MERGES} is not UTF-8 at byte {error.start:,}.") from None
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(lines, start=1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise FormatError(
                f"Expected two tokens and a space in {MERGES}, line {number:,}, got {line[:80]!r}."
            )
        pairs.append((left, right))
    return pairs


def printable_model(tokenizer: Tokenizer) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the vocabulary as printable text -> id, and the merges as pairs of such texts.

    The tokens are of bytes, without an end-of-word marker. Added tokens are written unchanged.
    Raises `ConfigError` if two tokens would be written the same way.

    >>> tokenizer = Tokenizer(
    ...     vocab={0: b" ", 1: b"a", 2: b" a"}, merges=[(0, 1, 2)], pretokenizer="none"
    ... )
    >>> printable_model(tokenizer)
    ({'Ġ': 0, 'a': 1, 'Ġa': 2}, [('Ġ', 'a')])
    """
    special = {id: text for text, id in tokenizer.table.special_tokens.items()}
    written = {id: special.get(id) or to_printable(token) for id, token in tokenizer.vocab.items()}
    ids = ids_by_text(dict(sorted(written.items())))
    return ids, [(written[left], written[right]) for left, right, _ in tokenizer.table.triples]


def ids_by_text(texts: Mapping[int, str]) -> dict[str, int]:
    """Return the id of each token's text; raises `ConfigError` if two have the same.

    >>> ids_by_text({0: "a", 1: "b"})
    {'a': 0, 'b': 1}
    """
    ids: dict[str, int] = {}
    for id, text in texts.items():
        if ids.setdefault(text, id) != id:
            raise ConfigError(
                f"The tokens {ids[text]:,} and {id:,} would both be written {text!r:.60}, and this "
                "format identifies tokens by their text. Save this tokenizer in the native format."
            )
    return ids


def from_printable_model(
    ids: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    *,
    pretokenizer: str,
    special_tokens: Mapping[str, int] | None,
    whole_words_first: bool = False,
    others_as_text: bool = False,
) -> Merges:
    """Return the merges of a byte tokenizer from printable texts; raises `FormatError`.

    With `others_as_text`, a token that no printable bytes can spell, and no merge makes, stands for
    its UTF-8, as `tokenizers` decodes it. Raises `ConfigError` for an unknown pre-tokenizer.

    >>> from_printable_model(
    ...     {"Ġ": 0, "a": 1, "Ġa": 2}, [("Ġ", "a")], pretokenizer="none", special_tokens=None
    ... ).merges
    [(0, 1, 2)]
    """
    if special_tokens is None:
        special_tokens = special_by_look(ids, merges)
    for text, id in special_tokens.items():
        if ids.get(text, id) != id:
            raise FormatError(
                f"The special token {text!r:.60} was given the id {id}, but it is {ids[text]} in "
                f"the vocabulary."
            )
    vocab = _vocabulary(ids, special_tokens, merges if others_as_text else None)
    triples = _plain_merges(
        number_listed(ids, merges), ids, vocab, whole_words_first=whole_words_first
    )
    get_pretokenizer(pretokenizer)  # Raised here: a wrong name is not the fault of the files.
    return Merges(
        vocab=vocab,
        merges=triples,
        pretokenizer=pretokenizer,
        special_tokens=special_tokens,
        whole_words_first=whole_words_first,
    )


def _vocabulary(
    ids: Mapping[str, int],
    special_tokens: Mapping[str, int],
    merges: Sequence[Sequence[str]] | None,
) -> dict[int, bytes]:
    """Return the bytes of each id.

    With `merges`, a token that is in none of them and that no printable bytes spell stands for its
    UTF-8.
    """
    all_ids = {**ids, **special_tokens}
    printable = [text for text in ids if text not in special_tokens]
    with suppress(KeyError, UnicodeEncodeError):  # the loop below says which token is at fault
        tokens = dict(zip(printable, from_printables(printable), strict=True))
        tokens |= {text: text.encode() for text in special_tokens}
        vocab = dict(zip(all_ids.values(), map(tokens.__getitem__, all_ids), strict=True))
        if len(vocab) == len(all_ids):
            return vocab
    vocab = dict[int, bytes]()
    in_merges = {text for pair in merges or () for text in pair}
    for text, id in all_ids.items():
        try:
            token = text.encode() if text in special_tokens else from_printable(text)
        except KeyError as error:
            # Merges of printable tokens make printable ones only. A single byte would be taken for
            # a symbol of the alphabet.
            is_text = merges is not None and text not in in_merges
            if is_text and len(text.encode(errors="replace")) > 1:
                vocab[id] = text.encode(errors="replace")
                continue
            raise FormatError(
                f"The token {text!r:.60} contains {error.args[0]!r}, which does not represent a "
                f"byte. If it is a special token, add it to special_tokens."
            ) from None
        except UnicodeEncodeError:
            raise FormatError(
                f"The special token {text!r:.60} contains a lone surrogate, which has no UTF-8."
            ) from None
        if vocab.setdefault(id, token) != token:
            raise FormatError(f"The id {id} belongs to both {vocab[id]!r:.60} and {token!r:.60}.")
    return vocab


def number_listed(
    ids: Mapping[str, int], merges: Sequence[Sequence[str]], left_out: Collection[str] = ()
) -> Triples:
    """Return the ids of merges of texts, as `number_merges` does.

    Raises `FormatError` that names the first merge of a text without an id.

    >>> number_listed({"b": 0, "bb": 1}, [("b", "b"), ("a", "b")])
    Traceback (most recent call last):
    bpe_core.errors.FormatError: Merge 1 uses the token 'a', which is not in the vocabulary.
    """
    try:
        return number_merges(ids, merges, left_out)
    except KeyError as error:
        token = error.args[0]
    rank = next(rank for rank, (a, b) in enumerate(merges) if token in (a, b, a + b))
    raise FormatError(
        f"Merge {rank:,} uses the token {token!r:.60}, which is not in the vocabulary."
    )


def _plain_merges(
    listed: Triples, ids: Mapping[str, int], vocab: Mapping[int, bytes], *, whole_words_first: bool
) -> list[Triple]:
    """Return merges in which each comes after those of its parts.

    A file may list every two tokens that spell a third, in the order of the third token's rank, as
    one that was written from tiktoken's ranks. Those that never apply are left out then.
    """
    base = [id for text, id in ids.items() if len(text) == 1]
    made, n_base = listed[:, 2], len(base)
    known, since = np.unique(np.append(np.array(base, np.int64), made), return_index=True)
    places = np.minimum(np.searchsorted(known, listed[:, :2]), len(known) - 1)
    is_known = known[places] == listed[:, :2]
    ranks = np.arange(n_base, n_base + len(listed))[:, np.newaxis]
    if (is_known & (since[places] < ranks)).all() and (
        len(known) == n_base + len(listed) or not whole_words_first
    ):
        return to_list(listed)
    check_ids(ids)
    known_ids = set(known.tolist())
    texts = {id: text for text, id in ids.items() if id in known_ids}
    return after_their_parts(find_live_merges(listed, texts), vocab)


def special_by_look(ids: Mapping[str, int], merges: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the tokens longer than a byte that no merge makes, with their ids.

    >>> special_by_look({"a": 0, "aa": 1, "<s>": 2}, [("a", "a")])
    {'<s>': 2}
    """
    made = {left + right for left, right in merges}
    return {
        text: id
        for text, id in ids.items()
        if text not in made and not (len(text) == 1 and text in CHARACTER_TO_BYTE)
    }
