"""What people write instead of a rule, by guess or out of habit, and the rule that they mean.

`meant` is asked only where reading has failed, so a rule that can be read is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

__all__ = ["meant"]

_Forms = Callable[[re.Match[str]], tuple[str, ...]]
_SIGNS = {
    "=": "==",
    "=<": "<=",
    "=>": ">=",
    "max": "<=",
    "most": "<=",
    "min": ">=",
    "least": ">=",
    "exactly": "==",
    "only": "<=",
}
_NUMBERS = {"one": "1", "two": "2", "three": "3"}
_LONGEST = 200  # characters; a slip is short, and long lines would take long


def meant(written: str, keywords: Collection[str]) -> str:
    """Return a hint with the rules that may be meant, or nothing; keywords : words that are no fields."""
    if len(written) > _LONGEST:
        return ""
    field = rf"(?!(?:{'|'.join(sorted(keywords))})\b)[^\W\d]\w*(?:[-/]\w+)*"
    for pattern, forms in _SLIPS:
        match = re.fullmatch(pattern.replace("FIELD", field), written)
        if match is not None:
            return f"write {' or '.join(_quoted(form) for form in forms(match))}"
    return ""


def _quoted(rule: str) -> str:
    """Return a rule in single quotes; its own quotes are double ones, and stay as they are."""
    return f"'{rule}'"


def _counted(m: re.Match[str]) -> tuple[str, ...]:
    """`price <= 1`, `max 1 price`, `at most 1 price`."""
    bound = _NUMBERS.get(m["n"], m["n"])
    return (f"count({m['a']}) {_SIGNS.get(m['sign'], m['sign'])} {bound}",)


def _pattern_of(m: re.Match[str]) -> tuple[str, ...]:
    """`token contains "g" -> unit`: patterns speak about the whole token."""
    part = re.sub(r"([^\w\s])", r"\\\1", m["text"])
    whole = {"start": f"{part}.*", "begin": f"{part}.*", "end": f".*{part}"}.get(m["how"], f".*{part}.*")
    return (f"token ~ /{whole}/{m['rest']}",)


# FIELD stands for the name of a field.
_SLIPS: tuple[tuple[str, _Forms], ...] = (
    (
        r"(?P<a>FIELD) (?:->|=>|implies|then) (?P<b>FIELD)",
        lambda m: (f"{m['a']} followed by {m['b']}", f"{m['a']} requires {m['b']}"),
    ),
    (r"if (?P<a>FIELD) then (?P<b>FIELD)(?: required)?", lambda m: (f"{m['a']} requires {m['b']}",)),
    (r"if (?P<a>FIELD) then (?P<rest>.+)", lambda m: (f"if {m['a']} required then {m['rest']}",)),
    (r"if (?P<a>token .+) then (?P<b>FIELD)", lambda m: (f"{m['a']} -> {m['b']}",)),
    (r"(?P<a>(?:token|label) .+?) ?(?:=>|then) ?(?P<rest>.+)", lambda m: (f"{m['a']} -> {m['rest']}",)),
    (r"(?P<a>FIELD) ?(?P<sign><=|>=|==|!=|=<|=>|=|<|>) ?(?P<n>\d+)", _counted),
    (
        r"(?P<a>(?:count|tokens|length|\d).*?) ?(?P<sign>=<|=>) ?(?P<rest>.+)",
        lambda m: (f"{m['a']} {_SIGNS[m['sign']]} {m['rest']}",),
    ),
    (r"(?:at )?(?P<sign>max|most|min|least|exactly|only) (?P<n>\d+|one|two|three) (?P<a>FIELD)", _counted),
    (r'token ?==? ?(?P<rest>".+)', lambda m: (f"token in {m['rest']}",)),
    (r"token ?(?:==?|=~|matches|like) ?(?P<rest>/.+)", lambda m: (f"token ~ {m['rest']}",)),
    (
        r'token (?:matches|like) "(?P<text>[^"]*[\\\[\](){}|*+?^$][^"]*)"(?P<rest>.*)',
        lambda m: (f"token ~ /{m['text'].strip('^$')}/{m['rest']}",),
    ),
    (r'token (?:matches|like|equals) (?P<rest>".+)', lambda m: (f"token in {m['rest']}",)),
    (r'token (?:(?P<how>start|begin|end|contain)s?|has)(?: with)? "(?P<text>[^"\\/]+)"(?P<rest>.*)', _pattern_of),
    (r'(?P<rest>".+ (?:->|only in) .+)', lambda m: (f"token in {m['rest']}",)),
    (r"(?P<rest>/.+ (?:->|only in) .+)", lambda m: (f"token ~ {m['rest']}",)),
    (r"(?P<a>FIELD) (?:is |must be )?(?:required|mandatory|needed)", lambda m: (f"{m['a']} required",)),
    (r"(?:required|requires?|needs?) (?P<a>FIELD)", lambda m: (f"{m['a']} required",)),
    (r"(?:no|not) (?P<a>FIELD)", lambda m: (f"not {m['a']} required",)),
    (r"(?P<a>FIELD) (?:comes )?after (?P<b>FIELD)", lambda m: (f"{m['b']} before {m['a']}",)),
    (r"(?P<a>FIELD) (?:follows|must follow) (?P<b>FIELD)", lambda m: (f"{m['b']} followed by {m['a']}",)),
)
"""A wrong form as a whole, without name and options, and what it may mean; the first that fits counts."""
