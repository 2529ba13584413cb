"""The words that normalisation looks up: parts of names, institutions, months and seasons.

They are closed lists of common words in the languages of most references, not learned from any data.
"""

from __future__ import annotations

import re

__all__ = [
    "ABBREVIATED",
    "ABBREVIATED_IN_JOURNALS",
    "BEFORE_NAMES",
    "CHINESE_FAMILIES",
    "DEGREES",
    "DEGREE_PARTS",
    "HANGUL_FAMILIES",
    "HAN_FAMILIES",
    "HINTS_OF_OTHERS",
    "INSTITUTION_ENDS",
    "INSTITUTION_INNER",
    "INSTITUTION_STEMS",
    "INSTITUTION_WORDS",
    "JOINERS",
    "LOW_PARTICLES",
    "MAGAZINE_WORDS",
    "MEETINGS",
    "MONTHS",
    "NEWSPAPER_WORDS",
    "OTHERS",
    "PARTICLES",
    "ROLES",
    "ROLES_IN_SHORT",
    "ROLE_BEHIND",
    "SEASONS",
    "SHORT_GIVEN",
    "SUFFIXES",
    "TITLES",
    "WEAK_DEGREES",
    "WEAK_INSTITUTION_WORDS",
    "vocabulary",
]


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


PARTICLES = vocabulary(
    "van von der den dem ten ter te 't ’t 's ’s vander vom zu zum zur de del della delle dei degli di da das do dos du "
    "des la le les los las af av el al bin ibn ben abu"
)
"""Words that stand before a family name; in lower case they always do."""
LOW_PARTICLES = PARTICLES | vocabulary("in op aan uit")
"""Those, and the ones that are a particle in lower case only: J. in 't Veld, but In Ho Kim."""

SHORT_GIVEN = vocabulary("geo jas jos joh edw aug wil alb alf ant art ern eug fel ign jac lud ma ag gu ot ge aa al")
"""Abbreviated given names that look like whole ones, without their full stops."""

SUFFIXES = vocabulary(
    "Jr jr Sr sr Jnr Snr Junior II III IV 2nd 3rd 4th Esq PhD DPhil MPhil MSc BSc DSc ScD EdD PsyD PharmD MBChB"
)
"""Words that stand after a name, without their full stops."""
DEGREES = vocabulary("MD RN MPH MBA DDS DMD DVM DNP LLB LLM LLD MBBS MRCP FRCP FRCS FRCPC FACP FACS FRS CBE OBE MBE")
"""Degrees and honours in capitals, without their full stops; after a family name alone they are initials."""
WEAK_DEGREES = vocabulary("MA BA MS BS DO MB JD SJ OP OSB OFM")
"""Such as are commoner as initials or as a family name, and count only after a whole name."""
DEGREE_PARTS = vocabulary("ph phil sc")
"""Words of degrees written apart: Ph. D., D. Phil., M. Sc."""

TITLES = vocabulary("dr prof mr mrs ms mme herr frau dra dott ing")
"""What people are called before their names, casefolded and without full stops."""

JOINERS = vocabulary("and & &amp; und et en og och with mit и та")
"""Words between two names."""

ROLES = vocabulary(
    "eds hrsg hrsgg hgg herausgeber herausgeberin editor editors edited translator translators translated transl "
    "übers übersetzer coords éds éditeur éditeurs editores compiler compilers compilador compiladores organizador "
    "organizadores coordinador coordinadores traducteur traductor tradutor traduttore"
)
ROLES_IN_SHORT = vocabulary("ed éd hg trans tr trad dir coord org orgs comp comps red")
"""Abbreviations of roles that may be names, too."""

