"""Where the tests of trust find things: the scripts, and a model file of every kind."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import espalier as es

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FILES = ROOT / "tests" / "releases" / es.__version__
EXPECTED: dict[str, Any] = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
THREADS = 4
TOKENS: list[list[str]] = EXPECTED["tokens"]


def at_once(work: Callable[[int], Any], n: int = THREADS) -> list[Any]:
    """Call work(0), work(1), ... in threads that begin together."""
    gate = threading.Barrier(n)

    def begin(k: int) -> Any:
        gate.wait()
        return work(k)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(begin, range(n)))
