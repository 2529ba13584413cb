"""The first parse: few references need no compiled code, and their records are those that it gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "references.txt"

COLD = """
import sys
from espalier.cli import main
code = main(["parse", sys.argv[1], "-o", sys.argv[2]])
sys.exit(code or sorted({"numba", "scipy"} & set(sys.modules)) or 0)
"""


def cold_parse(output: Path, cache: Path) -> list[dict[str, Any]]:
    """What a process makes of the examples that finds no compiled code; it must not need any."""
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(EXAMPLES), str(output)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def test_the_examples_need_no_compiled_code(tmp_path: Path) -> None:
    found = cold_parse(tmp_path / "cold.jsonl", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    import numba  # noqa: F401  # from here on, batches go through the kernels

    from espalier.cli import main

    assert main(["parse", str(EXAMPLES), "-o", str(tmp_path / "warm.jsonl")]) == 0
    expected = [json.loads(line) for line in (tmp_path / "warm.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(found) == len(expected) == 40
    for one, other in zip(found, expected, strict=True):
        assert [(f["label"], f["text"]) for f in one["fields"]] == [(f["label"], f["text"]) for f in other["fields"]]
        assert abs(one["confidence"] - other["confidence"]) < 1e-4
