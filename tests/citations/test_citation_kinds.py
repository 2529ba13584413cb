"""Types of works, and values that stand in the field of something else: each in the record and in every format."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from citation_works import record_of

from espalier.citations.formats import FORMATS
from espalier.citations.normalise import clean_container, clean_title, find_archives, work_of
from espalier.citations.normalise.dates import first_published, split_original
from espalier.citations.normalise.numbers import count_pages, count_volumes, parse_version, patent_number
from espalier.citations.record import Record
from espalier.citations.work import KINDS, Date, Work

AUTHOR = ("author", "Moss, T.")
TITLE = ("title", "River sands.")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("dataset", [AUTHOR, TITLE, ("genre", "[Data set]."), ("publisher", "Zenodo;")]),
        ("dataset", [AUTHOR, TITLE, ("genre", "Dataset."), ("container-title", "PANGAEA.")]),
        ("dataset", [AUTHOR, TITLE, ("genre", "[DB/OL].")]),
        ("software", [AUTHOR, TITLE, ("genre", "[Computer software]."), ("publisher", "GitHub;")]),
        ("software", [AUTHOR, TITLE, ("edition", "Version 2.3.1."), ("publisher", "Gridware,")]),
        ("software", [AUTHOR, ("title", "ggtree: trees (R package version 1.4.0)."), ("url", "http://x.org")]),
        ("patent", [AUTHOR, TITLE, ("genre", "European patent EP 1234567."), ("date", "2003.")]),
        ("patent", [AUTHOR, TITLE, ("genre", "US Patent 5,123,456"), ("container-title", "Official Gazette")]),
        ("patent", [AUTHOR, TITLE, ("genre", "[P].")]),
        ("patent", [AUTHOR, TITLE, ("genre", "EP 1 234 567 B1,"), ("date", "2010.")]),
        ("patent", [AUTHOR, TITLE, ("genre", "WO 2010/012345 (A2).")]),
        ("document", [AUTHOR, TITLE, ("genre", "FR 12 A")]),
        ("standard", [TITLE, ("genre", "ISO 690:2021."), ("publisher", "ISO,")]),
        (
            "standard",
            [("author", "BSI."), ("title", "BS 5837:2012 Trees in relation to design."), ("publisher", "BSI;")],
        ),
        ("standard", [("title", "ASTM D2487-11: Standard practice for soils."), ("location", "Philadelphia")]),
        ("standard", [("title", "IEEE Std 802.11-2016,"), ("container-title", "IEEE Standard for Networks,")]),
        ("standard", [("author", "ABNT."), ("title", "NBR"), ("genre", "ABNT NBR 6023:2018.")]),
        ("standard", [("author", "ABNT."), ("title", "NBR 6023: referências."), ("location", "Rio,")]),
        ("thesis", [AUTHOR, TITLE, ("pages", "145 f."), ("genre", "Dissertação (Mestrado)"), ("institution", "UFMG,")]),
        (
            "article-journal",
            [AUTHOR, TITLE, ("container-title", "Actes de la rivière,"), ("volume", "vol. 30,"), ("issue", "n° 1,")],
        ),
        ("paper-conference", [AUTHOR, TITLE, ("container-title", "Actes du congrès,"), ("volume", "vol. 30,")]),
        ("article-newspaper", [AUTHOR, TITLE, ("container-title", "The New York Times,"), ("date", "3 May 2014")]),
        ("article-newspaper", [TITLE, ("container-title", "Süddeutsche Zeitung,"), ("date", "12. März 2001")]),
        ("article-newspaper", [TITLE, ("container-title", "Metro,"), ("date", "2001 Mar 4"), ("pages", "p. A12")]),
        ("article-newspaper", [TITLE, ("genre", "[N]."), ("container-title", "人民日报")]),
        ("article-magazine", [TITLE, ("container-title", "New York Times Magazine,"), ("date", "April 2005")]),
        (
            "article-magazine",
            [TITLE, ("container-title", "The New Yorker,"), ("date", "3 April 2005"), ("pages", "33")],
        ),
        (
            "article-magazine",
            [TITLE, ("date", "(2015, May 12)."), ("container-title", "The Orchard Review."), ("url", "http://x.org")],
        ),
        ("article-journal", [TITLE, ("date", "May 2015"), ("container-title", "The Orchard Review.")]),
        (
            "article-journal",
            [TITLE, ("date", "3 May 2015"), ("container-title", "Orchard Review,"), ("volume", "3"), ("pages", "1-9")],
        ),
        ("legal_case", [("title", "Roe v. Wade,"), ("volume", "410"), ("container-title", "U.S."), ("pages", "113")]),
        ("legal_case", [("title", "Donoghue v Stevenson"), ("date", "[1932]"), ("container-title", "AC")]),
        ("manuscript", [AUTHOR, TITLE, ("genre", "Unpublished manuscript,"), ("date", "2003.")]),
        ("manuscript", [AUTHOR, TITLE, ("note", "Typescript.")]),
        ("paper-conference", [AUTHOR, TITLE, ("container-title", "Paper presented at the Annual Meeting of Ecology,")]),
        ("paper-conference", [AUTHOR, TITLE, ("genre", "[C]//"), ("container-title", "Rivers and Seas")]),
        ("webpage", [AUTHOR, TITLE, ("genre", "[EB/OL]."), ("url", "http://x.org")]),
        (
            "webpage",
            [AUTHOR, ("date", "(2020, March 3)."), TITLE, ("container-title", "Garden World."), ("url", "x.org")],
        ),
        (
            "webpage",
            [TITLE, ("container-title", "RHS."), ("accessed", "Accessed 3 May 2021."), ("url", "http://x.org")],
        ),
        ("thesis", [AUTHOR, ("title", "Omenapuut. Pro gradu -tutkielma."), ("publisher", "Helsingin yliopisto")]),
        ("thesis", [AUTHOR, TITLE, ("genre", "Väitöskirja."), ("institution", "Turun yliopisto")]),
        ("thesis", [AUTHOR, ("title", "On figs. M.Sc. thesis,"), ("publisher", "Univ. of Kent")]),
        ("book", [AUTHOR, TITLE, ("genre", "[M]."), ("location", "北京:")]),
        (
            "article-journal",
            [
                AUTHOR,
                TITLE,
                ("container-title", "In: Neue Hefte"),
                ("volume", "43"),
                ("issue", "H. 2,"),
                ("pages", "S. 3"),
            ],
        ),
        (
            "article-journal",
            [AUTHOR, TITLE, ("container-title", "In: Zeitschrift für Obstbau"), ("date", "(2009),"), ("pages", "S. 3")],
        ),
        (
            "chapter",
            [
                AUTHOR,
                TITLE,
                ("container-title", "In: Neue Hefte"),
                ("volume", "43"),
                ("publisher", "Ulmer"),
                ("pages", "3"),
            ],
        ),
        ("chapter", [AUTHOR, TITLE, ("container-title", "In Advances in Pruning,"), ("volume", "4"), ("pages", "3-9")]),
        ("chapter", [AUTHOR, TITLE, ("container-title", "In: Handbuch"), ("date", "2009."), ("pages", "S. 3-9.")]),
        (
            "article-newspaper",
            [AUTHOR, TITLE, ("container-title", "In: Ulmer Zeitung,"), ("date", "17.05.2019,"), ("pages", "S. 11.")],
        ),
        (
            "article-newspaper",
            [AUTHOR, TITLE, ("container-title", "Ulmer Zeitung"), ("issue", "Nr. 113"), ("date", "vom 17.05.2019,")],
        ),
        ("article-magazine", [AUTHOR, TITLE, ("container-title", "In: Die Woche"), ("date", "vom 17. Mai 2019")]),
        ("chapter", [AUTHOR, TITLE, ("genre", "[M]//"), ("container-title", "In Rivers"), ("publisher", "X")]),
        *(
            ("thesis", [AUTHOR, TITLE, ("genre", genre), ("institution", "Uppsala universitet,")])
            for genre in (
                *("Doktorsavhandling,", "Disertační práce.", "Dizertačná práca", "Doktori disszertáció,"),
                *("(Yayımlanmamış doktora tezi).", "(Yüksek lisans tezi).", "Doctoraalscriptie,", "Teză de doctorat,"),
                *("Trabalho de Conclusão de Curso (Graduação) –", "Hovedfagsoppgave,", "Masteroppgave i pedagogikk,"),
                *("Specialeafhandling,", "PhD-értekezés,", "Luận án tiến sĩ,", "Lucrare de licență,", "Skripsi,"),
                *(
                    "Trabajo fin de máster,",
                    "Trabajo de fin de grado,",
                    "Memoria de título,",
                    "博士論文",
                    "박사학위논문",
                ),
                *("Tesis para optar al título de Licenciado,", "Διδακτορική διατριβή,", "Дис. ... канд. філол. наук"),
                *("Doktorska disertacija,", "Magistritöö,", "Diplomski rad,", "Promocijas darbs,"),
            )
        ),
        ("thesis", [AUTHOR, TITLE, ("publisher", "서울대학교 박사학위논문,")]),
        (
            "article-journal",
            [
                AUTHOR,
                TITLE,
                ("container-title", "in Nuovo Archivio veneto,"),
                ("volume", "anno XVI,"),
                ("date", "1916"),
            ],
        ),
        # what only looks like one of them
        ("book", [("title", "Nauka v Omske"), ("editor", "Lund, Z. (ed.),"), ("publisher", "Izd. Fen,")]),
        ("book", [AUTHOR, TITLE, ("collection-title", "Fen Series in Soils,"), ("date", "1976.")]),
        ("webpage", [AUTHOR, TITLE, ("collection-title", "Fen Series,"), ("url", "http://x.org")]),
        ("paper-conference", [AUTHOR, TITLE, ("container-title", "in Fen Workshops (FEN'17)."), ("date", "2017")]),
        ("book", [AUTHOR, TITLE, ("collection-title", "Monografia"), ("publisher", "TCC Press")]),
        ("book", [AUTHOR, TITLE, ("note", "Memoria de la guerra."), ("publisher", "Planeta")]),
        (
            "article-newspaper",
            [TITLE, ("container-title", "The Guardian,"), ("date", "3 May 2014"), ("url", "http://x.org")],
        ),
        ("article-journal", [TITLE, ("container-title", "Acta."), ("date", "2014"), ("url", "http://x.org")]),
        ("book", [AUTHOR, ("title", "How to write a thesis."), ("publisher", "Springer")]),
        (
            "article-journal",
            [AUTHOR, ("title", "Nature v. Nurture in trees."), ("container-title", "Acta,"), ("volume", "3")],
        ),
        ("book", [AUTHOR, ("title", "ISO 9001 certification in hospitals."), ("publisher", "Springer")]),
        (
            "article-journal",
            [TITLE, ("container-title", "The Times of Soil,"), ("date", "3 May 2001"), ("volume", "12")],
        ),
        ("article-journal", [AUTHOR, TITLE, ("container-title", "Nature,"), ("date", "2001"), ("pages", "33")]),
        ("thesis", [AUTHOR, TITLE, ("genre", "Unpublished doctoral dissertation,"), ("institution", "MIT")]),
        ("book", [AUTHOR, TITLE, ("volume", "2 vols."), ("pages", "432 p."), ("location", "Oslo")]),
    ],
)
def test_types(kind: str, fields: list[tuple[str, str]]) -> None:
    assert kind in KINDS
    assert record_of(*fields).work.type == kind


CONTAINER, VOLUME, PAGES = "container-title", ("volume", "12,"), ("pages", "p. 3-20.")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        # one volume and page of a book
        (
            "book",
            [AUTHOR, TITLE, ("volume", "Bd. 2,"), ("location", "Leipzig"), ("date", "1882,"), ("pages", "S. 23.")],
        ),
        ("book", [TITLE, ("volume", "t. II,"), ("location", "Paris"), ("pages", "p. 12.")]),
        ("article-journal", [("title", "« Archivio Veneto »,"), ("location", "Venezia,"), VOLUME, PAGES]),
        ("article-journal", [AUTHOR, TITLE, VOLUME, PAGES]),
        # proceedings that are journals
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Actes de la recherche en sciences sociales,"), VOLUME, PAGES]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Anais do Museu da Areia,"), VOLUME, PAGES]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Proceedings of the Sandy Academy"), VOLUME, PAGES]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Journal of the Library of Congress"), VOLUME, PAGES]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "In Proceedings of the Sand Society"), VOLUME, PAGES]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "Proceedings of the 12th Society"), VOLUME, PAGES]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "Atti del convegno di Bobbio,"), VOLUME, PAGES]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "Actes,"), VOLUME, PAGES, ("location", "Paris")]),
        # journals of Italian references
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "in «Paragone»,"), ("volume", "XVI"), PAGES]),
        ("chapter", [AUTHOR, TITLE, (CONTAINER, "in «Enciclopedia italiana»,"), ("volume", "XVI"), PAGES]),
        ("chapter", [AUTHOR, TITLE, (CONTAINER, "in « Studi in onore di A. Sabbia »,"), ("volume", "III"), PAGES]),
        ("chapter", [AUTHOR, TITLE, (CONTAINER, "in «Fiumi»,"), ("volume", "XVI"), PAGES, ("location", "Roma")]),
        # cases
        ("legal_case", [("title", "In re Gault,"), ("volume", "387"), (CONTAINER, "U.S."), ("pages", "1")]),
        ("legal_case", [("title", "Ex parte Milligan,"), ("date", "(1866).")]),
        ("book", [AUTHOR, ("title", "In re-reading sand."), ("publisher", "Springer")]),
        # archives
        ("manuscript", [("author", "Public Record Office,"), ("title", "CAB 128/29,"), (CONTAINER, "CM"), VOLUME]),
        ("manuscript", [("author", "AGI,"), (CONTAINER, "Indiferente General,"), ("volume", "737,")]),
        ("manuscript", [("note", "Bundesarchiv Berlin, R 43 I/1298,"), (CONTAINER, "Brief"), ("date", "3.10.1925.")]),
        ("manuscript", [("note", "Archivio di Stato di Venezia, Senato, reg. 10,"), ("pages", "c. 12r.")]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "« Archivio storico italiano »,"), ("volume", "5")]),
        ("book", [("author", "Public Record Office,"), ("title", "Guide 12."), ("publisher", "HMSO")]),
        ("article-journal", [("author", "PRO, A., AGI, B."), TITLE, (CONTAINER, "Sand,"), ("volume", "5")]),
        # laws
        ("legislation", [("title", "Water Resources Act 1991,"), ("note", "c. 57.")]),
        ("legislation", [("title", "Lei n. 9.433, de 8 de janeiro de 1997."), ("location", "Brasília,")]),
        ("legislation", [("title", "Regulation (EU) 2016/1 on sands,"), ("container-title", "OJ L"), VOLUME]),
        ("book", [AUTHOR, ("title", "The Act of 1832."), ("publisher", "Springer,")]),
        ("article-journal", [AUTHOR, ("title", "After the Water Act 1991."), (CONTAINER, "Sand,"), VOLUME]),
        # broadcasts, maps, posts and letters
        ("broadcast", [AUTHOR, TITLE, ("genre", "[Audio podcast episode]."), (CONTAINER, "In Sands.")]),
        ("broadcast", [AUTHOR, ("title", "Sands [TV series]."), ("publisher", "Sand TV.")]),
        ("map", [("title", "Sheet 12. 1:50 000."), ("publisher", "Sand Survey,")]),
        ("map", [AUTHOR, ("title", "Geology of sands [Map]."), ("publisher", "Sand Survey,")]),
        ("post-weblog", [AUTHOR, ("title", "Sands of today [Tweet]."), ("url", "https://x.org/1")]),
        ("personal_communication", [AUTHOR, ("title", "[Letter to B. Ho]."), ("genre", "Letter to B. Ho,")]),
        # films and records
        ("motion_picture", [AUTHOR, TITLE, ("genre", "[DVD]."), ("publisher", "Paramount,")]),
        ("motion_picture", [TITLE, ("genre", "[Motion picture]."), ("location", "USA:"), ("publisher", "Paramount,")]),
        ("document", [AUTHOR, TITLE, (CONTAINER, "Columbia CK"), ("volume", "64935,"), ("note", "compact disc.")]),
        ("book", [AUTHOR, TITLE, ("genre", "[CD-ROM]."), ("publisher", "Springer,")]),
        ("article-journal", [AUTHOR, TITLE, ("genre", "[Film review]."), (CONTAINER, "Sand,"), VOLUME]),
        # data sets and programs
        ("dataset", [AUTHOR, TITLE, ("publisher", "Dryad Digital Repository."), ("date", "2015.")]),
        ("dataset", [AUTHOR, TITLE, (CONTAINER, "Gene Expression Omnibus."), ("url", "http://x.org/acc=1")]),
        ("dataset", [("author", "GBIF.org"), TITLE, ("url", "https://doi.org/10.15468/dl.abc123")]),
        ("software", [AUTHOR, ("title", "sand/sand: v1.2"), ("publisher", "Zenodo,"), ("doi", "10.5281/zenodo.1")]),
        ("software", [AUTHOR, TITLE, ("url", "https://github.com/moss/sands")]),
        ("software", [AUTHOR, TITLE, ("publisher", "R Foundation for Statistical Computing,")]),
        ("software", [AUTHOR, ("title", "Sand Statistical Software: Release 15."), ("publisher", "Sand LLC.")]),
        ("software", [AUTHOR, ("title", "Sands for Windows, Version 25.0."), ("publisher", "Sand Corp.")]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Sand,"), VOLUME, ("doi", "10.5281/zenodo.1")]),
        ("book", [AUTHOR, ("title", "Criteria for sand, version 4"), ("publisher", "Springer")]),
        ("webpage", [AUTHOR, TITLE, ("url", "https://github.com/moss")]),
        # numbers of reports and standards
        ("report", [AUTHOR, TITLE, ("genre", "NASA CR-177572,")]),
        ("report", [AUTHOR, ("title", "Sands, LA-UR-03-1987,")]),
        ("report", [AUTHOR, TITLE, ("genre", "CERN-ACC-2014-0321")]),
        ("standard", [("genre", "3GPP TS 38.211,"), TITLE]),
        ("standard", [("genre", "ISO. ISO 9001:2015"), TITLE, ("publisher", "ISO;")]),
        ("standard", [("author", "ČSN ISO 690."), TITLE, ("location", "Praha,")]),
        ("standard", [("author", "ГОСТ Р"), ("date", "7.0.5-2008."), TITLE, ("publisher", "Стандартинформ,")]),
        ("standard", [("title", "СТБ 1234-2000 Вода."), ("publisher", "Минск,")]),
        ("book", [("author", "ISO"), ("date", "2015."), TITLE, ("publisher", "ISO;")]),
        # ahead of print, and at a meeting
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "Sand"), ("date", "2021 Mar 4 [Online ahead of print].")]),
        (
            "article-journal",
            [AUTHOR, TITLE, (CONTAINER, "Sand"), ("date", "2021 Mar 4."), ("url", "https://doi.org/10.1000/abc")],
        ),
        (
            "paper-conference",
            [AUTHOR, ("date", "(2019, August 8)."), TITLE, ("genre", "[Poster presentation]."), (CONTAINER, "APA,")],
        ),
        ("paper-conference", [AUTHOR, TITLE, ("genre", "AIAA Paper 92-0439,"), ("date", "Jan. 1992.")]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "In Advances in Neural Information Processing Systems,")]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "In: MICCAI 2015."), ("publisher", "Springer,")]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "In ACM CCS,"), ("date", "2016.")]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "In: Simpósio de Geografia,"), ("location", "Recife,")]),
        ("chapter", [AUTHOR, TITLE, (CONTAINER, "In: NJW 2003,"), ("pages", "S. 12")]),
        ("article-journal", [AUTHOR, TITLE, (CONTAINER, "SIGIR Forum,"), VOLUME, ("issue", "1")]),
        ("paper-conference", [AUTHOR, TITLE, (CONTAINER, "Proc. SIGPLAN Symposium, SIGPLAN Notices,"), VOLUME]),
        ("paper-conference", [AUTHOR, TITLE, ("editor", "In: Ho, A. (ed.)"), (CONTAINER, "SANDS 2000,"), PAGES]),
        ("chapter", [AUTHOR, TITLE, ("editor", "Ingrid Ho (ed.)"), (CONTAINER, "SANDS 2000,"), PAGES]),
        # the issue of a journal, and a chapter
        ("article-journal", [("editor", "Ho, A. (ed.)"), TITLE, (CONTAINER, "Sand"), VOLUME, PAGES]),
        ("chapter", [AUTHOR, ("editor", "Ho, A. (ed.)"), TITLE, (CONTAINER, "Sand"), VOLUME, PAGES]),
        ("dataset", [AUTHOR, TITLE, ("publisher", "Sandy Data Store,"), ("date", "2015.")]),
        ("report", [AUTHOR, TITLE, ("genre", "Rep. No. 12,"), ("publisher", "Sand Society,")]),
    ],
)
def test_types_of_odd_references(kind: str, fields: list[tuple[str, str]]) -> None:
    assert record_of(*fields).work.type == kind


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        ("ASTM C39/C39M-18", [("genre", "ASTM C39/C39M-18"), TITLE]),
        ("3GPP TS 38.211", [("genre", "3GPP TS 38.211,"), TITLE]),
        ("ISO 9001:2015", [("genre", "ISO. ISO 9001:2015"), TITLE]),
        ("ДСТУ 8302:2015", [("title", "ДСТУ 8302:2015. Інформація.")]),
        ("ГОСТ Р 7.0.5-2008", [("author", "ГОСТ Р"), ("date", "7.0.5-2008."), TITLE]),
        ("SAND2010-1422", [AUTHOR, ("title", "Sands, SAND2010-1422"), ("publisher", "Sand Laboratories")]),
        ("AFRL02", [AUTHOR, TITLE, ("genre", "Report No.: AFRL02. Contract No.: F49620."), ("institution", "AFRL")]),
        ("F49620", [AUTHOR, TITLE, ("genre", "Report under contract F49620.")]),
    ],
)
def test_numbers_of_standards_and_reports(number: str, fields: list[tuple[str, str]]) -> None:
    assert record_of(*fields).work.number == number


def test_long_texts_of_capitals_take_linear_time() -> None:
    for text in ("A" * 20_000, "A" * 20_000 + "9" * 20_000, "In " + "AB" * 20_000, "software " * 4_000, "-" * 20_000):
        for label in ("genre", CONTAINER, "title", "note", "author"):
            work_of(record_of((label, text), ("publisher", "X")))


def test_the_tie_of_latex_is_a_space() -> None:
    work = record_of(("author", "K.~Koide, M.~Yokozuka, and A.~Banno."), TITLE, ("volume", "vol.~40,")).work
    assert [(name.given, name.family) for name in work.authors] == [
        ("K.", "Koide"),
        ("M.", "Yokozuka"),
        ("A.", "Banno"),
    ]
    assert work.volume == "40"
    for label, text in (("title", "Beitr~ge zur Physiologie"), ("url", "http://x.org/a.~moss/b")):
        value = getattr(record_of((label, text)).work, label)
        assert "~" in value


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(
            ("432 p.", "432"),
            ("xii, 432 pp.", "xii, 432"),
            ("211 S.", "211"),
            ("x+383 pages", "x+383"),
            ("90 с.", "90"),
        ),
        *(("212 páginas", "212"), ("245页", "245"), ("33 leaves", "33"), ("192p", "192"), ("xii+341pp.", "xii+341")),
        *(("320 sayfa", "320"), ("432 o.", "432"), ("432 hlm.", "432"), ("220 lk", "220"), ("220쪽", "220")),
        *(("315 S., 12 Abb.", "315"), ("xii + 345 pp., illus.", "xii + 345"), ("280 Seiten, kart.", "280")),
        *(("viii+279,", "viii+279"), ("8+279", ""), ("64 с.; 20 см", "64"), ("245 p. : ill. ; 24 cm", "245")),
        *(("315 S. 12-15", ""), ("12 p. on hedges", "")),
        *(("103P", ""), ("064, 18pp", ""), ("45. o.", ""), ("45-68 o.", ""), ("hlm. 45", ""), ("tr. 45", "")),
        *(("p. 432", ""), ("432", ""), ("12-15", ""), ("S. 12", ""), ("pp. 3", ""), ("", "")),
    ],
)
def test_numbers_of_pages(text: str, count: str) -> None:
    assert count_pages(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(
            ("2 vols.", "2"),
            ("4 Bde.", "4"),
            ("3 tomes", "3"),
            ("two volumes", "2"),
            ("in drei Bänden", "3"),
            ("5 v.", "5"),
        ),
        *(("vol. 2", ""), ("2", ""), ("12(3)", ""), ("3. Band", ""), ("some vols", ""), ("v. 5", "")),
    ],
)
def test_numbers_of_volumes(text: str, count: str) -> None:
    assert count_volumes(text) == count


@pytest.mark.parametrize(
    ("text", "version"),
    [
        *(("Version 1.2.", "1.2"), ("version 4.1.2", "4.1.2"), ("v2.0-beta", "2.0-beta"), ("Ver. 3", "3")),
        *(("(R package version 0.4-1).", "0.4-1"), ("Versão 2.1", "2.1")),
        *(("2nd ed.", ""), ("rev. version", ""), ("Version of the author", ""), ("", "")),
    ],
)
def test_versions(text: str, version: str) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("text", "years"),
    [
        *(("1990 (zuerst 1962).", (1990, 1962)), ("1988 [1934]", (1988, 1934)), ("[1859] 1964", (1964, 1859))),
        ("1932 (réédition 1981)", (1981, 1932)),
        *(("(1923/1999)", (1999, 1923)), ("1962, repr. 1990", (1990, 1962)), ("2003 (orig. publ. 1971)", (2003, 1971))),
        *(("1994-1996", None), ("1994/95", None), ("1994/1995", None), ("1994", None), ("May 1990 (June 1962)", None)),
    ],
)
def test_dates_of_first_editions(text: str, years: tuple[int, int] | None) -> None:
    found = split_original(text)
    assert (found and tuple(date.parts[0][0] for date in found)) == years


def test_notes_of_first_editions() -> None:
    assert first_published("(Original work published 1965)") == Date(((1965,),))
    assert first_published("First published in 1871.") == Date(((1871,),))
    assert first_published("(Original work published1892)") == Date(((1892,),))
    for text in ("Reprinted 1990", "1965", "Original in German", "First published in Paris, 1965"):
        assert first_published(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PMID: 23873081; PMCID: PMC3969858.", {"pmid": "23873081", "pmcid": "PMC3969858"}),
        ("https://pubmed.ncbi.nlm.nih.gov/23873081/", {"pmid": "23873081"}),
        ("JSTOR, www.jstor.org/stable/1254100.", {"jstor": "1254100"}),
        ("http://www.jstor.org/stable/10.1086/380287", {"jstor": "10.1086/380287"}),
        ("http://hdl.handle.net/2027/mdp.39015012345678.", {"handle": "2027/mdp.39015012345678"}),
        ("hdl:10125/24652", {"handle": "10125/24652"}),
        ("PMC and JSTOR were searched", {}),
    ],
)
def test_numbers_of_archives(text: str, expected: dict[str, str]) -> None:
    assert find_archives(text, text.lower()) == expected


def test_numbers_of_patents() -> None:
    assert patent_number("US Patent 5,123,456") == "5,123,456"
    assert patent_number("European patent EP 1234567 B1") == "EP 1234567 B1"
    assert patent_number("DE Patent 10 2004 012 345 A1") == "10 2004 012 345 A1"
    assert patent_number("Patent pending") == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *(("Proc. Natl. Acad. Sci.", True), ("Sci. Hortic.", True), ("J. Exp. Bot.", True)),
        *(("J. Chem. Soc.", True), ("Acme Inc.", True), ("Harvard Univ.", True)),
        *(("Proc Natl Acad Sci.", False), ("Ann Bot.", False), ("Nature.", False), ("Plant Cell.", False)),
        ("St. Martin's Press.", False),
    ],
)
def test_the_full_stop_of_an_abbreviation_stays(text: str, kept: bool) -> None:
    assert clean_container(text) == (text if kept else text[:-1])


@pytest.mark.parametrize(("author", "kept"), [("Moss, T. and Bell, A.", True), ("Moss T, Bell A.", False)])
def test_names_show_whether_abbreviations_have_full_stops(author: str, kept: bool) -> None:
    for journal in ("Plant Physiol.", "PLoS Biol.", "Acta Hortic."):
        work = record_of(("author", author), TITLE, ("container-title", journal), ("volume", "3")).work
        assert work.container_title == (journal if kept else journal[:-1])


def test_so_it_does_elsewhere() -> None:
    assert clean_title("A history of Acme Inc.") == "A history of Acme Inc."
    assert clean_title("A history of hedges.") == "A history of hedges"
    work = record_of(("author", "King, M. L., Jr."), TITLE, ("publisher", "Acme Publ. Co.,")).work
    assert (work.authors[0].suffix, work.publisher) == ("Jr.", "Acme Publ. Co.")


VALUES = record_of(
    AUTHOR,
    ("title", "River sands (Version 2.1)."),
    ("volume", "3 vols."),
    ("pages", "432 p."),
    ("location", "Oslo:"),
    ("publisher", "Fagbok,"),
    ("date", "1990 (first published 1962)."),
    ("note", "PMID: 23873081; PMC3969858; hdl:10125/24652; JSTOR 1254100"),
)
SAID = ("2.1", "432", "1962", "23873081", "PMC3969858", "10125/24652", "1254100")


def test_every_value_is_in_the_work() -> None:
    work = work_of(VALUES)
    assert (work.title, work.version, work.edition) == ("River sands", "2.1", "")
    assert (work.number_of_volumes, work.volume) == ("3", "")
    assert (work.number_of_pages, work.pages) == ("432", None)
    assert (work.issued, work.original_date) == (Date(((1990,),)), Date(((1962,),)))
    assert (work.pmid, work.pmcid, work.handle, work.jstor) == ("23873081", "PMC3969858", "10125/24652", "1254100")
    assert work.unread == ()


@pytest.mark.parametrize("name", FORMATS)
def test_every_value_is_in_every_format(name: str) -> None:
    text = VALUES.to(name)
    for value in SAID:
        assert re.search(rf"(?<![0-9]){re.escape(value)}(?![0-9])", text), value


def test_where_the_formats_have_them() -> None:
    item = VALUES.to_csl()
    assert (item["version"], item["number-of-pages"], item["number-of-volumes"]) == ("2.1", "432", "3")
    assert item["original-date"] == {"date-parts": [[1962]]}
    assert (item["PMID"], item["PMCID"], item["archive"], item["archive_location"]) == (
        *("23873081", "PMC3969858", "JSTOR", "1254100"),
    )
    bibtex = VALUES.to_bibtex()
    for field in ("version = {2.1}", "pagetotal = {432}", "volumes = {3}", "origdate = {1962}", "pmid = {23873081}"):
        assert f"  {field},\n" in bibtex
    ris = VALUES.to("ris")
    for line in ("ET  - 2.1", "SP  - 432", "NV  - 3", "OP  - 1962", "AN  - PMID:23873081", "C2  - PMC3969858"):
        assert f"{line}\n" in ris
    tei = ET.fromstring(VALUES.to_tei())
    there = {(element.tag.rpartition("}")[2], (element.text or "").strip()) for element in tei.iter()}
    assert {("measure", "432"), ("measure", "3"), ("date", "1962"), ("idno", "23873081"), ("note", "2.1")} <= there
    endnote = VALUES.to("endnote")
    for element in ("<edition>2.1<", "<pages>432<", "<num-vols>3<", "<orig-pub>1962<", "<custom2>PMC3969858<"):
        assert element in endnote


def test_a_meeting() -> None:
    record = record_of(AUTHOR, TITLE, ("container-title", "Paper presented at the Annual Meeting of Ecology,"))
    assert (record.work.event, record.work.container_title) == ("Annual Meeting of Ecology", "")
    assert record.to_csl()["event-title"] == "Annual Meeting of Ecology"
    assert "eventtitle = {Annual Meeting of Ecology}" in record.to_bibtex()
    assert "<meeting>Annual Meeting of Ecology</meeting>" in record.to_tei()
    assert "T2  - Annual Meeting of Ecology\n" in record.to("ris")
    assert "<secondary-title>Annual Meeting of Ecology<" in record.to("endnote")


@pytest.mark.parametrize(
    ("kind", "bibtex", "ris", "endnote"),
    [
        ("dataset", "misc", "DATA", "Dataset"),
        ("software", "misc", "COMP", "Computer Program"),
        ("patent", "misc", "PAT", "Patent"),
        ("standard", "misc", "STAND", "Standard"),
        ("article-newspaper", "article", "NEWS", "Newspaper Article"),
        ("article-magazine", "article", "MGZN", "Magazine Article"),
        ("legal_case", "misc", "CASE", "Case"),
        ("manuscript", "unpublished", "MANSCPT", "Manuscript"),
        ("legislation", "misc", "STAT", "Statute"),
        ("motion_picture", "misc", "MPCT", "Film or Broadcast"),
        ("broadcast", "misc", "VIDEO", "Film or Broadcast"),
        ("map", "misc", "MAP", "Map"),
        ("post-weblog", "misc", "BLOG", "Blog"),
        ("personal_communication", "misc", "PCOMM", "Personal Communication"),
        ("webpage", "misc", "ELEC", "Web Page"),
        ("paper-conference", "inproceedings", "CONF", "Conference Paper"),
    ],
)
def test_what_formats_call_the_types(kind: str, bibtex: str, ris: str, endnote: str) -> None:
    from espalier.citations.formats import bibtex as as_bibtex
    from espalier.citations.formats import csl, tei
    from espalier.citations.formats import endnote as as_endnote
    from espalier.citations.formats import ris as as_ris

    work = Work(type=kind, title="T")
    assert as_bibtex.entry(work).startswith(f"@{bibtex}{{")
    assert as_ris.entry(work).startswith(f"TY  - {ris}\n")
    assert f'<ref-type name="{endnote}">' in as_endnote.entry(work)
    assert csl.item(work)["type"] == kind
    assert f' type="{kind}"' in tei.entry(work)


def test_a_second_isbn_is_not_lost() -> None:
    both = "ISBN 0-306-40615-2 (hb), 978-0-306-40615-7 (pb)"
    for fields in ([("isbn", both)], [("isbn", "0-306-40615-2"), ("isbn", "978-0-306-40615-7")]):
        record = record_of(AUTHOR, TITLE, *fields)
        assert record.work.isbn == "0306406152"
        for name in FORMATS:
            assert re.search("978-?0-?306-?40615-?7", record.to(name))


def test_a_record_without_any_of_it_has_none() -> None:
    plain: Record = record_of(AUTHOR, TITLE, ("container-title", "Nature,"), ("volume", "3,"), ("pages", "4-9."))
    work = plain.work
    assert not any((work.number_of_pages, work.number_of_volumes, work.event, work.version, work.pmid, work.handle))
    assert work.original_date is None


def test_a_mark_says_the_type_and_is_no_genre() -> None:
    work = record_of(AUTHOR, TITLE, ("genre", "[D]."), ("genre", "Doctoral dissertation.")).work
    assert (work.type, work.genre, work.unread) == ("thesis", "Doctoral dissertation", ())
    work = record_of(AUTHOR, TITLE, ("genre", "［J/OL］."), ("container-title", "Acta,")).work
    assert (work.type, work.genre, work.unread) == ("article-journal", "", ())


def test_leaves_that_are_counted_are_not_said_twice() -> None:
    for genre in ("Tese (Doutorado)", "Trabalho de Conclusão de Curso"):
        work = record_of(AUTHOR, TITLE, ("pages", "50 f."), ("genre", genre)).work
        assert (work.type, work.number_of_pages, work.pages, work.unread) == ("thesis", "50", None, ())


def test_leaves_of_a_thesis_are_counted_and_pages_elsewhere_are_not() -> None:
    thesis = work_of(record_of(AUTHOR, TITLE, ("pages", "145 f."), ("genre", "Tese (Doutorado)")))
    assert (thesis.number_of_pages, thesis.pages) == ("145", None)
    article = work_of(record_of(AUTHOR, TITLE, ("container-title", "Sande,"), ("pages", "145 f.")))
    assert article.pages is not None
    assert not article.number_of_pages
