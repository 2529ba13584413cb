"""One line on stderr when a kernel is compiled, once; none when it comes from the disk, or where nobody wants it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import numpy as np
from espalier.kernels.chain import add
add(np.eye(2), np.eye(2))
add(np.eye(2, dtype=int), np.eye(2))
"""
LINE = (
    "espalier: compiling the inner loops of this kind of work, once for this machine; this takes some seconds "
    "('espalier warm' compiles those of every kind)\n"
)


def run(cache: Path, **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "ESPALIER_QUIET"}
    environment |= {"NUMBA_CACHE_DIR": str(cache), **more}
    return subprocess.run(
        [sys.executable, "-c", CODE], env=environment, check=True, capture_output=True, text=True
    ).stderr


def test_it_is_said_once_and_never_again(tmp_path: Path) -> None:
    assert run(tmp_path / "a") == LINE
    assert run(tmp_path / "a") == ""
    assert run(tmp_path / "b", ESPALIER_QUIET="1") == ""


def test_every_kernel_is_made_by_it() -> None:
    """A kernel that took Numba's own decorator would be compiled without a word."""
    kernels = Path(__file__).resolve().parents[2] / "src" / "espalier" / "kernels"
    for path in kernels.glob("*.py"):
        imports = [
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("from numba import")
        ]
        assert path.name == "jit.py" or not any("njit" in line for line in imports), path.name
