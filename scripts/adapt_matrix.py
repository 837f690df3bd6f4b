"""Adapt every published tokenizer to eight languages, and open the files in their own library.

`python -m scripts.adapt_matrix` needs the tokenizers of `scripts.get_tokenizers`; names of bases,
such as gpt4 or chat/qwen3, limit it to those. The texts are the translations that Django ships, of
which a fifth is only encoded. Each base is extended by 50, 300 and 1,000 tokens for each of eight
languages, which takes hours for all; for the first language it is also shrunk by 1,000, and 200 are
replaced. `--quick` does each of the five for one language, another one for the next base.

Files are read again as they are written. Those for the first language, and the largest for each
other, must also give the same ids here and in their own library; and those of an extended tokenizer
must be the base's, once its tokens spell each new one.
"""

from __future__ import annotations

import argparse
import gettext
import io
import json
import os
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.corpus import Corpus, load_sample
from bpe_core.errors import BpeError, ConfigError
from bpe_core.files import write_whole
from bpe_core.formats import (
    CATALOGUE,
    VARIABLE,
    BaseFiles,
    Package,
    choose_engine,
    download,
    dumps,
    is_ranks,
    read_description,
    read_ranks,
    read_tekken,
    run_by_library,
    write_files,
)
from bpe_core.tokenizer import Encoder, Tokenizer
from scripts.get_tokenizers import CHAT, CHAT_PACKAGES, FOLDER, VOCABULARIES

LANGUAGES: Final = ("ru", "pl", "ja", "hi", "ar", "tr", "de", "ko")
SIZES: Final = (50, 300, 1_000)
N_REMOVED: Final = 1_000
N_REPLACED: Final = 200
_DJANGO: Final = Package(
    "django",
    "5.2.19",
    "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00",
    8_319_631,
)
_NEW_EVERY: Final = 5
"""One in so many messages is not trained on."""


class Case(NamedTuple):
    """What is done to a base for a language."""

    language: str
    way: str
    is_compared: bool
    """True if the files are opened by their own library."""
    also_slow: bool
    """True if also by those that take long."""


class Peer(NamedTuple):
    """A library that opened the files."""

    name: str
    encode: Callable[[str], list[int]]
    finds_special: bool = True
    """True if it finds the special tokens in a text."""


def main() -> None:
    """Print a line for each base, and what failed; the exit status is 1 if anything did."""
    os.environ[VARIABLE] = str(FOLDER)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bases", nargs="*", help="the bases; all if none is named")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, choices=LANGUAGES)
    parser.add_argument("--quick", action="store_true", help="try each way for one language")
    given = parser.parse_args()
    texts = {language: translations(language) for language in given.languages}
    failures: list[str] = []
    for line in (["base", "opened by", *WAYS, "time"], ["---"] * (len(WAYS) + 3)):
        print(f"| {' | '.join(line)} |", flush=True)
    for number, (name, path) in enumerate(bases().items()):
        if not given.bases or name in given.bases:
            cases = few_cases([*texts], number) if given.quick else all_cases([*texts])
            cells, failed = try_base(path, cases, texts)
            failures += [f"{name}: {each}" for each in failed]
            print(f"| {' | '.join([name, *cells])} |", flush=True)
    print("", *failures, sep="\n")
    sys.exit(bool(failures))


def all_cases(languages: Sequence[str]) -> list[Case]:
    """Return what is tried with a base: all extensions, and for the first language the rest too."""
    return [
        Case(
            language,
            way,
            is_compared=language == languages[0] or way == LARGEST,
            also_slow=language == languages[0] and way == LARGEST,
        )
        for language in languages
        for way in (WAYS if language == languages[0] else EXTENSIONS)
    ]


def few_cases(languages: Sequence[str], number: int) -> list[Case]:
    """Return each way once, in another language for each, and for the next base."""
    return [
        Case(
            languages[(number + place) % len(languages)],
            way,
            is_compared=True,
            also_slow=way == LARGEST,
        )
        for place, way in enumerate(WAYS)
    ]


