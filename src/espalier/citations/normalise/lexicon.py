"""The words that normalisation looks up: parts of names, institutions, months and seasons.

They are closed lists of common words in the languages of most references, not learned from any data.
"""

from __future__ import annotations

import re

__all__ = [
    "ABBREVIATED",
    "ABBREVIATED_IN_JOURNALS",
    "BACK_REFERENCES",
    "BEFORE_NAMES",
    "BESIDE_VISITS",
    "CHINESE_FAMILIES",
    "CROATIAN",
    "CROATIAN_OCTOBER",
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
    "IN_DATES",
    "JOINERS",
    "KOREAN_FAMILIES",
    "LOW_JOINERS",
    "LOW_PARTICLES",
    "MAGAZINE_WORDS",
    "MEETINGS",
    "MONTHS",
    "NEWSPAPER_WORDS",
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
    "SEASONS",
    "SHORT_GIVEN",
    "SUFFIXES",
    "TITLES",
    "VIETNAMESE_FAMILIES",
    "VIETNAMESE_SHORT_FAMILIES",
    "VISITS",
    "WEAK_DEGREES",
    "WHOLE_GIVEN",
    "vocabulary",
]


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


PARTICLES = vocabulary(
    "van von der den dem ten ter te 't ’t 's ’s vander vom zu zum zur de del della delle dei degli di da das do dos du "
    "des la le les los las af av el al bin ibn ben abu ó ní nic mac ait aït"
)
"""Words that stand before a family name; in lower case they always do."""
LOW_PARTICLES = PARTICLES | vocabulary("in op aan uit")
"""Those, and the ones that are a particle in lower case only: J. in 't Veld, but In Ho Kim."""

FAMILY_PREFIXES = vocabulary("ibn ó ní nic ait aït")
"""Particles that are no given name even where they stand first: Ibn Khaldun, Ó Briain."""

SHORT_GIVEN = vocabulary(
    "gy ny geo jas jos joh edw aug wil alb alf ant art ern eug fel ign jac lud ma ag gu ot ge aa al"
)
"""Abbreviated given names that look like whole ones, without their full stops."""

WHOLE_GIVEN = vocabulary(
    "ada amy ana ann ava ben bob dan eli eva eve guy ian ida ina ira ivy jan jay jim joe jon kay ken kim lea lee leo "
    "lia lou luc mae max may mia nan ned noa ola ole pam pat per ray ron roy sam siv sue ted tim tom tor una ute uwe "
    "zoe åsa"
)
"""Short given names that are not abbreviated: a full stop after them ends the list."""

SUFFIXES = vocabulary(
    "Jr jr Sr sr Jnr Snr Junior II III IV 2nd 3rd 4th Esq PhD DPhil MPhil MSc BSc DSc ScD EdD PsyD PharmD MBChB "
    "dÄ dJ dÄltere dJüngere"  # Plinius d. Ä.
)
"""Words that stand after a name, without their full stops."""
DEGREES = vocabulary("MD RN MPH MBA DDS DMD DVM DNP LLB LLM LLD MBBS MRCP FRCP FRCS FRCPC FACP FACS FRS CBE OBE MBE")
"""Degrees and honours in capitals, without their full stops; after a family name alone they are initials."""
WEAK_DEGREES = vocabulary("MA BA MS BS DO MB JD SJ OP OSB OFM")
"""Such as are commoner as initials or as a family name, and count only after a whole name."""
DEGREE_PARTS = vocabulary("ph phil sc")
"""Words of degrees written apart: Ph. D., D. Phil., M. Sc."""

TITLES = vocabulary("dr prof mr mrs ms mme herr frau dra dott ing dr.-ing dipl.-ing")
"""What people are called before their names, casefolded and without full stops."""

