"""Open any tokenizer file as an encoder that runs here or in another library.

A tokenizer.json is encoded by `bpe_core` if all of this holds, and by `tokenizers` otherwise:

- the model is BPE over bytes, without options that plain byte-pair encoding cannot do (see
  `read_merges`); bytes that are not tokens are dropped here, or the text is left to the library;
- the normalizer is a form of Unicode or none (see `run_here`), and the pre-tokenizer is a named
  one, since regex engines differ;
- a probe of many scripts and of the vocabulary's own tokens gives the same ids as `tokenizers`, if
  that is installed. Published files, recognised by their SHA-256, are compared by the tests
  instead.

Ranks are encoded by `bpe_core` if an order of merges is known to give tiktoken's ids (see
`recovered_merges`), and by `tiktoken` otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final, Literal, cast

from bpe_core.errors import BpeError, ConfigError, FormatError
from bpe_core.formats.added_tokens import added_tokens, found_in_one_search
from bpe_core.formats.gguf_header import GgufValue, looks_like_gguf, parse_gguf
from bpe_core.formats.gguf_vocabulary import describe_gguf, from_gguf
from bpe_core.formats.huggingface import is_empty, read_merges
from bpe_core.formats.json_files import check_tokens, looks_like_json, parse_json
from bpe_core.formats.load_save import check_not_overruled, loads
from bpe_core.formats.opening_ranks import open_ranks
from bpe_core.formats.patterns import pretokenizer_of
from bpe_core.formats.probe import PROBE, last_tokens
from bpe_core.formats.recovered_merges import MergesNotFoundError
from bpe_core.formats.run_by_sentencepiece import SentencePieceTokenizer
from bpe_core.formats.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.run_here import NativeTokenizer
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece, read_model
from bpe_core.formats.sidecars import (
    SIDECARS,
    fold_sidecars,
    special_beside,
    without_sidecars,
)
from bpe_core.formats.tekken import Ranks, looks_like_tekken, read_tekken
from bpe_core.formats.tiktoken_file import read_ranks, read_tiktoken
from bpe_core.formats.trial_process import rehearse, rehearse_sentencepiece
from bpe_core.formats.zipped import looks_like_zip, unzip_tokenizer
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.published.catalogue import CATALOGUE, Published
from bpe_core.tokenizer.merges_of import made_by_merges
from bpe_core.tokenizer.protocol import NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer

# A .tiktoken file lacks its pre-tokenizer and special tokens; the published ones are recognised.
_BY_SHA256: Final = {
    found.sha256: found for found in CATALOGUE.values() if found.pretokenizer is not None
}
MOST_BYTES: Final = 128_000_000
"""The largest file accepted; the largest tokenizers in use are a third of it."""
Trial = Literal["", "needed", "here", "own", "other"]
"""How far a file was tried on the libraries, since one of them may crash on it: "needed" if it is
still to be tried in another process, "here" if this is that process; "own" or "other" once such a
process found that bpe_core or another library encodes it; "" if its exact bytes are known."""


def open_files(
    files: Mapping[str, bytes], *, pretokenizer: str | None = None, trial: Trial = "needed"
) -> NamedEncoder:
    """Open a tokenizer's file, or GPT-2's two files, in any supported format.

    Pass `pretokenizer` for formats that do not store it: a .tiktoken file needs it unless it is one
    of the published ones, a GGUF file if it does not name one that is known, and GPT-2's two files
    use GPT-2's by default. A file that might crash a compiled library is first tried in another
    process, if the `trial` is needed. Raises `FormatError` if the files are not a tokenizer, and
    `ConfigError` if the pre-tokenizer is missing or is not the one that the files name.

    >>> import tokenizers
    >>> peer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "##b": 1}, unk_token="a"))
    >>> opened = open_files({"tokenizer.json": peer.to_str().encode()})
    >>> opened.encoder.encode("ab"), opened.provenance.split(".")[0]
    ([0, 1], 'A WordPiece model')
    """
    name = ", ".join(without_sidecars(files))
    if len(files) == 1 and looks_like_zip(next(iter(files.values()))):
        files = unzip_tokenizer(files[name], name, SIDECARS)
    for file, data in files.items():
        if len(data) > MOST_BYTES:
            raise FormatError(
                f"{file} has {len(data):,} bytes; the largest tokenizer file accepted has "
                f"{MOST_BYTES:,}."
            )
    all_files, files = files, fold_sidecars(files, pretokenizer)
    data = next(iter(files.values()), b"")
    if len(files) == 1 and looks_like_gguf(data):
        return open_gguf(name, parse_gguf(data), pretokenizer, trial=trial)
    if len(files) == 1 and looks_like_sentencepiece(data):
        more = special_beside(all_files, {piece.text for piece in read_model(data).pieces})
        opened = open_sentencepiece(name, data, trial=trial)
        check_cut(opened, pretokenizer)
        return replace(opened, provenance=f"{opened.provenance}{_left_out(more)}")
    if len(files) == 1 and looks_like_json(data, next(iter(files))):
        described = parse_json(data, next(iter(files)))
        opened = None
        if "model" in described:
            opened = _of_tokenizer_json(name, described, trial=trial)
        elif looks_like_tekken(described):
            opened = open_ranks(name, read_tekken(described), "A Tekken file.")
        if opened is not None:
            if len(without_sidecars(all_files)) == 1:  # GPT-2's two files name no cut
                check_cut(opened, pretokenizer)
            return opened
    digest = hashlib.sha256(data).hexdigest() if len(files) == 1 else ""
    if digest in _BY_SHA256:
        opened = _open_published_ranks(name, data, _BY_SHA256[digest], special_beside(all_files))
        check_cut(opened, pretokenizer)
        return opened
    is_pair = len(files) == 2
    try:
        tokenizer = loads(all_files, pretokenizer=pretokenizer or ("gpt2" if is_pair else None))
    except MergesNotFoundError:
        pattern = get_pretokenizer(pretokenizer or "").pattern or ""
        if pretokenizer_of(pattern) != pretokenizer:  # tiktoken might cut the text differently
            raise
        return open_ranks(
            name, Ranks(read_ranks(data), pattern, special_beside(all_files)), "A .tiktoken file."
        )
    cut = f"Pre-tokenizer {tokenizer.pretokenizer.name}"
    return NamedEncoder(name, tokenizer, f"{cut}, encoded by bpe_core.")


def open_gguf(
    name: str,
    keys: Mapping[str, GgufValue],
    pretokenizer: str | None = None,
    *,
    trial: Trial = "needed",
) -> NamedEncoder:
    """Open the vocabulary that `parse_gguf` or `read_gguf` found in a GGUF file.

    `pretokenizer` and `trial` are as for `open_files`. Raises `FormatError`.
    """
    model, origin = from_gguf(keys, pretokenizer), describe_gguf(keys)
    if isinstance(model, bytes):
        opened = open_sentencepiece(name, model, origin=origin, trial=trial)
        check_cut(opened, pretokenizer)
        return opened
    opened = _of_tokenizer_json(name, model, trial=trial)
    if made_by_merges(opened) is not None:
        check_cut(opened, pretokenizer)
    return replace(opened, provenance=f"{origin} {opened.provenance}")


def open_sentencepiece(
    name: str, data: bytes, *, origin: str = "", trial: Trial = "needed"
) -> NamedEncoder:
    """Open the bytes of a SentencePiece model; raises `FormatError`.

    `trial` is as for `open_files`.
    """
    read_model(data)
    if trial == "needed":
        rehearse_sentencepiece(data, PROBE, name)
    encoder = SentencePieceTokenizer(data)
    what = f"{origin} A SentencePiece model ({encoder.model}), which merges across words."
    return NamedEncoder(name, encoder, f"{what} Encoded by {encoder.engine}.".strip())


def check_cut(opened: NamedEncoder, pretokenizer: str | None) -> None:
    """Raise `ConfigError` if a pre-tokenizer contradicts an opened file, which names its own.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> check_cut(NamedEncoder("GPT-2", gpt2()), "gpt2")
    """
    merges = made_by_merges(opened)
    if merges is not None:
        check_not_overruled(opened.name, merges, pretokenizer, None)
    elif pretokenizer is not None:
        raise ConfigError(
            f"{opened.name} itself says how text is cut, and {opened.engine} cuts it so. Leave "
            "pretokenizer out."
        )


def _left_out(special_tokens: Mapping[str, int]) -> str:
    if not special_tokens:
        return ""
    first = next(iter(special_tokens))
    return (
        f" Left out: {len(special_tokens):,} special tokens of the folder that the model itself "
        f"does not have, such as {first}."
    )


def _open_published_ranks(
    name: str, data: bytes, found: Published, more: Mapping[str, int]
) -> NamedEncoder:
    # Not compared with tiktoken here: the exact file is known, and the tests compare it.
    tokenizer = read_tiktoken(
        data, pretokenizer=found.pretokenizer, special_tokens={**found.special_tokens, **more}
    )
    origin = f"The file is {found.publisher}’s, to the byte. {found.note}".strip()
    cut = f"Pre-tokenizer {tokenizer.pretokenizer.name}, encoded exactly by bpe_core."
    return NamedEncoder(name, tokenizer, f"{origin} {cut}")


def _of_tokenizer_json(name: str, described: Mapping[str, Any], *, trial: Trial) -> NamedEncoder:
    if trial == "other":
        foreign = ForeignTokenizer(described)
        return NamedEncoder(name, foreign, f"Encoded by {foreign.engine}.")
    own: Tokenizer | NativeTokenizer | None = None
    is_checked = False
    try:
        tokenizer = read_merges(dict(described))
        is_checked = is_empty(described.get("normalizer"))
        reason = _why_elsewhere(tokenizer)
        if not reason:
            own = _run_here(tokenizer, described)
    except BpeError as error:
        reason = str(error)
    # Files that can be read here were checked field by field; others may crash the library.
    if own is None and not is_checked and trial in ("needed", "here"):
        _check_size(described["model"])
        if trial == "needed":
            rehearse(described, PROBE, name)
    # Without the library, plain merges still run: only the comparison with it is left out.
    is_plain = isinstance(own, Tokenizer) and find_spec("tokenizers") is None
    if own is not None and (is_plain or trial in ("", "own")):
        return NamedEncoder(name, own, _how(own))
    # The library can read a tokenizer.json, and its ids are the reference for this reader. Known
    # files were compared before, and building a large one takes seconds.
    foreign = ForeignTokenizer(described)
    if own is not None:
        reason = _why_inexact(own, foreign)
    if own is not None and not reason:
        return NamedEncoder(name, own, _how(own))
    if foreign.model != "BPE":
        reason = f"A {foreign.model} model."
    return NamedEncoder(name, foreign, f"{reason} Encoded by {foreign.engine}.")


def _check_size(model: object) -> None:
    """Raise FormatError if a model of any kind has more tokens than any tokenizer."""
    vocab = cast("dict[str, object]", model).get("vocab") if isinstance(model, dict) else None
    if isinstance(vocab, (dict, list)):
        check_tokens(len(cast("list[object]", vocab)), "the vocabulary")


def _why_elsewhere(tokenizer: Tokenizer) -> str:
    """Return why only the library can run a tokenizer's merges; empty if they can run here."""
    if tokenizer.base != "bytes":
        return (
            f"Its alphabet has {len(tokenizer.base_ids):,} {tokenizer.base}, not all 256 bytes, "
            f"and the library decides what happens to the others."
        )
    if tokenizer.pretokenizer.name.startswith("regex:"):
        return (
            "Its pre-tokenizer is a regular expression, which regex engines may read differently."
        )
    return ""


