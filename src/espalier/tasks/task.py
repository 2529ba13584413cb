"""A task file: everything about an application that is not code.

    labels = ["title", "price", "place"]        # as in the data: plain, or tags such as "B-title"

    [features]                                  # see `espalier.features.declare`; a set for general text if left out
    templates = ["lower[-1,0,1]", "shape", "suffix1-3"]

    [rules]                                     # none if left out
    text = '''
    Once:   each field once
    Price:  token in "$", "£" -> price
    '''                                         # or: file = "my.rules", or a list of files

    [defaults]                                  # which model to train, and its parameters
    model = "crf"
    l2 = 0.5

Files are UTF-8 and relative to the task file; the task is named after it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from espalier.corpus import Labels
from espalier.errors import FormatError, InputError, RuleError, nearest
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import default_templates
from espalier.rules.ruleset import RuleSet

__all__ = ["Task", "load_features", "load_task", "names"]

_HERE = Path(__file__).parent
_KEYS = ("labels", "features", "rules", "defaults")


@dataclass(frozen=True, slots=True)
class Task:
    """What an application declares: its L labels, how tokens become attributes, K rules, and what to train.

    Attributes
    ----------
    name
        The name of the file, without its ending.
    labels
        The labels or tags of the data.
    extractor
        How tokens become attributes.
    rules
        The rules; perhaps none.
    defaults
        `model` and its parameters by name, as the file has them.
    """

    name: str
    labels: Labels
    extractor: FeatureExtractor
    rules: RuleSet
    defaults: Mapping[str, str | int | float | bool]


def names() -> tuple[str, ...]:
    """Return the names of the tasks that come with the library."""
    return tuple(sorted(path.stem for path in _HERE.glob("*.toml")))


def load_task(task: str | Path) -> Task:
    """Return a task that comes with the library, by name, or the task of a TOML file, by path.

    Parameters
    ----------
    task
        A name (see `names`), or the path of a file that ends in `.toml`.

    Returns
    -------
    Task
        Labels, features, rules and defaults of the task.

    Raises
    ------
    InputError
        If no task has the name.
    FormatError
        If the file cannot be read or is malformed; the error names the file.
    RuleError
        If one of the rules is wrong; the error names the file, and the line in it.

    Examples
    --------
    >>> import espalier as es
    >>> task = es.load_task("ads")
    >>> task.labels.names[:3]
    ('address', 'available', 'contact')
    >>> task.rules.names[:2]
    ('FieldLength', 'Punctuation')
    """
    path = _path_of(task)
    table = _read_toml(path)
    _check_keys(table, _KEYS, "", path)
    labels = _labels(table, path)
    return Task(path.stem, labels, _extractor(table, path), _rules(table, labels, path), _defaults(table, path))


def _path_of(task: str | Path) -> Path:
    """Return the file of a task; text without a slash that does not end in `.toml` is a name."""
    known = names()
    if isinstance(task, str) and task in known:
        return _HERE / f"{task}.toml"
    path = Path(task)
    if isinstance(task, str) and len(path.parts) < 2 and path.suffix != ".toml":
        near = nearest(task, known, f"tasks: {', '.join(known)}")
        hint = f"{near} (one of your own is a path that ends in .toml)"
        raise InputError(f"no task is named {task!r}", hint=hint)
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FormatError("there is no such file", path=str(path)) from None
    except (OSError, ValueError) as error:  # a NUL in its name, or bytes that are not UTF-8, are ValueErrors
        raise FormatError(f"cannot be read as UTF-8 text: {error}", path=str(path)) from None


def _read_toml(path: Path) -> dict[str, Any]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    text = _read(path)
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The parser gives the place only as a part of its message.
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = int(place[1]) if place else text.rstrip().count("\n") + 1
        raise FormatError(f"not TOML: {error}", path=str(path), line=line) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists in lists in lists
        raise FormatError(f"not acceptable TOML: {error}", path=str(path)) from None
    return found


def load_features(path: str | Path) -> FeatureExtractor:
    """Return the features of the `[features]` table of a TOML file, a task file for instance; word lists are beside it.

    Raises
    ------
    FormatError
        The file is not TOML, has no such table, or names features that are not known.
    """
    path = Path(path)
    table = _read_toml(path)
    if "features" not in table:
        raise FormatError("has no [features] table", path=str(path), hint="write one with a list 'templates'")
    return _extractor(table, path)


def _check_keys(table: Mapping[str, Any], known: Iterable[str], where: str, path: Path) -> None:
    for key in table:
        if key not in known:
            near = nearest(key, known, f"known: {', '.join(known)}")
            raise FormatError(f"{where}unknown key {key!r}", path=str(path), hint=near)


def _section(table: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    section = table.get(key, {})
    if not isinstance(section, dict):
        raise FormatError(f"{key!r} must be a table: write [{key}]", path=str(path))
    return section


def _labels(table: Mapping[str, Any], path: Path) -> Labels:
    listed = table.get("labels")
    if not isinstance(listed, list) or not listed:
        raise FormatError('a task needs a list of labels, such as labels = ["title", "price"]', path=str(path))
    try:
        return Labels(listed)
    except InputError as error:
        raise FormatError("labels: ", *error.args, path=str(path), hint=error.ways) from None


def _extractor(table: Mapping[str, Any], path: Path) -> FeatureExtractor:
    section = _section(table, "features", path)
    if "features" not in table:
        return FeatureExtractor(default_templates())
    try:
        return FeatureExtractor.from_table(section, base=path.parent)
    except FormatError:
        raise  # a word list that is malformed: it has its own path
    except InputError as error:
        raise FormatError(*error.parts, path=str(path), hint=error.ways) from None


def _rules(table: Mapping[str, Any], labels: Labels, path: Path) -> RuleSet:
    section = _section(table, "rules", path)
    _check_keys(section, ("file", "text"), "[rules]: ", path)
    if len(section) != int("rules" in table):
        raise FormatError("[rules]: give either 'file' or 'text'", path=str(path))
    files = section.get("file", [])
    files = [files] if isinstance(files, str) else files
    if not isinstance(files, list) or not all(isinstance(text, str) for text in [*files, section.get("text", "")]):
        raise FormatError("[rules]: 'file' is a string or a list of strings, 'text' a string", path=str(path))
    sources = [(path.parent / file, "", _read(path.parent / file)) for file in files]
    sources += [(path, ": [rules] text", section["text"])] if "text" in section else []
    rules = RuleSet([])
    for source, where, text in sources:
        try:
            rules += RuleSet.from_text(text, labels=labels, directory=source.parent)
        except RuleError as error:
            raise error.within(f"{source}{where}") from None
    return rules


def _defaults(table: Mapping[str, Any], path: Path) -> dict[str, str | int | float | bool]:
    section = _section(table, "defaults", path)
    for key, value in section.items():
        if not isinstance(value, str | int | float | bool):
            raise FormatError(f"[defaults]: {key!r} must be a word, a number, true or false", path=str(path))
    if not isinstance(section.get("model", ""), str):
        raise FormatError("[defaults]: 'model' is the name of an estimator, such as \"crf\"", path=str(path))
    return section
