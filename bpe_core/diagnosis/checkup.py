"""Check a tokenizer for the faults that cost people a training, each with an example and a remedy.

A check reads the tokenizer itself, or the files that it came from: the model's configuration, a
second vocabulary next to the first, the chat template. What could not be checked is listed as
skipped, with the reason, so that no finding means something.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from bpe_core.checks import counted, is_whole
from bpe_core.diagnosis.differences import diff, show_bytes
from bpe_core.errors import BpeError
from bpe_core.formats import list_live_merges, open_encoder, parse_json, read_files_at
from bpe_core.tokenizer import Encoder, Tokenizer, named, to_encoder
from bpe_core.unicode import are_whole_characters
from bpe_core.vocabulary import Reachability

if TYPE_CHECKING:
    from bpe_core.tokenizer import Trained

Severity = Literal["error", "warning", "note"]

_N_EXAMPLES: Final = 3
_TOKENIZER, _CONFIG, _TOKENIZER_CONFIG = "tokenizer.json", "config.json", "tokenizer_config.json"
_GENERATION: Final = "generation_config.json"
_PAIR: Final = ("vocab.json", "merges.txt")
_CONTROL: Final = re.compile(r"<[|/]?[\w-]+[|/]?>|\[/?[A-Z_]{2,}\]|<｜[^<>]+｜>")
"""What the tokens look like that tell a model who speaks, and where a text ends."""
_NEVER_IN_UTF8: Final = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
_SCRIPTS: Final = (
    "The quick brown fox, it's 2024! x2  y\n\n\tz \r\n a_b-c 3.14",
    "café Straße Съешь Ξε שלום السلام १२३ नमस्ते สวัสดี 你好。こんにちは 안녕 👩‍👩‍👧🏽",
    "cafe\u0301 \ufb01 \u212b \u00bd \u2460 \u1100\u1161",
    "def f(x):\n    return {'a': [1, 2], \"b\": None}  # tab\there",
    " leading,  double and trailing \u00a0\u2003\u3000 ",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a tokenizer, or worth knowing."""

    name: str
    """Which check found it, as in the documentation."""
    severity: Severity
    message: str
    example: str
    """One case, such as a token or a text."""
    remedy: str

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "example": self.example,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Checkup:
    """What the checks of a tokenizer found, as `bpe_core.check` returns it."""

    findings: tuple[Finding, ...]
    """The most severe first."""
    passed: tuple[str, ...]
    """The checks that found nothing."""
    skipped: Mapping[str, str]
    """The checks that could not be made, and why."""

    @property
    def n_errors(self) -> int:
        """How many findings are errors."""
        return sum(each.severity == "error" for each in self.findings)

    @property
    def n_warnings(self) -> int:
        """How many findings are warnings."""
        return sum(each.severity == "warning" for each in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "n_errors": self.n_errors,
            "n_warnings": self.n_warnings,
            "findings": [each.to_dict() for each in self.findings],
            "passed": list(self.passed),
            "skipped": dict(self.skipped),
        }


def check(
    tokenizer: Encoder | Trained | str | os.PathLike[str],
    on_progress: Callable[[int, int], None] | None = None,
) -> Checkup:
    """Check a tokenizer: an encoder, a training run, or a path or name that is opened.

    With a path, the files next to the tokenizer are checked too. `on_progress` is called with the
    number of checks done and their total. Raises what `open_encoder` raises.

    >>> import bpe_core as bpe
    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"ab", 257: b"ab"}
    >>> broken = bpe.Tokenizer(vocab=vocab, merges=[(97, 98, 256)], pretokenizer="gpt2")
    >>> found = bpe.check(broken)
    >>> [(each.name, each.severity) for each in found.findings]
    [('duplicate-tokens', 'warning'), ('unreachable-tokens', 'warning'), ('unused-bytes', 'note')]
    """
    if isinstance(tokenizer, (str, os.PathLike)):
        opened: Encoder = open_encoder(tokenizer)
        files = _read_files(Path(tokenizer))
    else:
        opened, files = to_encoder(tokenizer), {}
    subject = _Subject(opened, files)
    findings: list[Finding] = []
    passed: list[str] = []
    skipped: dict[str, str] = {}
    for done, (names, run) in enumerate(_CHECKS):
        if on_progress is not None:
            on_progress(done, len(_CHECKS))
        try:
            found = list(run(subject))
        except _NotCheckedError as error:
            skipped |= dict.fromkeys(names, str(error))
            continue
        findings += found
        failed = {each.name for each in found}
        passed += [name for name in names if name not in failed]
    findings.sort(key=lambda each: (_ORDER.index(each.severity), each.name))
    return Checkup(tuple(findings), tuple(passed), skipped)


