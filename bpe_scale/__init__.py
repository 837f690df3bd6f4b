"""Count and encode more text than one machine holds, so that an interrupted run can resume.

In: files of any size, by path or URL. Out: a file of counted words, or a folder of shards of token
ids that training loops read. The same input gives the same bytes, whatever the number of workers
and however often the run was interrupted.

Open `counting` first, the shorter of the two jobs. `stretches` divides the files that
`bpe_core.corpus` finds into stretches of text, and reads one. `work` has this process or Dask work
on the stretches that are not finished, and keeps what was made in a work folder. `encoding` is the
other job: `shards` has its steps, and `encoded_folder` the formats of what it writes.

This package is built on `bpe_core`. There only the command line imports it, and on first use the
two functions `bpe_core.count_files` and `bpe_core.encode_corpus`.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_scale.counting import CountingProgress, count_files
    from bpe_scale.encoded_folder import (
        EosFacts,
        Format,
        Manifest,
        MaskedShards,
    )
    from bpe_scale.encoding import (
        EncodingProgress,
        Estimate,
        encode_chats,
        encode_corpus,
        estimate_corpus,
        find_eos,
    )
    from bpe_scale.work import (
        DaskWorkers,
        Engine,
        ThisProcess,
        WorkFolder,
        cluster,
        local_processes,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
