r"""What TeX's commands stand for: accents, letters, dashes and quotes as characters, and markup without its commands.

    plain_text(r"G{\"o}del, K. \emph{{\"U}ber} formal unentscheidbare S\"atze")     'Gödel, K. Über formal ...'

A group loses its braces, an unknown command its name; its arguments stay, as they would on paper. Of commands whose
first argument is not printed (`\href`, `\bibinfo`, `\textcolor`, `\label` ...) that argument goes away. A formula keeps
its letters: `H$_2$O` is H2O, and Greek letters have their names in commands. A comment ends at its line. Time is linear
in the text, and nothing is ever run: a macro that a document defines is an unknown command.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterator

__all__ = ["Groups", "plain_text", "without_comments"]

_ACCENTS = {
    **{"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307"},
    **{"u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "b": "\u0331"},
    **{"d": "\u0323", "t": "\u0361", "textcommabelow": "\u0326", "textogonekcentered": "\u0328"},
}
_LETTERS = {
    **{"ss": "ß", "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø"},
    **{"l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ"},
    **{"ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "copyright": "©", "pounds": "£", "dag": "†", "ddag": "‡"},
    **{"ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "textbullet": "•"},
    **{"textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’"},
    **{"quotedblbase": "„", "quotesinglbase": "‚", "guillemotleft": "«", "guillemotright": "»", "flqq": "«"},
    **{"frqq": "»", "glqq": "„", "grqq": "“", "textquotedbl": '"', "textquotesingle": "'", "textasciigrave": "`"},
    **{"textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~", "textbar": "|"},
    **{"textasciicircum": "^", "textless": "<", "textgreater": ">", "textunderscore": "_", "textdegree": "°"},
    **{"degree": "°", "textregistered": "®", "texttrademark": "™", "textordfeminine": "ª", "textordmasculine": "º"},
    **{"textmu": "µ", "textexclamdown": "¡", "textquestiondown": "¿", "texteuro": "€", "euro": "€", "times": "×"},
    **{"TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX", "LaTeXe": "LaTeX2e", "slash": "/", "cdot": "·", "pm": "±"},
    **{"infty": "∞", "to": "→", "rightarrow": "→", "leq": "≤", "geq": "≥", "sim": "∼", "approx": "≈", "neq": "≠"},
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ"},
    **{"eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π"},
    **{"rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ"},
    **{"omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ"},
    **{"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "textperiodcentered": "·", "textsection": "§"},
}
# Commands that set a space or end a line.
_SPACES = frozenset(
    (
        *("newblock", "par", "quad", "qquad", "space", "newline", "linebreak", "nobreakspace", "enspace", "thinspace"),
        *("hfill", "break", "hskip", "hspace", "vskip", "item", "bibitem", "tab"),
    )
)
# Commands whose first argument is not printed.
_UNPRINTED = frozenset(
    (
        *("href", "bibinfo", "bibfield", "textcolor", "color", "label", "index", "hypertarget", "hyperlink", "cite"),
        *(
            "vspace",
            "hspace",
            "fontsize",
            "selectlanguage",
            "foreignlanguage",
            "providecommand",
            "newcommand",
            "doibase",
        ),
        *("setcounter", "addtocounter", "raisebox", "begin", "end", "bibcolor", "input", "include"),
    )
)
_DASHES = {"---": "—", "--": "–", "``": "“", "''": "”", ",,": "„", "!`": "¡", "?`": "¿"}
_TOKEN = re.compile(
    r"\\(?P<name>[A-Za-z@]+)\*?[ \t]*\n?[ \t]*|\\(?P<sign>.)|(?P<join>---?|``|''|,,|[!?]`)|(?P<one>[{}$~^_])"
    r"|(?P<text>(?:(?!,,|[!?]`|''|--)[^\\{}$~^_`])+|.)",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"\s*\[[^\]]{0,200}\]")
_LENGTHS = re.compile(r"-?\d*\.?\d+\s*(?:em|ex|pt|cm|mm|in)?(?:\s*(?:plus|minus)\s*-?\d*\.?\d+\s*(?:em|ex|pt|fil+)?)*")
_PENALTY = re.compile(r"-?\d+")
_IN_ADDRESS = re.compile(r"\\url\s*\{[^}]*\Z|https?://\S*\Z")
_SIGNS = re.compile(r"\\.|[{}\[\]]", re.DOTALL)
_SPACES_BEFORE = re.compile(r"\s*")
_LONGEST_WORD = 1_000
_LONGEST_GROUP = 5_000  # characters of an argument that is not printed


def without_comments(text: str) -> str:
    r"""Return TeX without its comments; `\%` is a per cent sign, and a web address may hold one."""
    return "\n".join(line if "%" not in line else _uncommented(line) for line in text.split("\n"))


def _uncommented(line: str) -> str:
    at = line.find("%")
    while at >= 0:
        before = at
        while before and line[before - 1] == "\\":
            before -= 1
        if (at - before) % 2 == 0 and not _IN_ADDRESS.search(line[max(at - 300, 0) : at]):
            return line[:at]
        at = line.find("%", at + 1)
    return line


def plain_text(tex: str) -> str:
    """Return what a stretch of TeX says, on one line; comments must be gone."""
    if not any(sign in tex for sign in "\\{}$~`'-^_,!?"):
        return " ".join(tex.split())
    return " ".join(map(_composed, "".join(_pieces(tex)).split()))


def _composed(word: str) -> str:
    """Return a word with letters and accents put together, unless it is no word: sorting many accents is quadratic."""
    return unicodedata.normalize("NFC", word) if len(word) <= _LONGEST_WORD else word


def _pieces(tex: str) -> Iterator[str]:
    """Yield the text between commands, and what commands stand for."""
    accent, formula, at = "", False, 0
    groups = Groups(tex, _LONGEST_GROUP)
    while found := _TOKEN.match(tex, at):
        at = found.end()
        name, sign = found["name"], found["sign"]
        said = ""
        if name is not None:
            if name in _ACCENTS:
                accent = _ACCENTS[name]
            else:
                at, said = _command(tex, at, name, groups)
                said = name if accent and name in ("i", "j") else said
        elif sign is not None:
            if sign in _ACCENTS and (sign.isalpha() or tex[at : at + 1].strip() not in ("", "}")):
                accent = _ACCENTS[sign]
            else:
                said = sign if sign in "&%$#_{}" else " " if sign in " \\,;:\n\t" else ""
        elif found["join"] is not None:
            said = _DASHES[found["join"]]
        elif found["one"] is not None:
            one = found["one"]
            formula = formula ^ (one == "$")
            said = " " if one == "~" else one if one in "^_" and not formula else ""
        else:
            said = found["text"].replace("`", "‘") if len(found["text"]) == 1 else found["text"]
        if accent and said:
            bare = said.lstrip()
            said, accent = (bare[0] + accent + bare[1:] if bare[:1].isalpha() else said), ""
        yield said


def _command(tex: str, at: int, name: str, groups: Groups) -> tuple[int, str]:
    """Return where the text after a command goes on, and what the command stands for."""
    if name in _LETTERS:
        return at, _LETTERS[name]
    if name in ("hskip", "vskip", "kern"):
        found = _LENGTHS.match(tex, at)
        return (found.end() if found else at), " "
    if name == "penalty":
        found = _PENALTY.match(tex, at)
        return (found.end() if found else at), ""
    if name in _UNPRINTED:
        while skipped := _ARGUMENT.match(tex, at):
            at = skipped.end()
        return groups.after(at, "{"), " " if name in _SPACES else ""
    return at, " " if name in _SPACES else ""


class Groups:
    """Where groups in braces or brackets end. It is asked in order, and looks once at each sign, closed or not.

    Parameters
    ----------
    tex : the text; longest : characters of a group, its ends counted; a longer one is as if it were never closed.
    """

    def __init__(self, tex: str, longest: int) -> None:
        """Begin at the first sign."""
        self._tex, self._longest = tex, longest
        self._signs, self._seen = _SIGNS.finditer(tex), 0
        self._open: deque[tuple[str, int]] = deque()
        self._ends: dict[int, int] = {}

    def after(self, at: int, opening: str) -> int:
        """Return the place after the group that begins here; here, if none does or it is long or never closed."""
        start = _SPACES_BEFORE.match(self._tex, at).end()  # type: ignore[union-attr]
        if not self._tex.startswith(opening, start):
            return at
        while start not in self._ends and self._seen < start + self._longest:
            self._next()
        if len(self._ends) > self._longest:  # what stands before is never asked for again
            self._ends = {opened: end for opened, end in self._ends.items() if opened >= start}
        end = self._ends.get(start, at)
        return end if end <= start + self._longest else at

    def _next(self) -> None:
        """Look at one more sign; a brace that closes ends the brackets in its group."""
        found = next(self._signs, None)
        self._seen = len(self._tex) + self._longest if found is None else found.end()
        sign = "" if found is None else found[0]
        if found is not None and sign in ("{", "["):
            self._open.append((sign, found.start()))
        elif found is not None and sign in ("}", "]"):
            while sign == "}" and self._open and self._open[-1][0] == "[":
                self._open.pop()
            if self._open and self._open[-1][0] == {"}": "{", "]": "["}[sign]:
                self._ends[self._open.pop()[1]] = found.end()
        while self._open and self._open[0][1] < self._seen - 2 * self._longest:
            self._open.popleft()