def bases() -> dict[str, str]:
    """Return what `BaseFiles` is given for each base; of equal files, only the first is there."""
    found = {f"chat/{name}": CHAT / name / "tokenizer.json" for name in CHAT_PACKAGES}
    found |= {name: FOLDER / known.file_name for name, known in CATALOGUE.items()}
    for path in sorted(VOCABULARIES.glob("*.gguf")):
        found[f"llama.cpp/{path.stem.removeprefix('ggml-vocab-')}"] = path
    kept: dict[str, str] = {}
    seen: set[str] = set()
    for name, path in found.items():
        digest = sha256(path.read_bytes()).hexdigest() if path.is_file() else name
        if digest not in seen or name == "gpt-oss":  # which has other special tokens
            kept[name] = name if name in CATALOGUE else str(path)
            if name.startswith("chat/"):
                kept[name] = str(path.parent)
        seen.add(digest)
    return kept


def translations(language: str) -> tuple[str, str]:
    """Return Django's translations into a language: four fifths of them, and the others."""
    messages: dict[str, None] = {}
    with zipfile.ZipFile(_django()) as wheel:
        for name in sorted(wheel.namelist()):
            if name.endswith(".mo") and f"/locale/{language}/" in name:
                read = gettext.GNUTranslations(io.BytesIO(wheel.read(name)))
                found: dict[object, str] = vars(read)["_catalog"]
                messages |= dict.fromkeys(text for message, text in found.items() if message)
    texts = [*messages]
    trained = [text for number, text in enumerate(texts) if number % _NEW_EVERY]
    return "\n".join(trained), "\n".join(texts[::_NEW_EVERY])


@cache
def _django() -> Path:
    kept = FOLDER / f"{_DJANGO.name}-{_DJANGO.version}.whl"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            write_whole(kept, download(_DJANGO, Path(folder)).read_bytes())
    return kept