GIVEN_NAMES_ONLY = vocabulary(
    "Sidney Beatrice Jacob Jakob Wilhelm Karl Hans Heinrich Johann Josef Gertrud Anna Maria Susan Elizabeth Margaret "
    "Catherine Katherine Barbara Helen Sarah Judith Nancy Patricia Linda Carol Christine William Edward Fernand Ernest "
    "Émile Françoise Hélène Monique Jeanne Juan José Carlos Giovanni Giuseppe Carlo"
)
"""Common given names that are hardly ever family names."""
GIVEN_NAMES = GIVEN_NAMES_ONLY | vocabulary(
    "Friedrich Marie Mary Ruth Jane John Robert Richard Michael David Peter Charles Joseph Daniel Stephen Andrew "
    "Anthony Philip Pierre Jean Jacques François Michel Louis Claude Georges Henri Paul André Philippe Marcel Roger "
    "René Raymond Gérard Bernard Alain Yves Lucien Albert Roland Gilles Simone Luis Antonio Francesco"
)
"""Those, and others; what stands around shows that they are no families."""

RULERS = vocabulary(
    "Louis Ludwig Luis Luigi Pius Pie Pío Pio Leo Leon Léon Elizabeth Elisabeth Isabel Catherine Katharina Frederick "
    "Friedrich Frédéric Wilhelm William Henry Heinrich Henri Enrique Charles Karl Carlos Carlo Karel Philip Philipp "
    "Philippe Felipe Francis Franz François James Jacobus George Georg Edward Richard Innocent Innozenz Gregory Gregor "
    "Clement Clemens Urban Benedict Benedikt Benedictus Boniface Bonifaz Alexander Sixtus Nicholas Nikolaus Nicolas "
    "Napoleon Napoléon Gustav Christian Alfonso Joseph Otto Ivan Peter Paul Johannes John Ramses Ramesses Ptolemy "
    "Abdulhamid Mehmed Selim Murad Constantine Leopold Maximilian Victoria Ferdinand Rudolf Mary Mithridates"
)
"""Names of kings, queens and popes, who have a number behind them."""
RULERS_IN_TWO_WORDS = frozenset(
    (
        *("John Paul", "Jean Paul", "Johannes Paul", "Giovanni Paolo", "Juan Pablo", "João Paulo", "Jan Paweł"),
        *("Friedrich Wilhelm", "Frederick William", "Victor Emmanuel", "Vittorio Emanuele", "Franz Joseph"),
    )
)
NUMERALS = vocabulary("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII")
"""Their numbers."""
REGNAL = vocabulary("pope papst pape papa king könig roi rey queen königin reine emperor kaiser empereur tsar czar")
"""What they are, casefolded."""
BACK_REFERENCES = vocabulary(
    "ders ders. Ders Ders. dies dies. Dies. id id. Id. idem idem. Idem Idem. ead ead. Ead. eadem Eadem dens dens."
)
"""Words for the names of the reference before; without a stop they may be names (Dies) where they have a capital."""

JOINERS = vocabulary("and & &amp; und et en og och with mit и та")
"""Words between two names."""
LOW_JOINERS = vocabulary("ve dan és şi și și và và και oraz eta і й و")
"""Such as are names, too, where they have a capital (Dan), and join names in lower case only."""

