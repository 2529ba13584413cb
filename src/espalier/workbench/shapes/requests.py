"""The shapes of requests: what the OpenAPI description says, and what they are checked against."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from espalier.workbench.tasks import LABEL, MOST_LABELS, NAME

__all__ = [
    "LARGEST",
    "ApiShape",
    "Chosen",
    "ComparisonQuestion",
    "Corrections",
    "EvaluationQuestion",
    "JobOrder",
    "NewName",
    "NewTask",
    "ParseQuestion",
    "Pasted",
    "PlaceInText",
    "RedecodeQuestion",
    "RulesText",
    "SuggestQuestion",
    "VersionRead",
]

LARGEST = 2**53 - 1
"""The largest number that every JSON reader keeps exactly; numbers of records and models stay below."""

_TEXT = 10_000_000  # the size of a request bounds it, too


VersionRead = Annotated[int, Field(ge=1, le=LARGEST)] | None
"""The version that was read; without one, whatever is there is overwritten."""


class ApiShape(BaseModel):
    """What all shapes share: a name that is not described is a mistake."""

    model_config = ConfigDict(extra="forbid")


class NewTask(ApiShape):
    """A task to make."""

    name: Annotated[str, Field(pattern=f"^{NAME}$")]
    labels: Annotated[
        list[Annotated[str, Field(max_length=40, pattern=f"^{LABEL}$")]], Field(min_length=1, max_length=MOST_LABELS)
    ]
    rules: Annotated[str, Field(max_length=_TEXT)] = ""
    outside: bool = True
    features: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=200)] | None = None


class PlaceInText(ApiShape):
    """A field that somebody assigned."""

    label: Annotated[str, Field(max_length=200)]
    start: Annotated[int, Field(ge=0, le=LARGEST)]
    end: Annotated[int, Field(ge=0, le=LARGEST)]


class Pasted(ApiShape):
    """Text to add."""

    text: Annotated[str, Field(min_length=1, max_length=_TEXT)]
    layout: Literal["auto", "lines", "blocks"] = "auto"


class Corrections(ApiShape):
    """The fields of a record, as you say."""

    fields: Annotated[list[PlaceInText], Field(max_length=5000)]
    version: VersionRead = None


class ParseQuestion(ApiShape):
    """Texts to parse; nothing is kept."""

    texts: Annotated[list[Annotated[str, Field(max_length=_TEXT)]], Field(max_length=100_000)]
    k: Annotated[int, Field(ge=1, le=20)] = 1
    model: Annotated[int, Field(ge=0, le=LARGEST)] | None = None


def _finite(value: float | str) -> float | str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError('a penalty is a finite number, or "hard"')
    return value


Penalty = Annotated[Annotated[float, Field(ge=0, le=1e9)] | Literal["hard"], AfterValidator(_finite)]
RuleName = Annotated[str, Field(max_length=200)]


class RulesText(ApiShape):
    """Rules as text, with sliders and switches."""

    text: Annotated[str, Field(max_length=200_000)]
    penalties: Annotated[dict[RuleName, Penalty], Field(max_length=1000)] = {}
    off: Annotated[list[RuleName], Field(max_length=1000)] = []
    version: VersionRead = None


class SuggestQuestion(ApiShape):
    """How many rules to suggest at most."""

    most: Annotated[int, Field(ge=1, le=100)] = 10


class RedecodeQuestion(ApiShape):
    """Records, and rules to try on them; what is left out is as stored."""

    records: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST)]], Field(max_length=100_000)] | None = None
    text: Annotated[str, Field(max_length=200_000)] | None = None
    penalties: Annotated[dict[RuleName, Penalty], Field(max_length=1000)] | None = None
    off: Annotated[list[RuleName], Field(max_length=1000)] | None = None
    model: Annotated[int, Field(ge=0, le=LARGEST)] | None = None


class JobOrder(ApiShape):
    """What to train."""

    method: Literal["supervised", "words", "codl", "samplerank", "em", "pr", "ge"] = "supervised"
    name: Annotated[str, Field(max_length=80)] = ""
    activate: bool | Literal["always"] = True


class Chosen(ApiShape):
    """A model by number; null is none."""

    id: Annotated[int, Field(ge=0, le=LARGEST)] | None
    version: VersionRead = None


class NewName(ApiShape):
    """A name for a model."""

    name: Annotated[str, Field(min_length=1, max_length=80)]


class EvaluationQuestion(ApiShape):
    """Which model to measure, and how many mistakes to show."""

    model: Annotated[int, Field(ge=0, le=LARGEST)] | None = None
    errors: Annotated[int, Field(ge=0, le=1000)] = 50


class ComparisonQuestion(ApiShape):
    """Which models to compare."""

    a: Annotated[int, Field(ge=0, le=LARGEST)]
    b: Annotated[int, Field(ge=0, le=LARGEST)]
