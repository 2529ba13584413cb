"""The words that normalisation looks up: parts of names, institutions.

They are closed lists of common words, not learned from any data, in the files of `languages`; those of several
languages stand in `mul.toml`. Here they are as they are written there, with their capitals.
"""

from __future__ import annotations

import re

from espalier.citations.languages import entries

__all__ = [
    "BACK_REFERENCES",
    "BEFORE_NAMES",
    "CHINESE_FAMILIES",
    "DEGREES",
    "DEGREE_PARTS",
    "FAMILIES_FIRST",
    "FAMILY_PREFIXES",
    "GIVEN_NAMES",
    "GIVEN_NAMES_ONLY",
    "HANGUL_FAMILIES",
    "HAN_FAMILIES",
    "HINTS_OF_OTHERS",
    "HUNGARIAN_INITIALS",
    "JOINERS",
    "KOREAN_FAMILIES",
    "LOW_JOINERS",
    "LOW_PARTICLES",
    "NUMERALS",
    "OTHERS",
    "PARTICLES",
    "PATRONYMIC_ENDS",
    "RARE_HINTS_OF_OTHERS",
    "REGNAL",
    "ROLES",
    "ROLES_ALONE",
    "ROLES_IN_SHORT",
    "ROLES_OF_WORDS",
    "ROLE_BEHIND",
    "ROLE_OPENINGS",
    "RULERS",
    "RULERS_IN_TWO_WORDS",
    "SHORT_GIVEN",
    "SUFFIXES",
    "TITLES",
    "VIETNAMESE_FAMILIES",
    "VIETNAMESE_SHORT_FAMILIES",
    "WEAK_DEGREES",
    "WHOLE_GIVEN",
    "vocabulary",
]


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


PARTICLES = frozenset(entries("particles"))
"""Words that stand before a family name; in lower case they always do."""
LOW_PARTICLES = PARTICLES | frozenset(entries("low_particles"))
"""Those, and the ones that are a particle in lower case only: J. in 't Veld, but In Ho Kim."""

FAMILY_PREFIXES = frozenset(entries("family_prefixes"))
"""Particles that are no given name even where they stand first: Ibn Khaldun, Ó Briain."""

SHORT_GIVEN = frozenset(entries("short_given"))
"""Abbreviated given names that look like whole ones, without their full stops."""

WHOLE_GIVEN = frozenset(entries("whole_given"))
"""Short given names that are not abbreviated: a full stop after them ends the list."""

SUFFIXES = frozenset(entries("name_suffixes"))
"""Words that stand after a name, without their full stops."""
DEGREES = frozenset(entries("degrees"))
"""Degrees and honours in capitals, without their full stops; after a family name alone they are initials."""
WEAK_DEGREES = frozenset(entries("weak_degrees"))
"""Such as are commoner as initials or as a family name, and count only after a whole name."""
DEGREE_PARTS = frozenset(entries("degree_parts"))
"""Words of degrees written apart: Ph. D., D. Phil., M. Sc."""

TITLES = frozenset(entries("titles"))
"""What people are called before their names, casefolded and without full stops."""

GIVEN_NAMES_ONLY = frozenset(entries("given_only"))
"""Common given names that are hardly ever family names."""
GIVEN_NAMES = GIVEN_NAMES_ONLY | frozenset(entries("given"))
"""Those, and others; what stands around shows that they are no families."""

RULERS = frozenset(entries("rulers"))
"""Names of kings, queens and popes, who have a number behind them."""
RULERS_IN_TWO_WORDS = frozenset(
    (
        *("John Paul", "Jean Paul", "Johannes Paul", "Giovanni Paolo", "Juan Pablo", "João Paulo", "Jan Paweł"),
        *("Friedrich Wilhelm", "Frederick William", "Victor Emmanuel", "Vittorio Emanuele", "Franz Joseph"),
    )
)
NUMERALS = frozenset(entries("numerals"))
"""Their numbers."""
REGNAL = frozenset(entries("regnal"))
"""What they are, casefolded."""
BACK_REFERENCES = frozenset(entries("back_references"))
"""Words for the names of the reference before; without a stop they may be names (Dies) where they have a capital."""

JOINERS = frozenset(entries("joiners"))
"""Words between two names."""
LOW_JOINERS = frozenset(entries("low_joiners"))
"""Such as are names, too, where they have a capital (Dan), and join names in lower case only."""

