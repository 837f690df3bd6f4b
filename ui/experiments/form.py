"""Draw the choices of an experiment, and follow it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import streamlit as st

from bpe_core.comparison import numbered
from bpe_core.errors import BpeError
from bpe_core.experiments import Experiment
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import check_config
from bpe_core.types import TrainingConfig
from ui.corpus import ChosenCorpus, choose_corpus, fill_corpus_once
from ui.experiments.results import draw_results
from ui.experiments.work import (
    MAX_BYTES,
    MAX_BYTES_OF_ROWS,
    MAX_ROWS,
    Order,
    begin_measuring,
    count_rows,
    measuring,
)
from ui.look import counted, plain_markdown, plain_text, size_text, tooltip
from ui.shell import FieldLimits, whole_number, work_form, workspace
from ui.storage import HELD_OUT_SEED, StoredRun, upload_held_out
from ui.tokenizers import add_button, draw_shelf_problems, shelf

SIZES: Final = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
CUTS: Final = {
    "gpt2": "GPT-2 (gpt2)",
    "cl100k": "GPT-4 (cl100k)",
    "o200k": "GPT-4o (o200k)",
    "llama3": "Llama 3 (llama3)",
    "whitespace": "at white space",
    "words-punctuation": "words and punctuation",
}
_ALPHABETS: Final = {
    "full": "all 256 bytes (full)",
    "seen": "bytes of the text (seen)",
    "characters": "characters",
}
PLAIN: Final = "plain"
SUPERWORDS: Final = "superwords"
SEEDS: Final = "seeds"
VETOES: Final = "vetoes"
WHOLE: Final = "whole characters"
PARITY: Final = "parity"
PICKY: Final = "picky"
_TRAINERS: Final = {
    PLAIN: "plain BPE",
    SUPERWORDS: "superwords",
    SEEDS: "with tokens of yours",
    VETOES: "without some tokens",
    WHOLE: "whole characters",
    PARITY: "languages take turns",
    PICKY: "PickyBPE",
}
_PICKY_SHARE: Final = 0.9
_SUPERWORDS_FROM: Final = FieldLimits(
    300, SIZES[-1], "Words must be learned first.", "No vocabulary here is larger."
)
_FIRST_SUPERWORDS: Final = 512
_SEEDS: Final = FieldLimits(0, 2**31 - 1, "Seeds are not negative.", "Larger seeds are not used.")
NEW_TOKENS: Final = (250, 500, 1_000, 2_000, 4_000)
_HELD_OUT: Final = 0.08
_MAX_NAME: Final = 60


def draw_experiment(stored: StoredRun) -> None:
    """Draw the result first, then the form and the work in progress."""
    fill_corpus_once(stored)
    room = st.container()
    places = work_form()
    with places.form:
        chosen, _ = choose_corpus()
        choices = _choose(stored)
        order = None
        if chosen is not None and choices is not None:
            order = _order(chosen, *choices)
    status = None if order is None else measuring(order)
    begin = None
    is_whole = status is not None and (status.result is None or not status.result.lacks_runs)
    if order is not None and not is_whole:
        begin = partial(begin_measuring, order)
    places.end(
        "Measure",
        begin,
        status,
        _explain,
        unit="Measuring",
        what="experiment",
        keys=("experiment", "experiment_work"),
        written=lambda n: f"{n / 10:.0f}%",
    )
    if status is not None and status.result is not None:
        with room:
            draw_results(status.result)
            st.divider()


def _choose(stored: StoredRun) -> tuple[dict[str, Any], dict[str, Tokenizer]] | None:
    """Draw the combinations; return the settings, and the tokenizers to extend by their names.

    Returns None if there is nothing to try, or a field is wrong.
    """
    st.header("Combinations", anchor=False)
    sizes = st.pills(
        "Vocabulary sizes",
        SIZES,
        selection_mode="multi",
        default=SIZES[:4],
        format_func="{:,}".format,
        key="experiment_sizes",
        persist_state="session",
    )
    cuts = st.pills(
        "Cuts",
        list(CUTS),
        selection_mode="multi",
        default=list(CUTS)[:2],
        format_func=CUTS.__getitem__,
        help="The rule that cuts the text into pre-tokens, as the named model’s tokenizer does. "
        + tooltip("Pre-token"),
        key="experiment_cuts",
        persist_state="session",
    )
    # At first open only if something in it was chosen before, so that no choice is out of sight.
    chosen = workspace.widget_choices
    usual = list(Experiment.ALPHABETS[:1])
    is_usual = chosen("experiment_alphabets", usual) == usual
    is_usual &= chosen("experiment_trainers", [PLAIN]) == [PLAIN]
    is_usual &= workspace.widgets_hold({"experiment_seed": HELD_OUT_SEED})
    workspace.start_widget("experiment_more", not is_usual)
    with st.expander("Alphabets, ways to train, seed", key="experiment_more", on_change="rerun"):
        alphabets = st.pills(
            "Alphabets",
            Experiment.ALPHABETS,
            selection_mode="multi",
            default=Experiment.ALPHABETS[:1],
            format_func=_ALPHABETS.__getitem__,
            help="What merging begins with. With all 256 bytes a tokenizer can spell any text; "
            "with bytes or characters of the text alone it cannot, but has more room for merges.",
            key="experiment_alphabets",
            persist_state="session",
        )
        trainers = _choose_trainers()
        seed = whole_number(
            "Seed",
            _SEEDS,
            HELD_OUT_SEED,
            key="experiment_seed",
            help="Another seed holds out another part of the text, for all tokenizers. Files of "
            "your own that are held out need none.",
        )
    bases = _choose_bases(stored)
    new_tokens: list[int] = []
    if bases:
        new_tokens = st.pills(
            "New tokens",
            NEW_TOKENS,
            selection_mode="multi",
            default=NEW_TOKENS[1:3],
            format_func="{:,}".format,
            key="experiment_new_tokens",
            persist_state="session",
        )
    if trainers is None or seed is None:
        return None
    bases = bases if new_tokens else {}
    is_own = bool(sizes and cuts and alphabets and trainers)
    settings: dict[str, Any] = {
        "vocab_sizes": list(sizes) if is_own else [],
        "pretokenizers": list(cuts) if is_own else ["gpt2"],
        "alphabets": list(alphabets) if is_own else ["full"],
        "trainers": trainers if is_own else {PLAIN: {}},
        "extend": list(bases),
        "new_tokens": list(new_tokens) if bases else [],
        "seed": seed,
    }
    n_rows = count_rows(settings)
    if not n_rows:
        st.markdown(":orange[Choose at least one size, cut, alphabet and way to train.]")
        return None
    if n_rows > MAX_ROWS:
        st.markdown(f":orange[These are {n_rows} combinations; the limit is {MAX_ROWS}.]")
        return None
    st.markdown(f":gray[:small[{counted(n_rows, 'tokenizer')}, all on one held-out text.]]")
    return settings, bases


def _choose_trainers() -> dict[str, dict[str, Any]] | None:
    """Draw the ways to train; return their settings by their names, None if a field is wrong."""
    ways = st.pills(
        "Ways to train",
        list(_TRAINERS),
        selection_mode="multi",
        default=[PLAIN],
        format_func=_TRAINERS.__getitem__,
        help="Plain BPE merges within words. Superwords may join up to four words, once the "
        "vocabulary has some tokens. Tokens that you name can be made first, or forbidden. With "
        "whole characters, no merge joins a part of a character with anything but the rest of it. "
        "Languages take turns if the text has a folder, or a file, for each. PickyBPE removes a "
        "token again once a merge takes more than 90% of its uses.",
        key="experiment_trainers",
        persist_state="session",
    )
    found: dict[str, dict[str, Any]] = {PLAIN: {}} if PLAIN in ways else {}
    if SUPERWORDS in ways:
        joins_from = whole_number(
            "Let words join after N tokens",
            _SUPERWORDS_FROM,
            _FIRST_SUPERWORDS,
            key="experiment_superwords_from",
            help="Smaller sizes are left out.",
        )
        if joins_from is None:
            return None
        found[SUPERWORDS] = {"superwords_from": joins_from}
    if SEEDS in ways:
        found[SEEDS] = {
            SEEDS: _lines(
                "Tokens that must exist, one per line",
                "",
                "Each is made by the first merges, as a word of its own, with a space before it or "
                "without, whichever the text has more often.",
                "experiment_seeds",
            )
        }
    if VETOES in ways:
        found[VETOES] = {
            VETOES: _lines(
                "Tokens that must not exist, one per line",
                "regex:[0-9]",
                "Spaces count: a word in the middle of a text begins with one. A line such as "
                "regex:[0-9] forbids every token that the pattern matches a part of.",
                "experiment_vetoes",
            )
        }
    if WHOLE in ways:
        found[WHOLE] = {"whole_characters": True}
    if PARITY in ways:
        found[PARITY] = {PARITY: True}
    if PICKY in ways:
        found[PICKY] = {PICKY: _PICKY_SHARE}
    for name in (SEEDS, VETOES):
        if name in found and not found[name][name]:
            st.markdown(f":orange[Name a token for “{_TRAINERS[name]}”, or do not choose it.]")
            return None
    try:
        for more in found.values():
            check_config(TrainingConfig(SIZES[-1], **more))
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return None
    return found


def _lines(label: str, first: str, help: str, key: str) -> list[str]:
    """Draw a field for tokens, one on each line, and return them."""
    text = st.text_area(label, first, key=key, height=68, help=help, persist_state="session")
    return [line for line in (text or "").splitlines() if line]


def _choose_bases(stored: StoredRun) -> dict[str, Tokenizer]:
    """Draw the tokenizers to extend; return those that can be, by their names in the settings."""
    offered = shelf.bases_of(stored)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keys = st.multiselect(
            "Tokenizers to extend",
            list(offered),
            format_func=lambda key: plain_text(offered[key].name.name, _MAX_NAME),
            placeholder="None",
            help="Tokens learned from your text are added to the tokenizer, which keeps its own.",
            key="experiment_bases",
            persist_state="session",
        )
        add_button(stored)
    draw_shelf_problems()
    names = name_bases({key: offered[key].name.name for key in keys})
    found: dict[str, Tokenizer] = {}
    for key in keys:
        try:
            base = offered[key].tokenizer()
        except BpeError as error:
            st.warning(plain_markdown(str(error), 600))
            continue
        found[names[key]] = base
    return found


def name_bases(shown: Mapping[str, str]) -> dict[str, str]:
    """Return distinct names for the settings by key, from the names that the page shows.

    A key that the library opens is the name, so that the settings repeat the rows.

    >>> name_bases({"file-1": "gpt2", "gpt2": "GPT-2", "run-2": "Alice"})
    {'gpt2': 'gpt2', 'file-1': 'gpt2 (2)', 'run-2': 'Alice'}
    """
    keys = sorted(shown, key=shelf.opens_by_name, reverse=True)
    names = [key if shelf.opens_by_name(key) else plain_text(shown[key], _MAX_NAME) for key in keys]
    return dict(zip(keys, numbered(names), strict=True))


def _order(
    chosen: ChosenCorpus, settings: dict[str, Any], bases: dict[str, Tokenizer]
) -> Order | None:
    if chosen.corpus.n_bytes > MAX_BYTES:
        st.markdown(
            f":orange[This page takes texts up to {size_text(MAX_BYTES)}. For larger ones, use "
            "`bpe experiment`.]"
        )
        return None
    n_rows = count_rows(settings)
    if chosen.corpus.n_bytes * n_rows > MAX_BYTES_OF_ROWS:
        st.markdown(
            f":orange[{n_rows} combinations of {size_text(chosen.corpus.n_bytes)} are too much for "
            f"this page. Choose at most {MAX_BYTES_OF_ROWS // chosen.corpus.n_bytes}, or a shorter "
            "text. For more, use `bpe experiment`.]"
        )
        return None
    if chosen.corpus.word_counts is not None:
        st.markdown(":orange[Weighted words have no order to predict. Choose a text.]")
        return None
    by, share = chosen.held_out_by or "", chosen.held_out_share
    own = upload_held_out(by)
    if own is not None:
        by, share = "", _HELD_OUT
    elif not share:
        st.markdown(
            f":orange[Tokenizers are measured on held-out text, so {_HELD_OUT:.0%} of the text is "
            "held out here, although you chose 0%.]"
        )
        share = _HELD_OUT
    return Order(
        {
            **settings,
            "held_out": share,
            "held_out_by": by,
        },
        chosen.corpus,
        chosen.title,
        bases,
        own,
    )


def _explain() -> None:
    with st.container(border=True, key="experiment_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "The size and cut to take, in one sentence. Then charts, and a table of runs that all "
            "pages can open. You may leave: measuring goes on."
        )
