"""Measure the engine of the browser in Node and in Chromium, with the same kernels on this machine.

Two peers from npm, gpt-tokenizer and tokenizers.js, are measured too if they can be installed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from playwright.sync_api import Browser, sync_playwright

import bpe_core as bpe
from benchmarks import corpora
from benchmarks.encoding import median_ratio, timed
from benchmarks.report import against, middle, seconds_against, table
from bpe_core.tokenizer import CompiledEncoder
from static_site.engine_data import engine_data, packed_tokenizer
from tests.browser.serving import launch_browser, served

HERE: Final = Path(__file__).parent
NODE: Final = HERE.parent / "scripts" / "node.sh"
PEERS: Final = {"gpt-tokenizer": "4.0.0", "@huggingface/tokenizers": "0.2.0"}
HERE_TOO: Final = "bpe_core on this machine"
GOALS: Final = {HERE_TOO: 0.5, "gpt-tokenizer": 10, "@huggingface/tokenizers": 40}
ROUNDS: Final = 5
TRAININGS: Final = ((1_000_000, 8_000, 1.0), (10_000_000, 32_000, 4.0))


def in_node_and_chromium(folder: Path | None) -> list[str]:
    """Compare training and encoding in Node and in Chromium with the same on this machine."""
    # gpt-tokenizer 4.0.0 cuts U+FEFF, which is a token of cl100k, in two.
    text = corpora.mixed(10_000_000, folder).text.replace("\ufeff", "")
    with (
        tempfile.TemporaryDirectory() as name,
        served(Path(name)) as address,
        sync_playwright() as playwright,
    ):
        return _measured(Path(name), address, launch_browser(playwright), text)


def _measured(place: Path, address: str, browser: Browser, text: str) -> list[str]:
    compiler = [sys.executable, "-m", "bpe_core.kernels.compiling"]
    subprocess.run([*compiler, "--wasm", str(place / "kernels.wasm")], check=True)
    (place / "data.json").write_text(engine_data(), "utf-8")
    (place / "index.html").write_text("<!doctype html><title>Engine</title>", "utf-8")
    (place / "repository").symlink_to(HERE.parent)
    peers = list(PEERS) if _install(place) else []
    hosts = {"Node": _Node(place, address), "Chromium": _Chromium(browser, address)}
    lines = [
        "In Node and in a tab of headless Chromium, with one thread, and on this machine: training "
        "with all cores, encoding with one. Merges and ids are equal, or nothing would be timed; "
        "times are medians, and ratios medians over adjacent runs. A text that no tool has seen is "
        "encoded by a tokenizer that has just been opened; there it is the time of all threads of "
        "the process, which other work does not lengthen.",
        "",
        table(
            ["training", "time", "goal", "on this machine", "ratio"], _trainings(place, hosts, text)
        ),
        "",
    ]
    for title, encoder in (("cl100k, GPT-4's", "cl100k_base"), ("o200k, GPT-4o's", "o200k_base")):
        # tokenizers.js takes ten seconds a text, so it encodes with one tokenizer.
        some = peers if encoder == "cl100k_base" else peers[:1]
        lines += [*_encodings(place, hosts, encoder, title, text, some), ""]
    lines.append(_memory_of_a_tab(browser, address, "o200k_base"))
    return lines


class _Node:
    """A process of Node that does the tasks of `browser.js`."""

    def __init__(self, place: Path, address: str) -> None:
        packages = f"file://{place}/node_modules"
        self._process = subprocess.Popen(
            [str(NODE), str(HERE / "browser.js"), address, packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def ask(self, task: str, **given: object) -> Any:
        """Return the answer to a task."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([task, given]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


class _Chromium:
    """A tab that does the tasks of `browser.js`, with the engine in a worker as on the site."""

    def __init__(self, browser: Browser, address: str) -> None:
        def renderers() -> set[int]:
            session = browser.new_browser_cdp_session()
            found: Any = session.send("SystemInfo.getProcessInfo")
            return {each["id"] for each in found["processInfo"] if each["type"] == "renderer"}

        before = renderers()
        self._page = browser.new_page()
        self._page.set_default_timeout(0)
        self._page.goto(f"{address}/index.html")
        (self.pid,) = renderers() - before
        self._page.evaluate(
            """async (address) => {
                 const { begin } = await import(`${address}/repository/benchmarks/browser.js`);
                 globalThis.ask = await begin(address, `${address}/node_modules`);
               }""",
            address,
        )

    def ask(self, task: str, **given: object) -> Any:
        """Return the answer to a task."""
        return self._page.evaluate("(asked) => ask(...asked)", [task, given])


Hosts = dict[str, _Node | _Chromium]