def try_base(
    path: str, cases: Sequence[Case], texts: Mapping[str, tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """Return the cells of a base's line, and what failed."""
    started = time.monotonic()
    try:
        base = BaseFiles.open(path)
    except BpeError as error:
        return [f"refused: {error}"], []
    spell = cache(partial(_opened(base.files).encode, allowed_special="all"))
    readers: dict[str, None] = {}
    failed: list[str] = []
    n_right = dict.fromkeys(WAYS, 0)
    for case in cases:
        text, new = texts[case.language]
        try:
            adapted = WAYS[case.way](base.tokenizer, Corpus.from_text(text))
            files = base.rewritten(adapted)
            if case.is_compared:
                found = compare(adapted, files, new, spell, also_slow=case.also_slow)
                readers |= dict.fromkeys(found)
                if is_ranks(base.files):
                    readers |= dict.fromkeys(compare_ranks(adapted, new))
        except (BpeError, AssertionError) as error:
            failed.append(f"{case.language} {case.way}: {error}")
        else:
            n_right[case.way] += 1
    n_tried = Counter(case.way for case in cases)
    counts = [f"{n_right[way]}/{n_tried[way]}" for way in WAYS]
    return [", ".join(readers), *counts, f"{time.monotonic() - started:.0f} s"], failed


def _extended(n_tokens: int) -> Callable[[Tokenizer, Corpus], Adapted]:
    def adapt(base: Tokenizer, corpus: Corpus) -> Adapted:
        return Adapted.of(base, extend(base, corpus, n_tokens).tokenizer)

    return adapt


EXTENSIONS: Final = {f"+{size:,}": _extended(size) for size in SIZES}
LARGEST: Final = [*EXTENSIONS][-1]
WAYS: Final[Mapping[str, Callable[[Tokenizer, Corpus], Adapted]]] = {
    **EXTENSIONS,
    f"−{N_REMOVED:,}": lambda base, corpus: shrink(base, corpus, base.vocab_size - N_REMOVED),
    f"±{N_REPLACED:,}": lambda base, corpus: replace(base, corpus, N_REPLACED),
}


def compare(
    adapted: Adapted,
    files: Mapping[str, bytes],
    new: str,
    spell: Callable[[str], list[int]],
    *,
    also_slow: bool,
) -> list[str]:
    """Compare the ids of some texts; return what opened the files."""
    encoder = _opened(files)
    peers = _peers(files, also_slow=also_slow)
    for text in (new, *load_sample("multilingual").documents):
        ids = encoder.encode(text, "all")
        if not adapted.removed:
            parts = [part for id in ids for part in adapted.parts.get(id, (id,))]
            assert parts == spell(text), "the base's ids are others"
        for peer in peers:
            expected = ids if peer.finds_special else encoder.encode(text)
            assert peer.encode(text) == expected, f"{peer.name} gives other ids"
    return [encoder.engine, *(peer.name for peer in peers)]


def compare_ranks(adapted: Adapted, new: str) -> list[str]:
    """Do the same with a file of ranks, which not every list of merges can be written as."""
    tokenizer = adapted.tokenizer
    try:
        (data,) = dumps(tokenizer, "tiktoken").values()
    except ConfigError:
        return ["not as ranks"]
    special = dict(tokenizer.special_tokens)
    encode = _by_tiktoken(read_ranks(data), tokenizer.pretokenizer.pattern or "", special)
    for text in (new, *load_sample("multilingual").documents):
        assert encode(text) == tokenizer.encode(text, "all"), "tiktoken gives other ids"
    return ["tiktoken"]


def _opened(files: Mapping[str, bytes]) -> Encoder:
    return choose_engine(read_description(files))[1].encoder


def _peers(files: Mapping[str, bytes], *, also_slow: bool) -> list[Peer]:
    """Return the libraries that open the files, each with its way to encode."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(files, f"{folder}/")
        names = [*files]
        if "tokenizer_config.json" in files:
            fast = _by_tokenizers(files["tokenizer.json"])
            return [fast, _by_transformers(folder)] if also_slow else [fast]
        if names == ["vocab.json", "merges.txt"]:
            return [_by_gpt2s_files(folder)]
        (name,) = names
        if name.endswith(".gguf"):
            library = run_by_library(read_description(files))
            special = library.engine.startswith("tokenizers")
            return [Peer(library.engine, partial(_encode, library, special=special), special)]
        if name.endswith(".model"):
            return [_by_sentencepiece(files[name])]
        described = json.loads(files[name])
        return [_by_tekken(described) if "config" in described else _by_tokenizers(files[name])]


def _encode(encoder: Encoder, text: str, *, special: bool) -> list[int]:
    return encoder.encode(text, "all" if special else ())


def _by_tokenizers(data: bytes) -> Peer:
    import tokenizers

    peer = tokenizers.Tokenizer.from_str(data.decode())
    return Peer("tokenizers", lambda text: peer.encode(text, add_special_tokens=False).ids)


def _by_transformers(folder: Path) -> Peer:
    from transformers import AutoTokenizer

    peer: Any = AutoTokenizer.from_pretrained(str(folder))
    return Peer("transformers", lambda text: peer.encode(text, add_special_tokens=False))


def _by_gpt2s_files(folder: Path) -> Peer:
    from tokenizers import AddedToken, ByteLevelBPETokenizer

    peer = ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    peer.add_special_tokens([AddedToken("<|endoftext|>", special=True)])
    return Peer("tokenizers", lambda text: peer.encode(text, add_special_tokens=False).ids)


def _by_sentencepiece(data: bytes) -> Peer:
    from sentencepiece import SentencePieceProcessor

    peer: Any = SentencePieceProcessor(model_proto=data)
    return Peer("sentencepiece", peer.encode, finds_special=False)


def _by_tekken(described: dict[str, Any]) -> Peer:
    read = read_tekken(described)
    return Peer("tiktoken", _by_tiktoken(read.ids, read.pattern, {}), finds_special=False)


def _by_tiktoken(
    ranks: Mapping[bytes, int], pattern: str, special: Mapping[str, int]
) -> Callable[[str], list[int]]:
    import tiktoken

    peer = tiktoken.Encoding(
        "peer", pat_str=pattern, mergeable_ranks=dict(ranks), special_tokens=dict(special)
    )
    return lambda text: peer.encode(text, allowed_special="all", disallowed_special=())


if __name__ == "__main__":
    main()
