"""Numba without SciPy, for processes that run our kernels and no others.

To learn whether matrix products can be compiled, Numba imports SciPy's linear algebra before it loads its first kernel,
and waits for it about as long as for a third of itself. No kernel here multiplies matrices. A process of our own may
therefore pretend that there is no SciPy until Numba has asked; anybody else's process may hold kernels that do.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__all__ = ["import_numba"]


def import_numba() -> None:
    """Import Numba as if SciPy were not installed; where either is there already, nothing is left to gain."""
    modules: dict[str, Any] = sys.modules
    if "scipy" in modules or "numba" in modules:
        return
    modules["scipy"] = None  # what is None cannot be imported
    try:
        import_module("numba.np.arraymath")  # the module that asks
    finally:
        del modules["scipy"]
