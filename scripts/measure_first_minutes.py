"""The first minute and the first ten: install into a new environment, run what the README and the tutorial say, timed.

    python scripts/measure_first_minutes.py [--quick] [--no-tutorial] [--wheel FILE]

Everything happens in an empty directory with an empty home. Without `--wheel` a wheel is made of this repository (that
needs the package `build`). `--quick` installs nothing: the commands are those of this environment, not yet compiled.
Printed are seconds on the clock and of the processor, and the first line that each command writes.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = ("espalier examples", "espalier parse examples/references.txt")
SKIPPED = ("pip ", "espalier examples")


def commands_of(page: Path) -> list[str]:
    """Return the shell lines of a page, in order."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(SKIPPED)]


def timed(line: str, folder: Path, environment: dict[str, str]) -> tuple[float, float, str]:
    """Run a shell line; return seconds on the clock, of the processor, and the first line that it writes."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    clock, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{line}\n{done.stderr}")
    said = next(iter((done.stderr + done.stdout).splitlines()), "")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def made_wheel(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True, capture_output=True
    )
    return next(folder.glob("*.whl"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The first minutes with Espalier, timed.")
    parser.add_argument("--quick", action="store_true", help="install nothing")
    parser.add_argument("--no-tutorial", action="store_true", help="the README's commands alone")
    parser.add_argument("--wheel", type=Path, help="install this one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        work, home = root / "work", root / "home"
        work.mkdir()
        home.mkdir()
        bin_ = Path(sys.executable).parent if chosen.quick else root / "fresh" / "bin"
        environment = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        environment |= {"HOME": str(home), "PATH": f"{bin_}:/usr/bin:/bin"}
        lines = [*FIRST, FIRST[-1]]
        if chosen.quick:
            environment["NUMBA_CACHE_DIR"] = str(root / "compiled")
        else:
            subprocess.run([sys.executable, "-m", "venv", root / "fresh"], check=True)
            wheel = chosen.wheel.resolve() if chosen.wheel else made_wheel(root)
            lines = [f"pip install --quiet '{wheel}[cli]'", *lines]
        if not chosen.no_tutorial:
            lines += commands_of(ROOT / "docs" / "tutorial.md")
        print("| command | seconds | of the processor | it begins |\n|---|---|---|---|")
        total = 0.0
        for line in lines:
            clock, processor, said = timed(line, work, environment)
            total += clock
            shown = re.sub(r"'/\S+/(\S+\.whl)", r"'\1", line)
            print(f"| `{shown}` | {clock:.1f} | {processor:.1f} | {said[:80].replace('|', ' ')} |", flush=True)
        print(f"\n{total / 60:.1f} minutes in all")


if __name__ == "__main__":
    main()
