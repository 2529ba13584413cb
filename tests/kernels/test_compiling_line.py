"""One line on stderr when a kernel is compiled, once; none when it comes from the disk, or where nobody wants it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from espalier.kernels import is_tried, njit

CODE = """
import sys
import numpy as np
from espalier.kernels.chain import longest
print(longest(np.array([0, 2, 5]), 0, 2), longest(np.array([0, 2, 5], np.int32), 0, 1))
print("numba.np.linalg" in sys.modules)
"""
LINE = (
    "espalier: compiling what this kind of work needs, up to half a minute; each kind is compiled once "
    "('espalier warm' compiles all kinds)\n"
)


def run(cache: Path, **more: str) -> tuple[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "ESPALIER_QUIET"}
    environment |= {"NUMBA_CACHE_DIR": str(cache), **more}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, check=True, capture_output=True, text=True)
    return done.stderr, done.stdout


def test_it_is_said_once_and_never_again_and_what_is_on_disk_needs_no_compiler(tmp_path: Path) -> None:
    assert run(tmp_path / "a") == (LINE, "3 2\nTrue\n")
    assert run(tmp_path / "a") == ("", "3 2\nFalse\n")
    assert run(tmp_path / "b", ESPALIER_QUIET="1")[0] == ""


def test_every_kernel_is_made_by_it() -> None:
    """A kernel that took Numba's own decorator would be compiled without a word."""
    kernels = Path(__file__).resolve().parents[2] / "src" / "espalier" / "kernels"
    for path in kernels.glob("*.py"):
        imports = [
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("from numba import")
        ]
        assert not any("njit" in line for line in imports), path.name


@pytest.mark.parametrize(
    ("version", "tried"),
    [("0.60.0", True), ("0.68.1", True), ("0.59.1", False), ("0.69.0rc1", False), ("1.0", False), ("dev", False)],
)
def test_other_versions_of_numba_load_as_they_do(version: str, tried: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_tried(version) is tried
    monkeypatch.setattr("numba.__version__", version)

    def kernel(x: int) -> int:
        return x + 1

    compiled = njit(cache=True)(kernel)
    assert (type(compiled._cache.load_overload).__name__ == "_Loader") is tried
    assert compiled(2) == 3
