"""How a worker comes by its labeller: a short description travels, the model does not.

A `LabellerSpec` names a function that makes a labeller of a model file, and that file. It is small, it can be pickled,
and every process makes the labeller once, however many batches it is given. A thread has a labeller of its own, so that
nothing has to be said about models and threads.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from espalier.errors import InputError, ModelFileError

__all__ = ["LabellerSpec", "RowLabeller", "labeller_of", "with_labeller"]

_MOST = 64  # threads of a process, times models that it serves


class RowLabeller(Protocol):
    """What `espalier run` asks of a labeller: texts to columns of an Arrow table, one value a text.

    schema : the pyarrow schema of those columns. A text that it cannot label raises; the others must not suffer.
    """

    schema: Any

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the schema by name."""


@dataclass(frozen=True, slots=True)
class LabellerSpec:
    """A function `package.module:name` that makes a labeller of a model file, the file, its SHA-256, and options."""

    maker: str
    path: str
    digest: str
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, maker: Callable[..., Any], path: str | Path, *options: str) -> LabellerSpec:
        """Describe the labeller that a function of a module makes of a model file, as the file is now."""
        if "<" in maker.__qualname__ or "." in maker.__qualname__:
            raise InputError(f"{maker.__qualname__} is no function of a module, so a worker cannot find it by its name")
        try:
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError as error:
            raise ModelFileError(f"cannot read the model file {str(path)!r}: {error.strerror}") from error
        return cls(f"{maker.__module__}:{maker.__qualname__}", str(path), digest, options)

    def make(self) -> Any:
        """Make the labeller, anew."""
        module, _, name = self.maker.partition(":")
        return getattr(import_module(module), name)(self.path, *self.options)


def labeller_of(spec: LabellerSpec) -> Any:
    """Return the labeller of a description; the calling thread makes it once and keeps it."""
    return _kept(spec, threading.get_ident())


def with_labeller(spec: LabellerSpec, work: Callable[[Any, Any, Any], Any], order: Any, items: Any) -> Any:
    """Do `work(labeller, order, items)` in a process that knows the labeller by its description."""
    from espalier.kernels import tagging  # noqa: F401  # a small last batch is worked on as it is in one process

    return work(labeller_of(spec), order, items)


@lru_cache(maxsize=_MOST)
def _kept(spec: LabellerSpec, thread: int) -> Any:
    return spec.make()