def _run_here(tokenizer: Tokenizer, described: Mapping[str, Any]) -> Tokenizer | NativeTokenizer:
    native = NativeTokenizer(tokenizer, described)
    has_ordinary = len(native.special_tokens) < len(tokenizer.special_tokens)
    is_plain = not (has_ordinary or native.normalizer_name or native.may_lack_bytes)
    return tokenizer if is_plain and found_in_one_search(added_tokens(described)) else native


def _how(own: Tokenizer | NativeTokenizer) -> str:
    """Return how text is encoded here, in sentences."""
    if isinstance(own, Tokenizer):
        return f"Pre-tokenizer {own.pretokenizer.name}, encoded exactly by bpe_core."
    tokenizer = own.tokenizer
    parts = [f"Pre-tokenizer {tokenizer.pretokenizer.name}, encoded exactly by bpe_core."]
    if n_ordinary := len(tokenizer.special_tokens) - len(own.special_tokens):
        some = "token is" if n_ordinary == 1 else "tokens are"
        parts.append(f"{n_ordinary:,} added {some} found in ordinary text.")
    if own.normalizer_name:
        parts.append(f"Text is normalized first ({own.normalizer_name}).")
    if own.may_lack_bytes:
        parts.append(f"Its alphabet has {len(tokenizer.base_ids):,} bytes, and others are dropped.")
    return " ".join(parts)


def _why_inexact(own: Tokenizer | NativeTokenizer, foreign: ForeignTokenizer) -> str:
    """Return why a tokenizer may encode differently from the library; empty if it does not."""
    tokenizer = own if isinstance(own, Tokenizer) else own.tokenizer
    probe = PROBE + last_tokens(tokenizer, 2_000)
    if own.encode(probe) != foreign.encode(probe):
        return "Its merges alone encode a probe of many scripts differently."
    return ""