ROLES = vocabulary(
    "eds hrsg hrsgg hgg herausgeber herausgeberin editor editors edited translator translators translated transl "
    "übers übersetzer coords éds éditeur éditeurs editores compiler compilers compilador compiladores organizador "
    "organizadores coordinador coordinadores traducteur traductor tradutor traduttore çeviren inventor inventors "
    "assignee assignees"
)
ROLES_IN_SHORT = vocabulary(
    "ed éd hg trans tr trad dir coord org orgs comp comps red toim suom szerk επιμ çev haz přel prel övers terj ред "
    "сост упоряд edd"
)
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
ROLES_ALONE = vocabulary("director directors directora regisseur rev")
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
ROLE_OPENINGS = vocabulary(
    "edited translated compiled revised introduced annotated directed adapted selected illustrated collected arranged "
    "prepared produced herausgegeben übersetzt übertragen bearb bearbeitet eingel eingeleitet besorgt komm kommentiert "
    "ausgew ausgewählt zusammengestellt erl erläutert regie par by"
)
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
CHINESE_FAMILIES = vocabulary(
    "wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie song tang "
    "deng feng han cao zeng peng xiao cai pan tian dong yuan yu ye jiang du su wei cheng lu ding shen ren yao cui "
    "zhong tan fan liao shi jin jia xia fu fang zou xiong bai meng qin qiu hou yan xue lei hao mao"
)
# The commonest ones of Korea, before a given name of two syllables with a hyphen, and of Vietnam.
KOREAN_FAMILIES = vocabulary(
    "kim lee yi rhee park pak choi choe jung jeong chung kang cho jo yoon yun jang chang lim im rim han oh seo suh "
    "shin sin kwon hwang ahn an song yoo yu ryu hong jeon jun ko koh moon mun yang bae baek paik huh heo nam noh roh "
    "sim shim ha kwak sung seong cha joo ju woo koo ku min na jin ji eom um won"
)
VIETNAMESE_FAMILIES = vocabulary(
    "nguyễn nguyen trần tran phạm pham huỳnh huynh hoàng hoang phan đặng bùi bui đỗ ngô dương lê võ vũ hồ lý đinh "
    "trịnh trinh trương truong"
)
VIETNAMESE_SHORT_FAMILIES = vocabulary("le vo vu ho do ly ngo dang dinh duong mai")
"""Such as may be another word; a middle name (Van, Thi) tells that they are family names."""
FAMILIES_FIRST = CHINESE_FAMILIES | KOREAN_FAMILIES | VIETNAMESE_FAMILIES | VIETNAMESE_SHORT_FAMILIES
"""Family names that may stand before a given name in full."""
PATRONYMIC_ENDS = (
    *("ович", "евич", "овна", "евна", "ична", "ьич", "мич", "кич", "івна", "ївна", "йович"),
    *("ovna", "evna", "ichna"),
)
"""Ends of the names after the father that stand behind a given name; Latin -ovich ends too many family names."""
HUNGARIAN_INITIALS = vocabulary("zs gy sz cs ny")
"""Initials of two letters, casefolded and without full stops."""
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