ROLES = frozenset(entries("roles"))
ROLES_IN_SHORT = frozenset(entries("roles_in_short"))
"""Abbreviations of roles that may be names, too."""

# What may stand before a list of names.
BEFORE_NAMES = re.compile(
    r"[\W_]*(?:in:|in\b(?=\s(?!['’]t\b))|(?:en|em|nel|aus|[iw])\s?:|dans\b(?=[\s:])|a c(?:ura|\.) ?di\b|by\b(?=\s)"
    r"|(?:teoksessa|dalam|içinde)(?=[\s:])"
    # The "I" of Norway and Sweden, which is no initial where the given name follows or an editor's role.
    r"|i(?=\s[^\W\d_]{2,}, [^\W\d_]\.)|i(?=\s[^\W\d_].*[(,]\s?red\b)"
    r"|(?:edited|translated|compiled|revised)(?: from the (?:[\w-]+ ){0,2}[\w-]+)? ?by\b"  # editedby
    r"|(?:eds?\.?|transl?\.?|tr\.|comp\.?|rev\.) by\b"
    r"|(?:hrsg\.?|hg\.?|herausgegeben|[uü]bers(?:\.|etzt|etzung)?|aus dem \w+) v(?:on\b|\.(?=\s))"
    r"|trad(?:\.|uit|uction|ucción|uzione|ução|ucido|uzido)?(?: \w+\.?)? (?:par|por|di|de|da)\b"
    r"|(?:editado|organizado) por\b|sous la dir(?:\.|ection) de\b"
    # What begins with a letter beyond ASCII is tried there only.
    r"|(?=[^\x00-\x7f])(?:(?:под|за) (?:(?:общ|заг|наук|науч)(?:\.|ей|альною) )?ред(?:\.|акцией|акцією)"
    r"|(?:(?:отв|гл)\. )?ред\.|пер(?:\.|евод)(?: с \w+\.?)?|сост\.|(?:[ву] кн\.?|στο|în)(?=[\s:])|[ву]\s?:"
    r"|(?:επιμέλεια(?: και μετάφραση)?|μετάφραση)(?=[\s:])|(?:επιμ|μτφρ|μετ)\.(?=\s))"
    r"|pod red(?:\.|akcją)"
    r"|(?:eds?|hrsg|hg|transl?|tr|trad|[uü]bers|comp)\.(?=\s))",
    re.IGNORECASE,
)
ROLES_ALONE = frozenset(entries("roles_alone"))
"""Roles that stand between commas, in lower case; elsewhere they are words of an institution."""