def _read_files(path: Path) -> dict[str, bytes]:
    """Return a tokenizer's files, a slow reader's vocabulary, and how a model writes text."""
    if not path.exists():  # a name
        return {}
    files = read_files_at(path)
    for name in (*_PAIR, _GENERATION) if path.is_dir() else ():
        if name not in files and (path / name).is_file():
            files[name] = (path / name).read_bytes()
    return files


_ORDER: Final = ("error", "warning", "note")


class _NotCheckedError(Exception):
    """Why a check cannot be made."""


class _Subject:
    """A tokenizer, and the files that it came from."""

    def __init__(self, opened: Encoder, files: Mapping[str, bytes]) -> None:
        self.opened = opened
        found = named(opened)
        self.encoder, self.chat, self.provenance = found.encoder, found.chat, found.provenance
        self.files = files

    @property
    def merges(self) -> Tokenizer:
        own = self.encoder.merged_by
        if own is None:
            raise _NotCheckedError(f"{self.encoder.engine} runs it, and its merges are not known.")
        return own

    def json(self, name: str) -> dict[str, Any]:
        if name not in self.files:
            raise _NotCheckedError(f"There is no {name} next to it.")
        try:
            return parse_json(self.files[name], name)
        except BpeError as error:
            raise _NotCheckedError(str(error)) from None

    def encode(self, text: str, *, special: bool = False) -> list[int] | None:
        try:
            return self.encoder.encode(text, "all" if special else ())
        except BpeError:
            return None


def _check_reachable(subject: _Subject) -> Iterator[Finding]:
    tokenizer = subject.merges
    found = Reachability.of(tokenizer)
    spelling = {*tokenizer.table.byte_ids.values()}
    bytes_only = [
        id
        for id in found.unreachable
        if id in spelling
        or (len(tokenizer.vocab[id]) == 1 and tokenizer.vocab[id][0] in _NEVER_IN_UTF8)
    ]
    # Removed tokens are not counted as tokens, and bpe inspect says how many there are.
    others = [id for id in found.unreachable if id not in {*bytes_only, *tokenizer.table.removed}]
    if others:
        id = others[0]
        yield Finding(
            "unreachable-tokens",
            "warning",
            f"No text is encoded to {counted(len(others), 'token')}, which is proved.",
            f"{_token(tokenizer, id)}: {found.REASONS[found.unreachable[id]]}",
            "Their rows are never trained. Remove them with bpe shrink, or use them for new "
            "special tokens.",
        )
    if bytes_only:
        yield Finding(
            "unused-bytes",
            "note",
            f"No text is encoded to {counted(len(bytes_only), 'single byte')}: UTF-8 has no use "
            "for them, or their characters are tokens.",
            _token(tokenizer, bytes_only[0]),
            "Nothing: all tokenizers with 256 bytes have such.",
        )
    if found.undecided:
        yield Finding(
            "undecided-tokens",
            "note",
            f"For {counted(len(found.undecided), 'token')}, neither a text was found nor a proof "
            "that there is none.",
            _token(tokenizer, found.undecided[0]),
            "Look them up on the page Vocabulary.",
        )


def _check_alphabet(subject: _Subject) -> Iterator[Finding]:
    tokenizer = subject.merges
    if tokenizer.base == "characters":
        if not tokenizer.table.byte_ids and subject.encoder.unknown_id is None:
            yield Finding(
                "missing-bytes",
                "error",
                f"Only {counted(len(tokenizer.base_ids), 'character')} can be encoded.",
                next(
                    c
                    for c in ("漢", "é", "z", "\U0001f600")
                    if c.encode() not in tokenizer.base_ids
                ),
                "Train with base='bytes', or with byte_fallback=True.",
            )
        return
    missing = [
        byte
        for byte in range(256)
        if bytes([byte]) not in tokenizer.base_ids and byte not in _NEVER_IN_UTF8
    ]
    if missing:
        yield Finding(
            "missing-bytes",
            "error",
            f"{counted(len(missing), 'byte')} of UTF-8 have no token, so text with them is refused "
            "or loses them.",
            f"0x{missing[0]:02X}",
            "Train with alphabet='full', or add the bytes to the vocabulary.",
        )


