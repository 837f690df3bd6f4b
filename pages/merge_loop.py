"""Merge loop: each merge of a run, animated on words."""

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.views import PlayedRun
from ui.components import draw_merge_player, send_block, send_own_words
from ui.host import fragment
from ui.look import counted, tooltip
from ui.merge_loop import player_run, show_languages
from ui.run import first_step, keep_step
from ui.shell import check_linked, frame, show_unread, workspace
from ui.storage import StoredRun

MAX_OWN_TEXT = 200
_FITTING_WORDS = f"a text of at most {MAX_OWN_TEXT} characters"


@fragment()
def draw_player(stored: StoredRun) -> None:
    key = player_run.player_key(stored.id)
    n_merges = len(stored.run.merges)
    step = first_step(stored)
    keep_step(stored, step)
    show_unread("step", step)
    run = stored.run
    if run.config.ways:
        first = ""
        if run.config.superwords_from is not None and run.base is not None:
            first = (
                f" {counted(run.base.n_merges, 'merge')} within words came first, up to "
                f"{run.base.vocab_size:,} tokens."
            )
        st.markdown(f":gray[Trained with {run.config.ways}.{first}]")
    wanted = draw_merge_player(
        key=key,
        run=player_run.player_run(stored.id),
        on_step=lambda: keep_reported(stored, workspace.component_value(key, "step")),
        on_words=lambda: keep_words(workspace.component_value(key, "words")),
    )
    send_block(player=key, block=player_run.player_block(stored.id, wanted, step))
    text = workspace.query_text("words", MAX_OWN_TEXT) or ""
    check_linked("words", lambda words: len(words) <= MAX_OWN_TEXT, _FITTING_WORDS)
    try:
        send_own_words(player=key, words=player_run.player_words(stored.id, text))
    except BpeError as error:
        send_own_words(player=key, words=(), problem=str(error))
    show_unread("words", text)
    st.download_button(
        "Save as a replay",
        lambda: player_run.replay(stored.id, step, text),
        file_name="merge-loop-replay.html",
        mime="text/html",
        on_click="ignore",
        help="One HTML file that plays all merges offline, "
        f"about {player_run.replay_size(stored.id, step) / 1e6:.1f} MB. "
        f"{replay_holds(n_merges, step)}",
    )
    show_languages(stored)


def replay_holds(n_merges: int, step: int) -> str:
    start, stop = PlayedRun.replayed_merges(n_merges, step)
    if stop - start == n_merges:
        return "It includes the words that the player shows."
    return (
        f"To stay small, it includes the race and the reasons only for merges {start + 1:,} to "
        f"{stop:,}, around the current one; the words and the sentence for all."
    )


def keep_reported(stored: StoredRun, report: object) -> None:
    step = player_run.reported_step(report, len(stored.run.merges))
    if step is not None:
        keep_step(stored, step)


def keep_words(words: object) -> None:
    if isinstance(words, str):
        workspace.set_query(words=words[:MAX_OWN_TEXT] or None)


def draw(stored: StoredRun) -> None:
    st.markdown(
        f":gray[{player_run.lead_sentence(stored)}]",
        help=tooltip("Merge", "Tie", "Pre-token"),
    )
    draw_player(stored)


frame.show_page(draw, "Merge loop")
