"""A process of our own runs kernels without waiting for SciPy, and can still import it afterwards."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from espalier.kernels.light import import_numba

import_numba()
assert "numba" in sys.modules and "scipy" not in sys.modules

import numpy as np
from espalier.inference import viterbi
from espalier.potentials import Potentials

found = viterbi(Potentials(np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros((2, 2)), np.zeros(2), np.zeros(2)))
assert found.labels.tolist() == [0, 1]
assert not any(name.split(".")[0] == "scipy" for name in sys.modules)

import scipy.linalg

import_numba()
assert sys.modules["scipy"] is scipy
"""


def test_kernels_run_without_scipy() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
