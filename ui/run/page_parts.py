"""What pages show of a run: its title, figures, downloads, and the training that is waited for."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Final

import streamlit as st

from bpe_core.checks import times
from bpe_core.corpus import Composition, FileShare
from bpe_core.errors import BpeError
from bpe_core.formats import FOLDER, dumps, find_reader, special_roles, what_ranks_lack
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun
from bpe_core.types import Format, TrainingProgress
from bpe_core.views import Ribbon
from ui.components import (
    ChartPicture,
    ShareBar,
    draw_chart_pictures,
    draw_ribbons,
    draw_share_bars,
    end_in_view,
)
from ui.host import cached, fragment
from ui.look import CONFIG, charts, counted, plain_markdown, size_text
from ui.shell import frame
from ui.storage import StoredRun, load_run
from ui.work import Training, TrainingReport, duration, jobs

TRAINING, HELD_OUT = "Training text", "Held out"
_MAX_FILES: Final = 12
_OTHER_FILES: Final = "other files"
Cell = str | int | float | None
_TESTED: Final = ":small[:gray[Tests open every format in its libraries: the same ids.]]"
_HOW: Final = (
    "`docs/how-it-is-checked.md` says how. `bpe convert --check` compares 100,000 ids of your own "
    "file, and `bpe inspect --opens-in` tries every library that is installed."
)
_SECONDS_BETWEEN_LOOKS = 0.5
_OUTCOME: Final = "training_outcome"
_SEEN: Final = "Seen in training"
_ANCHOR = "training-progress"
HERE: Final = f"#{_ANCHOR}"
"""Where the card is on its page, as the target of a link."""


def draw_title(title: str, what: str, *, help: str | None = None) -> None:
    """Draw a picture's title, and a line on what it shows; `help` is a tooltip."""
    st.markdown(f"**{title}**  \n:small[:gray[{what}]]", help=help)


def draw_figure(
    label: str, value: str, unit: str, *, width: int = 100, help: str | None = None
) -> None:
    """Draw a number under its name and over its unit; `help` is a tooltip of the name."""
    with st.container(gap=None, width=width):
        st.metric(label, value, help=help, width="stretch")
        st.markdown(f":small[:gray[{unit}]]")


