"""The workbench under load: many clients, large requests beside small ones, half-open connections, a moved slider.

    python bench/serve.py [--workers 2] [--only pages parse attacks half-open] [--json FILE]

| part | what |
|---|---|
| pages | 50 clients do what pages do: list, parse, confirm (which waits for the disk), move a slider, ask how it is |
| parse | single references over a kept connection; 20 clients at once; batches of 1,000, one a worker at a time |
| attacks | one request within all limits (40 texts of 20,000 characters; 1,000 references in 20 readings each) |
| half-open | 1,000 connections that have sent half of a head, for a minute |

During the last two, others ask for single references, and their 99th percentile is what counts. A server process of its
own, on a project of its own. Any answer that is no success counts as an error, except that an attack may be told that
its time is over; the script then ends with 1. Peers are the limits that the workbench promises. Beside the clock,
`parse` shows the processor time of the server for each reference, and that of the library alone: a machine with other
work changes the first much more than the second.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TypeVar

import httpx

import espalier as es
from common import Row, arguments, compare, parsed, write_json
from serve_clients import Attack, attack, batches, for_seconds, half_open, processor_seconds, singles, together

HEADERS = {"X-Espalier": "1"}
SCREEN = 500
T = TypeVar("T")


@dataclass
class Tally:
    """What one client has seen: seconds of each answer, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def references(data: Path, n: int) -> list[str]:
    """Return references of the shared data, or the examples of the workbench, numbered so that they differ."""
    file = data / "cora" / "normalised" / "all.jsonl"
    if file.exists():
        texts = list(dict.fromkeys(json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()))
    else:
        examples = resources.files("espalier.workbench.examples") / "citations.txt"
        texts = examples.read_text(encoding="utf-8").splitlines()
    return [text if i < len(texts) else f"{text} [{i}]" for i in range(n) for text in [texts[i % len(texts)]]]


def client(http: httpx.Client, base: str, ids: list[int], end: float, seed: int) -> Tally:
    """Work as a page does until the time is over."""
    chance, tally, url = random.Random(seed), Tally(), f"{base}/tasks/citations"
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            answer = one_request(http, base, url, ids, chance)
            if not answer.is_success:
                tally.errors.append(f"{answer.request.method} {answer.request.url.path}: {answer.status_code}")
        except httpx.HTTPError as error:
            tally.errors.append(repr(error))
        tally.seconds.append(time.perf_counter() - began)
    return tally


def one_request(http: httpx.Client, base: str, url: str, ids: list[int], chance: random.Random) -> httpx.Response:
    """Send one of the requests of a page."""
    kind = chance.randrange(6)
    if kind == 0:
        return http.get(f"{url}/records", params={"offset": chance.randrange(len(ids)), "limit": 20})
    if kind == 1:
        return http.post(f"{url}/parse", json={"texts": [f"A. Berg. On oak {chance.random()}. Tree Letters, 1999."]})
    if kind == 2:
        body = {"fields": [{"label": "title", "start": 0, "end": 5}]}
        return http.put(f"{url}/records/{chance.choice(ids)}/fields", json=body)
    if kind == 3:
        first = chance.randrange(len(ids) - 20)
        body = {"records": ids[first : first + 20], "penalties": {"OneTitle": round(chance.uniform(0, 9), 2)}}
        return http.post(f"{url}/redecode", json=body)
    return http.get(f"{url}/queue") if kind == 4 else http.get(f"{base}/status")


def load(base: str, ids: list[int], clients: int, seconds: float) -> tuple[list[float], list[str], float]:
    """Let many clients work at once; return the seconds of all answers, the errors, and how long it took."""
    tallies: list[Tally] = []
    with httpx.Client(headers=HEADERS, timeout=60, limits=httpx.Limits(max_connections=clients)) as http:
        began = time.monotonic()

        def work(k: int) -> None:
            tallies.append(client(http, base, ids, began + seconds, k))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    return [s for tally in tallies for s in tally.seconds], [e for tally in tallies for e in tally.errors], took


