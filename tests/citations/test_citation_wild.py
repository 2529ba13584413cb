"""References as they are met in the wild: for each kind of mistake that was seen there, what the record must be.

The references are made up. Every one is read by the bundled model, its rules and the normaliser together; what is asked
for is in the work, where a reader would look for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import espalier as es
from espalier.citations.parser import Parser
from espalier.citations.seen import as_seen
from espalier.citations.work import Date, Name, Work

ARTICLE = {"type": "article-journal"}


@pytest.fixture(scope="module")
def parser() -> Parser:
    found = es.load("citations")
    assert isinstance(found, Parser)
    return found


def shown(names: tuple[Name, ...]) -> str:
    """Names as "van der Berg, J., Jr; {UNESCO}"."""

    def one(name: Name) -> str:
        family = f"{name.particle} {name.family}".strip()
        return f"{{{name.literal}}}" if name.literal else ", ".join(filter(None, (family, name.given, name.suffix)))

    return "; ".join(map(one, names))


def said(work: Work, name: str) -> Any:
    """A value of a work in short: names as text, dates as years or parts, pages as text."""
    value = getattr(work, name)
    if name in ("authors", "editors", "translators"):
        return shown(value)
    if isinstance(value, Date):
        return value.parts[0][0] if value.parts and len(value.parts[0]) == 1 else value.parts[0] if value.parts else ""
    return value.text if name == "pages" and value else value


def check(parser: Parser, text: str, expected: Mapping[str, Any]) -> None:
    work = parser.parse(text).work
    assert {name: said(work, name) for name in expected} == expected


NUMBERED = [
    ("23 Giorgi A. The descriptive phenomenological method. J Phenomenol Psychol. 2012;43(1):3-12.", "Giorgi, A."),
    ("7 Marquez B, Olsen T. Frost damage in stone fruit. Ann Bot. 1998;81:201-9.", "Marquez, B.; Olsen, T."),
    ("14 O’Brien K, Dahl E. Salt marsh recovery. Estuaries 2003;26:11-20.", "O’Brien, K.; Dahl, E."),
    ("[Hea78] J. Heath. The growth of hedges. Arboricultural Journal, 3(2):14-29, 1978.", "Heath, J."),
    ("[KnPl95] D. Knuth and M. Plass. Breaking lines. Software Practice, 11(2):1-84, 1981.", "Knuth, D.; Plass, M."),
    ("Heath 1978 : J. Heath, The growth of hedges, Arboricultural Journal 3 (1978) 14-29.", "Heath, J."),
    (
        "Ruiz et al. 2004: Ruiz, P., Soto, L. and Vega, M., Dunes and wind, Geomorphology 61 (2004) 5-19.",
        "Ruiz, P.; Soto, L.; Vega, M.",
    ),
    ("102. Moss T. River sands. Oxford: Clarendon; 1977.", "Moss, T."),
]


@pytest.mark.parametrize(("text", "authors"), NUMBERED)
def test_numbers_and_keys_in_front(parser: Parser, text: str, authors: str) -> None:
    check(parser, text, {"authors": authors})
    # A number says nothing of the work; the letters of a key may.
    assert {label for label, _ in parser.parse(text).work.unread} <= {"citation-number"}


AUTHORS = [
    (
        "Oliveira SMJV, Silveira RCCP. Nursing care of the newborn. Rev Bras Enferm. 2011;64(2):301-6.",
        "Oliveira, S. M. J. V.; Silveira, R. C. C. P.",
    ),
    (
        "Ferreira AMGB, Costa LHRS, Dias JPMQ. Vaccines and schools. Cad Saude Publica. 2009;25(3):501-9.",
        "Ferreira, A. M. G. B.; Costa, L. H. R. S.; Dias, J. P. M. Q.",
    ),
    (
        "Hassan, A. B., & Al Shobaki, M. J. (2016). Cloud accounting in firms. Journal of Finance, 4(2), 11-20.",
        "Hassan, A. B.; Al Shobaki, M. J.",
    ),
    (
        "V. Edwards - T. J. Sienkewicz, Oral Cultures Past and Present. Oxford: Blackwell, 1990.",
        "Edwards, V.; Sienkewicz, T. J.",
    ),
    ("A. Bowen – C. D. Finch, Hedge laying. Bath: Millstream, 1987.", "Bowen, A.; Finch, C. D."),
    ("P. Ricci / L. Conti, Viti e vini, Torino: Einaudi, 1979.", "Ricci, P.; Conti, L."),
    (
        "SITES JR, J.W.; REED, K.M. Chromosomal evolution of lizards. Annual Review of Ecology, v. 25, p. 55-80, 1994.",
        "Sites, J. W., Jr; Reed, K. M.",
    ),
    (
        "WILSON JR, E.O.; BOSSERT, W. H. A primer of population biology. Sunderland: Sinauer, 1971.",
        "Wilson, E. O., Jr; Bossert, W. H.",
    ),
    ("Dr. Lopez, M. Growing apples at altitude. Hortus 12 (2001), 33-41.", "Lopez, M."),
    (
        "Müller-Lüdenscheidt H, von der Heide K. Seen im Harz. Limnologica. 2001;4:1-7.",
        "Müller-Lüdenscheidt, H.; von der Heide, K.",
    ),
    ("DUPONT (J.), Les jardins, Paris, Seuil, 1988, 212 p.", "Dupont, J."),
    # corporate authors
    ("OECD, 2002. Frascati Manual. OECD Publishing, Paris.", "{OECD}"),
    ("World Health Organization. Global report on diabetes. Geneva: WHO; 2016.", "{World Health Organization}"),
    (
        "Brasil. Ministério da Saúde. Política nacional de atenção básica. Brasília: Ministério da Saúde; 2012.",
        "{Brasil. Ministério da Saúde}",
    ),
    (
        "GBD 2015 Obesity Collaborators. Effects of overweight in 195 countries. N Engl J Med. 2017;377(1):13-27.",
        "{GBD 2015 Obesity Collaborators}",
    ),
    (
        "Instituto Brasileiro de Geografia e Estatística. Censo agropecuário. Rio de Janeiro: IBGE; 2009.",
        "{Instituto Brasileiro de Geografia e Estatística}",
    ),
    ("Ministry of Health and Welfare. Annual statistics. Seoul, 2009.", "{Ministry of Health and Welfare}"),
]


@pytest.mark.parametrize(("text", "authors"), AUTHORS)
def test_names(parser: Parser, text: str, authors: str) -> None:
    check(parser, text, {"authors": authors})


EDITORS = [
    ("Brown A, Green B, editors. Handbook of grafting. London: Arnold; 1999.", "Brown, A.; Green, B.", ""),
    ("Rossi, M. (a c. di), Il giardino italiano, Firenze, Olschki, 1988.", "Rossi, M.", ""),
    (
        "Il giardino italiano, a cura di M. Rossi e P. Bianchi, Firenze, Olschki, 1988.",
        "Rossi, M.; Bianchi, P.",
        "",
    ),
    ("Meier, Hans (Hg.): Die Obstwiese. Stuttgart: Ulmer 1997.", "Meier, Hans", ""),
    (
        "Neri, P., Seta e lana, in Storia di Prato, a cura di G. Cherubini, vol. 1, Firenze, Le Monnier, 1991.",
        "Cherubini, G.",
        "Storia di Prato",
    ),
    (
        'Harris, D. "Soils of the Fens." In Landscapes, ed. R. A. Shaw, F. Hill. London: Batsford, 1975.',
        "Shaw, R. A.; Hill, F.",
        "Landscapes",
    ),
    (
        "Clark, T., Testing in the small. In Software Tests (P. McMinn, ed.), pp. 22-40. Springer, Berlin, 2011.",
        "McMinn, P.",
        "Software Tests",
    ),
    (
        "J. Park. Kernel trees. In S. Ross, editor, Advances in Parsing, pages 30-44. MIT Press, 2003.",
        "Ross, S.",
        "Advances in Parsing",
    ),
    (
        "Weber, K. Irony in late letters. In Hill, T. and Moss, R. (eds.): Topics in Rhetoric. Berlin: Rahm, 2001.",
        "Hill, T.; Moss, R.",
        "Topics in Rhetoric",
    ),
    (
        "Bloch, M., « Les caractères », dans A. Dupront (dir.), Histoire rurale, Paris, Colin, 1955, p. 12-40.",
        "Dupront, A.",
        "Histoire rurale",
    ),
]


@pytest.mark.parametrize(("text", "editors", "container"), EDITORS)
def test_editors_and_what_they_edited(parser: Parser, text: str, editors: str, container: str) -> None:
    check(parser, text, {"editors": editors, "container_title": container})


VALUES = [
    # short books, and places in and behind the names of journals
    ("Jordan R. Lord of Chaos. Tor; 1994.", {"title": "Lord of Chaos", "publisher": "Tor", "type": "book"}),
    ("Sinclair, U. The Jungle. Penguin; 1985.", {"title": "The Jungle", "publisher": "Penguin", "type": "book"}),
    (
        "Chen L, Wu M. Ion channels in wheat. Proc Natl Acad Sci USA. 2004;101(7):1822-7.",
        {"container_title": "Proc Natl Acad Sci USA", "location": "", "volume": "101", **ARTICLE},
    ),
    (
        "SANTOS, P. R. Solo e água no cerrado. Revista Brasileira de Solos, Viçosa, v. 28, n. 3, p. 401-410, 2004.",
        {"container_title": "Revista Brasileira de Solos", "location": "Viçosa", "volume": "28", "issue": "3"},
    ),
    (
        "LIMA, A. Feijão e milho. Pesquisa Agropecuária Brasileira, Brasília, v. 33, p. 1021-1027, 1998.",
        {"container_title": "Pesquisa Agropecuária Brasileira", "location": "Brasília", "pages": "1021–1027"},
    ),
    # days, months, numbers
    (
        "Hu FB, Stampfer MJ. Diet and risk of death. N Engl J Med. 2002 Jul 25;347(4):284-7.",
        {"issued": (2002, 7, 25), "volume": "347", "issue": "4", "pages": "284–287"},
    ),
    (
        "Yi K, Bauer L. Lung scans in the old. Chest. 2008 Feb 14;133(2):300-4.",
        {"issued": (2008, 2, 14), "volume": "133", "issue": "2"},
    ),
    (
        "Knuth, D. E. Attribute tables. Commun. ACM 23, 107 (Jul. 1969), 683.",
        {"issued": (1969, 7), "volume": "23", "issue": "107", "pages": "683"},
    ),
    (
        "Hale, P. Fast sorts. Commun. ACM 11, 3 (Mar. 1968), 147-148.",
        {"issued": (1968, 3), "volume": "11", "issue": "3", "pages": "147–148"},
    ),
    (
        "Lee, Ann. “The River of Song.” Folklore 12.3 (1901): 460. Crossref. Web.",
        {"volume": "12", "issue": "3", "pages": "460", "issued": 1901},
    ),
    ("Dobbs, R. The end of form. Byte, September 1994. 9.", {"issued": (1994, 9), "pages": "9"}),
    # article numbers, identifiers, dashes
    (
        "Adams K, Bell P. Bee colony loss. PLoS ONE. 2012;7(3):e33040. doi:10.1371/journal.pone.0033040.",
        {"pages": "e33040", "doi": "10.1371/journal.pone.0033040"},
    ),
    (
        "Kim, S. Deep roots of oaks. PLoS Biol. 3, e124; doi:10.1371/journal.pbio.0030124 (2005).",
        {"pages": "e124", "doi": "10.1371/journal.pbio.0030124", "issued": 2005},
    ),
    (
        "Ward J. Dust storms. Atmos Res 2002;61:87-99. doi: 10.1890/0012-9658(2002)083[1421:SDEOLC]2.0.CO;2",
        {"doi": "10.1890/0012-9658(2002)083[1421:SDEOLC]2.0.CO;2", "pages": "87–99"},
    ),
    (
        "Tan W. Lattice sums. J Comp Phys. 1999;12:3-9. https://doi.org/10.1016/j.jcp.1999.01.002.",
        {"doi": "10.1016/j.jcp.1999.01.002"},
    ),
    ("Todd R. Owls at night. Ibis 2001;143:210‒219.", {"pages": "210–219", "volume": "143"}),
    ("Todd R. Owls at night. Ibis 2001;143:210−219.", {"pages": "210–219", "volume": "143"}),
    ("Pohl A. Imaging of the knee. Radiology 2001;3:P25-P32.", {"pages": "P25–P32"}),
    ("Todd R. Abstract on gout. Ann Rheum Dis 2004;63:A101–A102.", {"pages": "A101–A102"}),
    # numbers of things, editions, versions
    ("SILVA, J. História da pesca. São Paulo: Ática, 1998. 234 p.", {"number_of_pages": "234", "pages": None}),
    ("Smith, J. A history of walls. 2 vols. London: Murray, 1901.", {"number_of_volumes": "2", "volume": ""}),
    ("Benn, G.: Gesammelte Werke. 4 Bde. Wiesbaden: Limes 1958.", {"number_of_volumes": "4", "publisher": "Limes"}),
    ("Meier, H.: Die Obstwiese. 2. Aufl. Stuttgart: Ulmer 1997.", {"edition": "2", "publisher": "Ulmer"}),
    (
        "Bernhard, Thomas: Frost. Frankfurt: Suhrkamp 1990 (zuerst 1962).",
        {"issued": 1990, "original_date": 1962, "publisher": "Suhrkamp"},
    ),
    (
        "Berger, P. (1972). Ways of walls. Penguin. (Original work published 1965)",
        {"issued": 1972, "original_date": 1965, "note": ""},
    ),
    (
        "R Core Team. R: A language for statistics. Version 4.1.2. Vienna: R Foundation; 2021.",
        {"version": "4.1.2", "type": "software", "edition": ""},
    ),
    # days of visits
    (
        "SILVA, J. Pesca artesanal. 2019. Disponível em: http://www.pesca.br/a. Acesso em: 12 ago. 2021.",
        {"accessed": (2021, 8, 12), "issued": 2019, "url": "http://www.pesca.br/a", "type": "webpage"},
    ),
    (
        "Weiß, U.: Klima und Wein. URL: http://www.wein.de/k.html (abgerufen am 12. März 2019).",
        {"accessed": (2019, 3, 12), "url": "http://www.wein.de/k.html"},
    ),
    (
        "Moreau, J. Le vin. 2010. http://vin.fr/a (consulté le 3 avril 2012).",
        {"accessed": (2012, 4, 3), "issued": 2010},
    ),
    (
        "Gil, P. El olivo. 2015. Disponible en: http://olivo.es/x [Consultado el 4 de mayo de 2018].",
        {"accessed": (2018, 5, 4), "issued": 2015},
    ),
    # the marks of GB/T 7714
    (
        "王明, 李红. 果树修剪[M]. 北京: 农业出版社, 1998: 23-45.",
        {"title": "果树修剪", "type": "book", "publisher": "农业出版社", "pages": "23–45"},
    ),
    (
        "张三. 梨树研究[J]. 园艺学报, 2001, 28(3): 201-205.",
        {"title": "梨树研究", "volume": "28", "issue": "3", **ARTICLE},
    ),
    # types
    ("Moss T. Global river discharge [data set]. Zenodo; 2020. doi:10.5281/zenodo.3334445", {"type": "dataset"}),
    ("Keller R. Pruning shears. European patent EP 1234567. 2003 Apr 2.", {"type": "patent", "number": "EP 1234567"}),
    (
        "BSI. BS 5837:2012 Trees in relation to design. London: BSI; 2012.",
        {"type": "standard", "number": "BS 5837:2012"},
    ),
    (
        "Gray, P. (2014, May 3). Water bills rise again. The New York Times, p. A12.",
        {"type": "article-newspaper", "pages": "A12", "issued": (2014, 5, 3)},
    ),
    ("Roe v. Wade, 410 U.S. 113 (1973).", {"type": "legal_case", "title": "Roe v. Wade", "issued": 1973}),
    ("Hall, S. Reading hedges. Unpublished manuscript, 2003.", {"type": "manuscript", "title": "Reading hedges"}),
    (
        "Gupta, R. Graph cuts. Paper presented at the Annual Meeting of the Ecological Society, Portland, August 2012.",
        {"type": "paper-conference", "event": "Annual Meeting of the Ecological Society"},
    ),
    # archives
    (
        "Hsu P. DNA targets. Nat Biotechnol. 2013;31(9):827-32. PMID: 23873081; PMCID: PMC3969858.",
        {"pmid": "23873081", "pmcid": "PMC3969858", "pages": "827–832"},
    ),
    (
        'Lee, Ann. "The River of Song." Folklore, vol. 12, 1901, pp. 460-78. JSTOR, www.jstor.org/stable/1254100.',
        {"jstor": "1254100", "pages": "460–478", "volume": "12"},
    ),
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(parser: Parser, text: str, expected: dict[str, Any]) -> None:
    check(parser, text, expected)


QUOTED = [
    "Lee, Ann. “The River in Song.” Folklore Review 12 (1901): 460-78.",
    "T. Moss, “Routing by hops,” in Proc. ACM Netw., 2004, pp. 3–9.",
    "O’Brien, K. “‘Mind the gap’: doors of d’Arcy.” Journal of Doors, vol. 3, no. 2, 1999, pp. 33-41.",
    "Harris, D. “Soils of the Fens.” In Landscapes, edited by R. A. Shaw. London: Batsford, 1975.",
    "Otto, B. (2003) “Ferns in brackets”. Taxon 52: 8-14.",
]
STRAIGHT = str.maketrans("“”‘’", "\"\"''")


@pytest.mark.parametrize("text", QUOTED)
def test_straight_quotation_marks_give_the_same_answer(parser: Parser, text: str) -> None:
    typed, curly = parser.parse(text.translate(STRAIGHT)), parser.parse(text)
    assert [(f.label, f.start, f.end, f.confidence) for f in typed.fields] == [
        (f.label, f.start, f.end, f.confidence) for f in curly.fields
    ]
    assert typed.confidence == curly.confidence
    assert typed.text == text.translate(STRAIGHT)  # what was given, not what the model saw
    assert not set('"“”') & set(curly.work.title + curly.work.container_title)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "no", and (“maybe”).', "He said “no”, and (“maybe”)."),
        ("„Ja“ d‘Arcy’s `x´", "“Ja” d'Arcy's 'x'"),
        ("12‒15, 3−4, 5‐6, 7-8, 9–10", "12–15, 3–4, 5–6, 7-8, 9–10"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_what_the_model_sees(text: str, expected: str) -> None:
    assert as_seen(text) == expected
    assert len(as_seen(text)) == len(text)
    assert as_seen(as_seen(text)) == expected
