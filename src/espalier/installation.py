"""Is this installation as it should be? Versions, compiled code, threads, the bundled model, and what is missing."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

__all__ = ["Examined", "examined"]

# What each extra is for, and the packages that it needs.
_EXTRAS = {
    "documents": ("PDF files", ("pypdfium2",)),
    "serve": ("the workbench", ("fastapi", "uvicorn")),
    "cluster": ("espalier run", ("distributed", "fsspec", "pyarrow", "joblib")),
    "reproduce": ("the tables of the papers", ("joblib",)),
    "spacy": ("a component of spaCy", ("spacy",)),
    "torch": ("losses for PyTorch", ("torch",)),
}
_NEEDED = ("numpy", "scipy", "numba", "llvmlite", "threadpoolctl", "typer", "rich")


class Examined(NamedTuple):
    """One thing that was looked at: is it as it should be, what to do if not, and is it there at all?"""

    @property
    def sign(self) -> str:
        """What stands before it."""
        return "✗" if not self.ok else "✓" if self.there else "–"

    what: str
    state: str
    ok: bool = True
    advice: str = ""
    there: bool = True


def examined() -> list[Examined]:
    """Look at everything."""
    return [*_versions(), *_compiled(), *_threads(), *_model(), *_extras()]


def _versions() -> Iterator[Examined]:
    yield Examined("espalier", f"{import_module('espalier').__version__}, {Path(__file__).parent}")
    yield Examined("python", f"{sys.version.split()[0]}, {platform.system()} {platform.machine()}, {sys.executable}")
    for name in _NEEDED:
        try:
            yield Examined(name, version(name))
        except PackageNotFoundError:
            yield Examined(name, "missing", False, "run: pip install --force-reinstall 'espalier-nlp[cli]'")


def _compiled() -> Iterator[Examined]:
    """Look for compiled kernels, and whether there is a place to keep them."""
    from espalier.kernels import are_compiled, cache_folder

    folder = cache_folder()
    state = "kept" if are_compiled() else "nothing yet"
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        advice = "set NUMBA_CACHE_DIR to a folder that you may write to; until then each run compiles anew"
        yield Examined("compiled code", f"{state}; {folder} cannot be written", are_compiled(), advice)
        return
    advice = "" if are_compiled() else "nothing to do; espalier warm compiles everything now, and not when it is needed"
    yield Examined("compiled code", f"{state}, {folder}", True, advice)


def _threads() -> Iterator[Examined]:
    from espalier.parallel import choose_threads

    set_ = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if name.endswith("_NUM_THREADS")]
    yield Examined("threads", f"{choose_threads(10**9)} for large batches" + (f"; {', '.join(set_)}" if set_ else ""))


def _model() -> Iterator[Examined]:
    """Parse one reference with the bundled model."""
    from espalier.errors import EspalierError
    from espalier.loading import load

    try:
        record = load("citations").parse("Smith AB, Jones CD. Soil salts and the quince. Acta Hortic. 2004;12(4):33-9.")
    except (EspalierError, OSError) as error:
        yield Examined("bundled model", str(error), False, "run: pip install --force-reinstall 'espalier-nlp[cli]'")
    else:
        yield Examined("bundled model", f"reads a reference: {len(record.fields)} fields")


def _extras() -> Iterator[Examined]:
    """Name the extras that are not installed, and what they are for."""
    for extra, (purpose, packages) in _EXTRAS.items():
        missing = [name for name in packages if find_spec(name) is None]
        what = f"[{extra}]"
        if missing:
            advice = f"for {purpose}: pip install 'espalier-nlp[{extra}]'"
            yield Examined(what, f"not installed ({', '.join(missing)})", True, advice, there=False)
        else:
            yield Examined(what, "installed")
