"""A PDF file by hand: text in Helvetica, Times or Courier at given places, with whatever trick a test needs."""

from __future__ import annotations

from dataclasses import dataclass

FONTS = {
    "helv": "Helvetica",
    "bold": "Helvetica-Bold",
    "times": "Times-Roman",
    "ital": "Times-Italic",
    "mono": "Courier",
}
UNNAMED = "<< /Type /Encoding /Differences [65 /g1 /g2 /g3 /g4 /g5] >>"
"""An encoding whose letters have names that nobody knows: which character A is cannot be told."""
LOCKED = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'a1' * 32}> /U <{'b2' * 32}> >> /ID [<00> <00>]"
"""What the end of a file says that opens with a password only."""


@dataclass(frozen=True)
class Text:
    """Text at a place, y downwards from the top. matrix : a, b, c, d of the text; operators : before it."""

    x: float
    y: float
    text: str | bytes
    size: float = 10.0
    font: str = "mono"
    matrix: tuple[float, float, float, float] = (1, 0, 0, 1)
    operators: str = ""


def write_pdf(
    pages: list[list[Text]],
    size: tuple[float, float] = (595, 842),
    page_entries: str = "",
    encoding: str = "/WinAnsiEncoding",
    trailer: str = "",
    meanings: dict[str, str] | None = None,
) -> bytes:
    """Return a PDF file. Courier is 0.6 of its size wide for every letter, so places are easy to compute.

    meanings : what letters of the fonts mean, where they do not mean themselves.
    """
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    if meanings:
        pairs = "".join(
            f"<{ord(letter):02x}> <{text.encode('utf-16-be', 'surrogatepass').hex()}>\n"
            for letter, text in meanings.items()
        )
        start = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange"
        cmap = f"{start} {len(meanings)} beginbfchar\n{pairs}endbfchar endcmap"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap.encode()))
        encoding += f" /ToUnicode {len(objects)} 0 R"
    fonts = []
    for name, base in FONTS.items():
        objects.append(f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding {encoding} >>".encode())
        fonts.append(f"/{name} {len(objects)} 0 R")
    kids = []
    for texts in pages:
        content = b"\n".join(_drawn(text, size[1]) for text in texts)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        entries = f"/Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects)} 0 R {page_entries}"
        objects.append(f"<< /Type /Page {entries} /Resources << /Font << {' '.join(fonts)} >> >> >>".encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    return _file(objects, trailer)


def _drawn(text: Text, height: float) -> bytes:
    raw = text.text if isinstance(text.text, bytes) else text.text.encode("cp1252")
    for sign in (b"\\", b"(", b")"):
        raw = raw.replace(sign, b"\\" + sign)
    a, b, c, d = text.matrix
    place = f"{a} {b} {c} {d} {text.x} {height - text.y} Tm"
    return f"BT /{text.font} {text.size} Tf {text.operators} {place} (".encode() + raw + b") Tj ET"


def _file(objects: list[bytes], trailer: str) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    ends = (len(objects) + 1, trailer.encode(), start)
    return out + b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % ends
