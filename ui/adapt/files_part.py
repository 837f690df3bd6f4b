"""Offer the files of an adapted tokenizer, and the lines that fit a model's embeddings to it.

They are the files that its base was opened from, with the adapted vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting import Adapted, cut_after, trace_ids
from bpe_core.errors import BpeError
from bpe_core.formats import FOLDER, OLD_IDS, PARTS, ROWS, adapted_files, dumps, is_ranks, row_files
from bpe_core.published import (
    is_sidecar,
)
from bpe_core.tokenizer import Tokenizer
from ui.adapt.gain_parts import base_name
from ui.host import cached
from ui.look import file_stem, plain_markdown, plain_text
from ui.run import offer_downloads, show_encoding_command, zipped
from ui.storage import BaseName, StoredRun
from ui.tokenizers import GPT2, shelf

MODEL_LINES: Final = """\
import json
from pathlib import Path
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("the base’s model")
rows = json.loads(Path("embedding_rows.json").read_text())
layers = model.get_input_embeddings, model.get_output_embeddings
before = [layer().weight.data.clone() for layer in layers]
model.resize_token_embeddings(len(rows["old_ids"]), mean_resizing=False)
for layer, old in zip(layers, before):
    for id, old_id in enumerate(rows["old_ids"]):
        parts = rows["parts"].get(str(id), [old_id])
        layer().weight.data[id] = old[parts].mean(0)
