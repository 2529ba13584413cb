"""`load`: a model by its file, or a bundled one by its name."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from espalier.errors import InputError, ModelFileError, nearest
from espalier.extract.extractor import Extractor
from espalier.store import load as load_file

if TYPE_CHECKING:
    from espalier.citations.parser import Parser

__all__ = ["BUNDLED", "bundled_file", "load", "model_file", "shared"]

BUNDLED = {"citations": ("espalier.citations", "model.espalier")}
"""The models that come with the package: name, package and file."""


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
        from espalier.citations.parser import Parser

        return Parser.from_file(bundled_file(source))
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


@lru_cache(maxsize=1)
def shared(name: Literal["citations"]) -> Parser:
    """Return a bundled model that is loaded once in a process, for those who only ask it: nobody may change it."""
    return load(name)


def bundled_file(name: str) -> Path:
    """Return the file of a bundled model; an installed package has it as a file."""
    package, file = BUNDLED[name]
    path = Path(str(resources.files(package) / file))
    if not path.exists():
        raise ModelFileError(
            f"{path}: the bundled model is missing from this installation",
            hint="run: pip install --force-reinstall espalier-nlp",
        )
    return path


def model_file(source: str | os.PathLike[str]) -> Path:
    """Return the path of a model file, or of the bundled model of that name where there is no such file.

    A file that is not there and is called nearly like a bundled model is refused; any other is left to who reads it.
    """
    name = os.fspath(source)
    if os.path.exists(name):
        return Path(name)
    if name in BUNDLED:
        return bundled_file(name)
    near = nearest(name, BUNDLED)
    if near:
        raise ModelFileError(f"there is no model file {name!r}", hint=near)
    return Path(name)
