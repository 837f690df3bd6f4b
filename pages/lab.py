"""Lab: every encoder and trainer at work on a text, measured on this machine, now."""

from typing import Literal

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.lab.measurements import MOST_CHARACTERS, N_MERGES, Order, Report
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import figure_table, verdict
from ui.components.symbol_rows import symbol_rows
from ui.lab import charts, measurements, words
from ui.lab.card import watch_measurement
from ui.lab.measurements import MeasurementStatus
from ui.lab.text import choose_text
from ui.look.chart_style import CONFIG_WITHOUT_TOOLS
from ui.look.labels import file_stem, plain_markdown
from ui.shell import frame
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun
from ui.tokenizers.longest_match import longest_match_differences
from ui.work.background import UnknownWorkError

YOURS = "Your tokenizer"
GPT2 = "GPT-2"


def measurements_of_address(*names: str) -> list[MeasurementStatus | None]:
    """The measurements that the address names; says once what is said of more than one of them."""
    found: list[MeasurementStatus | None] = []
    problems: list[str] = []
    for name in names:
        id = frame.query_text(name)
        try:
            found.append(None if id is None else measurements.manager().status(id))
        except UnknownWorkError as error:
            frame.set_query(**{name: None})
            problems.append(str(error))
            found.append(None)
    for problem in dict.fromkeys(problems):
        st.warning(plain_markdown(problem, 600))
    return found


def measure_button(
    label: str,
    status: MeasurementStatus | None,
    order: Order,
    about: str,
    *,
    type: Literal["primary", "secondary"] = "secondary",
) -> None:
    busy = status is not None and status.is_live
    if st.button(label, type=type, disabled=busy or not order.text):
        start(order, about)


def start(order: Order, about: str) -> None:
    try:
        id = measurements.manager().submit(order, about=about)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    frame.set_query(**{order.kind: id})
    st.rerun()


def show_outcome(status: MeasurementStatus | None, order: Order, empty: str) -> Report | None:
    """Draws what there is of a measurement but its figures, and whose they are; gives these."""
    if status is None:
        st.markdown(f":gray[{empty}]")
        return None
    if status.is_live:
        watch_measurement(status.id, key=order.kind)
    elif status.state == "cancelled":
        st.info("The measurement was cancelled. It leaves no figures.")
    elif status.result is None:
        st.error(f"The measurement failed. {plain_markdown(status.problem or '', 600)}")
    else:
        if status.result.order != order.fingerprint:
            st.info(
                f"These figures are of **{plain_markdown(status.about, 200)}**, not of what is "
                "chosen now. Measure again for that."
            )
        return status.result.report
    return None


def offer_png(chart: str, title: str, what: str) -> None:
    picture = ChartPicture(chart, "PNG", title, what, f"{file_stem(title)}.png")
    chart_pictures([picture], key=f"{chart}_picture")


def encoding_part(status: MeasurementStatus | None, order: Order, about: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Encoding", anchor=False, width="content")
        st.space("stretch")
        measure_button("Measure encoders", status, order, about, type="primary")
    empty = (
        "Eight encoders will be set to work on this text in turn, each for a few seconds at most, "
        "and their ids compared. One that is too slow gets a part of the text, and the table says "
        "how much."
    )
    report = show_outcome(status, order, empty)
    if status is None or report is None:
        return
    found = report.encoding
    verdict(
        words.encoding_sentence(found),
        f"{status.about}. {words.encoding_aside(found, status.elapsed_seconds)}",
        key="encoding_verdict",
    )
    able = [one for one in found if one.problem is None]
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.speed_dots(
                [words.encoder_title(one.name) for one in able],
                [one.megabytes_per_second for one in able],
                own=[one.name.startswith("engine") for one in able],
                exact=[one.is_equal for one in able],
                theme=frame.theme_type(),
            ),
            theme=None,
            config=CONFIG_WITHOUT_TOOLS,
            key="encoding_chart",
            alt="Speed of each encoder in MB/s, as in the table beside.",
        )
        st.markdown(
            ":gray[A hollow dot gave other ids. Each line of the grid is ten times as fast.]"
        )
        offer_png("encoding_chart", "Speed of encoders in MB/s", status.about)
    with table:
        figure_table(
            ["MB/s", "× hash map", "of the text", "ids"],
            words.encoding_rows(found),
            caption="Encoders: speed, times the hash map’s, the part measured, equality of ids",
            key="encoding_table",
        )
    for one in found:
        if one.problem is not None:
            name = words.encoder_title(one.name)
            st.markdown(f":gray[{name}: {plain_markdown(one.problem, 400)}]")
    with st.expander("What each of them does"):
        for encoder in words.ENCODER_WORDS.values():
            st.markdown(f"**{encoder.title}.** {encoder.explanation}")
        st.markdown(
            "The time before the first text, to build tables or load kernels, is not in these "
            "figures. On a machine that is new to the engine its kernels are compiled first."
        )


