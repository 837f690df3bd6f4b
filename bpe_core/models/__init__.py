"""The embedding rows of language models, read and written without loading a model.

In: a folder, a `.safetensors` file, or a model of the hub by its name. Out: the tokens that the
model hardly learned, or a model's folder with rows for an adapted tokenizer.

Open `tensors` first: the two tensors, read in blocks of rows, or downloaded, and nothing else of a
model. `untrained_rows` measures rows against those of known-unused tokens, and `fitting` writes
rows for an adapted tokenizer, the first of them by those of a donor.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.models.fitting import FittedRows, Recipe, fit_rows
    from bpe_core.models.tensors import from_float32, make_header
    from bpe_core.models.untrained_rows import (
        SOURCES,
        RowFigures,
        Undertrained,
        undertrained,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
