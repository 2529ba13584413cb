"""What the model sees of a reference: marks of HTML, lost signs and lost spaces, at places of the text as it was."""

from __future__ import annotations

import re
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.citations import seen as module
from espalier.citations.parser import Parser
from espalier.citations.seen import as_seen, read_markup, reference_tokens, without_markup, words_seen
from espalier.document import Document, tokenise


@pytest.fixture(scope="module")
def parser() -> Parser:
    found = es.load("citations")
    assert isinstance(found, Parser)
    return found


def seen(text: str) -> list[str]:
    return words_seen(Document.from_offsets(text, reference_tokens(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<i>Tobacco Control</i>, 9", "Tobacco Control, 9"),
        ("Ga&#353;evi&#263; &amp;amp; Ho", "Gašević & Ho"),
        ("H<sub>2</sub>O and <jats:italic>E. coli</jats:italic>", "H2O and E. coli"),
        ('<span style="font-variant:small-caps"><small>Ho</small></span> , D.', "Ho , D."),
        ("one<br/>two &nbsp;three", "one two  three"),
        ("p(a < b) and b > c, R&D; x &unknown; y", "p(a < b) and b > c, R&D; x &unknown; y"),
        ('<a href="https://a.org">A</a>', '<a href="https://a.org">A</a>'),  # an address is more than a look
    ],
)
def test_marks_are_read_as_what_they_mean(text: str, expected: str) -> None:
    assert without_markup(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<i>Soil</i> and H<sub>2</sub>O.", ["Soil", "and", "H2O", "."]),
        ("<b><i>Soil</i></b> Ga&#353;e", ["Soil", "Gaše"]),
        ("Soil <i></i>", ["Soil"]),
        ("A.V. Schally andB. Shaw", ["A", ".", "V", ".", "Schally", "and", "B", ".", "Shaw"]),
        ("Pfeiffer undStandenath,", ["Pfeiffer", "und", "Standenath", ","]),
        ("Gastroenterology70, 58", ["Gastroenterology", "70", ",", "58"]),
        ("Univ. Hamburg32 (1968)", ["Univ", ".", "Hamburg", "32", "(", "1968", ")"]),
        ("Bendow B 1984Lightwave", ["Bendow", "B", "1984", "Lightwave"]),
        ("7-Decq P, Ho D.", ["7-", "Decq", "P", ",", "Ho", "D", "."]),
        ("Builds, 208Washington: US", ["Builds", ",", "208", "Washington", ":", "US"]),
        ("Ulrich R 1974J. Crystal", ["Ulrich", "R", "1974", "J", ".", "Crystal"]),
        ("word2vec, B138, 2014a and https://a.org/abc12, x", None),
        ("andante, etude, Land2Sea, (1999A)", None),
    ],
)
def test_tokens(text: str, words: list[str] | None) -> None:
    assert seen(text) == (Document.from_text(text).words if words is None else words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20:43?52, 1991", "20:43–52, 1991"),
        ("pp 517\ufffd26", "pp 517–26"),
        ("Ho, ?Stresses near a hole,? Mekhan.", "Ho, “Stresses near a hole,” Mekhan."),
        ("?: Theorie. Math. 7", "—: Theorie. Math. 7"),
        ("Who reads? Nobody. What is it? A plum", "Who reads? Nobody. What is it? A plum"),
    ],
)
def test_question_marks_for_lost_signs(text: str, expected: str) -> None:
    assert as_seen(text) == expected
    assert len(expected) == len(text)


PIECES = [
    "<i>",
    "</i>",
    "<sub>",
    "</span>",
    '<span a="b c">',
    "&#353;",
    "&amp;",
    "&",
    "<",
    " ",
    "Ho",
    "70,",
    "and",
    "B.",
]


@given(st.lists(st.sampled_from([*PIECES, "<br>", "&amp;amp;", "x"]), max_size=12).map("".join) | st.text(max_size=20))
@example("<i></i>")
@example("<i> </i> Ho")
@settings(deadline=None)
def test_tokens_cover_the_text_and_have_one_word_each(text: str) -> None:
    tokens = reference_tokens(text)
    Document(text, tokens)  # in order and disjoint
    covered = {at for start, end in tokens for at in range(start, end)}
    assert all(sign.isspace() or at in covered for at, sign in enumerate(text) if tokenise(text))
    words = words_seen(Document.from_offsets(text, tokens))
    assert len(words) == len(tokens)
    plain = read_markup(text)
    if plain is not None and tokenise(plain.text):
        assert "".join(words).replace(" ", "") == "".join(as_seen(plain.text).split())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Fiore, MC. (1997) Smoking cessation: a fundamental review <i>Tobacco Control</i>, 9(1), pp. 4 - 21.",
            {"container-title": "Tobacco Control", "volume": "9", "page": "4-21"},
        ),
        (
            "Manni A, Buck H: Growth factor involvement in breast cancer. Breast Cancer Res Treat 20:43?52, 1991",
            {"volume": "20", "page": "43-52"},
        ),
        (
            "V. D. Kubenko, ?Stresses near an elliptical hole,? Prikl. Mekhan.,1, No. 5, 133?137 (1965).",
            {"title": "Stresses near an elliptical hole", "page": "133-137"},
        ),
        (
            "Ibels, L.S., Weil, R.: Hyperlipidemia after renal transplantation. Trans. Am. Soc. Organs5:37, 1976",
            {"container-title": "Trans. Am. Soc. Organs", "volume": "5", "page": "37"},
        ),
    ],
)
def test_records_have_the_values_and_the_text_as_it_was(parser: Parser, text: str, values: dict[str, str]) -> None:
    record = parser.parse(text)
    assert {name: record.to_csl().get(name) for name in values} == values
    assert record.text == text
    assert "".join(field.text for field in record.fields).replace(" ", "") == text.replace(" ", "")


def test_names_behind_entities(parser: Parser) -> None:
    record = parser.parse(
        "Faezeh Ensan and Dragan Ga&#353;evi&#263;. 2012. Test generation. In AISE. Springer, 613--628."
    )
    assert [name.family for name in record.work.authors] == ["Ensan", "Gašević"]


@pytest.mark.parametrize(
    "text",
    [
        "Smith, J.&nbsp;(2012). A title of soils. Journal of Soils, 12(3), 45-67.",
        "Smith, J. (2012). A title of soils.&thinsp;Journal of Soils, 12(3), 45-67.&#160;",
        "&nbsp;",
    ],
)
def test_an_entity_for_a_space_is_in_a_token(parser: Parser, text: str) -> None:
    record = parser.parse(text)
    assert record.text == text
    assert "nbsp" not in str(record.to_csl())


@pytest.mark.parametrize("text", ["Effects of p<u and u>b on i<b>c", "Mean <i and p> values where a<b and p <0.05"])
def test_formulas_are_no_tags(text: str) -> None:
    assert without_markup(text) == text


GLUED = ["and", "und", "et", "A", "B.", "a", "ß", "é", "É", "1984", "7", "-", "abc", ".", ",", "(", "@", "Lig", "70,"]


@given(st.lists(st.sampled_from([*GLUED, " ", " "]), max_size=12).map("".join))
@settings(deadline=None, max_examples=500)
def test_a_quick_look_misses_no_words_that_ran_together(text: str) -> None:
    with mock.patch.object(module, "_MAY_BE_GLUED", re.compile("")):  # which is found in any text
        expected = reference_tokens(text)
    assert reference_tokens(text) == expected
