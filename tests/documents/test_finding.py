"""References of documents: what is found, where it stands, what is dropped, and how sure it is."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.documents.cutting.filling import fill_in
from espalier.documents.cutting.finding import Findings, find_references, findings_of, without_lead
from espalier.documents.deciding.model import LABELS, LineModel, LineReading, bundled
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import Box, TextLine
from espalier.documents.reading.html import read_html
from espalier.documents.reading.plain import printed_lines
from espalier.documents.references import cut
from espalier.inference import marginals, pair_marginals
from espalier.potentials import ChainBatch

LIST = (
    "Plum, A. (1990). Wires and walls. Orchard Letters, 3(2), 12-15.",
    "Quince, B., & Medlar, C. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.",
    "Rowan, D. (1992). On the pruning of old trees. Ely: Medlar Press.",
    "Sloe, E. (1993). Hedges. Hedgerow Studies, 4, 77-91.",
    "Thorn, F. (1994). Mulch and soil. Ely: Medlar Press.",
    "Wych, G. (1995). The elm in winter. Annals of Fruit, 9(2), 31-44.",
)


def document(*, after: str = "") -> str:
    prose = (
        "The orchard was pruned in winter because the frost had come early, and we have seen that it was good.\n" * 6
    )
    return f"{prose}References\n" + "\n".join(LIST) + (f"\n{after}" if after else "")


def covered(text: str, found: Findings) -> set[int]:
    places = [(one.start, one.end) for one in found.references] + [(one.start, one.end) for one in found.dropped]
    return {k for a, b in places for k in range(a, b)}


def test_a_list_at_the_end_of_a_document() -> None:
    found = find_references(printed_lines(document()))
    assert [one.text for one in found.references] == list(LIST)
    assert [one.line for one in found.references] == list(range(8, 14))
    assert [one.text for one in found.dropped if one.kind == "heading"] == ["References"]


def test_places_are_those_of_the_text() -> None:
    printed = printed_lines(document())
    for one in find_references(printed).references:
        assert printed.text[one.start : one.end] == one.text
        assert 0 < one.confidence <= 1


def test_no_list_is_an_empty_result() -> None:
    prose = [
        "The orchard was pruned in winter because the frost had come early, and we have seen that it was good."
    ] * 30
    found = find_references([TextLine(text) for text in prose])
    assert found.references == ()
    assert found.confidence == 1.0
    assert find_references([]).references == ()


def test_findings_travel_between_processes() -> None:
    found = find_references(printed_lines(document()))
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_dash_is_the_author_before_and_said_to_be() -> None:
    found = cut("\n".join([*LIST[:3], "———. (1996). Wild pears. Ely: Medlar Press.", *LIST[3:]]))
    texts = [one.text for one in found.references]
    assert texts[3] == "Rowan, D. (1996). Wild pears. Ely: Medlar Press."
    assert [one.filled for one in found.references] == ["", "", "", "Rowan, D.", "", "", ""]


def test_an_en_dash_with_nothing_before_stays() -> None:
    found = fill_in(cut("———. (1996). Wild pears. Ely: Medlar Press.").references)
    assert [one.filled for one in found] == [""]


ALPHABET = "Plum, A. (1990). Wires\n\n[1] [2] 3. • References ;\f\t –— 12-15"


@given(
    st.lists(
        st.sampled_from(
            [*LIST, "References", "", "12", "of trees and", "[1] " + LIST[0], "[2] " + LIST[1], *ALPHABET.split(" ")]
        ),
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost(lines: list[str]) -> None:
    """Every character but white space is in a reference or in a dropped part."""
    raw = "\n".join(lines)
    found, text = cut(raw), printed_lines(raw).text
    missing = [k for k, c in enumerate(text) if not c.isspace() and k not in covered(text, found)]
    assert not missing


def test_labels_keep_the_rules() -> None:
    reading = bundled().read(printed_lines(document(after="Appendix\nTables of fruit, and more of them.")).lines)
    assert len(reading.labels) == len(reading.units)
    for before, label in zip(["", *reading.labels], reading.labels, strict=False):
        assert label != "ref-cont" or before in ("ref", "ref-cont", "page", "note")


@pytest.mark.parametrize("seed", range(5))
def test_the_confidence_is_that_of_the_chain(seed: int) -> None:
    """Against enumeration: these labels, and none that goes on behind them."""
    rng, L, n = np.random.default_rng(seed), len(LABELS), 4
    unary, trans = rng.normal(size=(n, L)), rng.normal(size=(1, L, L))
    batch = ChainBatch(np.array([0, n]), unary, trans, np.zeros(n, np.int32), np.zeros(L), np.zeros(L))
    units = units_of([TextLine("Plum")] * n)
    labels = ["text", "ref", "ref-cont", "ref"]
    reading = LineReading(units, labels, marginals(batch), [None, *pair_marginals(batch)[1:]])

    total = good = 0.0
    for y in product(range(L), repeat=n):
        weight = np.exp(sum(unary[t, y[t]] for t in range(n)) + sum(trans[0, y[t - 1], y[t]] for t in range(1, n)))
        total += weight
        if LABELS[y[1]] == "ref" and LABELS[y[2]] == "ref-cont" and LABELS[y[3]] != "ref-cont":
            good += weight
    assert reading.sure(1, 3) == pytest.approx(good / total)


def test_a_model_file_gives_the_same_answers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = bundled()
    model.save(tmp_path / "lines.espalier")
    again, printed = LineModel.load(tmp_path / "lines.espalier"), printed_lines(document())
    assert findings_of(printed, again.read(printed.lines), again) == findings_of(
        printed, model.read(printed.lines), model
    )


def test_long_documents_are_read_in_parts() -> None:
    """A list far inside a long document is found where it stands, and the parts agree with the whole."""
    prose = [
        "The orchard was pruned in winter because the frost had come early, and we have seen that it was good."
    ] * 3500
    lines = [*prose, "References", *LIST, *prose]
    found = find_references([TextLine(text) for text in lines])
    assert [one.text for one in found.references] == list(LIST)
    assert found.references[0].line == 3502


def test_works_of_one_author_in_a_note_are_cut_and_words_before_a_work_do_no_harm() -> None:
    """`ders.` and `dies.` stand for the author of the work before."""
    works = [
        ["Keller, Anna: Obstbau und Ordnung, Berlin 1994", "dies.: Die Mauer im Garten, Köln 2001, S. 33."],
        ["Novak, Tom, Drähte und Mauern, Bern 1987, S. 3", "ders., Die Birne, München 1997, S. 12 f."],
        ["Meier, Paul: Die Ordnung der Gärten, Wien 1979", "Lang, Eva: Obst und Wein, Graz 1983, S. 7."],
    ]
    notes = [f"{n} {first}; {'vgl. auch ' * (n == 3)}{second}" for n, (first, second) in enumerate(works, 1)]
    found = find_references(printed_lines("\n".join(["Anmerkungen", *notes]))).references
    assert [one.text.rstrip(";") for one in found] == [text for pair in works for text in pair]


def test_words_before_a_name_with_particles_are_no_part_of_it() -> None:
    assert without_lead("See van den Berg, C., 1990. Wires.") == ("See", "van den Berg, C., 1990. Wires.")
    assert without_lead("See the wires of 1990.") == ("", "See the wires of 1990.")


def test_an_item_of_a_list_is_one_reference() -> None:
    """The file says where an item begins: it is not cut at a semicolon, and no item goes on with the one before."""
    items = [
        "Gantert, Klaus: Grundwissen der Gärtner. 9. Aufl. Berlin: De Gruyter, 2016.",
        "DIN 1505-2: Titelangaben von Dokumenten; Zitierregeln. Berlin: Beuth, Januar 1984.",
        "Umlauf, Konrad: Kunde der Hecken. Wiesbaden: Harrassowitz, 2006.",
        "Borgman, C. L. (2015). Big Gardens, Little Gardens, No Gardens. Cambridge, MA: MIT Press.",
    ]
    page = "<h2>Literatur</h2><ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
    found = find_references(
        read_html(f"<html><body><p>The orchard was pruned in winter.</p>{page}</body></html>".encode())
    )
    assert [one.text for one in found.references] == items


def test_an_address_that_a_line_end_cuts_is_whole_again() -> None:
    """It reaches the right edge; one that does not ends there."""
    rows = [("References", 80), *((text, 40 + 5 * len(text)) for text in LIST)]
    first, second = "Yew, H. (2016). Evergreens [Blog post]. https://ely.org/2016/01/of-old-or", "chards-and-walls.html"

    def found(right: float) -> str:
        placed = [
            *rows,
            (first, right),
            (second, 150.0),
            ("Zelkova, I. (1997). A late tree. Ely: Medlar Press.", 300.0),
        ]
        boxes = [Box(40 + 12 * (text == second), 20.0 * k, x1, 20.0 * k + 10) for k, (text, x1) in enumerate(placed)]
        lines = [TextLine(text, box=box, size=10, column=0) for (text, _), box in zip(placed, boxes, strict=True)]
        return find_references(lines).references[-2].text

    edge = max(x1 for _, x1 in rows)
    assert found(edge - 3) == first + second
    assert found(edge - 60) == f"{first} {second}"
