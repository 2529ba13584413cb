"""The type of a work (`KINDS`), told by the fields that it has and by the words in them.

The first that fits, in this order:

    what a genre or a mark says     a patent, standard, data set, program, thesis, report, manuscript, case
    where it is kept                an archive with its shelf marks, a repository of data or of programs
    what a container says           a preprint, a paper of a meeting, a chapter, a journal
    when it appeared                a newspaper or a magazine names the day and has neither volume nor issue
    what is there besides           a publisher of a book, an institution of a report, an address of a web page
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from espalier.citations.normalise.lexicon import MAGAZINE_WORDS, MEETINGS, NEWSPAPER_WORDS
from espalier.citations.normalise.text import remembered
from espalier.citations.work import Date

__all__ = ["is_mark", "is_thesis", "kind_of", "number_of_standard", "standard_number", "words_of_report"]

# Words of Germanic, Finnic and Asian languages are also looked for inside of words: Doktorsavhandling, 박사학위논문.
_THESIS = re.compile(
    r"\b(?:ph\.? ?d\.?|doctoral|master'?s?|m\.?sc\.?|bachelor'?s?|diploma|licentiate)[\s.]*(?:thesis|dissertation)"
    r"|\b(?:thesis|dissertation|diss\b|habilitation|thèse|tesis|tese\b|tesi\b|mémoire|proefschrift|dissertação"
    r"|(?:diplom|doktor|master|magister|bachelor)arbeit|pro gradu|tutkielma|väitöskirja|opinnäytetyö|diplomityö"
    r"|uppsats|rozprawa doktorska|praca (?:magisterska|doktorska|licencjacka)|диссертац|диплом\w+ работ"
    r"|tez[ăe] de |lucrare de (?:licen|diserta|diplom|doctor|master)|trabalho de conclusão|tcc \("
    r"|monografia \((?:gradua|especializa|bacharel|licencia)|traba(?:jo|llo) (?:de )?fin de"
    r"|trabajo (?:especial )?de grado\b"
    r"|memoria (?:de|para optar al?) (?:título|grado|licencia|máster|doctor)|treball (?:de )?(?:fi|final) de"
    r"|(?:doktora|yüksek lisans|lisans|uzmanlık|bitirme) tezi|skripsi|disertasi|luận (?:án|văn)|khóa luận"
    r"|di[sz]ert[aá]c|di[sz]ertač|dis?sz?ertáció|szakdolgozat"
    r"|(?:doktori|phd|kandidátusi)[- ]értekezés"
    r"|(?:diplomová|bakalářská|bakalárska|rigorózní|rigorózna|habilitační|habilitačná|kandidátská) prác[ea]"
    r"|(?:diplomski|magistarski|doktorski|završni) rad\b|(?:magistrsko|diplomsko|doktorsko) delo|doktorska disertacija"
    r"|дис[\s.…]{1,6}(?:канд|д-ра|докт)|автореф|дисертац|(?:магістерська|дипломна) робота|магистърска теза"
    r"|διατριβή|διδακτορική|(?:διπλωματική|πτυχιακή|μεταπτυχιακή) εργασία|(?:magistri|doktori|bakalaureuse|lõpu)töö\b"
    r"|väitekiri|promocijas darbs|daktaro disertacija|magistro (?:darbas|baigiamasis))"
    r"|avhandling|afhandling|\w(?:scriptie|uppsats)|\bscriptie|(?:master|bachelor|hovedfags|diplom|special)oppgave"
    r"|(?:kandidat|bachelor|special)e?(?:speciale|projekt)\b|博士论文|博士論文|修士論文|卒業論文|硕士论文|碩士論文"
    r"|学位论文|學位論文|学位論文|학위 ?논문|(?:박사|석사) ?논문",
    re.IGNORECASE,
)
# The number of a patent, with its country and the letter of its kind: EP 1 234 567 B1, WO 2010/012345 A2.
_PATENT_CODE = re.compile(
    r"\W*(?:EP|US|WO|DE|GB|FR|JP|CN|KR|CA|RU|SU|AU|CH|AT|ES|IT|NL|SE|DK|FI|BR|IN|TW)[ -]?"
    r"[0-9][0-9 ./,-]{4,14}[0-9] ?\(?[ABCTUY][0-9]?\)?\W*"
)
_REPORT = re.compile(
    r"\b(?:tech(?:nical|n)?\b\.? (?:report|rep\b|memo\w*|note)|research (?:report|memorandum)|working paper|white paper"
    r"|rep\.? no\b"
    r"|discussion paper|bericht\b|rapport\b|rfc ?[0-9]|tr[ -]?[0-9]|report)",
    re.IGNORECASE,
)
# What a genre says, before all else.
_SAID = (
    (
        "patent",
        re.compile(r"\bpatents?\b|\bpatent(?:schrift|anmeldung)|\bbrevet|\bpatente\b|专利|патент", re.IGNORECASE),
    ),
    ("dataset", re.compile(r"\bdata ?(?:sets?|bases?)\b|\bdatensatz|\bjeu de données|数据集", re.IGNORECASE)),
    (
        "software",
        re.compile(
            r"\bsoftware\b|\bcomputer (?:program(?:me)?|code|application)\b|\bsource code\b|\bmobile app(?:lication)?\b"
            r"|\b(?:r|python|matlab|stata) (?:package|library|module)\b|\blogiciel\b|\bprograma de computador\b",
            re.IGNORECASE,
        ),
    ),
    ("standard", re.compile(r"\b(?:standard|norme?|norma|british standard)\b(?! error)|标准", re.IGNORECASE)),
    ("thesis", _THESIS),
    (
        "paper-conference",
        re.compile(
            r"\bposter\b|\b(?:paper|conference|oral) (?:presentation|session)|\bpapers? presented\b"
            r"|\bconference paper\b|\b(?:AIAA|ASME|SPE|IEPC) (?:technical )?paper\b",
            re.IGNORECASE,
        ),
    ),
    ("report", _REPORT),
    ("article-newspaper", re.compile(r"\bnewspaper\b|\bzeitungs", re.IGNORECASE)),
    ("article-magazine", re.compile(r"\bmagazine\b", re.IGNORECASE)),
    ("webpage", re.compile(r"\bweb ?(?:page|site)\b|\bblog\b|\bsite web\b", re.IGNORECASE)),
)
# Films and records are neither books nor articles, and have no type of their own here.
_MEDIUM = re.compile(
    r"\W*(?:(?:feature|documentary|short|motion|tv|television|video|audio|sound|vinyl) ?)?"
    r"(?:film|dvd|lp|cd|compact dis[ck]|blu-?ray|video ?(?:cassette|recording|tape)|cassette|picture|recording"
    r"|vinyl|album|fernsehfilm|spielfilm|película|pellicola)\b(?!-?rom\b| (?:review|script))",
    re.IGNORECASE,
)
# Numbers that reports of well-known bodies have: NASA CR-177572, SAND2010-1422, LA-UR-03-1987, ORNL/TM-2004/12.
_REPORT_CODE = re.compile(
    r"\b(?:NASA[ /-]?(?:CR|TM|TN|TP|SP|RP|TR)[ –-]?|NACA[ -](?:TN|TR|RM|WR)[ -]?|SAND ?|LA-(?:UR-)?"
    r"|ORNL[ /-](?:TM|CON)?[ -]?"
    r"|UCRL-(?:[A-Z]+-)?|LBN?L-|NUREG(?:/[A-Z]{2})?-|(?:ANL|BNL|PNN?L|AFRL|INL)[-/](?:[A-Z]+[-/]){0,3}|DOE/[A-Z]+[-/]"
    r"|NISTIR ?|SLAC-(?:PUB|R)-)[0-9][\w/–-]*"
)
_CODE = re.compile(r"\W*(?:[A-Z]{2}[A-Z0-9]*[ /-]){1,3}[A-Z]{0,4}[0-9]{2,}(?:[-/–][0-9]+)*\W*")  # ONERA TP 1998-12
_CONTRACT = re.compile(r"\b(?:contract|grant|award)\b", re.IGNORECASE)
_MANUSCRIPT = re.compile(
    r"\bmanuscripts?\b|\btypescript\b|\bunpublished\b|\bmanuskript\b|\bmanuscrit|\bmanoscritt|\bhandschrift\b|\binédito?\b"
    r"|\bunveröff|\bmss?\.? [0-9]",
    re.IGNORECASE,
)
# The marks of GB/T 7714, with or without the medium behind: [M], [J/OL].
_MARKS = {
    **{"M": "book", "C": "paper-conference", "J": "article-journal", "D": "thesis", "R": "report", "S": "standard"},
    **{"P": "patent", "N": "article-newspaper", "DB": "dataset", "DS": "dataset", "CP": "software", "EB": "webpage"},
}
_MARK = re.compile(r"\W*([A-Z]{1,2})(?: ?/ ?(?:OL|CD|MT|DK))?\W*")
# ISO 690:2021, IEEE Std 802.11-2016, DIN EN 1992-1-1, ABNT NBR 6023, ASTM C39/C39M-18, BS 5837:2012, 3GPP TS 38.211.
_STANDARD = re.compile(
    r"(?:(?:IEC|IEEE|ISO|DIN|EN|ETSI|ITU-[TR]|ASTM|ANSI|ASHRAE|ABNT|NBR|AS/NZS|UNE|UNI|NF|BS|CSA|JIS|GB/?T?|ГОСТ|VDI"
    r"|ÖNORM|ACI|ASCE|SEI|NFPA|AASHTO|AISC|3GPP|ДСТУ|СТБ|ČSN|STN|PN-EN|TS EN)(?: ?/ ?| ))+"
    r"(?:(?:Std|Standard|NBR|Norm|TS|TR|P|EN|Р)\.? ?)*[A-Z]{0,2}[- ]?[0-9][\w.–-]*(?:/[A-Z][0-9][\w.–-]*)?"
    r"(?::[0-9]{4}\b)?"
)
_BODY = re.compile(r"[A-Z]{2,6}\. ")  # ISO. ISO 9001:2015
_ONLY_STANDARDS = re.compile(r"(?:ГОСТ(?: Р)?|СТБ|ДСТУ|ČSN|PN-EN|ÖNORM|TS EN)(?: (?:EN|ISO|IEC|ИСО|МЭК))*\W*")
_CASE = re.compile(r"[^\W\d_].* vs?\.? (?:the )?[A-ZÀ-Þ\[]")
_IN_RE = ("In re ", "In Re ", "Ex parte ", "Ex Parte ", "In the Matter of ")
# What keeps letters and files, by its name or, in capitals before a comma or colon, by its letters.
_ARCHIVE = re.compile(
    r"\s*(?:the )?(?:bundesarchiv|(?:geheimes |österreichisches |hessisches |haupt)*staatsarchiv|stadtarchiv"
    r"|landesarchiv|nachla(?:ss|ß)\b|public record office|(?:us |u\.s\. )?national archives|nationaal archief"
    r"|archivio (?:di stato|segreto|centrale|storico (?:del|comunale|diocesano))|archivo (?:general|histórico)"
    r"|archives (?:nationales|départementales|municipales)|arquivo (?:histórico|nacional)"
    r"|(?-i:AGI|AGN|AHN|AGS|ASV|ASF|ASVe|TNA|PRO|NARA|BArch|HHStA|GStA PK)\s*[,:](?! ?[A-Z]\.))",
    re.IGNORECASE,
)
_ARCHIVE_LABELS = frozenset({"author", "note", "container-title", "title", "institution"})  # that such names get
_SHELF = re.compile(r"[0-9]")
# Where data sets are kept, and where programs are.
_DATA_HOUSE = re.compile(
    r"\b(?:zenodo|dryad|figshare|pangaea|mendeley data|gene expression omnibus|gbif|genbank|openneuro|icpsr|dataverse"
    r"|uk data (?:archive|service)|data (?:archive|repository|cent(?:er|re)|store|portal|bank))\b",
    re.IGNORECASE,
)
_PROGRAM_HOUSE = re.compile(
    r"\b(?:github|gitlab|sourceforge|cran|r foundation for statistical computing)\b", re.IGNORECASE
)
_PROGRAM_PLACE = re.compile(
    r"\b(?:github|gitlab)\.com/[\w.-]+/\w|cran\.r-project\.org/(?:web/)?package|pypi\.(?:org|python\.org)/|sourceforge\.net/p",
    re.IGNORECASE,
)
_DATA_DOI = re.compile(r"10\.(?:5281|5061|15468|6084|17632|7910|1594|3886)/")
_PROGRAM = re.compile(
    r"\b(?:software|toolbox|toolkit|package|library|simulator|source code|program|github|v[0-9]+\.[0-9])\b"
    r"|^[^\w/-]*\w[\w-]*/\w",  # hyperspy/hyperspy
    re.IGNORECASE,
)
_PROGRAM_VERSION = re.compile(
    r"\b(?:software|toolbox|for windows|package|simulator|programm?)\b.{0,80}\b(?:version|release|v\.?) ?[0-9]"
    r"|\b(?:version|release) ?[0-9][\w.]*\b.{0,80}\b(?:software|for windows)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\bpublished online|\bepub|ahead of print|\badvance online|\bonline first|\bin press\b", re.IGNORECASE
)
_PREPRINT = re.compile(r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprint|e-?print)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_JOURNAL_OF_PROCEEDINGS = re.compile(
    r"\bproc(?:eedings|\.)? (?:of )?(?:the )?(?:national academy|natl?\.? acad|royal|roy\.? soc|r\.? soc|ieee$"
    r"|ieee[,.]|american|amer\.? |am\.? |london|lond\.? |edinburgh|cambridge|camb\.? |aristotelian|biological|"
    r"institution|inst\.|nutrition|japan|vldb endowment)"
    r"|^\W*(?:acm )?sig[a-z]{2,6} .{0,40}\b(?:forum|record|explorations|newsletter|notices|review)\b",  # SIGIR Forum
    re.IGNORECASE,
)
_SOCIETY = re.compile(r"\b(?:academy|acad\.|society|soc\.|association|assoc\.|club|museu|museum)", re.IGNORECASE)
_MEETING_BY_NAME = re.compile(
    r"neural information processing systems|\bAIAA paper\b"
    r"|^\s*in:?\s+(?-i:(?:ACM|IEEE|USENIX|IFIP)(?:[ /-][A-Z][A-Z&]+)+)(?:\s*['’]?[0-9]{2,4})?\W*$",  # In ACM CCS
    re.IGNORECASE,
)
_SHORT_MEETING = re.compile(  # In: MICCAI 2015
    r"\s*[Ii]n:?\s+[A-Z][A-Za-z]*[A-Z](?:[ /@-][A-Z][A-Za-z]*[A-Z])* ?['’]?(?:(?:19|20)[0-9]{2}|[0-9]{2})\W*"
)
_INSIDE = re.compile(r"\W*in[\s:]", re.IGNORECASE)
_SERIES_OF_BOOKS = re.compile(
    r"\b(?:series|studies|monograph(?:s|ie[ns]?)?|library|texts in|lecture notes|reihe|coll(?:ection|ana)?)\b",
    re.IGNORECASE,
)
_SERIES_OF_MEETINGS = re.compile(r"\bconf(?:erence|\.) ?ser|\bproceedings\b", re.IGNORECASE)
_NO_MEETING = "library of congress"
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|annals|quarterly|bulletin|magazine|zeitschrift|revue|revista|rivista)\b"
    r"|\b(?:j|trans|lett|ann|bull|rev|z)\.",
    re.IGNORECASE,
)
_BEFORE_BOOK = re.compile(r"\s*(?:in|en|em|dans)\s*:|\s*in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)", re.IGNORECASE)
# Before anything in German and Slavic references; what a book has besides tells a chapter there.
_BEFORE_ALL = re.compile(r"\s*(?:in|en|em|dans)\s*:", re.IGNORECASE)
_IN_GUILLEMETS = re.compile(
    r"\W*in\s*«(?! ?(?:enciclopedia|dizionario|storia|scritti|studi in)\b)", re.IGNORECASE
)  # an Italian journal
_OF_BOOKS = frozenset({"editor", "publisher", "location", "isbn", "edition"})
_OF_EDITED = frozenset({"editor", "translator", "isbn", "edition"})
_NOT_IN_ARCHIVES = frozenset({"editor", "publisher", "isbn", "edition", "url", "doi"})
_SECTION = re.compile(r"(?:pp?\.? ?)?[A-H][0-9]{1,2}\W*", re.IGNORECASE)  # page A12 of a newspaper
_TELLING = ("genre", "note", "publisher", "institution", "collection-title")  # labels whose words show a type
_NUMBERED = ("volume", "issue")
_PRINTED = frozenset({"volume", "issue", "pages"})
# A volume that is counted in years is a journal's.
_YEARLY = re.compile(
    r"\W*(?:[0-9IVXLC]+\w{0,3}\.? ?)?(?:année|anno|año|ano|jahrgang|jg|roč|årg|évf|vsk|vuosikerta|god|letnik|год)",
    re.IGNORECASE,
)
_PROCEEDINGS = frozenset({"proceedings", "proc", "actes", "atti", "actas", "anais"})
_ACTS = _PROCEEDINGS - {"proceedings", "proc"}  # what journals of learned societies are called, too
# Words of magazines that sites seldom have in their names.
_PERIODICAL = frozenset({"review", "digest", "news", "spectator", "economist", "atlantic", "yorker", "scientist"})


def kind_of(texts: Mapping[str, str], arxiv: bool = False, issued: Date | None = None, version: bool = False) -> str:
    """Return the type of a work (`KINDS`) from the text of each label that it has.

    arxiv : it has such a number; issued : when it appeared; version : it has one.
    """
    genre, container = texts.get("genre", ""), texts.get("container-title", "")
    said = _said_by(genre) if genre else ""
    if said and not (said == "book" and container):  # [M] is also the book of a chapter
        return said
    if kind := _kind_at_once(texts, version):
        return kind
    if container:
        return (
            _in_the_press(container, texts, issued)
            or _on_the_web(container, texts, issued)
            or _kind_in(container, texts)
        )
    said, title = " ".join([texts.get(label, "") for label in _TELLING]), texts.get("title", "")
    if _THESIS.search(said):
        return "thesis"
    if _REPORT.search(said) or _is_coded(genre) or ("-" in title and _REPORT_CODE.search(title)):
        return "report"
    if (arxiv and not ("volume" in texts and "pages" in texts)) or _is_preprint(said):
        return "article"
    if version or (("ersion " in title or "elease " in title) and _PROGRAM_VERSION.search(title)):
        return "software"
    return "manuscript" if _MANUSCRIPT.search(genre or texts.get("note", "")) else _kind_alone(texts)


def _kind_at_once(texts: Mapping[str, str], version: bool) -> str:
    """Return the type of what is known by its title, its keeper or its medium, in a container or not; else ""."""
    title = texts.get("title", "")
    if "author" not in texts:
        cited = " v" in title and _CASE.match(title) and _OF_EDITED.isdisjoint(texts)
        if cited or title.startswith(_IN_RE):  # Roe v. Wade, which no author wrote
            return "legal_case"
    elif texts["author"][1:2].isupper() and _is_standard(_standard_as_author(texts), texts):
        return "standard"
    if (title[1:2].isupper() or title[:4] == "3GPP") and _is_standard(title, texts):
        return "standard"
    if _PRINTED.isdisjoint(texts) and (kept := _kept_by(texts, version)):
        return kept
    if "note" in texts and "pages" not in texts and len(note := texts["note"]) < 25 and _MEDIUM.match(note):
        return "document"
    archived = ("container-title" not in texts or "pages" not in texts) and _is_in_archive(texts)
    return "manuscript" if archived else ""


def _is_coded(genre: str) -> bool:
    """Tell a report by its number alone: NASA CR-177572, CERN-ACC-2014-0321."""
    return bool(genre) and (_CODE.fullmatch(genre) is not None or _REPORT_CODE.search(genre) is not None)


def is_thesis(genre: str) -> bool:
    """Tell whether a genre names a thesis."""
    return _said_by(genre) == "thesis"


def is_mark(genre: str) -> bool:
    """Tell whether a genre is a mark of GB/T 7714, [J] or [M/OL], which says the type and is no word to print."""
    found = _MARK.fullmatch(genre)
    return found is not None and found[1] in _MARKS


@remembered(longest=100)
def _said_by(genre: str) -> str:
    """Return the type that a genre names, "" if it names none."""
    if mark := _MARK.fullmatch(genre):
        return _MARKS.get(mark[1], "")
    said = next((kind for kind, pattern in _SAID if pattern.search(genre)), "")
    if said:
        return said
    if _MEDIUM.match(genre):
        return "document"
    if _PATENT_CODE.fullmatch(genre):
        return "patent"
    return "standard" if standard_number(genre) else ""


def _is_standard(title: str, texts: Mapping[str, str]) -> bool:
    """Tell a standard by the number that its title begins with: with a year, or all of it, or before a colon."""
    number = standard_number(title) if "volume" not in texts else ""
    if not number or ("container-title" in texts and "standard" not in texts["container-title"].lower()):
        return False
    return ":" in number or "-" in number or title[len(number) :][:1] in (":", ",", ".", "")


def _standard_as_author(texts: Mapping[str, str]) -> str:
    """Return what stands for an author and may be a standard: "ČSN ISO 690", or "ГОСТ Р" and the date behind it."""
    author = texts.get("author", "")
    if _ONLY_STANDARDS.fullmatch(author):
        return f"{author} {texts.get('date', '')}"
    number = standard_number(author)
    return author if number and len(author) - len(number) < 3 else ""


def standard_number(text: str) -> str:
    """Return the number of the standard that a text begins with ("ISO 690:2021"), else ""."""
    start = text.lstrip(' "“([')
    if not (start[:1].isupper() and start[1:2].isupper()) and start[:4] != "3GPP":
        return ""
    body = _BODY.match(start)
    found = _STANDARD.match(start, body.end() if body else 0)
    return found[0].rstrip(".:–-") if found else ""


def number_of_standard(texts: Mapping[str, str]) -> str:
    """Return the number of a standard from its genre, its title, or what stands for an author."""
    places = (texts.get("genre", ""), texts.get("title", ""), _standard_as_author(texts))
    return next(filter(None, map(standard_number, places)), "")


def words_of_report(texts: Mapping[str, str]) -> str:
    """Return where the number of a report is: its genre up to that of a contract, else what its title ends in."""
    genre = texts.get("genre", "")
    contract = _CONTRACT.search(genre)
    if contract and _SHELF.search(genre[: contract.start()]):
        return genre[: contract.start()]
    code = None if genre else _REPORT_CODE.search(texts.get("title", ""))
    return code[0] if code else genre


def _kept_by(texts: Mapping[str, str], version: bool) -> str:
    """Tell data sets and programs by the repository that has them: its name, its DOI, its address.

    A repository keeps papers, too, but those name a journal, or say in a genre what they are.
    """
    house = texts.get("publisher") or texts.get("container-title", "")
    kind = _kind_of_house(house) if house else ""
    if not kind and "container-title" not in texts:
        address = texts.get("doi") or texts.get("url", "")
        if address and _DATA_DOI.search(address):
            kind = "dataset"
        elif "publisher" not in texts and "url" in texts and _PROGRAM_PLACE.search(texts["url"]):
            kind = "software"
    if kind == "dataset" and (version or "edition" in texts or _PROGRAM.search(texts.get("title", ""))):
        return "software"
    return kind


@remembered(longest=100)
def _kind_of_house(name: str) -> str:
    """Return what a repository of this name keeps, "" if it is none."""
    if _PROGRAM_HOUSE.search(name):
        return "software"
    return "dataset" if _DATA_HOUSE.search(name) else ""


def _is_in_archive(texts: Mapping[str, str]) -> bool:
    """Tell a letter or a file by the archive that it names first, and a shelf mark; nobody published it."""
    if not _NOT_IN_ARCHIVES.isdisjoint(texts):
        return False
    first = next((label for label in texts if label != "citation-number"), "")
    if first not in _ARCHIVE_LABELS or _ARCHIVE.match(texts[first]) is None:
        return False
    return any(label != "date" and _SHELF.search(text) is not None for label, text in texts.items())


def _in_the_press(container: str, texts: Mapping[str, str], issued: Date | None) -> str:
    """Tell an article of a newspaper or magazine: it has a day, or the words of one, and no number but a newspaper's.

    A newspaper may count its days: `Frankfurter Allgemeine Zeitung Nr. 113 vom 17.5.2019`.
    """
    if issued is None or not issued.parts or len(issued.parts[0]) < 2 or "volume" in texts:
        return ""
    shown = _shown_by(container)
    if "editor" in texts or "publisher" in texts or _has_doi(texts) or shown in ("article", "paper-conference"):
        return ""
    if _is_ahead(texts):
        return ""
    words = set(_WORD.findall(container.lower()))
    daily, named = len(issued.parts[0]) > 2, not words.isdisjoint(NEWSPAPER_WORDS)
    if "issue" in texts:
        return "article-newspaper" if daily and named else ""
    if not words.isdisjoint(MAGAZINE_WORDS):
        return "article-magazine"
    if not daily:
        return ""
    if named or _SECTION.fullmatch(texts.get("pages", "")) is not None:
        return "article-newspaper"
    if shown == "chapter" and not _BEFORE_ALL.match(container):
        return ""
    if "url" in texts and "pages" not in texts and words.isdisjoint(_PERIODICAL):  # a site names the day, too
        return ""
    return "" if _JOURNAL.search(container) else "article-magazine"


def _on_the_web(container: str, texts: Mapping[str, str], issued: Date | None) -> str:
    """Tell a page of a site: it has an address, a day or none at all, and nothing that counts."""
    if "url" not in texts or any(label in texts for label in (*_NUMBERED, "pages", "editor", "publisher")):
        return ""
    if _has_doi(texts) or _is_ahead(texts):
        return ""
    dated = issued is not None and bool(issued.parts)
    daily = issued is not None and dated and len(issued.parts[0]) > 2
    return "webpage" if (daily or ("accessed" in texts and not dated)) and not _shown_by(container) else ""


def _has_doi(texts: Mapping[str, str]) -> bool:
    return "doi" in texts or "doi.org/" in texts.get("url", "")


def _is_ahead(texts: Mapping[str, str]) -> bool:
    """Tell an article that is online before it has a volume; its day is that of no newspaper."""
    return any(label in texts and _AHEAD.search(texts[label]) is not None for label in ("date", "note", "genre"))


def _is_preprint(text: str) -> bool:
    if text.startswith("CoRR"):
        return True
    folded = text.casefold()
    return ("rxiv" in folded or "print" in folded or "ssrn" in folded) and _PREPRINT.search(text) is not None


def _kind_in(container: str, texts: Mapping[str, str]) -> str:
    kind = _shown_by(container)
    if kind == "chapter" and _OF_BOOKS.isdisjoint(texts):
        as_journal = _BEFORE_ALL.match(container) or _IN_GUILLEMETS.match(container)
        yearly = _YEARLY.match(texts.get("volume", "")) is not None
        numbered = yearly or "issue" in texts or ("volume" in texts and as_journal)
        return "article-journal" if numbered or _JOURNAL.search(container) else kind
    inside = "editor" in texts and kind != "chapter" and _INSIDE.match(texts["editor"])  # In: Ada Ho (ed.) LATIN 2000
    if (kind == "chapter" or inside) and _SHORT_MEETING.fullmatch(f"In {container}" if inside else container):
        return "paper-conference"
    series = texts.get("collection-title")
    if series and kind in ("", "chapter") and _SERIES_OF_MEETINGS.search(series):
        return "paper-conference"
    if kind == "paper-conference" and _is_numbered_series(container, texts):
        return "article-journal"
    if kind and kind != "article-journal":
        return kind
    published = not kind and "publisher" in texts and "issue" not in texts
    edited = "editor" in texts and not ("author" not in texts and _is_issue(texts))
    return "chapter" if published or edited else "article-journal"


def _is_issue(texts: Mapping[str, str]) -> bool:
    """Tell whether a journal gave volume and pages to what somebody edited: the issue of a journal."""
    return "volume" in texts and "pages" in texts and _OF_BOOKS.isdisjoint(texts.keys() - {"editor"})


def _is_numbered_series(container: str, texts: Mapping[str, str]) -> bool:
    """Tell proceedings that appear in volumes, as a journal does, and name no meeting.

    They have issues, too, or are those of a learned society, or are called by another word for proceedings.
    """
    if "volume" not in texts or not _OF_BOOKS.isdisjoint(texts):
        return False
    words = set(_WORD.findall(container.lower()))
    if not MEETINGS & words <= _PROCEEDINGS:
        return False
    if "issue" in texts:
        return True
    whole = "pages" in texts and not _SHELF.search(container) and not _BEFORE_BOOK.match(container)
    return whole and (not words.isdisjoint(_ACTS) or _SOCIETY.search(container) is not None)


@remembered(longest=100)
def _shown_by(container: str) -> str:
    """Return the type that a container shows by its own words, "" if it shows none."""
    if _is_preprint(container):
        return "article"
    low = container.lower().replace(_NO_MEETING, "")
    if not MEETINGS.isdisjoint(_WORD.findall(low)) and not _JOURNAL_OF_PROCEEDINGS.search(container):
        return "paper-conference"
    if _MEETING_BY_NAME.search(container):
        return "paper-conference"
    if _BEFORE_BOOK.match(container):
        return "chapter"
    return "article-journal" if _JOURNAL.search(container) else ""


def _kind_alone(texts: Mapping[str, str]) -> str:
    if texts.keys() & {"publisher", "edition", "isbn"}:
        return "book"
    if "institution" in texts:
        return "report"
    title = texts.get("title", "")
    if "location" in texts and title and ("author" in texts or title[:1] != "«"):  # also one volume of it, and a page
        return "book"
    if "volume" in texts and "pages" in texts:
        return "article-journal"
    series = texts.get("collection-title")
    if "location" in texts or (series and title and "url" not in texts and _SERIES_OF_BOOKS.search(series)):
        return "book"
    return "webpage" if "url" in texts else "document"