def _check_merges(subject: _Subject) -> Iterator[Finding]:
    tokenizer = subject.merges
    if tokenizer.table.removals:
        raise _NotCheckedError("Training removed tokens again, so merges can apply later.")
    try:
        live = list_live_merges(tokenizer)
    except BpeError as error:
        raise _NotCheckedError(str(error)) from None
    table = tokenizer.table
    alive = set(live)
    dead = [merge for merge in table.triples if merge not in alive]
    made = {id for *_, id in live}
    lost = [merge for merge in dead if merge[2] not in made]
    if dead:
        left, right, id = (lost or dead)[0]
        vocab = table.vocab
        yield Finding(
            "dead-merges",
            "warning" if lost else "note",
            f"{counted(len(dead), 'merge')} can never apply, because others always come first; "
            f"of these, {len(lost):,} would make a token that no other merge makes.",
            f"{show_bytes(vocab[left])!r} + {show_bytes(vocab[right])!r} -> "
            f"{show_bytes(vocab[id])!r}",
            "Remove them: the ids of no text change.",
        )


def _check_duplicates(subject: _Subject) -> Iterator[Finding]:
    ids: dict[bytes, list[int]] = defaultdict(list)
    for id, token in subject.encoder.vocab.items():
        ids[token].append(id)
    own = subject.encoder.merged_by
    fallback = set[int]() if own is None else {*own.table.byte_ids.values()}
    twice = {
        token: [id for id in each if id not in fallback]
        for token, each in ids.items()
        if len(each) > 1
    }
    twice = {token: each for token, each in twice.items() if len(each) > 1}
    if twice:
        token, each = next(iter(twice.items()))
        yield Finding(
            "duplicate-tokens",
            "warning",
            f"{counted(len(twice), 'token')} have more than one id.",
            f"{show_bytes(token)!r} has the ids {', '.join(map(str, each))}",
            "Keep one id for each token. Only the lowest is used where the bytes are looked up.",
        )


def _check_ids(subject: _Subject) -> Iterator[Finding]:
    ids = sorted(subject.encoder.vocab)
    holes = [(a + 1, b - 1) for a, b in zip([-1, *ids], ids, strict=False) if b > a + 1]
    if holes:
        first, last = holes[0]
        n_free = sum(last - first + 1 for first, last in holes)
        yield Finding(
            "id-holes",
            "warning",
            f"{counted(n_free, 'id')} below the largest, {ids[-1]:,}, mean no token.",
            f"{first:,}" if first == last else f"{first:,} to {last:,}",
            "A model that gives such an id cannot be decoded. Give the ids tokens, or number them "
            "again.",
        )


def _check_special(subject: _Subject) -> Iterator[Finding]:
    for text, id in subject.encoder.special_tokens.items():
        ids = subject.encode(text)
        if ids is not None and id in ids:
            yield Finding(
                "special-in-text",
                "error",
                "Ordinary text is encoded to a special token, although none is allowed.",
                f"{text!r} becomes id {id:,}",
                "Take the token out of the merges and the vocabulary, and leave it an added token.",
            )
            break
    special = subject.encoder.special_tokens
    listed: Sequence[Any] = getattr(subject.encoder, "added", ())
    found = [
        each.text
        for each in listed
        if not each.is_special and each.text not in special and _CONTROL.fullmatch(each.text)
    ]
    if found:
        yield Finding(
            "control-in-text",
            "warning",
            f"{counted(len(found), 'added token')} that looks like a control token is found in "
            "any text, because it is not marked as special."
            if len(found) == 1
            else f"{len(found):,} added tokens that look like control tokens are found in any "
            "text, because they are not marked as special.",
            ", ".join(map(repr, found[:_N_EXAMPLES])),
            'Set "special": true, unless users should be able to write them.',
        )