# What may stand before a list of names.
BEFORE_NAMES = re.compile(
    r"[\W_]*(?:in:|in\b(?=\s(?!['’]t\b))|(?:en|em|nel|aus)\s?:|dans\b(?=[\s:])|a c(?:ura|\.) ?di\b|by\b(?=\s)"
    r"|(?:edited|eds?\.?|translated|transl?\.?|tr\.|compiled|comp\.?|revised|rev\.) by\b"
    r"|(?:hrsg\.?|hg\.?|herausgegeben|[uü]bers(?:\.|etzt|etzung)?|aus dem \w+) v(?:on\b|\.(?=\s))"
    r"|trad(?:\.|uit|uction|ucción|uzione|ução|ucido|uzido)?(?: \w+\.?)? (?:par|por|di|de|da)\b"
    r"|(?:editado|organizado) por\b|sous la dir(?:\.|ection) de\b"
    r"|под (?:общ(?:\.|ей) )?ред(?:\.|акцией)|(?:(?:отв|гл)\. )?ред\.|пер(?:\.|евод)(?: с \w+\.?)?|сост\."
    r"|pod red(?:\.|akcją)"
    r"|(?:eds?|hrsg|hg|transl?|tr|trad|[uü]bers|comp)\.(?=\s))",
    re.IGNORECASE,
)
# A role of several words in brackets behind the names.
ROLE_BEHIND = re.compile(r"[(\[]\s*(?:a c(?:ura|\.) ?di|(?:sous la )?dir(?:\.|ection) de)\s*[)\]]", re.IGNORECASE)
# A list that goes on: the words, or the dots of "A, B, . . . Z".
OTHERS = re.compile(
    r"(?i:\[?\bet\.? ?[aá]l(?:ii|ia)?\b\.?\]?|& al\b\.?)(?! (?!Eds?\b|Hr?sg)[A-ZÀ-Þ][a-zß-ÿ])"
    r"|(?i:\b(?:and|&) (?:others|co-?workers)\b|\by otros\b|\be outros\b)"
    r"|\be altri\b|\bet (?:autres|coll)\b|\bund andere\b|\ben anderen\b|\b[eu]\. ?a\.|\by cols?\b|\bи др(?:угие)?\b"
    r"|\bi inni\b|\bi in\.|\ba kol\b|et al(?=\W*$)|(?:等|ほか)(?=[。．.]?$)|(?:\. ?){3,}|…"
)
# What such a list has somewhere, casefolded; nearly all others have none of it.
HINTS_OF_OTHERS = (
    *("et al", "et. al", "et.al", "etal", "et ál", "& al", "others", "workers", "otros", "outros", "altri", "autres"),
    *("andere", "u. a.", "u.a.", "e. a.", "e.a.", "et coll", "y col", "и др", "i in", "a kol", "等", "ほか"),
    *("..", ". .", "…"),
)

# The commonest family names of China in Pinyin; before a given name in Pinyin they are family names.
CHINESE_FAMILIES = vocabulary(
    "wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie song tang "
    "deng feng han cao zeng peng xiao cai pan tian dong yuan yu ye jiang du su wei cheng lu ding shen ren yao cui "
    "zhong tan fan liao shi jin jia xia fu fang zou xiong bai meng qin qiu hou yan xue lei hao mao"
)
HAN_FAMILIES = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許邓鄧冯馮韩韓曹曾彭萧肖蔡潘田董袁于余叶葉蒋蔣杜"
    "苏蘇魏程吕呂丁沈任姚卢盧傅钟鐘姜崔谭譚廖范汪陆陸金石戴贾賈韦韋夏邱方侯邹鄒熊孟秦白江阎閻薛尹段雷史陶贺賀毛顾顧龚龔邵万萬钱錢严嚴伍时時舒倪童颜顏骆駱柯管莫洪左吉"
) | vocabulary("欧阳 歐陽 司马 司馬 上官 诸葛 諸葛 司徒 东方 夏侯 皇甫 尉迟 公孙 慕容 令狐")
"""Chinese family names of one sign and of two."""

HANGUL_FAMILIES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원"
    "천방공현함변염여추도소석선설마길연위표명기반라왕금옥육인맹제모나리"
)
"""Korean family names."""

# Beginnings of words that name institutions in several languages ...
INSTITUTION_STEMS = (
    *("universi", "université", "institut", "istitut", "minist", "departm", "departament", "département", "organis"),
    *("organiz", "organização", "associa", "asocia", "committee", "comité", "comisión", "commission", "kommission"),
    *("council", "consorti", "collaborati", "corporat", "laborator", "academ", "akademi", "federa", "föderal"),
    *("foundation", "fundación", "fondation", "stiftung", "agency", "agencia", "society", "société", "gesellschaft"),
    *("bureau", "bundes", "initiative", "administrati", "authority", "parliament", "government", "statisti"),
    *("development", "research", "programme", "internationa", "nationa", "european", "européen"),
    *("collaborators", "investigators", "secretari", "comissão", "agência", "sociedade", "sociedad", "fundação"),
    *("librar", "bibliothe", "bibliothè", "bibliote", "museum", "museo", "musée"),
)
# ... ends of German ones, which are one word ...
INSTITUTION_ENDS = (
    *("bibliothek", "museum", "ministerium", "verband", "gesellschaft", "institut", "universität", "kommission"),
    *("hochschule", "akademie", "behörde", "agentur", "archiv"),
)
# ... and whole words, some of which are family names too and count only in company.
INSTITUTION_WORDS = vocabulary(
    "inc ltd llc gmbh corp co group team force working world united nations royal american central global federal "
    "network project party contributors staff gallery galleries archives archiv"
)
WEAK_INSTITUTION_WORDS = vocabulary(
    "bank union board office center centre service services school college court church press "
    "house company trust fund hospital state city"
)
INSTITUTION_INNER = vocabulary("of for the on für zur")
"""Words that stand inside the name of an institution, and in no person's."""

