"""Where the tests of trust find things: the scripts, and a model file of every kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import espalier as es

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FILES = ROOT / "tests" / "releases" / es.__version__
EXPECTED: dict[str, Any] = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
TOKENS: list[list[str]] = EXPECTED["tokens"]

sys.path.append(str(SCRIPTS))  # so that tests may import them