def slider(base: str, ids: list[int], rounds: int) -> float:
    """Return the seconds from a moved slider to the answer, JSON and all: the best of several."""
    best = float("inf")
    with httpx.Client(headers=HEADERS, timeout=60) as http:
        for k in range(rounds):
            body = {"records": ids, "penalties": {"OneTitle": 0.1 * k, "OneDate": 9 - 0.1 * k}}
            began = time.perf_counter()
            http.post(f"{base}/tasks/citations/redecode", json=body).raise_for_status().json()
            best = min(best, time.perf_counter() - began)
    return best


def edited(base: str, ids: list[int], rounds: int) -> float:
    """Return the seconds from an edited text of rules to the answer: it is parsed and compiled, too."""
    best = float("inf")
    with httpx.Client(headers=HEADERS, timeout=60) as http:
        text = http.get(f"{base}/tasks/citations/rules").json()["text"]
        for k in range(rounds):
            began = time.perf_counter()
            body = {"records": ids, "text": f"{text}\nEdited{k}: date before pages [penalty 2]\n"}
            http.post(f"{base}/tasks/citations/redecode", json=body).raise_for_status().json()
            best = min(best, time.perf_counter() - began)
    return best


def pages(base: str, texts: list[str], options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return the rows of what pages do, and the errors."""
    clients, seconds = options.clients, options.seconds
    with httpx.Client(headers=HEADERS, timeout=120) as http:
        body = {"text": "\n".join(texts), "layout": "lines"}
        ids = http.post(f"{base}/tasks/citations/records", json=body).raise_for_status().json()["added"]
        http.get(f"{base}/tasks/citations/records", params={"limit": len(ids)}).raise_for_status()
    rows = [compare(f"a slider on {len(ids)} references", "ms", 1000 * slider(base, ids, 10), 300, "promised")]
    rows.append(compare(f"edited rules on {len(ids)} references", "ms", 1000 * edited(base, ids, 5), 300, "promised"))
    times, errors, took = load(base, ids, clients, seconds)
    cuts = statistics.quantiles(times, n=100)
    name = f"{clients} clients"
    rows.append(compare(name, "requests/s", len(times) / took, clients, "one a second each", higher_is_better=True))
    rows.append(compare(f"{name}, p50", "ms", 1000 * cuts[49], 20_000, "the time of a request"))
    rows.append(compare(f"{name}, p99", "ms", 1000 * cuts[98], 20_000, "the time of a request"))
    return rows, errors


def parsing(base: str, texts: list[str], options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return the rows of parsing, by the clock and in processor time."""
    singles(base, texts, 50)
    alone, library = in_library(texts)
    one, cost = costing(options.server, lambda: singles(base, texts, options.singles))
    rows = [compare("one reference, p50", "ms", one.ms(0.5), 5, "promised")]
    rows.append(compare("one reference, p99", "ms", one.ms(0.99), 50, "promised"))
    rows.append(compare("  processor time of each", "ms", 1000 * cost / len(one.seconds), 1000 * alone, "the library"))
    until = for_seconds(options.seconds)
    many, cost = costing(options.server, lambda: together(base, texts, 20, until))
    rate = len(many.seconds) / options.seconds
    rows.append(compare("20 clients, one each", "refs/s", rate, 600, "promised, 2 workers", higher_is_better=True))
    rows.append(compare("20 clients, one each, p99", "ms", many.ms(0.99), 500, "promised"))
    rows.append(compare("  processor time of each", "ms", 1000 * cost / len(many.seconds), 1000 * alone, "the library"))
    workers = options.workers
    (rate, seen), cost = costing(options.server, lambda: batches(base, texts, options.rounds, workers))
    name = f"batches of {len(texts):,}, {workers} at a time"
    rows.append(compare(name, "refs/s", rate, 4000, "promised", higher_is_better=True))
    each = cost / len(seen.seconds) / len(texts)
    rows.append(compare("  processor time of each", "ms", 1000 * each, 1000 * library, "the library"))
    return rows, [*one.errors, *many.errors, *seen.errors]


def costing(server: int, work: Callable[[], T]) -> tuple[T, float]:
    """Do something, and return what came of it with the processor seconds of the server."""
    before = processor_seconds(server)
    return work(), processor_seconds(server) - before


def in_library(texts: Sequence[str]) -> tuple[float, float]:
    """Return the processor seconds of a reference without a server: one by one, and all together."""
    parser = es.load("citations")
    found = []
    for batch in (1, len(texts)):
        some = texts[: 100 if batch == 1 else None]
        times = []
        for _ in range(3):
            began = time.process_time()
            for i in range(0, len(some), batch):
                list(parser.parse_many(some[i : i + batch]))
            times.append((time.process_time() - began) / len(some))
        found.append(min(times))
    return found[0], found[1]


def attacks(base: str, texts: list[str], options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return the rows of requests that are as large as they may be."""
    whole = " ".join(texts)
    large = [whole[i * 20_000 :][:20_000] or whole[:20_000] for i in range(options.long)]
    rows, errors = [], list[str]()
    for name, body in (
        (f"{options.long} texts of 20,000 characters", {"texts": large}),
        (f"{len(texts):,} references, 20 readings", {"texts": texts, "k": 20}),
    ):
        found: Attack = attack(base, body, texts)
        rows.append(compare(f"{name} ({found.status})", "s", found.seconds, 22, "promised"))
        rows.append(compare("  other clients, p50", "ms", found.others.ms(0.5), 500, "promised"))
        rows.append(compare("  other clients, p99", "ms", found.others.ms(0.99), 500, "promised"))
        errors += found.others.errors
        errors += [] if found.status in (200, 413, 504) else [f"{name}: {found.status}"]
    return rows, errors


def half_sent(base: str, texts: list[str], options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return the rows of connections that do nothing."""
    with half_open(base, options.half_open):
        seen = together(base, texts, 5, for_seconds(options.minute), pause=0.02)
    name = f"{options.half_open:,} half-open connections"
    return [compare(f"{name}: others, p99", "ms", seen.ms(0.99), 500, "promised")], seen.errors


def wait_until_ready(address: str, workers: int) -> None:
    """Wait until every process has its model; each new connection may meet another one."""
    ready = 0
    while ready < 10 * workers:
        ready = ready + 1 if httpx.get(f"{address}ready", timeout=60).is_success else 0
        time.sleep(0.05)


PARTS = {"pages": pages, "parse": parsing, "attacks": attacks, "half-open": half_sent}


def main() -> None:
    """Start a server, measure, and stop it."""
    parser = arguments(__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts alone")
    parser.add_argument("--workers", type=int, default=1, help="of the server")
    parser.add_argument("--clients", type=int, default=50, help="that do what pages do")
    parser.add_argument("--seconds", type=float, default=30, help="of many clients at once")
    parser.add_argument("--minute", type=float, default=60, help="seconds of half-open connections")
    quick = {"singles": 20, "rounds": 1, "long": 2, "half_open": 50}
    options = parsed(parser, clients=4, seconds=1.0, minute=1.0)
    vars(options).update(quick if options.quick else {"singles": 500, "rounds": 5, "long": 40, "half_open": 1000})
    rows, errors = list[Row](), list[str]()
    with tempfile.TemporaryDirectory() as project:
        command = [sys.executable, "-m", "espalier", "serve", "--project", project, "--port", "0"]
        command += ["--workers", str(options.workers)] if options.workers > 1 else []
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            options.server = server.pid
            base = f"{server.stdout.readline().strip()}api/v1"
            wait_until_ready(base.removesuffix("api/v1"), options.workers)
            for part in options.only:
                texts = references(options.data, 60 if options.quick else SCREEN if part == "pages" else 1000)
                found = PARTS[part](base, texts, options)
                rows += found[0]
                errors += found[1]
        finally:
            server.terminate()
            server.communicate()
    write_json(options.json, rows)
    print(f"{len(errors)} errors", *errors[:5], sep="\n")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
