"""Vocabulary: every token there is, what it is made of, and whether any text uses it."""

from functools import partial

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.vocabulary.reachability import Reachability
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import verdict
from ui.components.vocabulary import finding_list, prefix_walk, token_card, token_table
from ui.failures.error_boundary import fragment
from ui.look.chart_style import CONFIG_WITHOUT_TOOLS
from ui.look.labels import file_stem, plain_markdown
from ui.shell import frame, workspace
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun
from ui.vocabulary import pictures, work
from ui.vocabulary.charts import field_of_bar, length_bars
from ui.vocabulary.choice import choose_what
from ui.vocabulary.looks import Looked, look_at
from ui.vocabulary.pruning_card import show_pruning
from ui.vocabulary.search import FIELDS, LONGEST_SEARCH, Record, lengths_of, record_of
from ui.work.background import Progress, Status
from ui.work.background_card import show_ended, watch_work

TABLE = "Table"
TRIE = "Trie"


def search_of_address() -> Record:
    return record_of({name: frame.query_text(name, LONGEST_SEARCH) for name in FIELDS})


def put_in_address(record: Record) -> None:
    frame.set_query(**{name: text or None for name, text in record.items()})


def look_for(key: str) -> None:
    asked = workspace.component_value(key, "asked")
    if isinstance(asked, dict):
        put_in_address(record_of(asked))


def open_token(key: str) -> None:
    opened = workspace.component_value(key, "opened")
    if isinstance(opened, int):
        frame.set_query(token=opened)


def choose_finding(key: str) -> None:
    chosen, record = workspace.component_value(key, "chosen"), search_of_address()
    if isinstance(chosen, str):
        chosen = "" if record["finding"] == chosen else chosen
        put_in_address(record_of({**record, "finding": chosen, "page": ""}))


def choose_length(key: str, n_lengths: int) -> None:
    points = workspace.selected_points(key)
    if points:
        field, record = field_of_bar(points[0], n_lengths), search_of_address()
        field = "" if record["bytes"] == field else field
        put_in_address(record_of({**record, "bytes": field, "page": ""}))


def go_to_text(key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        frame.set_query(prefix=typed[:LONGEST_SEARCH].encode(errors="ignore").hex() or None)


def go_to_prefix(key: str) -> None:
    went = workspace.component_value(key, "went")
    if isinstance(went, str):
        frame.set_query(prefix=went or None)


def prefix_of_address() -> bytes:
    try:
        return bytes.fromhex(frame.query_text("prefix", 8 * LONGEST_SEARCH) or "")
    except ValueError:
        frame.set_query(prefix=None)
        return b""


def draw_search(status: Status[Progress, Reachability]) -> None:
    if status.is_live:
        watch_work(work.searches(), status.id, "Looking for unreachable ones", key="search")
    elif status.result is None:
        show_ended(work.searches(), status, "search for unreachable tokens", key="search")


@fragment()
def look_around(looked: Looked) -> None:
    """Draws findings, lengths, table or trie, and the token that is open."""
    record = search_of_address()
    search = None if looked.tokenizer is None else work.search(looked.tokenizer)
    reachability = None if search is None else search.result
    findings, lengths = st.columns(2, gap="large")
    with findings:
        st.header("What they are worth", anchor=False)
        st.markdown(
            f":gray[Uses are counted on {plain_markdown(looked.text.name)}. Press to filter.]"
        )
        finding_list(
            pictures.findings_of(looked, reachability),
            record["finding"],
            key="findings",
            on_chosen=partial(choose_finding, "findings"),
        )
        if search is None:
            st.markdown(
                ":gray[Another library encodes with this tokenizer, and no merges are known: "
                "nothing can be said of what tokens are made of, nor of which no text encodes to.]"
            )
        else:
            draw_search(search)
    with lengths:
        draw_lengths(looked, record)
    st.divider()
    st.header("The tokens", anchor=False)
    opened = frame.query_int("token", -1, 0, 2**31)
    if opened not in looked.encoder.vocab:
        opened = looked.first_token
    left, right = st.columns([3, 2], gap="large")
    with left:
        view = choose_one("Seen as", [TABLE, TRIE], key="seen_as")
        if view == TABLE:
            token_table(
                pictures.table_data(looked, record, reachability, opened),
                key="token_table",
                on_asked=partial(look_for, "token_table"),
                on_opened=partial(open_token, "token_table"),
            )
        else:
            st.markdown(
                ":gray[Each way on, with how many tokens go there. A filled tile is a token.]"
            )
            prefix_walk(
                pictures.prefix_data(looked, prefix_of_address()),
                key="prefixes",
                on_typed=partial(go_to_text, "prefixes"),
                on_went=partial(go_to_prefix, "prefixes"),
                on_opened=partial(open_token, "prefixes"),
            )
    with right:
        token_card(
            pictures.card_data(looked, opened, reachability),
            key="token_card",
            on_opened=partial(open_token, "token_card"),
        )


def draw_lengths(looked: Looked, record: Record) -> None:
    kinds = looked.table.length_kinds
    chosen = lengths_of(record["bytes"]) if record["bytes"] else None
    # Named by what is chosen: a chart that is drawn anew has nothing selected.
    key = f"lengths_{record['bytes']}"
    st.header("How long they are", anchor=False)
    st.markdown(":gray[In bytes, special tokens left out. Click a bar to filter.]")
    st.plotly_chart(
        length_bars(kinds, chosen=chosen, theme=frame.theme_type()),
        key=key,
        on_select=partial(choose_length, key, kinds.shape[1]),
        selection_mode="points",
        theme=None,
        config=CONFIG_WITHOUT_TOOLS,
        alt=f"Tokens by length, from 1 to {kinds.shape[1] - 1} bytes.",
    )
    picture = ChartPicture(
        key,
        "PNG",
        "Tokens by length in bytes",
        looked.name,
        f"{file_stem(looked.name)}-lengths.png",
    )
    chart_pictures([picture], key="lengths_picture")


def draw_vocabulary(stored: StoredRun) -> None:
    name, encoder, text = choose_what(stored)
    counting = work.count(encoder, text)
    looked = look_at(name, encoder, text, counting.result)
    sentence, aside = pictures.leading_sentence(looked)
    verdict(sentence, aside, key="vocabulary_verdict")
    if counting.is_live:
        unit = "Words" if text.corpus is not None and text.corpus.word_counts else "Characters"
        watch_work(work.counts(), counting.id, f"{unit} counted", key="counting")
    elif counting.result is None:
        show_ended(work.counts(), counting, "counting of uses", key="counting")
    st.space("small")
    look_around(looked)
    st.divider()
    show_pruning(looked, stored)


shown = frame.page_frame(
    "Vocabulary",
    "Every token there is: what it is made of, what is built on it, and whether a text uses it.",
)
if shown is not None:
    try:
        draw_vocabulary(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
