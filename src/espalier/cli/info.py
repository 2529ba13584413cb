"""`espalier info`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import say, say_json
from espalier.cli.options import Json

__all__ = ["info"]


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, or citations: the bundled one.")],
    json: Json = False,
) -> None:
    """Show what is in a model file: labels, features, sizes, and the fingerprint of its training data.

    Examples:
        espalier info citations
        espalier info mine.espalier --json
    """
    from espalier import store
    from espalier.cli.tables import model_table
    from espalier.loading import model_file

    model = model_file(model)
    header, arrays = store.load(model)
    shapes = {name: {"shape": list(a.shape), "dtype": str(a.dtype), "bytes": a.nbytes} for name, a in arrays.items()}
    if json:
        say_json({"file": str(model), "bytes": model.stat().st_size, **header, "arrays": shapes})
    else:
        say(model_table(model, header, arrays))
