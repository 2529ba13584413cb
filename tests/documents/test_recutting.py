from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from espalier.documents.cutting import recutting
from espalier.documents.cutting.finding import find_references, findings_of
from espalier.documents.cutting.recutting import (
    ends_of_rests,
    is_rest,
    may_be_two,
    read_fields,
    second_works,
    semicolon_pieces,
    works_behind_semicolons,
)
from espalier.documents.deciding.model import LABELS, LineReading, bundled
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import PrintedText, TextLine
from espalier.documents.references import cut

SMITH = "Smith, J. (1990). Wires and walls. Journal of Orchards, 12(3), 4-9"
JONES = "Jones, A. B. (1994). On pears. Berlin: Springer"
BODY = "The results show that attitudes have hardly changed over time, as we have seen above."
NOTES = [
    f"Smith, J. (1990). Wires. Orchard 3, 4-9; {JONES}.",
    f"{SMITH}. {JONES}.",
    f"{SMITH}; vgl. auch {JONES}.",
]


def cut_by_reading(text: str) -> list[str]:
    (fields,) = read_fields([text])
    places = second_works(text, fields)
    return [text[a:b].strip() for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize("text", NOTES)
def test_a_second_work_is_seen(text: str) -> None:
    assert may_be_two(text)
    first, second = cut_by_reading(text)
    assert text.startswith(first)
    assert second.endswith("On pears. Berlin: Springer.")


@pytest.mark.parametrize(
    "text",
    [
        "Gabor, N. M.; Song, J. C.; Ma, Q. Hot carriers. Science 2011, 334, 648-652.",
        "Berg, A. (1999). Titles; and subtitles of 1998. Frankfurt; New York: Campus.",
        "Berg, A.: Wandel der Familie. In: Klein, P.; Stein, K. (Hg.): Soziologie 1999. Berlin; New York 2001, S. 3-9.",
        "Smith J, Jones A. Soil salts of 1987. Acta Hortic. 2004;12(4):33-9. Accessed May 3, 2010.",
        "Keller, M. (2003): Was bleibt? Zürich: Seismo (zuerst 1998).",
        "DIN 1505-2: Titelangaben von Dokumenten; Zitierregeln. Berlin: Beuth, Januar 1984.",
    ],
)
def test_one_work_stays_one(text: str) -> None:
    assert cut_by_reading(text) == [text]


def cut_at_semicolons(text: str) -> list[str]:
    spans = semicolon_pieces(text)
    places = works_behind_semicolons(text, spans, read_fields([text[a:b] for a, b in spans]))
    return [text[a:b].strip("; ") for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize(
    "works",
    [
        (
            "Müller J (1900) Zur Lautlehre, Sechste Auflage. Hauptmann, Bonn",
            "Hamm F, Yan Y (1998) Typen. Univ., Berlin",
        ),
        (
            "Cassotti P (2025) Historical Word Usage Generation",
            "Bucknall G (1997) Nyangumarta: alive. The Times B1–B3.",
        ),
        ("Smith, J. (1999). Wires. Berlin: Springer", "Brown, A.; White, B. (2001). Walls and houses. Paris: Seuil."),
        ("Meyer, P. (1999): Stadt. In: Brown, A.; White, B. (Hg.): Orte der Moderne. Berlin 1999: Suhrkamp, S. 12-20",),
        ("Costa, A. ; Lino, T.: On words. In: Renfrew, C. ; Bellwood, P. (Hrsg.): Farming 1999, 2016, S. 13–20",),
    ],
)
def test_whole_works_stand_on_both_sides_of_a_semicolon(works: tuple[str, ...]) -> None:
    assert cut_at_semicolons("; ".join(works)) == list(works)


def test_a_place_behind_a_cut_is_the_end_of_the_reference_before() -> None:
    first = "Katz, E. (2011). Hair cells of birds."
    second = "Keegan, R. D. (2005). Inhalant anesthetics: the basics. Vet Clin, 12, 22-24."
    assert ends_of_rests([first, second, second]) == [0, 0, 0]
    assert ends_of_rests([first, f"New York: Springer. {second}"]) == [0, len("New York: Springer. ")]


def test_references_of_a_web_page_in_one_line_end_with_links() -> None:
    works = [
        "Gunkel C, Lafortune M (2005) Current techniques in avian anesthesia. Semin Avian Exotic Med 14:263-276",
        "Ishizawa Y (2007) Mechanisms of anesthetic actions and the brain. J Anesth 21:187-199",
        "Katz E, Elgoyhen AB (2011) Cholinergic inhibition of hair cells. Hear Res 11:103-133",
    ]
    text = " ".join(f"{work} CrossRef Medline" for work in works)
    units = units_of([TextLine(text)])
    assert {unit.text.split()[0] for unit in units} >= {"Gunkel", "Ishizawa", "Katz"}
    assert not any(unit.text.startswith(("CrossRef", "Medline")) for unit in units)


def test_an_entry_of_a_numbered_list_may_hold_two_works() -> None:
    assert may_be_two(f"[3] {NOTES[0]}")
    assert len(cut_by_reading(f"[3] {NOTES[0]}")) == 2
    assert not may_be_two(SMITH)


def test_rests_are_told_from_references() -> None:
    names, rest, whole = read_fields(["Smith, J., Jones, A.", "Berlin: Springer, 1990.", SMITH])
    assert [is_rest(one, of_next=True) for one in (names, rest, whole)] == [True, False, False]
    assert [is_rest(one, of_next=False) for one in (names, rest, whole)] == [False, True, False]


def test_works_of_a_note_stand_where_they_say() -> None:
    lines = [f"1 Vgl. {SMITH}; vgl. auch Jones, A. B.", f"{JONES[13:]}.", f"2 For an overview see {SMITH}."]
    lines = [BODY, BODY, *lines, f"3 {JONES}."]
    text = "\n".join(lines)
    found = find_references(PrintedText.of(TextLine(line) for line in lines)).references[:3]
    assert [one.text.rstrip(";.") for one in found] == [SMITH, JONES, SMITH]
    assert [one.lead for one in found] == ["Vgl.", "vgl. auch", "For an overview see"]
    assert [one.line for one in found] == [3, 3, 5]
    assert found[1].lines == (3, 4)
    for one in found:
        assert text[one.start : one.end].replace("\n", " ").endswith(one.text)


def test_words_that_lead_to_the_next_work_stay_outside() -> None:
    lines = [BODY, BODY, f"1 Vgl. {SMITH}; vgl. auch", f"{JONES}.", f"2 {JONES}."]
    found = find_references(PrintedText.of(TextLine(line) for line in lines)).references
    assert [one.text.rstrip(";.") for one in found] == [SMITH, JONES, JONES]
    assert "\n".join(lines)[found[0].start : found[0].end] == f"1 Vgl. {SMITH};"


def test_a_page_number_between_two_references_does_not_join_them() -> None:
    text = """Smith, J. and Jones, A. (1990). Wires and walls in the orchard. Journal of
Orchards 12, 3-9.
117
Taylor, B. (1994). On pears. Berlin: Springer. Second edition with a new
preface by the author."""
    first, second = cut(text).references
    assert first.text.endswith("Journal of Orchards 12, 3-9.")
    assert second.text.startswith("Taylor, B.")


def test_works_without_commas_are_cut_at_lines() -> None:
    first, second = "Plum V P 1992 J. Wires 13 188", "Plum V P and Quince B 1994 J. Walls A: Gen. 27 153"
    lines = [TextLine(f"[1] {first}"), TextLine(second)]
    labels = ["ref", "ref-cont"]
    p = np.array([[float(name == label) for name in LABELS] for label in labels])
    found = findings_of(PrintedText.of(lines), LineReading(units_of(lines), labels, p, [None, None]), bundled())
    assert [one.text for one in found.references] == [first, second]


@pytest.mark.parametrize(("first", "works"), [("http://orchard.example/.", 2), ("http://orchard.example/very-", 1)])
def test_addresses_alone_are_cut_at_lines(first: str, works: int) -> None:
    lines = [TextLine(f"[2] {first}"), TextLine("http://pears.example/archive.")]
    p = np.array([[float(name == label) for name in LABELS] for label in ("ref", "ref-cont")])
    reading = LineReading(units_of(lines), ["ref", "ref-cont"], p, [None, None])
    assert len(findings_of(PrintedText.of(lines), reading, bundled()).references) == works


def test_names_before_a_semicolon_are_no_work() -> None:
    lines = [
        TextLine("Plum, A.; Quince, B.; Rowan, D.;"),
        TextLine("Sloe, E. Hedges and walls. Orchard Letters, 1997, 3, 8."),
        TextLine("Thorn, F. Mulch. Orchard Letters, 1998, 3, 9;"),
        TextLine("Wych, G. Elms. Orchard Letters, 1999, 3, 10."),
    ]
    p = np.array([[float(name == "ref") for name in LABELS]] * 4)
    reading = LineReading(units_of(lines, inside=False), ["ref"] * 4, p, [None] * 4)
    found = findings_of(PrintedText.of(lines), reading, bundled()).references
    assert [one.lines for one in found] == [(1, 2), (3,), (4,)]


def read_as(texts: list[str]) -> list[str]:
    """Return the references of lines, each of which was read as the first of one."""
    lines = [TextLine(text) for text in texts]
    p = np.array([[float(name == "ref") for name in LABELS]] * len(lines))
    reading = LineReading(units_of(lines, inside=False), ["ref"] * len(lines), p, [None] * len(lines))
    return [one.text for one in findings_of(PrintedText.of(lines), reading, bundled()).references]


@pytest.mark.parametrize("names", ["Kai Plum, Suhang Quince, and Huan Medlar. 2018.", "[3] G. D. Greenwood."])
def test_names_on_a_line_of_their_own_go_with_the_work_below(names: str) -> None:
    work = "Analysing how people orient to and spread rumours in orchards. Annals of Fruit, 11(3):150-189, 1993."
    other = "Rowan, D. (1992). On the pruning of old trees. Ely: Medlar Press."
    joined = f"{names.removeprefix('[3] ')} {work}"
    assert read_as([other, names, work, other]) == [other, joined, other]
    assert len(read_as([names, other])) == 2


def test_another_journal_behind_a_semicolon_is_the_same_work() -> None:
    first = "Selyuzhenkov I. AIP Conf. Proc., 2006, 870: 712. arXiv:nucl-ex/0608034;"
    assert read_as([first, "J. Phys., 2006, G32: 557."]) == [f"{first} J. Phys., 2006, G32: 557."]
    assert len(read_as([first, "Smith J. On pears. J. Phys., 2006, G32: 557."])) == 2


def test_a_conference_and_its_year_are_no_names_where_years_have_brackets() -> None:
    text = "Ng AY, Jordan MI (2001). “On Clustering: An Algorithm.” Neural Processing Symposium 2001. URL http://a.b/c."
    assert cut_by_reading(text) == [text]


def test_every_piece_is_looked_at() -> None:
    """The first work has another form than those behind it."""
    works = [
        "J. Rowan, E. Sloe. The Orchard Treebank. Journal of Trees 12, 3-9 (2006).",
        "Richard Plum and Pierre Quince. 2008. Analysis with wires. In Proceedings of the Session of CoNLL-2008.",
        "Richard Plum. 2008. Analysis of Text. Ph.D. thesis, Lund University.",
    ]
    assert cut_by_reading(" ".join(works)) == works


@pytest.mark.parametrize(("head", "end"), [("C. ", 0), ("Ely. ", 5)])
def test_initials_are_no_end_of_the_reference_before(head: str, end: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the name behind them was read without them."""
    first = "Savage, Phys. Rev. D 56, 303 (1997), and references therein."
    author = SimpleNamespace(label="author", text="G. Boyd,", start=len(first) + 1 + len(head))
    monkeypatch.setattr(recutting, "read_fields", lambda texts: [(), (author,)])
    assert ends_of_rests([first, f"{head}G. Boyd, Nucl. Phys. B461 (1996)."]) == [0, end]


def test_the_end_of_a_reference_in_a_line_is_no_row_of_figures() -> None:
    first = "J. Engelen, The Large Collider project: matters of physics at the terascale, Phil. Trans."
    found = cut(
        f"{first} R. Soc. A 370, 978-985 (2012); doi: 10.1098/rsta.2011.0466. "
        + " ".join(
            f"{name}, On pears and their wires in winter, Annals of Fruit 3, 12-15 ({1990 + n})."
            for n, name in enumerate(("P. Lebrun", "A. Plum", "B. Quince", "C. Rowan"))
        )
    )
    assert "10.1098/rsta.2011.0466" in " ".join(one.text for one in found.references)
