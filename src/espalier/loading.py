"""`load`: a model by its file, or a bundled one by its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from espalier.errors import InputError, ModelFileError, nearest
from espalier.extract.extractor import Extractor
from espalier.store import load as load_file

if TYPE_CHECKING:
    from espalier.citations.parser import Parser

__all__ = ["BUNDLED", "for_texts", "load", "model_file", "open_extractor"]

BUNDLED = ("citations",)
"""The names of models that come with the package."""


@overload
def load(source: Literal["citations"]) -> Parser: ...
@overload
def load(source: str | os.PathLike[str]) -> Extractor: ...
def load(source: str | os.PathLike[str]) -> Extractor:
    """Return the extractor in a model file, or a bundled one by its name.

    Parameters
    ----------
    source : a path, or "citations" for the bundled parser of references (a file of that very name is `./citations`).

    Returns
    -------
    Extractor : with the calibration that the file holds; the estimator inside is its attribute `model`. A file that a
        `Parser` has saved gives a Parser.

    Raises
    ------
    ModelFileError : there is no such file, or it is damaged.

    Examples
    --------
    >>> import espalier as es
    >>> es.load("citations").parse("Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.").work.volume
    '12'
    """
    given: object = source
    if not isinstance(given, str | os.PathLike):
        what = f"what is to be loaded is {type(given).__name__}"
        raise InputError(what, hint="expected the path of a model file, or 'citations'")
    if isinstance(source, str) and source in BUNDLED:
        from espalier.citations.parser import Parser, bundled_file

        return Parser.from_file(bundled_file())
    path = model_file(source)
    header, arrays = load_file(path)
    kind: type[Extractor] = Extractor
    if header.get("answers") == "references":
        from espalier.citations.parser import Parser

        kind = Parser
    try:
        return kind.from_parts(header, arrays)
    except ModelFileError as error:
        raise error.within(str(path)) from error


def model_file(source: str | os.PathLike[str]) -> Path:
    """Return the path of a model file, or of the bundled model of that name where there is no such file.

    A file that is not there and is called nearly like a bundled model is refused; any other is left to who reads it.
    """
    name = os.fspath(source)
    if os.path.exists(name):
        return Path(name)
    if name in BUNDLED:
        from espalier.citations.parser import bundled_file

        return bundled_file()
    near = nearest(name, BUNDLED)
    if near:
        raise ModelFileError(f"there is no model file {name!r}", hint=near)
    return Path(name)


def open_extractor(source: Path | str) -> Extractor:
    """Return the extractor of a model file, or the bundled one of that name where there is no such file.

    A bundled one answers like any other model: with the fields that it has learned, and nothing for the rest.
    """
    return for_texts(Extractor.from_file(model_file(source)), source)


def for_texts(extractor: Extractor, source: Path | str) -> Extractor:
    """Return an extractor that can label texts; a model that wants attributes from Python is refused by its name."""
    from espalier.features.index import FeatureIndex

    model: Any = extractor.model
    index = getattr(getattr(model, "base_", model), "index_", None)
    if index is not None and not isinstance(index, FeatureIndex):
        what = f"{source}: this model learned from attributes that a program made, and a text has none"
        raise InputError(what, hint="use it in Python, or train one from texts: espalier train --labelled FILE")
    return extractor
