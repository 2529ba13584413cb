"""Documents made to harm, and readers that are killed: errors that name the limit, in bounded time and memory.

No file that is read here has more than a hundred kilobytes.
"""

from __future__ import annotations

import io
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest
from bounds import bounded

import espalier as es
from espalier.documents.pace import watched
from espalier.documents.reading import confined, read_document
from espalier.documents.reading.docx import read_docx
from espalier.documents.references import find_in
from espalier.errors import EspalierError, InputError

GOOD = b"<html><h2>References</h2><ol><li>Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.</ol></html>"
WORDS = b"BT /F 10 Tf 50 700 Td (References) Tj 0 -12 Td (Smith AB. Soil salts. Acta Hortic. 2004;12:33-9.) Tj ET"
HERE = f"import sys; sys.path[:] = {sys.path!r}\n"
unix = pytest.mark.skipif(os.name != "posix", reason="signals and forks")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """No reader of another test."""
    confined.close()
    yield
    confined.close()


class Cost:
    """Seconds, and the most memory that this process had beyond its start together with its children."""

    seconds = megabytes = 0.0


@contextmanager
def cost() -> Iterator[Cost]:
    found, over = Cost(), threading.Event()
    before, begin = psutil.Process().memory_info().rss, time.monotonic()

    def sample() -> None:
        while not over.wait(0.01):
            found.megabytes = max(found.megabytes, (memory() - before) / 2**20)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        found.seconds = time.monotonic() - begin


def memory() -> int:
    here = psutil.Process()
    used = here.memory_info().rss
    for child in children():
        try:
            used += child.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return used


def children() -> list[psutil.Process]:
    """Return the readers of this process; other tests that share it may have left a browser or a server running."""
    return [child for child in psutil.Process().children() if is_reader(child)]


def is_reader(process: psutil.Process) -> bool:
    try:
        return any("espalier.documents.reading.inside" in word for word in process.cmdline())
    except psutil.Error:  # it has just ended
        return False


def until(true: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def stream(content: bytes, entries: bytes = b"", filters: bytes = b"/FlateDecode") -> bytes:
    return b"<< /Length %d /Filter %s %s >>\nstream\n%s\nendstream" % (len(content), filters, entries, content)


def pdf(content: bytes, *, pages: int = 1, forms: tuple[bytes, ...] = (), named: bytes = b"") -> bytes:
    """Return a file whose pages all have this content stream; forms : further objects, from number 6 on."""
    fonts = b"/Resources << /Font << /F 5 0 R >> %s >>" % named
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, b"3 0 R " * pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R %s >>" % fonts,
        content,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *forms,
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def calling_forms(deep: int = 25, times: int = 10) -> bytes:
    """Forms that each call the next one ten times: ten to the twenty-fifth pieces of text."""
    forms = []
    for number in range(6, 6 + deep):
        last = number == 5 + deep
        inner = b"" if last else b"/XObject << /X %d 0 R >>" % (number + 1)
        about = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /F 5 0 R >> %s >>" % inner
        forms.append(stream(zlib.compress(WORDS if last else b"/X Do " * times), about))
    return pdf(stream(zlib.compress(b"/X Do")), forms=tuple(forms), named=b"/XObject << /X 6 0 R >>")


def packed_twice(size: int = 1 << 29) -> bytes:
    """A page whose content is half a gigabyte of blanks, packed and packed again."""
    packer = zlib.compressobj(9)
    once = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(size >> 20)) + packer.flush()
    return pdf(stream(zlib.compress(once, 9), filters=b"[/FlateDecode /FlateDecode]"))


def scattered(letters: int = 15_000, pages: int = 300) -> bytes:
    """Letters at random places, on many pages that are one: each takes a tenth of a second."""
    place = random.Random(1)
    drawn = (b"1 0 0 1 %d %d Tm (ab) Tj " % (place.randrange(600), place.randrange(790)) for _ in range(letters))
    return pdf(stream(zlib.compress(b"BT /F 1 Tf " + b"".join(drawn) + b"ET", 9)), pages=pages)


SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(text: str, method: int = zipfile.ZIP_DEFLATED, declared: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        packed.writestr("word/document.xml", f"{declared}<w:document {SPACE}><w:body>{text}</w:body></w:document>")
    return file.getvalue()


SMALL = docx("<w:p><w:r><w:t>Smith</w:t></w:r></w:p>")
NEGATIVE = bytearray(SMALL)
_at = NEGATIVE.rindex(b"PK\x05\x06") + 16
# Where its directory begins, too far behind: so its first part begins before the file.
struct.pack_into("<I", NEGATIVE, _at, struct.unpack_from("<I", NEGATIVE, _at)[0] + 40)
FAR = bytearray(SMALL)
struct.pack_into("<I", FAR, FAR.rindex(b"PK\x01\x02") + 42, 0xFFFFFFF0)
LYING = bytearray(docx("<w:p/>" * (4 << 20)))
struct.pack_into("<I", LYING, LYING.rindex(b"PK\x01\x02") + 24, 1000)

BOMBS = {
    "forms.pdf": (calling_forms, "forms.pdf needs more than 256 MB of memory, the most for a file of its size"),
    "blanks.pdf": (packed_twice, "blanks.pdf needs more than 256 MB of memory, the most for a file of its size"),
    "zip.docx": (lambda: docx("<w:p/>" * (4 << 20)), "zip.docx unpacks to more than 8 MB, 100 times its size"),
    "lying.docx": (lambda: bytes(LYING), "lying.docx is damaged or encrypted"),
    "deep.docx": (lambda: docx("<w:p>" * 500_000), "deep.docx has elements that are nested more than 1,000 deep"),
    "lzma.docx": (lambda: docx("<w:p/>" * 99, zipfile.ZIP_LZMA), "lzma.docx is packed in a way that Word does not"),
    "minus.docx": (lambda: bytes(NEGATIVE), "minus.docx is damaged or encrypted"),
    "far.docx": (lambda: bytes(FAR), "far.docx is damaged or encrypted"),
    "foo.docx": (
        lambda: docx("", declared='<?xml version="1.0" encoding="foo"?>'),
        "foo.docx names an encoding that nobody knows",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_that_names_the_limit(name: str) -> None:
    make, says = BOMBS[name]
    data = make()
    assert len(data) < 100_000
    with cost() as spent, pytest.raises(InputError, match=says) as caught:
        read_document(data, name)
    assert caught.value.hint
    assert spent.seconds < 15, spent.seconds
    assert spent.megabytes < 450, spent.megabytes
    assert len(read_document(GOOD, "good.html").lines) == 2


@pytest.mark.parametrize("name", [name for name in BOMBS if name.endswith("docx")])
def test_readers_of_word_are_bounded_by_themselves(name: str) -> None:
    make, says = BOMBS[name]
    data = make()
    with cost() as spent, pytest.raises(InputError, match=says):
        read_docx(data, name)
    assert spent.seconds < 5
    assert spent.megabytes < 100


def test_blanks_before_page_breaks_are_looked_at_once() -> None:
    """Every break looked at all blanks before it: eight kilobytes took as long as a reader may."""
    text = f"<w:p><w:r>{'<w:tab/>' * 30_000}{'<w:lastRenderedPageBreak/>' * 30_000}<w:t>x</w:t></w:r></w:p>"
    with bounded(5.0):
        (line,) = read_docx(docx(text)).lines
    assert (line.text, line.page) == ("x", 30_001)


@pytest.mark.parametrize("element", ["p", "li"])
def test_who_finds_references_looks_at_the_clock_often(element: str) -> None:
    """In a server others wait from one look to the next: for 100,000 paragraphs it was ten seconds."""
    item = f"<{element}>Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9."
    printed = read_document(f"<html><h2>References</h2>{item * 10_000}".encode(), "a.html", trusted=True)
    last, longest = time.thread_time(), 0.0

    def look() -> None:
        nonlocal last, longest
        now = time.thread_time()
        last, longest = now, max(longest, now - last)

    with watched(look):
        assert len(find_in(printed).references) == 10_000
    look()
    assert longest < 0.5


def test_an_encoding_with_errors_of_its_own_is_none() -> None:
    found = read_document(GOOD.replace(b"<html>", b'<html><meta charset="undefined">'), "a.html", trusted=True)
    assert found.lines[0].text == "References"
    assert found.warnings


def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_DOCUMENT_SECONDS", "0.5")
    data = scattered()
    assert len(data) < 100_000
    with cost() as spent, pytest.raises(InputError, match=r"slow\.pdf takes more than 1 seconds to read") as caught:
        read_document(data, "slow.pdf")
    assert "ESPALIER_DOCUMENT_SECONDS" in caught.value.hint
    assert spent.seconds < 5
    assert not children()
    monkeypatch.setenv("ESPALIER_DOCUMENT_SECONDS", "soon")
    with pytest.raises(InputError, match="ESPALIER_DOCUMENT_SECONDS is 'soon'"):
        read_document(GOOD, "good.html")


def test_memory_is_what_somebody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_DOCUMENT_MEGABYTES", "100")
    with cost() as spent, pytest.raises(InputError, match="needs more than 100 MB of memory"):
        read_document(calling_forms(), "forms.pdf")
    assert spent.megabytes < 300


def test_what_is_made_of_a_document_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "LINES", 1)
    with pytest.raises(InputError, match=r"good\.html has more than 1 lines; cut it"):
        read_document(GOOD, "good.html")
    monkeypatch.setattr(confined, "LINES", 100)
    monkeypatch.setattr(confined, "CHARACTERS", 20)
    with pytest.raises(InputError, match=r"good\.html has more than 20 characters; cut it"):
        read_document(GOOD, "good.html")


@pytest.mark.parametrize("name", ["good.html", "good.pdf", "good.docx", "good.txt", "good.tex"])
def test_the_answer_is_that_of_a_reader_in_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {
        "html": GOOD,
        "pdf": pdf(stream(zlib.compress(WORDS)), pages=2),
        "docx": SMALL,
        "txt": "one\n\n  zwölf\fthree 😀".encode(),
        "tex": b'\\bibitem{a} M{\\"u}ller, K. Water. 2001.',
    }[name.rpartition(".")[2]]
    found = read_document(data, name)
    monkeypatch.setattr(confined, "read_confined", None)  # in place, nobody else is asked
    assert read_document(data, name, trusted=True) == found
    if name == "good.html":
        assert es.parse_document(data, name=name, trusted=True).records[0].work.title == "Soil salts"


def test_readers_are_kept_and_replaced() -> None:
    for _ in range(3):
        read_document(GOOD, "good.html")
    (reader,) = children()
    reader.kill()
    until(lambda: reader.status() == psutil.STATUS_ZOMBIE if reader.is_running() else True)
    for _ in range(3):
        assert len(read_document(GOOD, "good.html").lines) == 2
    (other,) = children()
    assert other.pid != reader.pid


@unix
def test_a_reader_that_is_killed_midway_is_an_error_of_its_document_alone() -> None:
    slow = scattered()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read_document, slow, "slow.pdf")
        until(children)
        (reader,) = children()
        until(lambda: reader.cpu_times().user > 0.5)
        os.kill(reader.pid, signal.SIGKILL)
        with pytest.raises(InputError, match=r"slow\.pdf cannot be read: its reader broke off \(signal 9\)"):
            waiting.result(5)
    for _ in range(20):
        assert len(read_document(GOOD, "good.html").lines) == 2


def test_several_at_once_get_their_own_answers() -> None:
    def read(number: int) -> bool:
        found = read_document(f"<html><p>Paper {number} of many</p></html>".encode(), f"{number}.html")
        return found.name == f"{number}.html" and [x.text for x in found.lines] == [f"Paper {number} of many"]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(60)))
    assert 1 <= len(children()) <= confined.AT_ONCE


