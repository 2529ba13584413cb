"""The bodies that web forms send: names and values, either URL-encoded or in parts (`multipart/form-data`)."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from urllib.parse import parse_qsl

from espalier.workbench.failures import Failure

__all__ = ["FormPart", "media_type", "read_form"]

_MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class FormPart:
    """One value of a form. filename : "" if it is no file."""

    name: str
    value: bytes
    filename: str = ""

    @property
    def text(self) -> str:
        """The value as text."""
        try:
            return self.value.decode()
        except UnicodeDecodeError:
            raise Failure(400, f"the value of {self.name!r} is not UTF-8", "send it as UTF-8") from None


def media_type(header: str) -> tuple[str, dict[str, str]]:
    """Return the type that a Content-Type header names, in lower case, and its parameters."""
    if ";" not in header:
        return header.strip().lower(), {}
    message = Message()
    message["content-type"] = header
    found = message.get_params() or [("", "")]
    return found[0][0].strip().lower(), {name.lower(): str(value) for name, value in found[1:]}


def read_form(header: str, body: bytes) -> list[FormPart]:
    """Return the parts of a form in their order; header : its Content-Type."""
    kind, parameters = media_type(header)
    if kind == "application/x-www-form-urlencoded":
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARTS)
        except ValueError as error:
            raise Failure(400, f"the form cannot be read: {error}", "send UTF-8, URL-encoded") from None
        return [FormPart(name, value.encode("utf-8", "replace")) for name, value in pairs]
    if kind != "multipart/form-data" or not parameters.get("boundary"):
        hint = "send multipart/form-data, or application/x-www-form-urlencoded"
        raise Failure(415, f"a form is expected, not {kind or 'a body without a type'}", hint)
    return _parts(body, parameters["boundary"].encode("utf-8", "replace"))


def _parts(body: bytes, boundary: bytes) -> list[FormPart]:
    """Cut a body at its boundaries; the line end before a boundary belongs to the boundary."""
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if len(pieces) < 2 or len(pieces) > _MOST_PARTS or not pieces[-1].startswith(b"--"):
        raise Failure(400, "the parts of the form cannot be read", "its boundary is missing, or it was cut off")
    found = []
    for piece in pieces[1:-1]:
        head, _, value = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        lines = head.decode("utf-8", "replace").split("\r\n")
        about = next((line for line in lines if line.lower().startswith("content-disposition:")), "")
        _, names = media_type(about.partition(":")[2])
        found.append(FormPart(names.get("name", ""), value, names.get("filename", "")))
    return found
