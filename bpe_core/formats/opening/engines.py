"""Choose which library runs a described tokenizer, and build its encoder.

A tokenizer.json is encoded by `bpe_core` if all of this holds, and by `tokenizers` otherwise:

- the model is BPE over bytes, without options that plain byte-pair encoding cannot do; bytes that
  are not tokens are left out;
- the normalizer is a form of Unicode or none (see `normalizers`), and the pre-tokenizer is a named
  one, since regex engines differ;
- or the model is BPE over characters with bytes for all others, and only spaces are written as ▁
  before it merges across words (see `huggingface`);
- a probe of many scripts and of the vocabulary's own tokens gives the same ids as `tokenizers`, if
  that is installed. Published files, recognised by their SHA-256, are compared by the tests
  instead.

A SentencePiece model of the same kind is compared with `sentencepiece` in the same way.

Ranks are encoded by `bpe_core` if an order of merges is known to give tiktoken's ids (see
`listed_merges`), and by `tiktoken` otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

from bpe_core.checks import counted
from bpe_core.errors import BpeError, ConfigError, FormatError
from bpe_core.formats.checking.probe import PROBE, keep_merges_within, last_tokens
from bpe_core.formats.description import Description, check_not_overruled, plain_tokenizer
from bpe_core.formats.huggingface import for_library, library_source, why_otherwise
from bpe_core.formats.running.run_by_library import SentencePieceTokenizer, TiktokenTokenizer
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer, encode_once
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Encoder, NamedEncoder, Tokenizer, find_plain_cut, found_in_one_search
from bpe_core.unicode import to_printable


def choose_engine(
    read: Description, pretokenizer: str | None = None
) -> tuple[Description, NamedEncoder]:
    """Return a description with the engine that runs it, and the encoder.

    Raises `FormatError` if no library can run it, and `ConfigError` if the file itself says how
    text is cut and that is not by `pretokenizer`.

    >>> from bpe_core.formats import read_description
    >>> read = read_description({"mine": b"YQ== 0\\nYWE= 1\\n"}, pretokenizer="none")
    >>> chosen, encoder = choose_engine(read)
    >>> encoder.encode("aaa"), chosen.provenance
    ([1, 0], 'Pre-tokenizer none, encoded by bpe_core.')
    """
    own, why_not = _exact_own(read)
    if own is not None:
        return _chosen_own(read, own, pretokenizer)
    # Before the `try`: if the file would take a library too long, that is the only reason given.
    read = replace(read, merges=None, source=library_source(read), parsed=None)
    try:
        peer = run_by_library(read)
    except FormatError as error:
        # First what the file lacks: the library's error only says that it cannot read it.
        raise FormatError(_joined(*dict.fromkeys((why_not, str(error))))) from None
    if read.names_cut and pretokenizer is not None:
        raise ConfigError(
            f"{read.name} itself says how text is cut, and {peer.engine} cuts it so. Leave "
            "out the pre-tokenizer."
        )
    if isinstance(peer, ForeignTokenizer) and peer.model != "BPE":
        why_not = f"A {peer.model} model."
    elif isinstance(peer, SentencePieceTokenizer) and peer.model != "BPE":
        why_not = ""  # its origin says that
    provenance = _joined(read.origin, why_not, f"Encoded by {peer.engine}.", read.note)
    chosen = replace(read, provenance=provenance)
    return chosen, NamedEncoder(read.name, peer, provenance, read.chat)


def open_here(read: Description, pretokenizer: str | None = None) -> NamedEncoder | None:
    """Return the encoder that runs here exactly; None if another library has to run it.

    Raises what `choose_engine` raises.
    """
    own, _ = _exact_own(read)
    return None if own is None else _chosen_own(read, own, pretokenizer)[1]


def build_encoder(chosen: Description) -> NamedEncoder:
    """Build the encoder of a description whose engine was chosen, here or in another process."""
    encoder = run_by_library(chosen) if chosen.merges is None else run_here(chosen)
    return NamedEncoder(chosen.name, encoder, chosen.provenance, chosen.chat)


def run_here(read: Description) -> Tokenizer:
    """Build the tokenizer that runs here; raises `FormatError` with the reason if there is none."""
    if read.library == "bpe_core":
        return build_merges(read)
    tokenizer = plain_tokenizer(read)
    cut, added = tokenizer.pretokenizer, tuple(read.added_tokens)
    if read.spaces is not None:
        return Tokenizer.from_table(tokenizer.table, cut.name, added, read.spaces)
    if tokenizer.base != "bytes":
        raise FormatError(
            f"Its alphabet has {counted(len(tokenizer.base_ids), tokenizer.base[:-1])}, not all "
            f"256 bytes, and the library decides what happens to the others."
        )
    if cut.cut.startswith("regex:"):
        raise FormatError(
            "Its pre-tokenizer is a regular expression, which regex engines may read differently."
        )
    # Without a normalizer, it doesn't matter in which text special tokens are looked for.
    is_one_text = cut.normalizer is None or not any(each.is_normalized for each in added)
    if is_one_text and all(each.is_special for each in added) and found_in_one_search(added):
        added = ()
    return Tokenizer.from_table(tokenizer.table, cut.name, added, leaves_out=True)


def build_tokenizer(described: Description) -> Tokenizer:
    """Build the plainest tokenizer that encodes as a description says.

    Added tokens become special tokens, so encoding with `allowed_special="all"` gives the ids that
    `tokenizers` gives with `add_special_tokens=False`. Where that would not, because the text is
    changed before they are found, it has them as steps, as one of `open_encoder` has.

    Raises `FormatError` if there is none, and `MissingExtraError` for a custom pattern in a
    tokenizer.json if the `tokenizers` library, which checks those, is not installed.
    """
    if not has_steps(described):
        return build_merges(described)
    own, why_not = _exact_own(described)
    if own is None:
        raise FormatError(f"{why_not} Open it with bpe_core.open_encoder.")
    return own


def has_steps(described: Description) -> bool:
    """Return True if a tokenizer finds tokens, or puts spaces, as no pre-tokenizer alone does."""
    added, merges = described.added_tokens, described.merges
    if merges is None:
        return False
    if described.spaces is not None:
        rights = (merges.vocab[right] for _, right, _ in merges.merges)
        return find_plain_cut(merges.pretokenizer, rights, added, described.spaces) is None
    is_found_first = all(each.is_special and not each.is_normalized for each in added)
    return not is_found_first and get_pretokenizer(merges.pretokenizer).normalizer is not None


def build_merges(described: Description) -> Tokenizer:
    """Build the tokenizer of the merges, which adapting changes: with added tokens as special ones.

    Raises what `build_tokenizer` raises.
    """
    tokenizer = plain_tokenizer(described)
    if described.spaces is not None:
        cut, added = tokenizer.pretokenizer.name, described.added_tokens
        return Tokenizer.from_table(tokenizer.table, cut, added, described.spaces).adaptable
    if not found_in_one_search(described.added_tokens):
        raise FormatError(
            "Hugging Face's tokenizers looks for its added tokens in two steps, and one search "
            "would find others. Open it with bpe_core.open_encoder."
        )
    if described.library == "tokenizers" and tokenizer.pretokenizer.cut.startswith("regex:"):
        # Regex engines differ: the same pattern may match other text, or not compile at all.
        otherwise = why_otherwise(tokenizer, library_source(described).decode())
        if otherwise:
            raise FormatError(f"{otherwise} Encode with that library instead.")
    return tokenizer


def run_by_library(read: Description) -> Encoder:
    """Build the encoder that another library runs; raises `FormatError`."""
    if read.library == "sentencepiece":
        return SentencePieceTokenizer(read.source)
    if read.library == "tokenizers":
        return ForeignTokenizer(library_source(read).decode(), read.special)
    assert read.ranks is not None
    return TiktokenTokenizer(read.ranks.ids, read.ranks.pattern, read.ranks.special_tokens)


def _exact_own(read: Description) -> tuple[Tokenizer | None, str]:
    """Return the encoder that runs here exactly, or None and the reason."""
    try:
        own = run_here(read)
    except BpeError as error:
        if read.library == "bpe_core":
            raise
        return None, read.why_not or str(error)
    # Without the library, merges still run: only the comparison with it is left out.
    is_alone = find_spec(read.library) is None and own.pretokenizer.normalizer is None
    if read.library not in ("tokenizers", "sentencepiece") or read.is_known or is_alone:
        return own, ""
    probe = PROBE + last_tokens(own.merged_by, 2_000)
    if own.encode(probe) == _encode_by_library(read, own, probe):
        return own, ""
    return None, "Its merges alone encode a probe of many scripts differently."


def _encode_by_library(read: Description, own: Tokenizer, text: str) -> list[int]:
    """Return the ids that the library gives a text, opened only to encode this one."""
    if read.parsed is None:
        return run_by_library(read).encode(text)
    normalized = own.normalized(text)
    written = normalized if own.spaces is not None else to_printable(normalized.encode())
    return encode_once(for_library(keep_merges_within(read.parsed, written)).decode(), text)


def _chosen_own(
    read: Description, own: Tokenizer, pretokenizer: str | None
) -> tuple[Description, NamedEncoder]:
    if read.names_cut:
        check_not_overruled(read.name, own.merged_by, pretokenizer, None)
    is_compared = bool(read.origin) or read.library != "bpe_core"
    provenance = _joined(read.origin, _how(own, "encoded exactly" if is_compared else "encoded"))
    chosen = replace(read, provenance=provenance, ranks=None, source=b"", parsed=None)
    return chosen, NamedEncoder(read.name, own, provenance, read.chat)


def _how(own: Tokenizer, encoded: str) -> str:
    """Return how text is encoded here, in sentences."""
    cut = own.pretokenizer
    if own.own_spaces is not None:
        put_in_front = "" if own.own_spaces.prefix == "never" else ", one put in front"
        return f"Merges go across words, {encoded} by bpe_core; spaces as ▁{put_in_front}."
    parts = [f"Pre-tokenizer {cut.cut}, {encoded} by bpe_core."]
    if n_ordinary := sum(not each.is_special for each in own.added):
        some = "token is" if n_ordinary == 1 else "tokens are"
        parts.append(f"{n_ordinary:,} added {some} found in ordinary text.")
    if cut.normalizer is not None:
        parts.append(f"Text is normalized first ({cut.normalizer.name}).")
    if own.left_out:
        parts.append(f"Its alphabet has {len(own.base_ids):,} bytes, and others are dropped.")
    return _joined(*parts)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