def offer_csv(
    table: Callable[[], str | bytes],
    file_name: str,
    *,
    key: str,
    label: str = "CSV",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """Draw a button that downloads a table, made on click; `help` says what the table contains."""
    st.download_button(
        label,
        table,
        file_name=file_name,
        mime="text/csv",
        on_click="ignore",
        key=key,
        help=help,
        disabled=disabled,
    )


def offer_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Draw buttons that download charts as PNG."""
    with st.container(width="content", key=f"{key}_pictures"):
        draw_chart_pictures(pictures, key=key)


def composition_groups(
    training: Composition, held_out: Composition | None
) -> Sequence[tuple[str, Sequence[ShareBar]]]:
    """Return the bars by script, and by file type and file if there are several.

    Files that are the only one of their type are not repeated, and documents that are not
    files, such as pasted text, have no bars.
    """
    texts = [(TRAINING, training), *([(HELD_OUT, held_out)] if held_out is not None else [])]
    groups = [
        (
            "By script, in characters",
            [
                ShareBar(name, [(part.name, part.share) for part in found.scripts])
                for name, found in texts
            ],
        )
    ]
    types, files = training.types, training.files
    if len(types) > 1:
        bars = [
            ShareBar(name, [(part.name, part.share) for part in found.types])
            for name, found in texts
        ]
        groups.append(("By file type, in bytes", bars))
    are_files = any(part.name != Composition.WITHOUT_TYPE for part in types)
    if are_files and len(files) > len(types):
        largest = [part.name for part in files[:_MAX_FILES]]
        bars = [ShareBar(name, _largest_shares(largest, found.files)) for name, found in texts]
        groups.append(("By file, in bytes", bars))
    return groups


def show_composition(training: Composition, held_out: Composition | None, *, key: str) -> None:
    """Draw the bars."""
    draw_share_bars(key=key, groups=composition_groups(training, held_out))


def _largest_shares(names: Sequence[str], files: Sequence[FileShare]) -> list[tuple[str, float]]:
    """Return the shares of these files, and that of all others together if there are any."""
    share_of = {part.name: part.share for part in files}
    shares = [(name, share_of.pop(name, 0.0)) for name in names]
    # A stored run lists only its largest files, so the rest includes files that are not listed.
    rest = 1 - sum(share for _, share in shares)
    return [*shares, (_OTHER_FILES, rest)] if share_of else shares


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return a table as CSV in UTF-8 with a mark; unknown figures are empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> csv_table(["name", "share"], [("=cmd()", 0.5), ("b", float("nan"))]).decode("utf-8-sig")
    "name,share\\r\\n'=cmd(),0.5\\r\\nb,\\r\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _cell(value: Cell) -> Cell:
    if isinstance(value, float):
        return "" if math.isnan(value) else str(float(value)).removesuffix(".0")
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


@dataclass(frozen=True, slots=True)
class Download:
    """One format: a file, or the reason why the format cannot represent this tokenizer."""

    format: Format
    label: str
    reader: str
    """The tool that reads the file."""
    file_name: str
    data: Callable[[], bytes] | None
    """Writes the file on demand, so that the server need not keep it."""
    code: str
    """The lines of Python that load the file; empty if there is none."""
    problem: str | None
    lacks: str = ""
    """What the file does not hold, in sentences; empty if that is nothing."""


def downloads(run_id: str) -> tuple[Download, ...]:
    """Return a run's tokenizer in every format, in the order of the buttons."""
    run = load_run(run_id).run
    return tokenizer_downloads(run.tokenizer, run)


def tokenizer_downloads(
    tokenizer: Tokenizer, run: TrainingRun | None = None
) -> tuple[Download, ...]:
    """Return a tokenizer in every format, in the order of the buttons.

    If it is the tokenizer of the run, the native format records how that can be repeated.
    """
    if run is None or run.tokenizer is not tokenizer:
        return _tokenizer_downloads(tokenizer.fingerprint, tokenizer)
    return _tokenizer_downloads(f"{tokenizer.fingerprint} {run.to_dict()}", run)


@cached()
def _tokenizer_downloads(key: str, _tokenizer: Tokenizer | TrainingRun) -> tuple[Download, ...]:
    return (
        _download(_tokenizer, "huggingface", "tokenizer.json", "Hugging Face tokenizers"),
        _download(_tokenizer, "transformers", "transformers folder", "AutoTokenizer"),
        _download(_tokenizer, "gpt2", "vocab + merges", "GPT-2 tools: vocab.json and merges.txt"),
        _download(_tokenizer, "tiktoken", ".tiktoken", "tiktoken"),
        _download(
            _tokenizer, "gguf", "GGUF (vocabulary)", "llama.cpp: the vocabulary without a model"
        ),
        _download(_tokenizer, "sentencepiece", "SentencePiece (.model)", "sentencepiece"),
        _download(_tokenizer, "native", "BPE Explorer (.json)", "BPE Explorer, without any loss"),
    )


def encoding_command(file_name: str, tokenizer: Tokenizer) -> str:
    """Return the command that encodes a corpus with a downloaded file.

    >>> from bpe_core.tokenizer import gpt2
    >>> encoding_command("my tokenizer.json", gpt2())
    "bpe encode-corpus corpus/ -t 'my tokenizer.json' --out tokens/"
    """
    has_eos = "eos_token" in special_roles(tokenizer.special_tokens)
    without = "" if has_eos else " --eos none"
    return f"bpe encode-corpus corpus/ -t {quote(file_name)}{without} --out tokens/"


def _download(
    written: Tokenizer | TrainingRun, format_name: Format, label: str, reader: str
) -> Download:
    tokenizer = written.tokenizer if isinstance(written, TrainingRun) else written
    try:
        # Write the files now, because only that shows whether the format can represent the
        # tokenizer, and a click on the button could no longer explain it.
        names = list(dumps(written, format_name))
    except BpeError as error:
        return Download(format_name, label, reader, "", None, "", str(error))
    code = find_reader(format_name).lines(tokenizer).code
    file_name = names[0]
    if len(names) > 1:
        file_name = f"{format_name}-tokenizer.zip"
        code = f"# After unzipping {file_name}\n{code}"
    data = partial(_written, written, format_name)
    lacks = what_ranks_lack(tokenizer) if format_name == "tiktoken" else ""
    return Download(format_name, label, reader, file_name, data, code, None, lacks)


def _written(tokenizer: Tokenizer | TrainingRun, format_name: Format) -> bytes:
    """Return the format's only file, or a zip archive of its files."""
    files = dumps(tokenizer, format_name)
    if len(files) == 1:
        return next(iter(files.values()))
    return zipped(files, f"{FOLDER}/" if format_name == "transformers" else "")


def zipped(files: Mapping[str, bytes], folder: str = "") -> bytes:
    """Return files as a zip archive, under `folder` if given, which must end with "/".

    >>> zipped({"a.txt": b"a"})[:2]
    b'PK'
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # With a fixed date, the same tokenizer makes the same file.
            archive.writestr(zipfile.ZipInfo(folder + name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


def offer_downloads(
    tokenizer: Tokenizer, stored: StoredRun, *, key: str, says_next: bool = False
) -> None:
    """Offer a tokenizer in each format, and explain which formats cannot hold it.

    With `says_next`, the command that comes after the first format's download is shown too.
    """
    offered = tokenizer_downloads(tokenizer, stored.run)
    possible = [download for download in offered if download.data is not None]
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(gap="small", key=f"{key}_download_rows"):
        for download in possible:
            _row(download, key)
        st.markdown(_TESTED, help=_HOW)
    if says_next:
        show_encoding_command(possible[0].file_name, tokenizer)
    missing = [download for download in offered if download.problem is not None]
    if missing:
        with st.expander("Formats that cannot hold this tokenizer"):
            for download in missing:
                st.markdown(
                    f"**{plain_markdown(download.label)}** "
                    f"{plain_markdown(download.problem or '', 600)}"
                )


def show_encoding_command(file_name: str, tokenizer: Tokenizer) -> None:
    """Show what comes next: the command that makes training data with a downloaded file."""
    st.markdown(":small[:gray[Next, encode your corpus into training data:]]")
    st.code(encoding_command(file_name, tokenizer), language=None, wrap_lines=True)


def _row(download: Download, key: str) -> None:
    with st.container(gap=None):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.download_button(
                download.label,
                download.data or b"",
                file_name=download.file_name,
                mime="application/octet-stream",
                help=f"For {download.reader}",
                on_click="ignore",
                key=f"{key}_{download.label}",
            )
            library = find_reader(download.format).library
            popover = f"{key}_{download.format}"
            with st.popover(f"Load with {library}", type="tertiary", key=popover):
                st.code(download.code, language="python", wrap_lines=True)
        if download.lacks:
            st.markdown(f":small[:gray[{plain_markdown(download.lacks, 600)}]]")


@cached()
def _ribbon(run_id: str, beginnings: tuple[str, ...]) -> dict[str, object] | None:
    """Return a text as a ribbon; None without a text, or if the tokenizer cannot encode it."""
    if beginnings:
        with suppress(BpeError):
            return Ribbon.pack(load_run(run_id).run.tokenizer, *beginnings)
    return None


def draw_run_ribbons(run_id: str, *others: tuple[str, Sequence[str]], key: str) -> None:
    """Draw how a run's text begins, and other documents under their names: a bar for each token."""
    seen = load_run(run_id).training_text
    texts = [(_SEEN, () if seen is None else Ribbon.beginnings(seen.corpus.documents))]
    texts += [(name, Ribbon.beginnings(documents)) for name, documents in others]
    drawn = [(name, _ribbon(run_id, beginnings)) for name, beginnings in texts]
    if ribbons := [(name, ribbon) for name, ribbon in drawn if ribbon is not None]:
        draw_ribbons(ribbons, key=key)


@contextmanager
def training_outcome(*, is_live: bool) -> Generator[None]:
    """Draw a training or what became of it in one place, which comes into view when it ends."""
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(key=_OUTCOME):
        yield
        end_in_view(is_live=is_live, within=_OUTCOME, key="end_in_view")


def show_failure(job: Training | None, *, failed: str, cancelled: str) -> None:
    """Draw why a training ended without a run, if it did, in the words for either case."""
    if job is None or job.result is not None:
        return
    if job.state == "failed":
        st.error(f"{failed} {plain_markdown(job.problem or '', 1_000)}")
    elif job.state == "cancelled":
        st.info(cancelled)
    elif job.state == "unknown":
        st.warning(plain_markdown(job.problem or "", 600))


@fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def watch_training(job_id: str) -> None:
    """Redraw a live training twice a second, and the whole page once it has ended."""
    status = jobs.status(job_id)
    if not status.is_live:
        st.rerun()
    with st.container(border=True, key="training_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            heading = "Stopping…" if status.is_stopping else "Training"
            st.header(heading, anchor=_ANCHOR, width="content")
            st.space("stretch")
            st.button(
                "Cancel",
                on_click=jobs.cancel,
                args=(job_id,),
                key="cancel",
                disabled=status.is_stopping,
            )
        st.markdown(f":gray[{plain_markdown(status.about)}]")
        report = status.progress or TrainingReport()
        progress = report.progress
        if progress is None or progress.seconds_compiling is not None:
            st.progress(0.0)
            st.markdown(_before_first_merge(status, progress))
        else:
            _show_progress(report, progress)
        st.markdown(
            ":gray[You can leave this page. Training continues, and this address brings you back.]"
        )


def _before_first_merge(status: Training, progress: TrainingProgress | None) -> str:
    if progress is not None:
        seconds = progress.seconds_compiling
        return f"Compiling the engine, once on this machine: {seconds:.0f} s so far."
    if status.state == "running":
        n_bytes = status.progress.training_bytes if status.progress else 0
        size = f" of {size_text(n_bytes)}" if n_bytes else ""
        return f"Counting the pre-tokens{size}."
    if not status.n_ahead:
        return "Your training run is next."
    return f"Waiting: {counted(status.n_ahead, 'training run')} before yours."


def _show_progress(report: TrainingReport, progress: TrainingProgress) -> None:
    wanted = progress.merges_wanted
    st.progress(min(1.0, progress.merges_done / wanted) if wanted else 1.0)
    if report.is_saving:
        done = progress.merges_done
        st.markdown(
            f"{counted(done, 'merge')} learned. Encoding the held-out text and saving the run."
        )
    else:
        st.markdown(f"Merge {progress.merges_done:,} of {wanted:,}{_pace(report)}.")
    figures = st.grid(2, min_column_width=130)
    with figures.cell(), st.container(gap="xxsmall"):
        st.metric("Bytes per token so far", f"{report.bytes_per_token:.2f}")
        st.markdown(":gray[:small[held-out text is measured at the end]]")
    with figures.cell(), st.container(gap="xxsmall"):
        st.metric("Last pair occurred", times(progress.last_count))
        st.markdown(f":gray[:small[{counted(progress.corpus_tokens, 'token')} in the corpus]]")
    if report.ribbon:
        draw_ribbons([(_SEEN, report.ribbon)], key="training_ribbon")
    st.plotly_chart(
        charts.tokens_over_merges(
            [point.corpus_tokens for point in report.curve],
            merges=[point.merges_done for point in report.curve],
            merges_wanted=wanted,
            theme=frame.theme_type(),
        ),
        theme=None,
        config=CONFIG,
        key="training_curve",
    )


def _pace(report: TrainingReport) -> str:
    rate, seconds_left = report.merges_a_second, report.seconds_left
    if rate is None or seconds_left is None:
        return ""
    return f", {rate:,.0f} a second, about {duration(seconds_left)} left at this rate"
