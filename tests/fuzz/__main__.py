"""Damage files and addresses, and print how readers and pages handle them."""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import logging
import random
import resource
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.peak_memory import peak_megabytes
from bpe_core.errors import BpeError
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS
from tests.fuzz.structures import restructured

KEPT: Final = Path(__file__).parents[2] / ".fuzz"
_MAX_BYTES: Final = 3 << 30
_MAX_SECONDS: Final = 60
_PAGES: Final = "pages"


def main() -> int:
    """Attack each reader in a separate process; return 1 if a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="readers, or pages; all without one")
    parser.add_argument("--inputs", type=int, default=3_000, help="for each fast reader")
    parser.add_argument("--addresses", type=int, default=600, help="of pages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return _attack_here(options.only[0], options.inputs, options.addresses, options.seed)
    print(f"{'':28}{'inputs':>8}{'read':>8}{'refused':>9}{'slowest':>9}{'memory':>9}  faults")
    n_faults = total = 0
    for name in options.only or (*READERS, _PAGES):
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.fuzz",
                name,
                "--here",
                "--inputs",
                str(options.inputs),
                "--addresses",
                str(options.addresses),
                "--seed",
                str(options.seed),
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ran.returncode:
            n_faults += 1
            print(f"{name:28} the process ended with {ran.returncode}: see {KEPT / 'last'}")
            continue
        found = json.loads(ran.stdout.splitlines()[-1])
        total += found["inputs"]
        n_faults += len(found["faults"])
        print(
            f"{name:28}{found['inputs']:8,}{found['read']:8,}{found['refused']:9,}"
            f"{found['slowest']:8.1f}s{found['megabytes']:6,} MB  {len(found['faults'])}"
        )
        for fault in found["faults"][:9]:
            print(f"    {fault}")
    print(f"{total:,} inputs, {n_faults} faults")
    return min(1, n_faults)


def _attack_here(name: str, n: int, n_addresses: int, seed: int) -> int:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if name == _PAGES:
        from tests.fuzz.addresses import attack_pages

        found, slowest = attack_pages(n_addresses, random.Random(seed))
        broken = [f"{address}: {problem}" for address, problem in found]
        _print(n_addresses, n_addresses - len(broken), 0, slowest, broken)
        return 0
    # An allocation beyond this limit fails, which is a fault unless the reader expects it.
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    reader = READERS[name]
    faults: list[str] = []
    counts = Counter[str]()
    slowest = 0.0
    rng = random.Random(seed)
    good = dict(reader.files())
    reader.read(good)  # the undamaged files must be readable
    n = max(1, int(n * reader.share))
    for _ in range(n):
        which = rng.choice(list(good))
        if rng.random() < 0.5:
            files = {**good, which: restructured(good[which], rng)}
        else:
            files = {**good, which: mutated(good[which], list(good.values()), rng)}
        _keep("last", files)
        faulthandler.dump_traceback_later(_MAX_SECONDS, exit=True)
        started = time.perf_counter()
        try:
            reader.read(files)
            counts["read"] += 1
        except BpeError:
            counts["refused"] += 1
        except Exception as error:
            digest = hashlib.sha256(repr(files).encode()).hexdigest()[:12]
            faults.append(f"{type(error).__name__}: {error} ({_keep(digest, files)})"[:300])
        slowest = max(slowest, time.perf_counter() - started)
    faulthandler.cancel_dump_traceback_later()
    _print(n, counts["read"], counts["refused"], slowest, faults)
    return 0


def _keep(name: str, files: Mapping[str, bytes]) -> Path:
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        (folder / file).write_bytes(data)
    return folder


def _print(n: int, read: int, refused: int, slowest: float, faults: list[str]) -> None:
    found = {
        "inputs": n,
        "read": read,
        "refused": refused,
        "slowest": slowest,
        "faults": faults,
        "megabytes": round(peak_megabytes()),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
