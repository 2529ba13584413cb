"""What long lines cost: time and memory of every command on a file that is one line of ten megabytes.

    python scripts/measure_hostile.py [--megabytes 10] [--only NAME ...] [--lines 19] [--json FILE]
    python scripts/measure_hostile.py --attacks [NAME ...] [--size 1] [--workers 2] [--json FILE]

With `--attacks` requests that were made to harm are sent to a server (`attacking.attacks`), three of a kind at a time,
while others ask for single references (`attacking.siege`). A name may be the beginning of several: `--attacks PDF`. An
attack during which a promise of SECURITY.md is not kept is marked, and makes the script fail.

Each command runs in a process of its own, whose processor seconds and largest memory the system tells at its end. The
server gets the line in two requests, a pasted text and an uploaded file, and its memory is that after both; a request
may have ten megabytes, so the line is a little shorter there. An entry that ends with * was refused, by a message; any
other ending is an error, which is shown, and makes the script fail.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from attacking.siege import NAMES, SiegeCost, besieged, serving
from attacking.siege import table as siege_table

ESPALIER = [sys.executable, "-m", "espalier"]

INPUTS: Mapping[str, tuple[str, str, str]] = {
    "one reference": ("A. Berg. On oak trees. Tree Letters, 1999.", "", ""),
    "`aaa`": ("", "a", ""),
    "blanks": ("", " ", ""),
    "`a a a`": ("", "a ", ""),
    "`...`": ("", ".", ""),
    "`[[[`": ("", "[", ""),
    "`<<<`": ("", "<", ""),
    "`<a><a><a>`": ("", "<a>", ""),
    "`<a>x</a>`, and again": ("", "<a>x</a>", ""),
    '`<a b="" b="" ...>`': ("<a", ' b=""', ">x</a>"),
    "TEI": ("<TEI><bibl>", "<title>x</title>", "</bibl></TEI>"),
    '`{"text": "aaa"}`': ('{"text": "', "a", '"}'),
    '`{"text": "a a a"}`': ('{"text": "', "a ", '"}'),
    '`{"text": "\\ud800..."}`': ('{"text": "', "\\ud800", '"}'),
    '`{"spans": [[0, 9, "x"], ...]}`': ('{"text": "a a a a a a", "spans": [[0, 9, "x"]', ', [1, 9, "x"]', "]}"),
    "combining marks": ("e", "\u0301", ""),
    "joined emoji": ("", "\U0001f469\u200d", ""),
    "Chinese": ("", "\u4e2d\u6587", ""),
    "half characters in UTF-8": ("", "\ud800", ""),
}
"""What a line begins with, what is repeated in it, and what it ends with."""

COMMANDS: Mapping[str, list[str]] = {
    "parse": ["parse", "{file}", "--format", "jsonl", "--output", "{out}"],
    "label": ["label", "{file}", "--model", "{model}", "--output", "{out}"],
    "convert": ["convert", "{file}", "{out}"],
    "train": ["train", "--labelled", "{labelled}", "--unlabelled", "{file}", "--model", "hmm", "--output", "{trained}"],
    "evaluate": ["evaluate", "--model", "{model}", "--data", "{file}"],
    "run": ["run", "{job}", "--workers", "1"],
}
SERVER = "serve"


@dataclass(frozen=True)
class Cost:
    """What became of one input: seconds, megabytes, how it ended (done, refused or failed), and the first message."""

    input: str
    command: str
    seconds: float
    megabytes: float
    ending: str
    message: str

    def __str__(self) -> str:
        """Show an entry of the table."""
        sign = {"done": "", "refused": "*", "failed": " FAILED"}[self.ending]
        return f"{self.seconds:.1f} s, {self.megabytes:.0f} MB{sign}"


def pieces(label: str, size: int) -> Iterator[bytes]:
    """Yield a line of that size; in pieces, since a child's largest memory counts that of its parent at the start."""
    before, unit, after = (part.encode("utf-8", "surrogatepass") for part in INPUTS[label])
    yield before
    count = size // len(unit) if unit else 0
    for begin in range(0, count, 10_000):
        yield unit * min(10_000, count - begin)
    yield after


def ending(code: int, messages: str) -> str:
    """Say how a command ended by its exit code and messages: 1 and 2 are refusals, of a record or of all."""
    if "Traceback" in messages or code not in (0, 1, 2):
        return "failed"
    return "done" if code == 0 else "refused"


def first_message(messages: str) -> str:
    """Return the beginning of what was said, on one line."""
    return re.sub(r"\s+", " ", messages).strip()[:200]


def prepare(folder: Path) -> dict[str, str]:
    """Train a small model on two records, and write a job; return what the commands are told."""
    names = {name: str(folder / name) for name in ("labelled", "model", "trained", "file", "job", "out")}
    names["out"] += ".jsonl"
    record = {"tokens": ["A.", "Berg", ".", "On", "oak"], "bio": ["B-who", "I-who", "O", "B-what", "I-what"]}
    Path(names["labelled"]).write_text(f"{json.dumps(record)}\n" * 2, encoding="utf-8")
    Path(names["job"]).write_text(
        'input = "file"\nformat = "text"\noutput = "rows"\nmodel = "model"\n', encoding="utf-8"
    )
    order = ["train", "--labelled", names["labelled"], "--output", names["model"], "--set", "max_iterations=5"]
    subprocess.run([*ESPALIER, *order], check=True, capture_output=True)
    return names


