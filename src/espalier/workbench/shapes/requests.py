"""The shapes of requests: what the OpenAPI description says, and what they are checked against."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from espalier.recipes import METHODS
from espalier.server.shapes import LARGEST, LONGEST, ApiShape, PlaceInText
from espalier.server.tasks import LABEL, MOST_LABELS, NAME

VersionRead = Annotated[int, Field(ge=1, le=LARGEST)] | None
"""The version that was read; without one, whatever is there is overwritten."""


def _known_method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"expected one of {', '.join(METHODS)}")
    return name


class NewTask(ApiShape):
    """A task to make."""

    name: Annotated[str, Field(pattern=f"^{NAME}$")]
    labels: Annotated[
        list[Annotated[str, Field(max_length=40, pattern=f"^{LABEL}$")]], Field(min_length=1, max_length=MOST_LABELS)
    ]
    rules: Annotated[str, Field(max_length=LONGEST)] = ""
    outside: bool = True
    features: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=200)] | None = None


class Pasted(ApiShape):
    """Text to add."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    layout: Literal["auto", "lines", "blocks"] = "auto"


class Corrections(ApiShape):
    """The fields of a record, as you say."""

    fields: Annotated[list[PlaceInText], Field(max_length=5000)]
    version: VersionRead = None


def _finite(value: float | str) -> float | str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError('a penalty is a finite number, or "hard"')
    return value


Penalty = Annotated[Annotated[float, Field(ge=0, le=1e9)] | Literal["hard"], AfterValidator(_finite)]
RuleName = Annotated[str, Field(max_length=200)]


class RulesText(ApiShape):
    """Rules as text, with sliders and switches."""

    text: Annotated[str, Field(max_length=200_000)]
    penalties: dict[RuleName, Penalty] = Field(default={}, max_length=1000)
    off: list[RuleName] = Field(default=[], max_length=1000)
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

    method: Annotated[str, AfterValidator(_known_method)] = "supervised"
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


class MarkOrder(ApiShape):
    """Marks of a record. flag : why it is marked, null takes the mark away; skipped : put it off, or back."""

    flag: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    skipped: bool | None = None


class NewComment(ApiShape):
    """What to say about a record."""

    text: Annotated[str, Field(min_length=1, max_length=5000)]


class SplitOrder(ApiShape):
    """Where to cut a record: the first character of the second one."""

    at: Annotated[int, Field(ge=1, le=LARGEST)]


class MergeOrder(ApiShape):
    """Which record to put behind this one."""

    other: Annotated[int, Field(ge=1, le=LARGEST)]


class SureOrder(ApiShape):
    """Confirm open records whose confidence is at least `above`; unless `really`, only show a sample of them."""

    above: Annotated[float, Field(ge=0.5, le=1)]
    sample: Annotated[int, Field(ge=1, le=100)] = 10
    really: bool = False


LabelName = Annotated[str, Field(max_length=200)]
NewLabel = Annotated[str, Field(pattern=f"^{LABEL}$", max_length=80)]


class LabelsOrder(ApiShape):
    """A change of labels; a label that is renamed to one that is there is merged with it. really : do it."""

    add: Annotated[list[NewLabel], Field(default_factory=list, max_length=200)]
    rename: Annotated[dict[LabelName, NewLabel], Field(default_factory=dict, max_length=200)]
    remove: Annotated[list[LabelName], Field(default_factory=list, max_length=200)]
    really: bool = False
    version: VersionRead = None
