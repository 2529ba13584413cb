"""`cached_property` without a lock: computed on first use, then an attribute like any other.

Up to Python 3.11 the standard library's holds one lock for all instances of a class while it computes. Threads with
models of their own would wait for each other there, and the child of a fork inherits the lock, perhaps held by a thread
that it does not have, and waits for ever. Here two threads may compute the same value at the same time; the first to
finish stores it, and both get that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property"]

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