def _trainings(place: Path, hosts: Hosts, text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for n_bytes, vocab_size, goal in TRAININGS:
        given = text.encode()[:n_bytes].decode(errors="ignore")
        (place / "corpus.txt").write_text(given, "utf-8")
        train = partial(bpe.train, [given], vocab_size=vocab_size, special_tokens=())
        expected = _digest([id for merge in train().merges for id in (merge.left, merge.right)])
        times: dict[str, list[float]] = {"here": [], **{name: [] for name in hosts}}
        for _ in range(ROUNDS):
            for name, host in hosts.items():
                answer = host.ask("train", name="corpus.txt", vocabSize=vocab_size)
                _check(host, expected, f"The merges in {name}")
                times[name].append(answer["seconds"])
            times["here"].append(timed(train))
        for name in hosts:
            seconds = middle(times[name])
            rows.append(
                [
                    f"{n_bytes // 1_000_000} MB to {vocab_size:,} in {name}",
                    f"{seconds:.2f} s",
                    seconds_against(seconds, goal),
                    f"{middle(times['here']):.2f} s",
                    against(median_ratio(times[name], times["here"]), 3),
                ]
            )
    return rows


def _encodings(
    place: Path, hosts: Hosts, name: str, title: str, text: str, peers: list[str]
) -> list[str]:
    tokenizer = bpe.open_encoder(name).plain
    assert tokenizer is not None
    (place / name).write_bytes(packed_tokenizer(tokenizer))
    _write_for_peer(tokenizer, place / f"{name}.json")
    for host in hosts.values():
        for peer in peers:
            host.ask("openPeer", peer=peer, encoding=name, file=f"{name}.json")
    speeds: dict[tuple[str, str], list[float]] = {}
    opening: list[float] = []
    size = len(text) // (ROUNDS + 1)
    for part in (text[size * k : size * (k + 1)] for k in range(ROUNDS + 1)):
        (place / "text.txt").write_text(part, "utf-8")
        megabytes = len(part.encode()) / 1e6
        fresh = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
        started = time.process_time()
        fresh.encode(part, 1)
        here = time.process_time() - started
        expected = _digest(tokenizer.encode_to_numpy(part))
        for where, host in hosts.items():
            host.ask("read", name="text.txt")
            seconds = {HERE_TOO: here}
            taken, opened = _processor_seconds(host, "open", name=name)
            opening.append(taken)
            seconds["engine"], _ = _processor_seconds(host, "encode", handle=opened["handle"])
            _check(host, expected, f"The engine's ids in {where}")
            host.ask("close", handle=opened["handle"])
            for peer in peers:
                seconds[peer], _ = _processor_seconds(host, "encodeByPeer", peer=peer)
                _check(host, expected, f"The ids of {peer} in {where}")
            for tool, taken in seconds.items():
                speeds.setdefault((where, tool), []).append(megabytes / taken)
    # The first text, which no median counts.
    first = " and ".join(f"{speeds[where, 'engine'][0]:.1f} MB/s in {where}" for where in hosts)
    speeds = {of: each[1:] for of, each in speeds.items()}
    rows: list[list[str]] = []
    for tool in ("engine", HERE_TOO, *peers):
        row = [f"{tool} {PEERS[tool]}" if tool in PEERS else tool]
        for where in hosts:
            ratio = median_ratio(speeds[where, "engine"], speeds[where, tool])
            shown = "" if tool == "engine" else against(ratio, GOALS[tool], at_most=False)
            row += [f"{middle(speeds[where, tool]):.1f}", shown]
        rows.append(row)
    columns = [of for where in hosts for of in (f"MB/s in {where}", "times as fast is the engine")]
    return [
        f"By {title} tokenizer, {ROUNDS} texts of {size / 1e6:.1f} million characters. It opens in "
        f"{middle(opening):.2f} s of processor time. One more text comes first, and is encoded "
        f"while the kernels are still being optimized: {first}.",
        "",
        table(["tool", *columns], rows),
    ]


def _memory_of_a_tab(browser: Browser, address: str, name: str) -> str:
    """Say what memory a new tab takes to encode with a tokenizer, beyond that of the engine."""
    tab = _Chromium(browser, address)
    process = psutil.Process(tab.pid)

    def own_megabytes() -> float:
        return process.memory_full_info().uss / 1e6

    before = own_megabytes()
    handle = tab.ask("open", name=name)["handle"]
    opened = own_megabytes()
    tab.ask("read", name="text.txt")
    kernels = tab.ask("encode", handle=handle)["memory"] / 1e6
    return (
        f"A tab of Chromium has {before:.0f} MB of its own with the engine, {opened:.0f} MB once "
        f"GPT-4o's tokenizer is open, and {own_megabytes():.0f} MB when it has just encoded the "
        f"last text. The kernels' memory is {kernels:.0f} MB of that (goal ≤ 60 MB)."
    )


def _processor_seconds(host: _Node | _Chromium, task: str, **given: object) -> tuple[float, Any]:
    """Return the time that all threads of a host took for a task, and the answer."""

    def taken() -> float:
        threads = Path(f"/proc/{host.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    before = taken()
    answer = host.ask(task, **given)
    return taken() - before, answer


def _write_for_peer(tokenizer: bpe.Tokenizer, path: Path) -> None:
    """Write a tokenizer.json for tokenizers.js, which takes `$` for the end of any line.

    Without the part of the pattern that has it, only a text that ends in white space is cut
    otherwise.
    """
    bpe.save(tokenizer, path, format="huggingface")
    path.write_text(path.read_text("utf-8").replace(r"\\s++$|", ""), "utf-8")


def _install(place: Path) -> bool:
    """Install the peers for this run; return False if npm can't."""
    options = ["--no-save", "--no-audit", "--no-fund", "--silent"]
    packages = [f"{name}@{version}" for name, version in PEERS.items()]
    command = [str(NODE), "npm", "install", "--prefix", str(place), *options, *packages]
    return subprocess.run(command, check=False).returncode == 0


def _check(host: _Node | _Chromium, expected: str, what: str) -> None:
    if host.ask("digest") != expected:
        raise SystemExit(f"{what} differ, so nothing is timed.")


def _digest(numbers: Any) -> str:
    return hashlib.sha256(np.asarray(numbers, np.int32).tobytes()).hexdigest()