def longest_match_part(text: str, tokenizer: Tokenizer) -> None:
    st.header("Where longest match is not BPE", anchor=False)
    found = longest_match_differences(text, tokenizer.fingerprint, tokenizer)
    st.markdown(words.differing_sentence(found))
    rows = words.differing_rows(found, tokenizer)
    if rows:
        symbol_rows(
            rows,
            key="differing_words",
            caption="Words as the merges cut them and as longest match does",
            columns=("By the merges", "By longest match"),
        )
    if len(found.words) > len(rows):
        st.markdown(f":gray[{len(rows)} of {len(found.words):,} words, the most frequent first.]")


def training_part(status: MeasurementStatus | None, order: Order, about: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Training", anchor=False, width="content")
        st.space("stretch")
        measure_button("Measure trainers", status, order, about)
    empty = (
        "The readable reference, the engine and Hugging Face’s trainer will learn the same "
        f"{N_MERGES:,} merges from longer and longer beginnings of this text."
    )
    report = show_outcome(status, order, empty)
    if status is None or report is None:
        return
    found = report.training
    verdict(
        words.training_sentence(found),
        f"{status.about}. {words.training_aside(found, N_MERGES)}",
        key="training_verdict",
    )
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.growth_curves(
                words.growth_by_name(found), own="Engine", theme=frame.theme_type()
            ),
            theme=None,
            config=CONFIG_WITHOUT_TOOLS,
            key="training_chart",
            alt="Seconds to train over bytes of text, as in the table beside.",
        )
        offer_png("training_chart", "Seconds to train over bytes of text", status.about)
    with table:
        columns, rows = words.training_rows(found)
        st.markdown(":gray[Seconds. The dot marks the fastest.]")
        figure_table(columns, rows, caption="Seconds to train, by size", key="training_table")


def lab(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="lab_choice"):
        chosen = choose_one("Tokenizer", [YOURS, GPT2], key="lab_tokenizer")
        text, text_name = choose_text()
    tokenizer = gpt2() if chosen == GPT2 else stored.run.tokenizer
    if len(text) > MOST_CHARACTERS:
        st.warning(f"Only the first {MOST_CHARACTERS:,} characters are measured.")
        text = text[:MOST_CHARACTERS]
    about_text = f"{text_name}, {len(text.encode()):,} bytes"
    which = GPT2 if chosen == GPT2 else f"Your tokenizer of {tokenizer.vocab_size:,} tokens"
    st.space("small")
    encoding, training = measurements_of_address("encoding", "training")
    encoding_part(encoding, Order("encoding", text, tokenizer), f"{which} on {about_text}")
    st.divider()
    if text:
        longest_match_part(text, tokenizer)
        st.divider()
    training_part(training, Order("training", text), f"Training on {about_text}")


shown = frame.page_frame(
    "Lab",
    "Every way to encode and to train that is at hand, on one text, measured on this machine, now.",
)
if shown is not None:
    try:
        lab(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