def measure(label: str, command: str, names: Mapping[str, str], folder: Path) -> Cost:
    """Run a command in a process of its own."""
    shutil.rmtree(folder / "rows", ignore_errors=True)  # a run goes on where the one before has ended
    arguments = [part.format_map(names) for part in COMMANDS[command]]
    with open(folder / "messages", "wb") as messages:
        process = subprocess.Popen(
            [*ESPALIER, *arguments], stdout=subprocess.DEVNULL, stderr=messages, cwd=folder, env=_environment()
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    said = (folder / "messages").read_text(encoding="utf-8", errors="replace")
    seconds = used.ru_utime + used.ru_stime
    return Cost(label, command, seconds, used.ru_maxrss / 1024, ending(process.returncode, said), first_message(said))


def _environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", "TERM": "dumb"}


def measure_server(label: str, data: bytes, folder: Path) -> Cost:
    """Send a line to a server of its own, as a pasted text and as a file."""
    command = [*ESPALIER, "serve", "--project", str(folder / "project"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(found[0] for line in process.stdout if (found := re.search(r"http://[\d.:]+\d", line)))
            before = _processor_seconds(process.pid)
            text = json.dumps({"text": data.decode("utf-8", "replace")}, ensure_ascii=False).encode()
            answers = [
                _answer(f"{address}/api/v1/tasks/citations/records", text, "application/json"),
                _answer(f"{address}/api/v1/tasks/citations/records/upload?name=x", data, "application/octet-stream"),
            ]
            seconds = _processor_seconds(process.pid) - before
            peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        finally:
            process.terminate()
    worst = max(code for code, _ in answers)
    told = worst >= 400 or any('"what"' in said for _, said in answers)
    kind = "failed" if worst >= 500 or peak is None else "refused" if told else "done"
    return Cost(label, SERVER, seconds, int(peak[1]) / 1024 if peak else 0.0, kind, first_message(answers[0][1]))


def _answer(address: str, body: bytes, kind: str) -> tuple[int, str]:
    request = urllib.request.Request(address, body, {"Content-Type": kind, "X-Espalier": "1"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (urllib.error.URLError, ConnectionError) as error:  # a server that has read enough answers and hangs up
        return 413, str(error)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(costs: list[Cost]) -> str:
    """Return all costs as a table: inputs down, commands across."""
    commands = list(dict.fromkeys(cost.command for cost in costs))
    rows = [f"| the line | {' | '.join(commands)} |", "|---" * (len(commands) + 1) + "|"]
    for label in dict.fromkeys(cost.input for cost in costs):
        found = {cost.command: str(cost) for cost in costs if cost.input == label}
        rows.append(f"| {label} | {' | '.join(found.get(command, '') for command in commands)} |")
    return "\n".join(rows)


def attack_server(asked: argparse.Namespace) -> int:
    """Attack a server, show and keep what that cost; each attack has a server that has met the ones before."""
    names = [name for name in NAMES if not asked.attacks or name.startswith(tuple(asked.attacks))]
    costs: list[SiegeCost] = []
    with tempfile.TemporaryDirectory() as kept, serving(Path(kept) / "project", asked.workers) as server:
        sys.stderr.write(f"the server begins with {server.start:.0f} MB\n")
        for name in names:
            costs.append(besieged(server, name, asked.size))
            sys.stderr.write(siege_table(costs).rpartition("\n")[2] + "\n")
    sys.stdout.write(siege_table(costs) + "\n")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1), encoding="utf-8")
    return 0 if all(cost.held for cost in costs) else 1


def main() -> int:
    """Measure, show and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=10.0, help="the length of the line")
    parser.add_argument("--only", nargs="*", default=[*COMMANDS, SERVER], help="commands to measure")
    parser.add_argument("--lines", type=int, default=len(INPUTS), help="how many of the lines, from the first on")
    parser.add_argument("--json", type=Path, help="also write the figures and messages to this file")
    parser.add_argument("--attacks", nargs="*", help="attack a server instead: names, or all of them")
    parser.add_argument("--size", type=float, default=1.0, help="how large attacks are, of those that broke servers")
    parser.add_argument("--workers", type=int, default=2, help="processes of the server that is attacked")
    asked = parser.parse_args()
    if asked.attacks is not None:
        return attack_server(asked)
    size = int(asked.megabytes * 1_000_000)
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        names = prepare(folder)
        for label in list(INPUTS)[: asked.lines]:
            with open(names["file"], "wb") as file:
                file.writelines(pieces(label, size))
            for command in asked.only:
                if command == SERVER:
                    costs.append(measure_server(label, b"".join(pieces(label, size * 9 // 10)), folder))
                else:
                    costs.append(measure(label, command, names, folder))
                sys.stderr.write(f"{label}: {command}: {costs[-1]} {costs[-1].message}\n")
    sys.stdout.write(table(costs) + "\n")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1), encoding="utf-8")
    return 1 if any(cost.ending == "failed" for cost in costs) else 0


if __name__ == "__main__":
    sys.exit(main())
