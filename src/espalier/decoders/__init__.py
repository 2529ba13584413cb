"""Decoders: potentials + rules -> labels, with a certificate. One algorithm a file, one result type.

`DECODERS` is the table of methods by name; `decode`, `marginals` and `sample` are the front door. A method that is
asked for by its name is imported only then.
"""

from typing import TYPE_CHECKING

from espalier.decoders.base import Decoding, Problem, Verdict, Violated
from espalier.decoders.certify import Certificate, Status, WorkDone
from espalier.lazy import on_use

if TYPE_CHECKING:
    from espalier.decoders.api import decode, marginals, sample
    from espalier.decoders.explanation import Explanation, explain
    from espalier.decoders.score_forms import first_subword
    from espalier.decoders.table import DECODERS

__all__ = [
    "DECODERS",
    "Certificate",
    "Decoding",
    "Explanation",
    "Problem",
    "Status",
    "Verdict",
    "Violated",
    "WorkDone",
    "decode",
    "explain",
    "first_subword",
    "marginals",
    "sample",
]

__getattr__, __dir__ = on_use(
    __name__,
    {
        **{"DECODERS": "table", "first_subword": "score_forms", "Explanation": "explanation", "explain": "explanation"},
        **{"decode": "api", "marginals": "api", "sample": "api"},
    },
)
