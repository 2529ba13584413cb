"""What an installation costs: packages and megabytes of the core and of each extra, and the time to import.

    python scripts/measure_install.py [--wheel] [--rounds 5] [--json FILE]

Sizes are those of the files that each installed distribution lists, compiled Python left out; an extra counts what it
adds to the core. The closure is computed from the metadata of the environment that runs this, so everything must be
installed in it (`make test` does that). With --wheel a wheel is built first, and Espalier counts as what is in it; else
as the files of this checkout. Import times, of the core and of what each extra is for, are processor seconds, the least
of several processes. A table says why each direct dependency is there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WHY = {
    "numpy": "arrays: every table of the library is one",
    "scipy": "integer programs (HiGHS), sparse matrices and singular values; `espalier parse` does not import it",
    "numba": "compiles the loops; the alternative is a C compiler at every installation",
    "threadpoolctl": "holds the matrix products of a net at one thread each",
    "tomli": "reads TOML where Python has no tomllib (3.10 only)",
    "typer": "the command line: arguments, help, errors",
    "rich": "tables, colours and progress in a terminal",
    "joblib": "processes for tables and learning over several cores",
    "distributed": "runs over several machines",
    "fsspec": "one way to open files, here or in a store elsewhere",
    "pyarrow": "Parquet, read and written by columns",
    "fastapi": "the workbench's API and its description",
    "uvicorn": "the server of the workbench",
    "httptools": "reads HTTP requests for it, in C",
    "pypdfium2": "the characters of PDF files and their places; it has no dependencies",
    "mkdocs": "the documentation as a site",
    "mkdocstrings": "its reference pages, made from docstrings",
}
IMPORTS = {
    "`import espalier`": "import espalier",
    "`espalier.load('citations')`": "import espalier; espalier.load('citations')",
    "the command line, `[cli]`": "import espalier.cli.app",
    "reading documents, `[documents]`": "import espalier.documents, pypdfium2",
    "the server, `[serve]`": "import espalier.workbench.app",
    "runs over machines, `[cluster]`": "import espalier.cluster, distributed, pyarrow",
    "the papers, `[reproduce]`": "import espalier.papers.tables.registry",
}
EXTRAS = ("cli", "documents", "serve", "cluster", "reproduce", "all", "docs")
ROOT = Path(__file__).resolve().parents[1]
OURS = "espalier-nlp"


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """Return the names of all distributions that these need, in this environment."""
    found: set[str] = set()
    waiting = [(requirement, "") for requirement in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement, wanted = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": wanted}):
            continue
        for name in ("", *requirement.extras):
            key = (requirement.name.lower().replace("_", "-"), name)
            if key in seen:
                continue
            seen.add(key)
            found.add(key[0])
            lines = metadata.requires(requirement.name) or []
            waiting += [(Requirement(line), name) for line in lines]
    return found


def size(name: str) -> int:
    """Return the bytes of the files of a distribution."""
    files = metadata.files(name) or []
    paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())


def own_size() -> int:
    """Return the bytes of Espalier itself, wherever it is installed from."""
    import espalier

    files = Path(espalier.__file__).parent.rglob("*")
    return sum(f.stat().st_size for f in files if f.is_file() and "__pycache__" not in f.parts)


def built_wheel() -> tuple[int, int]:
    """Build a wheel, and return its bytes and those of the files in it."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", directory, str(ROOT)]
        subprocess.run(command, check=True)
        (path,) = Path(directory).glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            return path.stat().st_size, sum(entry.file_size for entry in wheel.infolist())


def seconds(code: str, rounds: int) -> float:
    """Return the least processor time of some fresh processes, less that of a process that does nothing."""

    def least(statement: str) -> float:
        times = []
        for _ in range(rounds):
            before = os.times()
            subprocess.run([sys.executable, "-c", statement], check=True)
            after = os.times()
            times.append(after.children_user + after.children_system - before.children_user - before.children_system)
        return min(times)

    return max(least(code) - least("pass"), 0.0)


def direct(extra: str) -> list[Requirement]:
    """Return the requirements that Espalier itself names: of the core, or of an extra alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
    chosen = [Requirement(line) for line in lines]
    others = [name for r in chosen if r.name == OURS for name in r.extras]
    return [r for r in chosen if r.name != OURS] + [r for name in others for r in direct(name)]


def measured(own: int) -> list[dict[str, Any]]:
    """Return a row for the core and for each extra: direct dependencies, packages in all, megabytes.

    own : bytes of Espalier itself.
    """
    core = closure(direct(""))
    rows = []
    for extra in ("", *EXTRAS):
        names = core if not extra else closure(direct(extra)) - core
        named = sorted({r.name for r in direct(extra)})
        bytes_ = sum(size(name) for name in names) + (0 if extra else own)
        rows.append({"part": extra or "core", "direct": named, "packages": sorted(names), "megabytes": bytes_ / 1e6})
    return rows


def tables(rows: list[dict[str, Any]], times: dict[str, float]) -> str:
    """Return everything as Markdown."""
    lines = ["| part | named by us | packages | MB |", "|---|---|---|---|"]
    for row in rows:
        what = "core" if row["part"] == "core" else f"`[{row['part']}]` adds"
        lines.append(f"| {what} | {', '.join(row['direct'])} | {len(row['packages'])} | {row['megabytes']:.0f} |")
    lines += ["", "| dependency | why |", "|---|---|"]
    lines += [f"| {name} | {why} |" for name, why in WHY.items()]
    lines += ["", "| what | processor seconds |", "|---|---|"]
    lines += [f"| {name} | {value:.2f} |" for name, value in times.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What an installation of Espalier costs.")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--rounds", type=int, default=5, help="processes that each import is timed in")
    parser.add_argument("--wheel", action="store_true", help="build a wheel, and measure that")
    chosen = parser.parse_args()
    packed, own = built_wheel() if chosen.wheel else (0, own_size())
    rows = measured(own)
    unexplained = {name for row in rows for name in row["direct"]} - WHY.keys()
    if unexplained:
        sys.exit(f"say in WHY what these dependencies are for: {', '.join(sorted(unexplained))}")
    times = {name: seconds(code, chosen.rounds) for name, code in IMPORTS.items()}
    if chosen.json:
        chosen.json.write_text(json.dumps({"parts": rows, "seconds": times}, indent=2) + "\n", encoding="utf-8")
    if chosen.wheel:
        sys.stdout.write(f"The wheel has {packed / 1e6:.1f} MB, and {own / 1e6:.1f} MB when it is unpacked.\n\n")
    sys.stdout.write(tables(rows, times) + "\n")


if __name__ == "__main__":
    main()