def _check_round_trip(subject: _Subject) -> Iterator[Finding]:
    own = subject.encoder.merged_by
    normalizes = own is not None and own.pretokenizer.normalizer is not None
    for text in _SCRIPTS:
        ids = subject.encode(text)
        if ids is None:
            continue  # missing-bytes says so
        back = subject.encoder.decode(ids)
        if back == text or (normalizes and own is not None and back == own.normalized(text)):
            continue
        at = next(
            (at for at, (a, b) in enumerate(zip(text, back, strict=False)) if a != b),
            min(len(text), len(back)),
        )
        yield Finding(
            "round-trip",
            "warning",
            "Decoding does not give the text back.",
            f"{text[max(0, at - 8) : at + 8]!r} comes back as {back[max(0, at - 8) : at + 8]!r}",
            "Check the normalizer, the pre-tokenizer and the decoder; a text that is changed or "
            "dropped is never learned.",
        )
        break
    if normalizes and own is not None:
        changed = next((text for text in _SCRIPTS if own.normalized(text) != text), "")
        example = next((c for c in changed if own.normalized(c) != c), changed[:8])
        yield Finding(
            "normalizes",
            "note",
            f"Text is normalized to {getattr(own.pretokenizer.normalizer, 'name', '')} first.",
            f"{example!r} becomes {own.normalized(example)!r}",
            "Nothing, if the model was trained so. Places in a text are those before it.",
        )


def _check_partial(subject: _Subject) -> Iterator[Finding]:
    special = {*subject.encoder.special_tokens.values()}
    partial = [
        (id, token)
        for id, token in subject.encoder.vocab.items()
        if len(token) > 1 and id not in special and not are_whole_characters(token)
    ]
    if partial:
        id, token = partial[0]
        yield Finding(
            "partial-utf8",
            "note",
            f"{counted(len(partial), 'token')} of several bytes cut a character in two.",
            f"id {id:,}: {show_bytes(token)}",
            "Decode a stream with decode_stream, which waits for whole characters.",
        )


def _check_engine(subject: _Subject) -> Iterator[Finding]:
    if subject.encoder.model == "BPE" and subject.encoder.engine != "bpe_core":
        yield Finding(
            "other-readers",
            "note",
            f"{subject.encoder.engine} encodes it, because another reader may give other ids.",
            subject.provenance[:300],
            "Test each library that you serve it with on your own text.",
        )


def _check_files(subject: _Subject) -> Iterator[Finding]:
    if _TOKENIZER not in subject.files or not all(name in subject.files for name in _PAIR):
        raise _NotCheckedError(f"There are no {' and '.join(_PAIR)} next to a {_TOKENIZER}.")
    from bpe_core.formats import build_tokenizer, read_description

    try:
        pair = {name: subject.files[name] for name in _PAIR}
        slow = build_tokenizer(read_description(pair))
        fast = subject.merges
    except BpeError as error:
        raise _NotCheckedError(str(error)) from None
    # The two files hold neither a pre-tokenizer nor special tokens.
    cut = fast.pretokenizer.name
    plain = fast.with_changes(special_tokens={})
    aligned = slow.with_changes(special_tokens={}, pretokenizer=cut)
    found = diff(plain, aligned)
    if found.equal is False:
        yield Finding(
            "files-disagree",
            "error",
            f"{_TOKENIZER} and {' with '.join(_PAIR)} give other ids: a fast and a slow reader "
            "would disagree.",
            found.why,
            "Write all files from one tokenizer, or delete those that are not used.",
        )


def _check_rows(subject: _Subject) -> Iterator[Finding]:
    config = subject.json(_CONFIG)
    inner = _object(config.get("text_config"))
    rows = config.get("vocab_size", inner.get("vocab_size"))
    if not isinstance(rows, int):
        raise _NotCheckedError(f"{_CONFIG} has no vocab_size.")
    largest = max(subject.encoder.vocab, default=-1)
    if largest >= rows:
        yield Finding(
            "model-rows",
            "error",
            f"The model has {rows:,} rows, and the largest id is {largest:,}.",
            _token(subject.encoder, largest),
            "Enlarge the model's embedding, or remove the tokens: looking up their rows fails.",
        )
    elif rows > largest + 1:
        yield Finding(
            "padded-rows",
            "note",
            f"The model has {rows:,} rows, {rows - largest - 1:,} more than the tokenizer uses.",
            f"id {largest + 1:,}",
            "Nothing, if the rows are padding; a model that gives such an id cannot be decoded.",
        )


def _check_roles(subject: _Subject) -> Iterator[Finding]:
    config, described = subject.json(_TOKENIZER_CONFIG), subject.json(_TOKENIZER)
    added: Any = described.get("added_tokens") or []
    model: Any = described.get("model") or {}
    known = {*(model.get("vocab") or ()), *(each.get("content") for each in added)}
    for role in ("bos", "eos", "pad", "unk"):
        given = config.get(f"{role}_token")
        text = _object(given).get("content", given)
        if isinstance(text, str) and text not in known:
            yield Finding(
                "missing-role",
                "warning",
                f"The {role} token of {_TOKENIZER_CONFIG} is not in {_TOKENIZER}; transformers "
                "adds it with a new id.",
                repr(text),
                "Name a token that the model has learned, or enlarge the model by a row for it.",
            )
            break