MEETINGS = vocabulary(
    "proceedings proc conference conf symposium symp workshop congress meeting colloquium kongress tagung actes atti "
    "actas anais icml nips neurips sigmod vldb kdd aaai ijcai acl cvpr iccv focs stoc soda popl pldi"
)
"""Words of meetings, and the names of some."""
NEWSPAPER_WORDS = vocabulary(
    "times post daily gazette tribune herald chronicle telegraph guardian observer newspaper courier examiner inquirer "
    "zeitung tageblatt tagblatt rundschau anzeiger tageszeitung tagesspiegel allgemeine monde figaro libération temps "
    "soir corriere gazzetta stampa repubblica giornale país diario mundo folha estado jornal globo dagblad volkskrant "
    "courant gazeta wyborcza правда известия 日报 晚报"
)
"""Words that newspapers have in their names."""
MAGAZINE_WORDS = vocabulary("magazine weekly monthly fortnightly spiegel newsweek magazin illustrierte semanal")
"""Words that magazines have in their names."""

ABBREVIATED = vocabulary(
    "inc ltd co corp univ jr sr bros assoc dept inst acad soc natl intl govt cie assn publ pty vgl cf cfr"
)
"""Words that are abbreviated wherever they stand, without their full stops: one at the end is theirs."""
ABBREVIATED_IN_JOURNALS = vocabulary(
    "abstr adv agric am amer anal ann annu anthropol appl aquat arch archaeol astron astrophys atmos behav biochem "
    "biol bioinf biomed biophys biotechnol bot br brit bull can cardiol chem chim circ clin cogn comm "
    "commun comp comput contemp contrib crit crystallogr curr dermatol dev develop dis ecol econ educ electron "
    "endocrinol eng entomol environ epidemiol ergon ethnol eur evol exp fenn forsch gen genet geogr "
    "geol geophys geosci hist hortic hosp hydrol immunol infect inform int inorg instrum invest investig isr j "
    "jpn kardiol lang lett ling lit mag manag mar mater math mech med metab meteorol methodol microbiol microsc "
    "mikrobiol mol morphol nat natl naturwiss neurobiol neurol neurophysiol neurosci neurosurg nutr "
    "obstet oceanogr oecol oncol ophthalmol optim ornithol orthop paediatr palaeontol parasitol pathol pediatr pharm "
    "pharmacol philol philos phys physiol phytopathol pol polym prax proc prog psychiatr psychol publ q quart "
    "radiol rech rehabil relig rep res rev rheumatol roy sci scand semin ser sociol soc spectrosc stat stud suppl surg "
    "symp syst techn technol theor ther tidskr tijdschr toxicol trans transact transplant trop univ unters urol verh "
    "vet virol wiss yearb z zh zool zentralbl ztg zschr"
)
"""Words of journals in short."""

# Twelve names in each row, months from January on; accents are left out, as they are when words are looked up (so is
# the breve of "май"). Polish, Czech and Russian months come in the nominative and, after a day, in the genitive.
_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "jaenner feber maerz april mai juni juli august sept oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janv fevr mrz avr mai juin juil aou sept okt nov dez",
    "ene fev mrt abr mag giu lug ago set ott nov dic",
    "gen febr mars avr mei jun jly agt sett out nov dez",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april mai juni juli august september oktober november desember",
    "styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "sty lut mar kwi maj cze lip sie wrz paz lis gru",
    "leden unor brezen duben kveten cerven cervenec srpen zari rijen listopad prosinec",
    "ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince",
    "январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "янв фев мар апр маи июн июл авг сен окт ноя дек",
    "янв февр мар апр маи июн июл авг сент окт нояб дек",
)
MONTHS = {name: month for row in _MONTH_NAMES for month, name in enumerate(row.split(), start=1)}
SEASONS = {
    name: season
    for season, names in enumerate(
        (
            "spring fruhling fruhjahr printemps primavera lente voorjaar wiosna jaro весна var",
            "summer sommer ete verano estate verao zomer lato leto лето sommar",
            "autumn fall herbst automne otono autunno outono herfst najaar jesien podzim осень host",
            "winter hiver invierno inverno zima зима vinter",
        ),
        start=1,
    )
    for name in names.split()
}
