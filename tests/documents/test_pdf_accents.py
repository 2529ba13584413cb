"""Accents, low quotes and ligatures of a PDF file are the letters that people see."""

from __future__ import annotations

import random

import numpy as np
import pytest

pytest.importorskip("pypdfium2")

from pdf_writer import Text, write_pdf

from espalier.documents.layout.accents import ACCENTS, joined_marks
from espalier.documents.reading.pdf import read_pdf

LIGATURES = "<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /ff /ffi /fi] >>"
DRAWN = {"ü": "\xa8u", "ö": "\xa8o", "é": "\xb4e", "è": "`e", "ê": "^e", "ç": "\xb8c"}


def texts(page: list[Text], encoding: str = "/WinAnsiEncoding") -> list[str]:
    return [line.text for line in read_pdf(write_pdf([page], encoding=encoding)).lines]


@pytest.mark.parametrize("seed", range(4))
def test_accents_may_stand_anywhere_in_the_file(seed: int) -> None:
    words = ["Zürich", "Lefèvre,", "Köln", "und", "Français,", "Müller,", "Forêt,", "André,"]
    random_ = random.Random(seed)
    lines = [" ".join(random_.sample(words, 6)) for _ in range(8)]
    letters, accents = [], []
    for number, line in enumerate(lines):
        y = 100 + 12 * number
        letters.append(Text(60, y, "".join(DRAWN.get(sign, sign)[-1] for sign in line)))
        accents += [Text(60 + 6 * k, y, DRAWN[sign][0]) for k, sign in enumerate(line) if sign in DRAWN]
    random_.shuffle(accents)
    assert texts([*letters, *accents]) == lines


def test_the_accent_of_a_capital_is_lifted() -> None:
    assert texts([Text(60, 100, "Uber die Baume"), Text(60, 97.8, "\xa8"), Text(120, 100, "\xa8")]) == [
        "Über die Bäume"
    ]


def test_a_low_quote_is_drawn_lower_and_stays_in_its_line() -> None:
    page = [Text(60, 100, "Vgl."), Text(90, 105.5, "”"), Text(96, 100, "Wein“, 1987."), Text(60, 112, "Meier, A.")]
    assert texts(page) == ["Vgl. „Wein“, 1987.", "Meier, A."]


def test_letters_of_a_ligature_are_all_read() -> None:
    page = [Text(60, 100, b"Ho\x01mann, E\x02cient o\x01ers, \x03nd")]
    assert texts(page, LIGATURES) == ["Hoffmann, Efficient offers, find"]


def test_a_ligature_that_is_drawn_twice_is_there_once() -> None:
    page = [Text(60 + shift, 100, b"E\x02cient o\x01ers") for shift in (0, 0.3)]
    assert texts(page, LIGATURES) == ["Efficient offers"]


def test_an_accent_without_a_letter_stays() -> None:
    codes = np.array([ord(sign) for sign in "a^3"], np.uint32)
    ends = np.array([[0.0, 6.0], [6.0, 12.0], [12.0, 18.0]])
    origins = np.array([[0.0, 100.0], [6.0, 100.0], [12.0, 100.0]])
    after, _, keep = joined_marks(codes, ends, origins, lambda _: 10.0)
    assert after.tolist() == codes.tolist()
    assert keep.all()
    assert {ord("^"), ord("`")} <= set(ACCENTS)
