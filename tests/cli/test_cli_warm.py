"""After `espalier warm` no command of a page waits for a compiler: it calls every kernel that they call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# In a process of its own: here other tests have called kernels. Nets learn a few steps: nobody looks at the answers.
CALLED = """
import json, os, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher

root, page = Path(sys.argv[1]), sys.argv[2]
sys.path[:0] = [str(root / "tests"), str(root / "tests" / "docs")]
if page == "warm":
    from espalier.warming import STEPS, compile_for

    for step in STEPS:
        compile_for(step)
else:
    from doc_pages import copy_examples, run_page
    from kept_nets import kept_nets

    copy_examples(Path())
    with kept_nets(min_steps=6):
        list(run_page(page, skip=("pip ", "make ", "espalier warm", "espalier run ", "espalier serve")))
modules = [module for name, module in sys.modules.items() if name.startswith("espalier.kernels.")]
kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}
called = {f"{kernel.py_func.__module__}.{kernel.py_func.__name__}{types}"
          for kernel in kernels for types in kernel.overloads}
Path("called.json").write_text(json.dumps(sorted(called)))
"""


def called(page: str, folder: Path) -> set[str]:
    """The kernels that a page's commands call, each with the types of its arguments."""
    folder.mkdir()
    command = [sys.executable, "-c", CALLED, str(ROOT), page]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads((folder / "called.json").read_text()))


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return called("warm", tmp_path_factory.mktemp("warm") / "warm")


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_a_page_calls_no_kernel_that_warm_does_not(page: str, warmed: set[str], tmp_path: Path) -> None:
    assert sorted(called(page, tmp_path / "page") - warmed) == []
