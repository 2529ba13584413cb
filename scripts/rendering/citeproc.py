"""Running citeproc-js: a build-time tool, installed below build/ and never shipped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rendering.plan import Job

VERSION = "2.4.63"
SCRIPT = Path(__file__).with_name("render.js")


def install(directory: Path) -> Path:
    """Install citeproc-js into a directory, unless it is there; return where it is."""
    place = directory / "node_modules" / "citeproc"
    if not place.exists():
        if shutil.which("npm") is None:
            raise SystemExit("rendering needs Node.js: install `node` and `npm`")
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "package.json").write_text("{}", encoding="utf-8")
        subprocess.run(["npm", "install", "--silent", f"citeproc@{VERSION}"], cwd=directory, check=True)
    return place


def unpack(data: Path, directory: Path) -> Path:
    """Unpack styles and locales of the Citation Style Language into a directory; return it."""
    if not (directory / "locales-en-US.xml").exists():
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("styles", "locales"):
            with tarfile.open(data / "csl" / "original" / f"{name}.tar.xz") as archive:
                for member in archive:
                    file = archive.extractfile(member)
                    if file is not None:  # every file into one directory, whatever the archive calls it
                        (directory / Path(member.name).name).write_bytes(file.read())
    return directory


def render(
    jobs: Sequence[Job], citeproc: Path, styles: Path, kept: Path, processes: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the renderings of jobs, in order, whatever the number of processes.

    kept : a directory where renderings stay, under a name made of the jobs: reading a style takes a tenth of a second,
    and who changes labels or noise alone need not wait for it again.
    """
    lines = [job.line() + "\n" for job in jobs]
    said = VERSION + SCRIPT.read_text(encoding="utf-8") + "".join(lines)
    file = kept / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.jsonl"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        size = -(-len(lines) // processes)
        pieces = [lines[k : k + size] for k in range(0, len(lines), size)]
        _run(["".join(piece) for piece in pieces], file, citeproc, styles)
    with file.open(encoding="utf-8") as answers:
        yield from map(json.loads, answers)


def _run(texts: Sequence[str], file: Path, citeproc: Path, styles: Path) -> None:
    """Let one process answer each text; put the answers into a file, one behind the other."""
    environment = {**os.environ, "CITEPROC": str(citeproc.resolve())}
    places = [(file.with_suffix(f".jobs{k}"), file.with_suffix(f".part{k}")) for k in range(len(texts))]
    running = []
    for text, (asked, answered) in zip(texts, places, strict=True):
        asked.write_text(text, encoding="utf-8")
        with asked.open() as source, answered.open("w") as target:
            command = ["node", str(SCRIPT), str(styles)]
            running.append(subprocess.Popen(command, stdin=source, stdout=target, env=environment))
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit(f"node ended with {max(codes)}: see above")
    whole = file.with_suffix(".part")
    with whole.open("wb") as target:
        for asked, answered in places:
            target.write(answered.read_bytes())
            asked.unlink()
            answered.unlink()
    whole.rename(file)