MEETINGS = vocabulary(
    "proceedings proc conference conf symposium symp workshop workshops congress meeting colloquium kongress tagung "
    "actes atti actas anais icml nips neurips sigmod vldb kdd aaai ijcai acl cvpr iccv focs stoc soda popl pldi eccv "
    "iclr emnlp naacl eacl coling miccai interspeech icassp icra iros aistats sigir wsdm cikm icde sosp osdi nsdi "
    "usenix asplos oopsla eurocrypt asiacrypt infocom sigcomm mobicom globecom ecml pkdd icpr bmvc accv lrec ismir "
    "sigkdd colloque congrès congreso congresso coloquio colóquio convegno conferencia conferência conferenza "
    "jornadas simposio simpósio seminário encontro konferenz konferencja konferencji kongre kongresi sempozyum "
    "sempozyumu конференция конференции конференція конференції"
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
# the breve of "май"), and a Greek sigma is the one inside of words. Slavic, Baltic, Greek and Finnish months come in
# the nominative and in the form after a day. "listopad" is October to Croats, whose rows come before those of others,
# and November to Poles and Czechs, who are more; words around it may tell (`CROATIAN`).
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
    "sijecanj veljaca ozujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni prosinac",
    "sijecnja veljace ozujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca",
    "styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "sty lut mar kwi maj cze lip sie wrz paz lis gru",
    "leden unor brezen duben kveten cerven cervenec srpen zari rijen listopad prosinec",
    "ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince",
    "январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "янв фев мар апр маи июн июл авг сен окт ноя дек",
    "янв февр мар апр маи июн июл авг сент окт нояб дек",
    "ocak subat mart nisan mayıs haziran temmuz agustos eylul ekim kasım aralık",
    "oca subat mar nis mayis haz tem agu eyl eki kasim aralik",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu joulukuu",
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta lokakuuta "
    "marraskuuta joulukuuta",
    "tammi helmi maalis huhti touko kesa heina elo syys loka marras joulu",
    "januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december",
    "jan febr marc apr maj jun jul aug szept okt nov dec",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "ian febr mart apr mai iun iul aug sept oct noi dec",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "januari februari mac april mei jun julai ogos september oktober november disember",
    "січень лютии березень квітень травень червень липень серпень вересень жовтень листопад грудень",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "січ лют бер квіт трав черв лип серп верес жовт листоп груд",
    "януари февруари март април маи юни юли август септември октомври ноември декември",
    "јануари февруари март април мај јуни јули август септември октомври ноември декември",
    "јануар фебруар март април мај јун јул август септембар октобар новембар децембар",
    "јануара фебруара марта априла маја јуна јула августа септембра октобра новембра децембра",
    "januar februar mart april maj jun jul avgust septembar oktobar novembar decembar",
    "januara februara marta aprila maja juna jula avgusta septembra oktobra novembra decembra",
    "januar februar marec april maj jun jul august september oktober november december",
    "januara februara marca aprila maja juna jula augusta septembra oktobra novembra decembra",
    "januar februar marec april maj junij julij avgust september oktober november december",
    "januarja februarja marca aprila maja junija julija avgusta septembra oktobra novembra decembra",
    "sausis vasaris kovas balandis geguze birzelis liepa rugpjutis rugsejis spalis lapkritis gruodis",
    "sausio vasario kovo balandzio geguzes birzelio liepos rugpjucio rugsejo spalio lapkricio gruodzio",
    "janvaris februaris marts aprilis maijs junijs julijs augusts septembris oktobris novembris decembris",
    "janvari februari marta aprili maija junija julija augusta septembri oktobri novembri decembri",
    "janvara februara marta aprila maija junija julija augusta septembra oktobra novembra decembra",
    "jaanuar veebruar marts aprill mai juuni juuli august september oktoober november detsember",
    "gener febrer marc abril maig juny juliol agost setembre octubre novembre desembre",
    "ιανουαριοσ φεβρουαριοσ μαρτιοσ απριλιοσ μαιοσ ιουνιοσ "
    "ιουλιοσ αυγουστοσ σεπτεμβριοσ οκτωβριοσ νοεμβριοσ δεκεμβριοσ",
    "ιανουαριου φεβρουαριου μαρτιου απριλιου μαιου ιουνιου "
    "ιουλιου αυγουστου σεπτεμβριου οκτωβριου νοεμβριου δεκεμβριου",
    "ιαν φεβ μαρ απρ μαι ιουν ιουλ αυγ σεπ οκτ νοε δεκ",
    "ιαν φεβρ μαρτ απρ μαιη ιουν ιουλ αυγ σεπτ οκτ νοεμ δεκ",
)
MONTHS = {name: month for row in _MONTH_NAMES for month, name in enumerate(row.split(), start=1)} | {
    "studenog": 11,
    "juill": 7,
}
CROATIAN_OCTOBER = vocabulary("listopad listopada")
"""October to Croats, November to everybody else."""
CROATIAN = vocabulary("pristupljeno preuzeto posjeceno godine god dana")
"""Words that stand beside the months of Croats."""
IN_DATES = vocabulary(
    "data дата р рік року година године дана dana godine god gada metu "
    "ev yil yili tanggal pada ngay thang nam la din anul zo dna"
)
"""Words for years and days, and such as stand before them, in lower case and without accents."""
VISITS = vocabulary(
    "accessed access retrieved viewed visited consulted cited checked downloaded abgerufen zugriff zuletzt "
    "consulte consultado acesso acessado acceso geraadpleegd aufgerufen hamtad dostep обращения доступа abruf "
    "abrufdatum zugriffsdatum zugegriffen besucht gesehen eingesehen consultato visita gepruft просмотрено "
    "просмотра cit vid navstiveno navstivene erisim viitattu luettu haettu katsottu letoltes letoltve letoltese "
    "megtekintes megtekintve hozzaferes accesat accesata consultat звернення доступу посетен hamtat besokt lastet "
    "hentet lest besøkt besøgt tilgaet diakses dicapai truy pristupljeno posjeceno preuzeto dostop dostopno "
    "ogledano ziureta skatits vaadatud προσπελαση προσβαση προσβασησ ανακτηθηκε 参照 閲覧 閲覧日 最終閲覧 "
    "最終閲覧日 アクセス 最終アクセス 引用日期 访问日期 访问时间 abfrage accedido 见于"
)
"""Words that tell of a visit beside its date, in lower case and without accents."""
BESIDE_VISITS = vocabulary("last op from available at as em ultimo ultima tarihi tarih son ned fra cap ημερομηνια")
"""Words that stand with those."""
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
