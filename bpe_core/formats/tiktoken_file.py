"""tiktoken's format: one token per line, its bytes in base 64 and its rank, which is also its id.

The file has no merges: tiktoken joins any two neighbours whose bytes make a token, lowest rank
first. `listed_merges` finds them. The file has no pre-tokenizer and no special tokens either.

Mistral's Tekken JSON has ranks like tiktoken's, behind a block of special tokens: ids are ranks
plus the number of special tokens. The file lists more ranks than the model uses;
`default_vocab_size` says where they end.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from binascii import a2b_base64
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError
from bpe_core.formats.description import Description, Given, Merges, Ranks, refuse_steps
from bpe_core.formats.json_files import MAX_TOKENS, as_list, as_object, check_tokens, is_token_id
from bpe_core.formats.listed_merges import MergesNotFoundError, ranks_imply, recover_merges
from bpe_core.formats.patterns import find_pretokenizer
from bpe_core.formats.published.catalogue import CATALOGUE
from bpe_core.pretokenizers import PRETOKENIZER_NAMES, get_pretokenizer
from bpe_core.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tiktoken


FILE_NAME: Final = "tokenizer.tiktoken"
_PLAIN_RANKS: Final = re.compile(rb"(?:[A-Za-z0-9+/]++={0,2} [0-9]{1,9}\n)++")
# A .tiktoken file lacks its pre-tokenizer and special tokens; the published ones are recognised.
_BY_SHA256: Final = {
    found.sha256: found
    for found in CATALOGUE.values()
    if found.pretokenizer is not None and found.encoding is None
}


def write_tiktoken(tokenizer: Tokenizer) -> bytes:
    r"""Return the file; raises `ConfigError` if tiktoken would encode differently.

    tiktoken drops the text between the matches of a pattern, while a custom pattern here makes
    pre-tokens of it, so pass tiktoken `PATTERN|(?:(?!PATTERN)[\s\S])+` along with the file.

    >>> from bpe_core.tokenizer import gpt2
    >>> write_tiktoken(gpt2()).splitlines()[0]
    b'IQ== 0'
    """
    refuse_steps(tokenizer, "tiktoken")
    if tokenizer.pretokenizer.drops_text:
        raise ConfigError(
            f"tiktoken needs every character in a pre-token, and the pre-tokenizer "
            f"{tokenizer.pretokenizer.name!r} drops white space. Save this tokenizer in the "
            f"huggingface or native format."
        )
    if len(tokenizer.base_ids) < 256:
        raise ConfigError(
            f"tiktoken needs all 256 bytes as tokens, but this tokenizer's alphabet has "
            f"{len(tokenizer.base_ids)}. Save it in the huggingface or native format, or train "
            f"with alphabet='full'."
        )
    special = set(tokenizer.special_tokens.values())
    ranks = {token: id for id, token in sorted(tokenizer.vocab.items()) if id not in special}
    if len(ranks) + len(special) != tokenizer.vocab_size:
        raise ConfigError(
            "Two tokens have the same bytes, which tiktoken's format cannot hold. Save this "
            "tokenizer in the native format."
        )
    names = sorted(tokenizer.special_tokens)
    for name, longer in pairwise(names):
        if longer.startswith(name):
            raise ConfigError(
                f"The special token {longer!r} begins with {name!r}, and tiktoken may find either "
                f"of them. Save this tokenizer in the huggingface or native format."
            )
    if not _encodes_by_ranks(tokenizer, ranks):
        raise ConfigError(
            "tiktoken merges in the order of ids, and this tokenizer merges in another order. Save "
            "it in "
            "the huggingface or native format."
        )
    lines = [b64encode(token) + b" %d\n" % id for token, id in ranks.items()]
    return b"".join(lines)


def what_ranks_lack(tokenizer: Tokenizer) -> str:
    """Return a sentence on the special tokens that a .tiktoken file lacks, or "".

    >>> from bpe_core.tokenizer import gpt2
    >>> what_ranks_lack(gpt2())[:65]
    'A .tiktoken file holds no special tokens. Pass it with its id: <|'
    """
    special = sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
    if not special:
        return ""
    (first, id), n_more = special[0], len(special) - 1
    more = f" and {n_more:,} more" if n_more else ""
    what = "Pass them with their ids" if n_more else "Pass it with its id"
    return (
        f"A .tiktoken file holds no special tokens. {what}: {first} is {id:,}{more}. A program "
        "that numbers special tokens after the last rank may give them other ids."
    )


def _encodes_by_ranks(tokenizer: Tokenizer, ranks: Mapping[bytes, int]) -> bool:
    """Return True if tiktoken, which looks up whole words, encodes as the tokenizer does."""
    if ranks_imply(ranks, tokenizer.table.triples):
        return True
    if not tokenizer.table.whole_words_first:
        return False
    try:
        return tuple(recover_merges(ranks)) == tokenizer.table.triples
    except FormatError:
        return False


def describe_tiktoken(given: Given) -> Description:
    """Describe the tokenizer of a .tiktoken file.

    A published file is recognised by its SHA-256, and brings its pre-tokenizer and special tokens;
    given special tokens are added to these. Raises `FormatError` for a damaged file, and
    `ConfigError` if the pre-tokenizer is missing.

    >>> describe_tiktoken(Given("mine", b"YQ== 0\\nYWE= 1\\n", pretokenizer="none")).merges.merges
    [(0, 0, 1)]
    """
    special_tokens, pretokenizer, origin = given.beside.special(), given.pretokenizer, ""
    found = _BY_SHA256.get(hashlib.sha256(given.data).hexdigest())
    if found is not None:
        # Not compared with tiktoken here: the exact file is known, and the tests compare it.
        origin = f"The file is {found.publisher}’s, to the byte. {found.note}".strip()
        pretokenizer = found.pretokenizer
        special_tokens = {**found.special_tokens, **special_tokens}
    if (added := given.special_tokens) is not None:
        if not is_a(added, Mapping) or not all(is_a(text, str) for text in added):
            raise ArgumentTypeError(
                f"Expected special_tokens as a dict from text to id, such as "
                f"{{'<|endoftext|>': 50256}}, got {describe(added)}."
            )
        special_tokens = {**special_tokens, **added}
    ids = read_ranks(given.data)
    if pretokenizer is None:
        raise ConfigError(
            "A .tiktoken file does not store its pre-tokenizer. Name it, for example "
            "pretokenizer='cl100k'."
        )
    ranks = Ranks(ids, get_pretokenizer(pretokenizer).pattern or "", special_tokens)
    return describe_ranks(given.name, ranks, pretokenizer, origin=origin, names_cut=bool(origin))


def describe_ranks(
    name: str, ranks: Ranks, pretokenizer: str, *, origin: str = "", names_cut: bool = False
) -> Description:
    """Describe ranks: as merges, or for tiktoken if no order of merges is known.

    `origin` is a sentence on the file. Raises `FormatError` for ranks that contradict each other.
    """
    try:
        return Description(
            name=name,
            origin=origin,
            merges=recover_rank_merges(ranks.ids, pretokenizer, ranks.special_tokens),
            names_cut=names_cut,
        )
    except MergesNotFoundError as error:
        if find_pretokenizer(ranks.pattern) != pretokenizer:
            raise  # tiktoken might cut the text differently
        return Description(
            name=name,
            origin=origin or "A .tiktoken file.",
            why_not=str(error),
            library="tiktoken",
            ranks=ranks,
            names_cut=names_cut,
        )


def read_ranks(data: bytes) -> dict[bytes, int]:
    """Return each token's rank; raises `FormatError` for a line that is not a token and its rank.

    >>> read_ranks(b"YQ== 0\\nYg== 1\\n")
    {b'a': 0, b'b': 1}
    """
    check_tokens(data.count(b"\n"), "the file")
    if _PLAIN_RANKS.fullmatch(data):
        words = data.split()
        with suppress(ValueError):  # the loop below says which line is at fault
            tokens = map(partial(a2b_base64, strict_mode=True), words[::2])
            ranks = dict(zip(tokens, map(int, words[1::2]), strict=True))
            if len(ranks) == len(words) // 2 and b"" not in ranks:
                return ranks
    ranks = dict[bytes, int]()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        written, _, rank = line.strip().partition(b" ")
        try:
            token = b64decode(written, validate=True)
        except ValueError:
            token = b""
        if not token or not rank.isdigit() or len(rank) > 9:
            raise FormatError(
                f"Expected a token in base 64, a space and its rank in line {number:,}, "
                f"got {line[:60]!r}."
            )
        if token in ranks:
            raise FormatError(f"Line {number:,} repeats the token {token!r:.60}.")
        ranks[token] = int(rank)
    if not ranks:
        raise FormatError("The file is empty. Use the file as it was saved.")
    return ranks


def recover_rank_merges(
    ranks: Mapping[bytes, int], pretokenizer: str, special_tokens: Mapping[str, int]
) -> Merges:
    """Return the merges that encode as tiktoken does with these ranks; raises `FormatError`.

    Raises `ConfigError` for an unknown pre-tokenizer.

    >>> recover_rank_merges({b"a": 0, b"b": 1, b"ab": 2}, "none", {}).tokenizer().encode("abb")
    [2, 1]
    """
    vocab = {id: token for token, id in ranks.items()}
    if len(vocab) < len(ranks):
        for token, rank in ranks.items():
            if vocab[rank] != token:
                raise FormatError(
                    f"The tokens {token!r:.60} and {vocab[rank]!r:.60} have the same rank, "
                    f"{rank:,}. Give each token a different one."
                )
    for text, id in special_tokens.items():
        if vocab.setdefault(id, text.encode(errors="replace")) != text.encode(errors="replace"):
            raise FormatError(
                f"The special token {text!r:.60} was given the id {id}, which is the id of "
                f"{vocab[id]!r:.60}."
            )
    get_pretokenizer(pretokenizer)  # Raised here: a wrong name is not the fault of the ranks.
    merges = recover_merges(ranks)
    made = {id for _, _, id in merges}
    return Merges(
        vocab=vocab,
        merges=merges,
        pretokenizer=pretokenizer,
        special_tokens=special_tokens,
        # Where merges make every token, looking it up makes no difference.
        whole_words_first=any(len(token) > 1 and id not in made for token, id in ranks.items()),
    )


def from_tiktoken(encoding: tiktoken.Encoding) -> Tokenizer:
    """Return the tokenizer that encodes as a tiktoken encoding does; raises `FormatError`.

    Its pattern must be that of a named pre-tokenizer: tiktoken drops text that a pattern does not
    match, and a custom pattern here never does.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> pattern = get_pretokenizer("cl100k").pattern
    >>> mine = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    >>> from_tiktoken(mine).encode("hugs")
    [257, 115]
    """
    if not hasattr(encoding, "_mergeable_ranks"):
        raise ArgumentTypeError(
            f"Expected a tiktoken.Encoding, got {describe(encoding)}. tiktoken.get_encoding "
            "returns one."
        )
    # tiktoken has no public access to these three; its own pickling reads them too.
    pattern = encoding._pat_str  # pyright: ignore[reportPrivateUsage]
    ranks = encoding._mergeable_ranks  # pyright: ignore[reportPrivateUsage]
    special_tokens = encoding._special_tokens  # pyright: ignore[reportPrivateUsage]
    pretokenizer = find_pretokenizer(pattern)
    if pretokenizer.startswith("regex:"):
        raise FormatError(
            f"The pattern of {encoding.name!r} is not that of "
            f"{' or '.join(PRETOKENIZER_NAMES[:3])}. tiktoken drops text that other patterns do "
            f"not match, which cannot be reproduced."
        )
    return recover_rank_merges(ranks, pretokenizer, special_tokens).tokenizer()


# Mistral's files have 1,000. They need not be listed, so a small file could claim millions.
MAX_SPECIAL: Final = 10_000
# Files without a list of special tokens have these (mistral_common.tokens.tokenizers.tekken).
_UNLISTED: Final = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def looks_like_tekken(described: Mapping[str, Any]) -> bool:
    """Return True if a parsed JSON file is a Tekken file.

    >>> looks_like_tekken({"config": {"pattern": "."}, "vocab": []}), looks_like_tekken({})
    (True, False)
    """
    config = described.get("config")
    return (
        isinstance(config, dict)
        and "pattern" in config
        and isinstance(described.get("vocab"), list)
    )


def describe_tekken(given: Given, described: Mapping[str, Any]) -> Description:
    """Describe the tokenizer of a parsed Tekken file; raises what `read_tekken` raises."""
    ranks = read_tekken(described)
    pretokenizer, origin = find_pretokenizer(ranks.pattern), "A Tekken file."
    if not pretokenizer.startswith("regex:"):
        return describe_ranks(given.name, ranks, pretokenizer, origin=origin, names_cut=True)
    return Description(
        name=given.name,
        origin=origin,
        why_not="Its pattern is not one that bpe_core knows by name.",
        library="tiktoken",
        ranks=ranks,
        names_cut=True,
    )


def read_tekken(described: Mapping[str, Any]) -> Ranks:
    """Return the ranks, pattern and special tokens of a parsed Tekken file.

    Raises `FormatError` for sizes that contradict each other, for tokens that are damaged or occur
    twice, and for ranks with holes.

    >>> vocab = [{"rank": byte, "token_bytes": text} for byte, text in enumerate(["AA==", "AQ=="])]
    >>> config = {"pattern": ".", "default_vocab_size": 5, "default_num_special_tokens": 3}
    >>> ranks = read_tekken({"config": config, "vocab": vocab})
    >>> ranks.ids, list(ranks.special_tokens)
    ({b'\\x00': 3, b'\\x01': 4}, ['<unk>', '<s>', '</s>'])
    """
    config = cast("dict[str, Any]", described["config"])
    pattern = config["pattern"]
    size, n_special = config.get("default_vocab_size"), config.get("default_num_special_tokens")
    if not isinstance(pattern, str):
        raise FormatError(
            f"Expected a regular expression as the Tekken file's pattern, got {pattern!r:.60}."
        )
    for key, number in (("default_vocab_size", size), ("default_num_special_tokens", n_special)):
        if not is_token_id(number):
            raise FormatError(
                f"Expected a whole number as {key} in the config of the Tekken file, got "
                f"{number!r:.60}."
            )
    size, n_special = cast("int", size), cast("int", n_special)
    vocab = cast("list[Any]", described["vocab"])
    n_tokens = size - n_special
    if n_special > MAX_SPECIAL:
        raise FormatError(
            f"The Tekken file announces {n_special:,} special tokens "
            f"(default_num_special_tokens); at most {MAX_SPECIAL:,} are read."
        )
    if not 0 < n_tokens <= min(len(vocab), MAX_TOKENS):
        raise FormatError(
            f"The Tekken file announces {size:,} tokens, {n_special:,} of them special, and lists "
            f"{len(vocab):,}."
        )
    ids: dict[bytes, int] = {}
    for place, entry in enumerate(vocab[:n_tokens]):
        described_token = as_object(entry)
        rank, written = described_token.get("rank"), described_token.get("token_bytes")
        try:
            token = b64decode(written, validate=True) if isinstance(written, str) else b""
        except ValueError:
            token = b""
        if rank != place or not token:
            raise FormatError(
                f"Expected rank {place:,} and a token in base 64 at entry {place:,} of the Tekken "
                f"file, got {entry!r:.80}."
            )
        if ids.setdefault(token, n_special + place) != n_special + place:
            raise FormatError(
                f"Entry {place:,} of the Tekken file repeats the token {token!r:.60}."
            )
    return Ranks(ids, pattern, _special_tokens(described.get("special_tokens"), n_special))


def _special_tokens(listed: object, n_special: int) -> dict[str, int]:
    names: list[str] = []
    if listed is None:
        names += _UNLISTED[:n_special]
    else:
        for place, entry in enumerate(as_list(listed)):
            name = as_object(entry).get("token_str")
            if not isinstance(name, str) or not name or as_object(entry).get("rank") != place:
                raise FormatError(
                    f"Expected rank {place:,} and a name at special token {place:,} of the Tekken "
                    f"file, got {entry!r:.80}."
                )
            names.append(name)
    names += [f"<SPECIAL_{id}>" for id in range(len(names), n_special)]
    if len(set(names)) != len(names) or len(names) != n_special:
        raise FormatError(
            f"Expected {n_special:,} different special tokens in the Tekken file, got "
            f"{len(set(names)):,}."
        )
    return {name: id for id, name in enumerate(names)}
