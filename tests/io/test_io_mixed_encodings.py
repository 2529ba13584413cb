"""Files of mixed encodings, and files that cannot be written: what the messages say is true."""

from __future__ import annotations

import errno
import gzip
import io
from pathlib import Path

import pytest

import espalier as es
from espalier.errors import FormatError
from espalier.text_files import blaming, open_lines, replacing, write_chunks

MIXED = ", but letters before it are (line {first}); the encodings are mixed: convert line {line} to utf-8"
OTHER = "; pass encoding='latin-1' or encoding='cp1252'"


def complaint(raw: bytes, encoding: str = "utf-8") -> str:
    with pytest.raises(FormatError) as caught, open_lines(io.BytesIO(raw), encoding, []) as lines:
        list(lines)
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "line", "at", "first"),
    [
        (b"M\xc3\xbcller\nM\xfcller\n", 2, 2, 1),
        (b"plum\nM\xc3\xbcller\nplum\nM\xfcller", 4, 2, 2),
        (b"M\xc3\xbcller and M\xfcller\n", 1, 14, 1),
        (b"\xe2\x82\xac\nplum \xe2\x82\n", 2, 6, 1),
    ],
)
def test_letters_in_utf_8_before_it(raw: bytes, line: int, at: int, first: int) -> None:
    found = complaint(raw)
    assert found.startswith(f"<file>:{line}: byte 0x")
    assert found.endswith(f", number {at} of the line, is not utf-8{MIXED.format(first=first, line=line)}")


@pytest.mark.parametrize("raw", [b"M\xfcller\n", b"plum\nM\xfcller\n", b"plum\nM\xfcller\nM\xc3\xbcller\n"])
def test_no_such_letters_before_it(raw: bytes) -> None:
    assert complaint(raw).endswith(OTHER)


def test_other_encodings_and_marks_keep_their_hints() -> None:
    assert complaint(b"plum\xe9", "ascii").endswith(OTHER)
    assert complaint("桃\n".encode("euc_jp") + b"\xff\n", "euc_jp").endswith(OTHER)
    assert complaint("plum".encode("utf-16")).endswith("; pass encoding='utf-16' (the file starts with its mark)")


def test_the_advice_helps(tmp_path: Path) -> None:
    path = tmp_path / "mixed.txt"
    path.write_bytes("Müller\n".encode() + "Prün\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r":2: .*convert line 2 to utf-8"):
        es.read(path, "plain")
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1].decode("latin-1").encode()
    path.write_bytes(b"\n".join(lines))
    assert [document.text for document in es.read(path, "plain")] == ["Müller", "Prün"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        write_chunks("/dev/full", ["plum"], "utf-8")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_an_error_of_reading_names_the_input(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        name = "tape"

        def readline(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    def chunks() -> list[str]:
        with open_lines(Broken(b"plum"), "utf-8", []) as lines:
            return [line for _, line in lines]

    with pytest.raises(OSError, match="Input/output") as caught:
        write_chunks(tmp_path / "out", (line for _ in "x" for line in chunks()), "utf-8")
    assert caught.value.filename == "tape"
    assert list(tmp_path.iterdir()) == []


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    path, packed = tmp_path / "a", tmp_path / "a.gz"
    with replacing(path) as stream:
        stream.write(b"plum")
        assert not path.exists()
    with pytest.raises(ZeroDivisionError), replacing(path) as stream:
        stream.write(b"pear" * (1 // 0))
    assert path.read_bytes() == b"plum"
    with replacing(packed) as stream:
        stream.write(b"plum")
    assert gzip.decompress(packed.read_bytes()) == b"plum"
    with pytest.raises(NotADirectoryError) as caught, replacing(path / "b"):
        pass
    assert caught.value.filename == str(path / "b")
    assert sorted(tmp_path.iterdir()) == [path, packed]


def test_only_nameless_errors_are_blamed_on_somebody() -> None:
    for given, found in ((None, "plum"), ("part", "plum"), ("pear", "pear")):
        with pytest.raises(PermissionError) as caught, blaming("plum", instead_of="part"):
            raise OSError(errno.EACCES, "Permission denied", given)
        assert caught.value.filename == found
    with pytest.raises(io.UnsupportedOperation, match="not writable"), blaming("plum"):
        raise io.UnsupportedOperation("not writable")