def _check_role_ids(subject: _Subject) -> Iterator[Finding]:
    files = [name for name in (_CONFIG, _GENERATION) if name in subject.files]
    given: list[tuple[str, str, int]] = []
    for name in files:
        described = subject.json(name)
        for settings in (described, _object(described.get("text_config"))):
            for role in ("bos", "eos", "pad"):
                found = settings.get(f"{role}_token_id")
                ids = cast("list[Any]", found if isinstance(found, list) else [found])
                given += [(name, role, id) for id in ids if is_whole(id) and id >= 0]
    if not given:
        raise _NotCheckedError(f"No {_CONFIG} or {_GENERATION} names ids next to it.")
    vocab, specials = subject.encoder.vocab, {*subject.encoder.special_tokens.values()}
    specials |= {each.id for each in getattr(subject.encoder, "added", ())}
    for name, role, id in given:
        if id not in vocab or (specials and role != "pad" and id not in specials):
            is_missing = id not in vocab
            yield Finding(
                "role-ids",
                "error" if is_missing else "warning",
                f"{role}_token_id in {name} is not the id of "
                f"{'any token' if is_missing else 'a special token'}.",
                f"id {id:,}" if is_missing else _token(subject.encoder, id),
                "Write the tokenizer's own id there: a text may have no end, or end at this token.",
            )
            break


def _check_chat(subject: _Subject) -> Iterator[Finding]:
    chat = subject.chat
    if chat is None:
        raise _NotCheckedError("It has no chat template.")
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    try:
        text = chat.render(messages)
    except BpeError as error:
        yield Finding(
            "chat-template",
            "error",
            "The chat template fails for a user's message and an answer.",
            str(error)[:300],
            "Correct the template; see bpe chat.",
        )
        return
    first = chat.first_token
    if first and text.startswith(first):
        yield Finding(
            "bos-twice",
            "error",
            "The chat template begins with the token that the tokenizer puts before every text, so "
            "a conversation gets it twice.",
            f"{first}{text[:40]}"[:80],
            "Encode what the template writes with add_special_tokens=False.",
        )
    specials = {*subject.encoder.special_tokens} | {
        each.text for each in getattr(subject.encoder, "added", ())
    }
    unknown = [each for each in _CONTROL.findall(text) if each not in specials]
    if unknown:
        yield Finding(
            "unknown-control",
            "warning",
            "The chat template writes what looks like a control token and is encoded as ordinary "
            "text.",
            repr(unknown[0]),
            "Add it as a special token, with a row of the model, or correct the template.",
        )


def _check_dropped(subject: _Subject) -> Iterator[Finding]:
    if subject.encoder.merged_by is None:
        raise _NotCheckedError(f"{subject.encoder.engine} runs it; see round-trip.")
    if subject.encoder.drops_text:
        yield Finding(
            "drops-text",
            "warning",
            "Some text is in no token, so decoding cannot restore it.",
            repr("a  b"),
            "Use a pre-tokenizer that keeps white space, and an alphabet of all bytes.",
        )


_CHECKS: Final[tuple[tuple[tuple[str, ...], Callable[[_Subject], Iterator[Finding]]], ...]] = (
    (("unreachable-tokens", "unused-bytes", "undecided-tokens"), _check_reachable),
    (("missing-bytes",), _check_alphabet),
    (("dead-merges",), _check_merges),
    (("duplicate-tokens",), _check_duplicates),
    (("id-holes",), _check_ids),
    (("special-in-text", "control-in-text"), _check_special),
    (("round-trip", "normalizes"), _check_round_trip),
    (("partial-utf8",), _check_partial),
    (("drops-text",), _check_dropped),
    (("other-readers",), _check_engine),
    (("files-disagree",), _check_files),
    (("model-rows", "padded-rows"), _check_rows),
    (("missing-role",), _check_roles),
    (("role-ids",), _check_role_ids),
    (("chat-template", "bos-twice", "unknown-control"), _check_chat),
)
CHECKS: Final[tuple[str, ...]] = tuple(name for names, _ in _CHECKS for name in names)
"""The names of all checks."""


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _token(encoder: Encoder, id: int) -> str:
    return f"id {id:,}: {show_bytes(encoder.vocab[id])!r}"
