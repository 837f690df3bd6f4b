"""Send every kind of message that a tab can send to a server, and see who is affected.

`python -m tests.every_message` starts a server and prints a table; `--times 200` sends each message
so often. A test sends each once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.app_client import AppClient, open_tab
from benchmarks.visitors import make_text
from tests.browser.serving import find_server, running_app
from tests.waiting import MAX_WAIT_SECONDS

TEXT_BYTES = 2_000_000
"""The training on it takes longer than it takes to send the first messages."""
SECONDS_UNTIL_ASKED_AGAIN = 2


@dataclass(frozen=True)
class Effect:
    """What messages of one kind did."""

    answers: Counter[str]
    """How often the server answered by messages of each kind."""
    is_connected: bool
    """Whether the tab is still answered afterwards."""
    longest_wait: float
    """Of others who asked for the server's health meanwhile, in seconds."""
    threads: int
    """How many threads the server had afterwards."""
    alerts: str
    """What another visitor, who trains, was warned of."""


def every_message() -> Iterator[tuple[str, BackMsg]]:
    """Yield a message of each kind, with the name of its kind."""
    for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields:
        if field.message_type is None:
            message = BackMsg()
            setattr(message, field.name, True)
            yield field.name, message
            continue
        payloads = field.message_type.oneofs_by_name.get("payload")
        for payload in [None] if payloads is None else payloads.fields:
            message = BackMsg()
            inner = getattr(message, field.name)
            inner.SetInParent()
            if payload is not None:
                getattr(inner, payload.name).SetInParent()
            yield field.name if payload is None else f"{field.name}.{payload.name}", message


async def send_each(address: str, times: int = 1) -> dict[str, Effect]:
    """Send each message from a tab of its own, while another visitor trains."""
    async with open_tab(address) as other:
        await other.open("train")
        await other.set("corpus_source", "Upload")
        await other.upload("corpus_uploads", "a.txt", make_text(1, TEXT_BYTES))
        await other.press("train")
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while "job=" not in other.query:
                await asyncio.sleep(0.01)
        return {
            kind: await _send(address, other, message, times) for kind, message in every_message()
        }


async def _send(address: str, other: AppClient, message: BackMsg, times: int) -> Effect:
    over = asyncio.Event()
    waits = asyncio.create_task(_ask_health(address, over))
    answers: Counter[str] = Counter()
    page, last = BackMsg(), BackMsg()
    page.rerun_script.SetInParent()
    last.file_urls_request.request_id = "last"

    async def read_until(is_last: Callable[[ForwardMsg], bool]) -> None:
        while not is_last(answer := ForwardMsg.FromString(await tab.recv(decode=False))):
            answers[answer.WhichOneof("type") or ""] += 1

    is_connected = False
    with suppress(ConnectionClosed):
        async with connect(
            f"ws://{address.partition('//')[2]}/_stcore/stream", max_size=None
        ) as tab:
            await tab.send(page.SerializeToString())
            await read_until(lambda answer: answer.HasField("script_finished"))
            answers.clear()
            for _ in range(times):
                await tab.send(message.SerializeToString())
            # Messages are handled in order, so all answers come before this one. Asked again, since
            # a script that begins discards what was not sent yet.
            while not is_connected:
                await tab.send(last.SerializeToString())
                with suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS_UNTIL_ASKED_AGAIN):
                        await read_until(lambda each: each.file_urls_response.response_id == "last")
                        is_connected = True
    over.set()
    await other.rerun()
    return Effect(
        answers,
        is_connected,
        max(await waits),
        find_server(address).num_threads(),
        "\n".join(alert.body for alert in other.elements("alert")),
    )


async def _ask_health(address: str, over: asyncio.Event) -> list[float]:
    def ask() -> float:
        began = time.perf_counter()
        with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
            answer.read()
        return time.perf_counter() - began

    waits: list[float] = []
    while not (waits and over.is_set()):
        waits.append(await asyncio.to_thread(ask))
        await asyncio.sleep(0.01)
    return waits


def main() -> None:
    """Start a server, send each message to it, and print the effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder)) as address,
    ):
        effects = asyncio.run(send_each(address, options.times))
    rows = [("message", "connected", "longest wait", "threads", "answers and what others see")]
    for kind, each in effects.items():
        answers = ", ".join(f"{n} {name}" for name, n in each.answers.items()) or "nothing"
        is_connected = "yes" if each.is_connected else "no"
        wait = f"{each.longest_wait:.2f} s"
        rows.append((kind, is_connected, wait, str(each.threads), f"{answers}; {each.alerts}"))
    for row in rows:
        sys.stdout.write("{:46}{:>9}{:>14}{:>9}  {}\n".format(*row))


if __name__ == "__main__":
    main()
