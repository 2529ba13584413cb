"""The command `espalier`: a thin skin over the library, one file a command.

    espalier parse      turn references into records, as BibTeX, CSL, RIS ...
    espalier train      learn a model from labelled records
    espalier label      label records with a model
    espalier evaluate   compare a model's labels with given ones
    espalier calibrate  make a model's confidences keep their word
    espalier convert    turn one data format into another
    espalier info       show what is in a model file
    espalier run        label files of any size on many processes or machines
    espalier serve      open the workbench: see, correct, teach
    espalier api        the server for other programs, without the page
    espalier examples   write the example files that the pages use
    espalier warm       compile now what commands need to be quick
    espalier doctor     look at this installation

Typer and Rich are imported here and nowhere else; they come with the extra `cli`. Commands import the library when
they run, so that `espalier --help` answers at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

_OBJECTS = 50_000
"""New objects after which Python looks for garbage; its own 700 would have it look 140 times at what is imported."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's own) and return the exit code."""
    # Before NumPy is loaded: threads of the library behind its products would only wait for ours (`espalier.parallel`).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)  # or Python looks once more through all that it knows, which takes a tenth of a second
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.stderr.write(
            f"espalier: the command line needs the package {error.name!r}; run: pip install 'espalier-nlp[cli]'\n"
        )
        return 2
    from espalier.cli.app import run

    return run(arguments)