# What the editors of a work have done, in several words: "ed. and trans. by", "hrsg. u. eingel. v."; the first of them
# may have been taken off already.
_DEED = (
    r"(?:(?:edited|eds?\.|translated|transl?\.|tr\.|compiled|comp\.|revised|rev\.|introduced|annotated|directed|adapted"
    r"|selected|illustrated|collected|arranged|prepared|produced"
    r"|hrsgg?\.?|hgg?\.|herausgegeben|[uü]bers\.|übersetzt|übertragen|bearb\.|bearbeitet|eingel\.|eingeleitet|besorgt"
    r"|komm\.|kommentiert|ausgew\.|ausgewählt|zusammengestellt|erl\.|erläutert"
    r"|éds?\.|éditée?s?|établie?s?|présentée?s?|annotée?s?|traduite?s?|réunie?s?|réalisée?s?|dirigée?s?)(?!\w))"
)
_AND_DEED = rf"(?:(?:,? (?:and|und|u\.|et|&)|,) {_DEED})"
_WITH = r"(?:introduction|preface|foreword|notes|commentary|afterword)"
ROLES_OF_WORDS = re.compile(
    rf"[\W_]*(?:(?:(?:(?:and|und|u\.|et|&) )?{_DEED}{_AND_DEED}*"
    rf"(?:,? with (?:an? )?{_WITH}(?:,? and (?:an? )?{_WITH})?)? ?(?-i:\b(?:by|von|v\.|par))|(?-i:par|by))(?=\s)"
    r"|(?:(?:trad|ed)\.? )?(?:it|fr|ted|ingl|spagn)\.,? a cura di\b|(?:regie|directors?):)",
    re.IGNORECASE,
)
ROLE_OPENINGS = frozenset(entries("role_openings"))
"""Words that such a text may begin with."""
# A role of several words in brackets behind the names.
ROLE_BEHIND = re.compile(r"[(\[]\s*(?:a c(?:ura|\.) ?di|(?:sous la )?dir(?:\.|ection) de)\s*[)\]]", re.IGNORECASE)
# A list that goes on: the words, or the dots of "A, B, . . . Z".
OTHERS = re.compile(
    r"(?i:\[?\bet\.? ?[aá]l(?:ii|ia)?\b\.?\]?|& al\b(?!-)\.?)(?! (?!Eds?\b|Hr?sg)[A-ZÀ-Þ][a-zß-ÿ])"
    r"|(?i:\b(?:and|&|a) (?:[0-9]{1,4} )?(?:others|co-?workers)\b)|\b(?i:y otros|e outros)\b"
    r"|\b(?:(?:e altri|et (?:autres|coll)|und andere|en anderen|y cols?|и др(?:угие)?|i inni|a kol|dkk|m\. ?fl|mfl)\b"
    r"|(?:ve (?:ark|diğ|diğerleri)|és mtsa?i?|и соавт|(?:та|і|й) (?:ін|інші))\b|(?:vd|외)\b(?=\W*$)"
    r"|[eu]\. ?a\.|[șş]\. ?a\.|i (?:in|wsp|dr|sur)\.|ym\.)"
    r"|et al(?=\W*$)|(?:等|ほか|他)(?=[。．.]?$)|외 ?\d+ ?[인명]|(?:\. ?){3,}|…"
)
# What such a list has somewhere, casefolded; nearly all others have none of it.
HINTS_OF_OTHERS = (
    *("et al", "et. al", "et.al", "etal", "& al", "others", "workers", "otros", "outros", "altri", "autres", "andere"),
    *("u. a.", "u.a.", "e. a.", "e.a.", "et coll", "y col", "i in", "a kol", "..", ". .", " vd", "dkk", " ym.", "fl."),
    *("mfl", "ve ark", "i wsp", "i dr", "i sur"),
)
# Those with letters beyond ASCII, which most lists cannot have.
RARE_HINTS_OF_OTHERS = (
    *("et ál", "и др", "等", "ほか", "…", "ve diğ", "ș.a", "ş.a", "ș. a", "ş. a", "és mts", " ін", "и соавт"),
    *("외", "他"),
)

# The commonest family names of China in Pinyin; before a given name in Pinyin they are family names.
CHINESE_FAMILIES = frozenset(entries("chinese_families"))
# The commonest ones of Korea, before a given name of two syllables with a hyphen, and of Vietnam.
KOREAN_FAMILIES = frozenset(entries("korean_families"))
VIETNAMESE_FAMILIES = frozenset(entries("vietnamese_families"))
VIETNAMESE_SHORT_FAMILIES = frozenset(entries("short_families"))
"""Such as may be another word; a middle name (Van, Thi) tells that they are family names."""
FAMILIES_FIRST = CHINESE_FAMILIES | KOREAN_FAMILIES | VIETNAMESE_FAMILIES | VIETNAMESE_SHORT_FAMILIES
"""Family names that may stand before a given name in full."""
PATRONYMIC_ENDS = (
    *("ович", "евич", "овна", "евна", "ична", "ьич", "мич", "кич", "івна", "ївна", "йович"),
    *("ovna", "evna", "ichna"),
)
"""Ends of the names after the father that stand behind a given name; Latin -ovich ends too many family names."""
HUNGARIAN_INITIALS = frozenset(entries("long_initials"))
"""Initials of two letters, casefolded and without full stops."""
HAN_FAMILIES = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許邓鄧冯馮韩韓曹曾彭萧肖蔡潘田董袁于余叶葉蒋蔣杜"
    "苏蘇魏程吕呂丁沈任姚卢盧傅钟鐘姜崔谭譚廖范汪陆陸金石戴贾賈韦韋夏邱方侯邹鄒熊孟秦白江阎閻薛尹段雷史陶贺賀毛顾顧龚龔邵万萬钱錢严嚴伍时時舒倪童颜顏骆駱柯管莫洪左吉"
) | frozenset(entries("double_families"))
"""Chinese family names of one sign and of two."""

HANGUL_FAMILIES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원"
    "천방공현함변염여추도소석선설마길연위표명기반라왕금옥육인맹제모나리"
)
"""Korean family names."""
