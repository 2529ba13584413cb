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


def render(jobs: Sequence[Job], citeproc: Path, styles: Path, kept: Path) -> Iterator[dict[str, Any]]:
    """Yield the renderings of jobs, in order.

    kept : a directory where renderings stay, under a name made of the jobs: reading a style takes a tenth of a second,
    and who changes labels or noise alone need not wait for it again.
    """
    text = "".join(job.line() + "\n" for job in jobs)
    name = hashlib.sha256((VERSION + SCRIPT.read_text(encoding="utf-8") + text).encode()).hexdigest()[:16]
    file = kept / f"{name}.jsonl"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        asked, answered = file.with_suffix(".jobs"), file.with_suffix(".part")
        asked.write_text(text, encoding="utf-8")
        environment = {**os.environ, "CITEPROC": str(citeproc.resolve())}
        with asked.open() as source, answered.open("w") as target:
            subprocess.run(["node", str(SCRIPT), str(styles)], stdin=source, stdout=target, env=environment, check=True)
        asked.unlink()
        answered.rename(file)
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