"""
"""Gives each row of the embeddings its old row, or the mean of the rows that spell it."""
_RANKS_SAY: Final = (
    "A file of ranks holds no special tokens. A program that numbers them itself, as Meta’s code "
    "for Llama 3 does from the last rank on, gives them different ids from those here; after "
    "extending, those are ids of new tokens. Use the folder for transformers, or give your program "
    "the ids."
)
OTHER_FORMATS: Final = "adapt_other_formats"
_MAX_LABEL_LENGTH: Final = 48
_MAX_FILE_NAME_LENGTH: Final = 120
_ROW_FILES: Final = {
    OLD_IDS: "int32, the base’s id of each id; −1 for a new token",
    PARTS: "int32, the base’s ids that spell each id, filled up with −1",
    ROWS: "both as JSON",
}


@dataclass(frozen=True, slots=True)
class Offered:
    """An adapted tokenizer, made only if a file of it is wanted."""

    id: str
    """The same for the same base and adapted tokenizer only."""
    base: Tokenizer
    make: Callable[[], Adapted]


def offer_files(stored: StoredRun, kept: int) -> None:
    """Draw the downloads of an extended run, cut at a number of new tokens."""
    st.header("Files for your model", anchor=False)
    base = stored.run.given_base
    if base is None or stored.base is None:
        return
    run = stored.run
    offered = Offered(f"{stored.id} {kept}", base, lambda: trace_ids(base, cut_after(run, kept)))
    offer_adapted(offered, stored.base, base_name(stored), stored.title, key="adapt_files")
    others = st.expander("Other formats", key=OTHER_FORMATS, on_change="rerun")
    if others.open:
        with others:
            offer_downloads(cut_after(run, kept), stored, key="adapt")


def offer_adapted(offered: Offered, base: BaseName, name: str, title: str, *, key: str) -> None:
    """Draw the base's own files with the adapted vocabulary, the rows, and the lines of Python."""
    _offer_own_format(offered, base, name, file_stem(title), key)
    st.markdown(
        "A model needs a row of its embedding for each id. These files say which old rows each "
        "new row starts from: its own, or the mean of its parts."
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for file, what in _ROW_FILES.items():
            st.download_button(
                file,
                _rows(offered, file),
                file_name=file,
                mime="application/octet-stream",
                help=what,
                on_click="ignore",
                key=f"{key}_{file}",
            )
        with st.popover("Resize the embeddings", type="tertiary", key=f"{key}_lines"):
            st.markdown(
                "Run this in the folder of embedding_rows.json. Then train the new rows on your "
                "text: a mean is only a start."
            )
            st.code(MODEL_LINES, language="python", wrap_lines=True)


def files_label(files: Collection[str]) -> str:
    """Return the label of the button for some files, in Markdown; their names are user input.

    >>> files_label(["vocab.json", "merges.txt"])
    'vocab\\\\.json \\\\+ merges\\\\.txt'
    """
    names = " + ".join(files)
    return plain_markdown(names) if len(names) <= _MAX_LABEL_LENGTH else "Tokenizer files"


def without_folders(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files by their names alone, so no archive of them writes elsewhere.

    Further chat templates keep the folder that is theirs.

    >>> list(without_folders({"../../vocab.json": b"", "C:\\\\merges.txt": b"", "..": b""}))
    ['vocab.json', 'merges.txt', 'file']
    """
    return {name if is_sidecar(name) else _name_alone(name): data for name, data in files.items()}


def _name_alone(name: str) -> str:
    last = plain_text(re.split(r"[/\\:]", name)[-1], _MAX_FILE_NAME_LENGTH)
    return last if last.strip(". ") else "file"


def _offer_own_format(offered: Offered, base: BaseName, name: str, stem: str, key: str) -> None:
    try:
        # Written now: a click on the button could no longer explain what is wrong.
        found = _own_format(base.key, offered.id, offered)
    except BpeError as error:
        found = str(error)
    if isinstance(found, str):
        st.warning(plain_markdown(f"Not in the format of {name}. {found}", 1_000))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for n, (names, data) in enumerate(found):
            st.download_button(
                files_label(names),
                data,
                file_name=_file_name(names, stem),
                mime="application/octet-stream",
                on_click="ignore",
                key=f"{key}_own_{n}",
            )
        is_gguf = any(each.endswith(".gguf") for names, _ in found for each in names)
        what, rest = "The files of", "; everything else in them is unchanged"
        if is_gguf:
            what, rest = "The file of", " and without tensors; its other keys are unchanged"
        st.markdown(
            f":gray[{what} {plain_markdown(name)} with this vocabulary{rest}.]",
            width="content",
        )
    show_encoding_command(_file_name(found[0][0], stem), offered.base)
    if offered.base.special_tokens and any(
        is_ranks(dict.fromkeys(names, data)) for names, data in found
    ):
        st.warning(_RANKS_SAY)


def _file_name(names: tuple[str, ...], stem: str) -> str:
    """Return the name of a download of these files."""
    return f"{stem}.zip" if len(names) > 1 else next(iter(names))


@cached(spinner="Writing the tokenizer’s files")
def _own_format(
    key: str, id: str, _offered: Offered
) -> tuple[tuple[tuple[str, ...], bytes], ...] | str:
    """Return the downloads, or why there are none.

    A download is the names of the files, and the only file or an archive of all. A file of ranks
    comes after a folder for transformers, which holds the special tokens too. The downloads depend
    on the key of the base and on what is offered alone.
    """
    adapted = _offered.make()
    files = read_base_files(BaseName(key, ""), adapted.base)
    try:
        written = without_folders(adapted_files(adapted, files))
    except BpeError as error:
        return str(error)
    data = zipped(written) if len(written) > 1 else next(iter(written.values()))
    own = (tuple(written), data)
    if not is_ranks(written):
        return (own,)
    with suppress(BpeError):  # if that format cannot hold the tokenizer
        folder = dumps(adapted.tokenizer, "transformers")
        return (tuple(folder), zipped(folder, f"{FOLDER}/")), own
    return (own,)


def _rows(offered: Offered, file: str) -> Callable[[], bytes]:
    return lambda: row_files(offered.make())[file]


def read_base_files(base: BaseName, tokenizer: Tokenizer) -> Mapping[str, bytes]:
    """Return a tokenizer's own files, as file name -> bytes.

    A run has none, and gets a tokenizer.json. Raises BpeError if files are damaged or missing.

    >>> from bpe_core.tokenizer import gpt2
    >>> list(read_base_files(BaseName("gpt2", "GPT-2"), gpt2()))
    ['vocab.json', 'merges.txt']
    """
    if base.key == GPT2:
        return dumps(tokenizer, "gpt2")
    return shelf.stored_files(base.key) or dumps(tokenizer, "huggingface")
