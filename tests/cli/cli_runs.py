"""What the command line tests share: a tiny corpus, and what a command line gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# Every word has one label wherever it stands, so any model learns these perfectly.
TAGGED = """\
<fruit>plum</fruit> at <price>£ 3</price> in <place>Ely</place>
<fruit>pear</fruit> for <price>£ 9</price> near <place>Wye</place>
in <place>Ely</place> a <fruit>plum</fruit> at <price>£ 9</price>
"""


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Espalier = Callable[..., Outcome]
