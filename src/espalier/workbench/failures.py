"""What goes wrong, as the API says it: what, where, what to do, and a status."""

from __future__ import annotations

from typing import Any

from espalier.errors import EspalierError, FormatError, InfeasibleError, NotFittedError

__all__ = ["Failure", "explained"]


class Failure(EspalierError):
    """An answer that is an error: a status, and the three parts of its message."""

    def __init__(self, status: int, what: str, hint: str = "", where: str = "") -> None:
        """Keep the parts."""
        super().__init__(what, hint=hint)
        self.status, self.place = status, (where,) if where else ()

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {"error": {"what": self.what, "where": self.where, "hint": self.hint}}


def explained(error: EspalierError) -> Failure:
    """Return an error of the library as an answer."""
    if isinstance(error, Failure):
        return error
    status = 409 if isinstance(error, InfeasibleError | NotFittedError) else 400
    where = error.where
    if isinstance(error, FormatError):
        where = ", ".join(filter(None, (error.path, f"line {error.line}" if error.line else "")))
    return Failure(status, error.what, error.hint, where)
