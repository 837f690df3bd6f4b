"""Names of models on Hugging Face's hub, such as hf:org/model, and their files in its cache.

The cache is that of the hub's own client, so what other programs downloaded is found too. Nothing
here uses the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.errors import ConfigError
from bpe_core.extras import needs_extra
from bpe_core.types import ENDINGS

if TYPE_CHECKING:
    from bpe_core.tokenizer import NamedEncoder

_PREFIX: Final = "hf:"
_PART: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_]|[.-](?![.-])){0,95}(?<![.-])"
_NAME: Final = re.compile(rf"({_PART}/{_PART})(?:@({_PART}))?")
_COMMIT: Final = re.compile("[0-9a-f]{40}")
SIDECARS: Final = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "chat_template.jinja",
)
"""The files that transformers keeps next to a vocabulary; all but the last are JSON."""
TEMPLATES: Final = "additional_chat_templates/"
"""The folder of a model's further chat templates, each in a file with its name."""
PAIR: Final = ("vocab.json", "merges.txt")
"""GPT-2's vocabulary and its merges, by the names in use on the hub."""
_ENDINGS: Final = (ENDINGS["sentencepiece"], ENDINGS["tiktoken"])


@dataclass(frozen=True, slots=True)
class HubName:
    """A model on the hub, and the revision of its files: a branch, a tag or a commit.

    >>> str(HubName("org/model", "v1.0"))
    'hf:org/model@v1.0'
    """

    repo: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"{_PREFIX}{self.repo}@{self.revision}"

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a commit, whose files never change."""
        return _COMMIT.fullmatch(self.revision) is not None

    @property
    def short(self) -> str:
        """The name with no more of a commit than people compare.

        >>> HubName("org/model", "0" * 40).short
        'org/model@00000000'
        """
        return f"{self.repo}@{self.revision[:8] if self.is_pinned else self.revision}"

    @property
    def page(self) -> str:
        """The address of the model on the hub, which HF_ENDPOINT names."""
        with needs_extra("hub", "Opening a model by its name on the hub"):
            from huggingface_hub import constants

        return f"{constants.ENDPOINT}/{self.repo}"

    def naming(self, opened: NamedEncoder) -> NamedEncoder:
        """Return what was opened from the files of a model, under its name and with its commit.

        >>> from bpe_core.tokenizer import NamedEncoder, gpt2
        >>> found = HubName("org/model").naming(NamedEncoder("vocab.json", gpt2(), "BPE."))
        >>> found.name, found.provenance
        ('org/model', 'From hf:org/model@main. BPE.')
        """
        return replace(opened, name=self.repo, provenance=f"From {self}. {opened.provenance}")

    @staticmethod
    def fits(text: object) -> bool:
        """Return True for a text that names a model on the hub, even if its name is malformed.

        >>> HubName.fits("hf:org"), HubName.fits("org/model")
        (True, False)
        """
        return isinstance(text, str) and text.startswith(_PREFIX)

    @classmethod
    def parse(cls, text: str) -> HubName:
        """Return the model and the revision that hf:org/model@revision stands for.

        Raises `ConfigError` for a malformed name.

        >>> HubName.parse("hf:org/model")
        HubName(repo='org/model', revision='main')
        """
        found = _NAME.fullmatch(text.removeprefix(_PREFIX))
        if found is None:
            raise ConfigError(
                f"{text!r:.80} is not the name of a model on the hub. Expected hf:org/model or "
                "hf:org/model@revision, of letters, digits, '.', '_' and '-'."
            )
        return cls(found[1], found[2] or "main")

    def folder(self, cache: Path | None = None) -> Path:
        """Return the folder of the files of a commit, whether it is there or not."""
        return (cache or hub_cache()) / model_folder(self.repo) / "snapshots" / self.revision

    def cached(self) -> HubName | None:
        """Return the name with the commit that the cache holds for its revision, or None."""
        name = self
        if not name.is_pinned:
            reference = hub_cache() / model_folder(name.repo) / "refs" / name.revision
            try:
                name = replace(name, revision=reference.read_text(encoding="ascii").strip())
            except (OSError, ValueError):
                return None
        try:
            files = [file.name for file in name.folder().iterdir()]
        except OSError:
            return None
        return name if name.is_pinned and choose_hub_files(files) else None


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """The progress of one download, in bytes; a fetch may need several."""

    source: str
    """The package, or the model on the hub, that is being downloaded."""
    done_bytes: int
    total_bytes: int


OnProgress = Callable[[FetchProgress], object]
"""Called as files are downloaded; what it raises ends the download."""


def is_sidecar(name: str) -> bool:
    """Return True for a file that transformers keeps next to a vocabulary.

    >>> is_sidecar("config.json"), is_sidecar("additional_chat_templates/rag.jinja")
    (True, True)
    """
    inside = name.removeprefix(TEMPLATES)
    return name in SIDECARS or (inside != name and "/" not in inside and name.endswith(".jinja"))


def choose_hub_files(names: list[str]) -> list[str]:
    """Return the files to download among those of a model; none without a vocabulary.

    A tokenizer.json contains what other vocabularies do, so those are left out next to it, and a
    vocab.json is none without its merges.txt. The vocabulary comes last.

    >>> choose_hub_files(["model.safetensors", "tokenizer.json", "vocab.json", "code/a.model"])
    ['tokenizer.json']
    """
    at_root = [name for name in names if "/" not in name]
    if "tokenizer.json" in at_root:
        vocabularies = ["tokenizer.json"]
    else:
        vocabularies = [n for n in at_root if n == "tekken.json" or n.endswith(_ENDINGS)]
        if all(name in at_root for name in PAIR):
            vocabularies += PAIR
    if not vocabularies:
        return []
    further = sorted(name for name in names if is_sidecar(name) and name not in SIDECARS)
    return [*(name for name in SIDECARS if name in names), *further, *vocabularies]


def hub_cache() -> Path:
    """Return the folder of the hub's client, which HF_HUB_CACHE or HF_HOME names."""
    with needs_extra("hub", "Opening a model by its name on the hub"):
        from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def model_folder(repo: str) -> str:
    """Return the name of a model's folder in the cache.

    >>> model_folder("org/model")
    'models--org--model'
    """
    return f"models--{repo.replace('/', '--')}"
