"""Where the tests of trust find things: scripts as modules, and a model file of every kind."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import espalier as es

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FILES = ROOT / "tests" / "releases" / es.__version__
EXPECTED: dict[str, Any] = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
TOKENS: list[list[str]] = EXPECTED["tokens"]


def script(name: str) -> ModuleType:
    """Return a script of the repository as a module."""
    found = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module
