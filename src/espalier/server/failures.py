"""What goes wrong, as the API says it: what, where, what to do, and a status; and how long a request may take."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

from espalier.errors import EspalierError, FormatError, InfeasibleError, NotFittedError

__all__ = ["Deadline", "Failure", "explained", "misshapen"]


_AGAIN = 5  # seconds


class Failure(EspalierError):
    """An answer that is an error: a status, and the three parts of its message."""

    def __init__(self, status: int, what: str, hint: str = "", where: str = "") -> None:
        """Keep the parts."""
        super().__init__(what, hint=hint)
        self.status, self.place = status, (where,) if where else ()

    def at(self, where: str) -> Failure:
        """Return it with the place where it was met."""
        return Failure(self.status, self.what, self.hint, where)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer: who comes too early is told when to come again."""
        return {"retry-after": str(_AGAIN)} if self.status == 503 else {}

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {"error": {"what": self.what, "where": self.where, "hint": self.hint}}


_TYPES = {
    **{"string_type": "a text", "bytes_type": "a text", "list_type": "a list", "bool_type": "true or false"},
    **{"bool_parsing": "true or false", "int_type": "a whole number", "int_parsing": "a whole number"},
    **{"int_from_float": "a whole number", "float_type": "a number", "float_parsing": "a number"},
    **{"dict_type": "an object", "model_type": "an object", "model_attributes_type": "an object"},
    **{"finite_number": "a finite number", "int_parsing_size": "a smaller number"},
}
_BOUNDS = {
    "greater_than_equal": "{name} must be at least {ge}",
    "less_than_equal": "{name} must be at most {le}",
    "greater_than": "{name} must be more than {gt}",
    "less_than": "{name} must be less than {lt}",
    "string_too_long": "{name} may have at most {max_length} characters",
    "string_too_short": "{name} must have at least {min_length} characters",
    "too_long": "{name} may have at most {max_length} entries",
    "too_short": "{name} must have at least {min_length} entries",
    "string_pattern_mismatch": "{name} does not have the form {pattern}",
    "literal_error": "{name} must be one of {expected}",
    "enum": "{name} must be one of {expected}",
}


def misshapen(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a part of a request, in our words; error : one of Pydantic's."""
    kind, context = str(error["type"]), error.get("ctx", {})
    last = (error.get("loc") or ("the body",))[-1]
    name = f"entry {last}" if isinstance(last, int) else str(last)
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"there is no part {name!r} in this request"
    if kind in _TYPES:
        return f"{name} must be {_TYPES[kind]}"
    if kind in _BOUNDS:
        return _BOUNDS[kind].format_map({"name": name, **context})
    return str(error["msg"]).removeprefix("Value error, ")


def explained(error: EspalierError) -> Failure:
    """Return an error of the library as an answer."""
    if isinstance(error, Failure):
        return error
    status = 409 if isinstance(error, InfeasibleError | NotFittedError) else 400
    where = error.where
    if isinstance(error, FormatError):
        where = ", ".join(filter(None, (error.path, f"line {error.line}" if error.line else "")))
    return Failure(status, error.what, error.hint, where)


class Deadline:
    """The end of a request's time."""

    def __init__(self, seconds: float) -> None:
        """Begin to count."""
        self.seconds, self._end = seconds, monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self._end - monotonic())

    def check(self) -> None:
        """Raise if the time is over."""
        if not self.left:
            hint = "ask for fewer records, or again: what is done is kept"
            raise Failure(504, f"this took longer than {self.seconds:g} seconds", hint)
