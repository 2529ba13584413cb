"""What is made when it is first asked for: attributes of instances (`cached_property`), names of packages (`on_use`).

`cached_property` is one without a lock: computed on first use, then an attribute like any other.

Up to Python 3.11 the standard library's holds one lock for all instances of a class while it computes. Threads with
models of their own would wait for each other there, and the child of a fork inherits the lock, perhaps held by a thread
that it does not have, and waits for ever. Here two threads may compute the same value at the same time; the first to
finish stores it, and both get that one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property", "on_use"]

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """A property whose value is kept in the instance, which must have a `__dict__`."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        """Take the method that computes the value."""
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Learn under which name to keep the value."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Value: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> cached_property[Value] | Value:
        """Compute and keep the value; afterwards the instance's own attribute comes first."""
        if instance is None:
            return self
        found: Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return found


def on_use(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports some of its names when they are first used.

    home : the module of the package that each of these names comes from; none may be called like a module of it, which
    would take the name when it is imported.
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get, names
