"""The bodies that web forms send: names and values, either URL-encoded or in parts (`multipart/form-data`)."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from urllib.parse import parse_qsl

from espalier.server.failures import Failure

__all__ = ["FormPart", "media_type", "read_form"]

_MOST_PARTS = 10_000
_LONGEST_HEAD = 4000  # characters of a header
_MOST_PARAMETERS = 50  # semicolons of a header: the standard library takes many apart in quadratic time
_LONGEST_VALUE = 1_000_000  # bytes of a URL-encoded value, which are many small pieces on their way


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
    if len(header) > _LONGEST_HEAD:
        raise Failure(400, f"a header has more than {_LONGEST_HEAD:,} characters", "send a shorter Content-Type")
    if ";" not in header:
        return header.strip().lower(), {}
    if header.count(";") > _MOST_PARAMETERS:
        raise Failure(400, f"a header has more than {_MOST_PARAMETERS} parameters", "send a shorter Content-Type")
    message = Message()
    message["content-type"] = header
    found = message.get_params() or [("", "")]
    return found[0][0].strip().lower(), {name.lower(): str(value) for name, value in found[1:]}


def read_form(header: str, body: bytes) -> list[FormPart]:
    """Return the parts of a form in their order; header : its Content-Type."""
    kind, parameters = media_type(header)
    if kind == "application/x-www-form-urlencoded":
        return _pairs(body)
    if kind != "multipart/form-data" or not parameters.get("boundary"):
        hint = "send multipart/form-data, or application/x-www-form-urlencoded"
        raise Failure(415, f"a form is expected, not {kind or 'a body without a type'}", hint)
    return _parts(body, parameters["boundary"].encode("utf-8", "replace"))


def _pairs(body: bytes) -> list[FormPart]:
    """Read the names and values of a URL-encoded form, one after the other."""
    if body.count(b"&") > _MOST_PARTS:
        raise Failure(413, f"the form has more than {_MOST_PARTS:,} values", "send it in parts")
    found = []
    for piece in body.split(b"&"):
        if len(piece) > _LONGEST_VALUE:
            raise Failure(413, f"a value of the form has more than {_LONGEST_VALUE:,} bytes", "send it in parts")
        try:
            pairs = parse_qsl(piece.decode(), keep_blank_values=True, errors="strict")
        except ValueError as error:
            raise Failure(400, f"the form cannot be read: {error}", "send UTF-8, URL-encoded") from None
        found += [FormPart(name, value.encode("utf-8", "replace")) for name, value in pairs]
    return found


def _parts(body: bytes, boundary: bytes) -> list[FormPart]:
    """Cut a body at its boundaries; the line end before a boundary belongs to the boundary."""
    sign = b"--" + boundary
    if body.count(sign) > _MOST_PARTS:
        raise Failure(413, f"the form has more than {_MOST_PARTS:,} parts", "send it in parts")
    begin, found = len(sign) if body.startswith(sign) else _behind(body, sign, 0), list[FormPart]()
    while not body.startswith(b"--", begin):  # which ends the form
        end = _behind(body, sign, begin)
        head, value = body.find(b"\r\n\r\n", begin, end), b""
        if head < 0:
            head = end - len(sign) - 2
        else:
            value = body[head + 4 : end - len(sign) - 2]  # a file is copied once
        if head - begin > _LONGEST_HEAD:
            raise Failure(413, f"the head of a part has more than {_LONGEST_HEAD:,} bytes", "send a shorter name")
        lines = body[begin:head].decode("utf-8", "replace").split("\r\n")
        about = next((line for line in lines if line.lower().startswith("content-disposition:")), "")
        _, names = media_type(about.partition(":")[2])
        found.append(FormPart(names.get("name", ""), value, names.get("filename", "")))
        begin = end
    return found


def _behind(body: bytes, sign: bytes, begin: int) -> int:
    """Return where the next boundary ends."""
    at = body.find(b"\r\n" + sign, begin)
    if at < 0:
        raise Failure(400, "the parts of the form cannot be read", "its boundary is missing, or it was cut off")
    return at + 2 + len(sign)