def test_a_bomb_does_not_keep_another_document_waiting() -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read_document, scattered(), "slow.pdf")
        until(children)
        (slow,) = children()
        until(lambda: slow.cpu_times().user > 0.5)
        assert len(read_document(GOOD, "good.html").lines) == 2
        assert not waiting.done()
        slow.kill()
        with pytest.raises(InputError, match="its reader broke off"):
            waiting.result(10)


def test_who_waits_may_give_up() -> None:
    begin = time.monotonic()

    def enough() -> None:
        if time.monotonic() > begin + 0.3:
            raise TimeoutError("enough")

    with watched(enough), pytest.raises(TimeoutError, match="enough"):
        read_document(scattered(), "slow.pdf")
    assert time.monotonic() < begin + 3
    assert not children()


@pytest.mark.skipif(sys.platform != "linux", reason="bounds by the system")
def test_a_reader_ends_though_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_DOCUMENT_SECONDS", "0.1")
    read_document(GOOD, "good.html")
    (reader,) = children()

    def busy() -> None:
        if reader.is_running() and reader.cpu_times().user > 0.5:
            until(lambda: not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE)

    with watched(busy), pytest.raises(InputError, match="takes more than 1 seconds"):
        read_document(scattered(), "slow.pdf")


@unix
def test_no_reader_outlives_who_asked() -> None:
    code = (
        "import threading, time\n"
        "from espalier.documents.reading import read_document\n"
        "data = sys.stdin.buffer.read()\n"
        "threading.Thread(target=read_document, args=(data, 'slow.pdf'), daemon=True).start()\n"
        "print(flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", HERE + code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(scattered())
        process.stdin.close()
        process.stdout.readline()
        until(lambda: psutil.Process(process.pid).children())
        (reader,) = psutil.Process(process.pid).children()
        until(lambda: reader.cpu_times().user > 0.5)
        process.kill()
    until(lambda: not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE, 5)


@unix
def test_a_fork_has_readers_of_its_own() -> None:
    code = (
        "import os\n"
        "from espalier.documents.reading import read_document\n"
        f"good = {GOOD!r}\n"
        "read_document(good, 'a.html')\n"
        "child = os.fork()\n"
        "found = [read_document(good, f'{k}.html').name for k in range(20)]\n"
        "assert found == [f'{k}.html' for k in range(20)]\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", HERE + code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@unix
def test_systems_without_resource_have_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "BEGIN", "import sys; sys.modules['resource'] = None; " + confined.BEGIN)
    assert len(read_document(GOOD, "good.html").lines) == 2
    with cost() as spent, pytest.raises(InputError, match="needs more than 256 MB of memory"):
        read_document(calling_forms(), "forms.pdf")
    assert spent.seconds < 10
    assert spent.megabytes < 450


@unix
def test_limits_of_the_system_hold_where_the_watch_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "import espalier.documents.reading.inside as inside; inside._PAUSE = 60; inside.serve()"
    monkeypatch.setattr(confined, "BEGIN", f"import sys; sys.path[:] = sys.argv[1:]; {slow}")
    with cost() as spent, pytest.raises(InputError, match=r"forms\.pdf (needs more than|cannot be read: its reader)"):
        read_document(calling_forms(), "forms.pdf")
    assert spent.megabytes < 600
    assert spent.seconds < 20


FALSE = """
import sys
def answer(data):
    line = sys.stdin.buffer.readline()
    import json
    sys.stdin.buffer.read(json.loads(line)["size"])
    sys.stdout.buffer.write(b"+" + data)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
"""
LINE = '["a",1,null,null,null,null,null,"",false]'


def rows(*lines: str, warnings: str = "[]", pages: str = "[]") -> bytes:
    return f'{{"kind":"text","pages":{pages},"warnings":{warnings},"lines":[{",".join(lines)}]}}'.encode()


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"{", b"[]", b"[" * 100_000, b"\x80\x04N.", rows("[]"), rows(LINE, warnings="[1]")),
        *(rows(LINE.replace("1", page)) for page in ("0", "true", "null", '"1"', "1e9", "999999999")),
        *(rows(LINE.replace('""', hint)) for hint in ('"odd"', "[]", "null")),
        *(rows(LINE.replace("null", box, 1)) for box in ("[1]", "[0,0,0,NaN]", "[0,0,0,1e999]", '["a",0,0,0]')),
        rows(LINE.replace("null", f"[0,0,0,1{'0' * 400}]", 1)),
        *(rows(LINE.replace("1", "2"), LINE), rows(LINE, pages="[[1]]"), rows(LINE.replace("false", "2"))),
    ],
)
def test_answers_are_checked(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = len(answer).to_bytes(8, "big") + answer
    monkeypatch.setattr(confined, "BEGIN", f"{FALSE}answer({sent!r})")
    with pytest.raises(InputError, match=r"a\.html cannot be read: its reader (gave no answer|broke off)"):
        read_document(GOOD, "a.html")


def test_an_answer_without_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "BEGIN", f"{FALSE}answer({(1 << 50).to_bytes(8, 'big')!r})")
    with cost() as spent, pytest.raises(InputError, match="its reader broke off"):
        read_document(GOOD, "a.html")
    assert spent.seconds < 5


def test_a_process_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "BEGIN", "raise SystemExit(5)")
    with pytest.raises(EspalierError, match=r"could be started: .* ended with 5; .*trusted=True"):
        read_document(GOOD, "a.html")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(EspalierError, match="no process to read documents in could be started"):
        read_document(GOOD, "a.html")
