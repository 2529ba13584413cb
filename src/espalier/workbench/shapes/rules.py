"""The shapes of rules and labels: as they are, as they are suggested, and what other ones would change."""

from __future__ import annotations

from typing import Literal

from espalier.server.rule_texts import PriceSource
from espalier.server.shapes import ApiShape, CertificateAnswer, NamedCertificate, PlaceInText, ViolationAnswer


class RuleRow(ApiShape):
    """One rule, and what it costs now."""

    name: str
    text: str
    line: int
    end_line: int
    penalty: float | None
    hard: bool
    source: PriceSource
    once: bool
    on: bool
    kind: Literal["local", "global"]


class RuleMistake(ApiShape):
    """A mistake in a text of rules."""

    line: int
    column: int
    message: str
    hint: str


class Rules(ApiShape):
    """The rules of a task."""

    text: str
    version: int
    penalties: dict[str, float | Literal["hard"]]
    off: list[str]
    rules: list[RuleRow]
    errors: list[RuleMistake]


class Suggestion(ApiShape):
    """A rule that was found."""

    name: str
    text: str
    line: str
    penalty: float | None
    support: int
    gold: int
    predicted: int
    fixes: int | None
    breaks: int | None


class Suggestions(ApiShape):
    """Rules that were found."""

    judged: int
    candidates: int
    suggestions: list[Suggestion]


class RuleCount(ApiShape):
    """How often a rule is broken."""

    name: str
    before: int | None
    after: int | None
    records: int | None


class ChangedRecord(ApiShape):
    """A record that differs."""

    id: int
    changed: bool
    tokens_changed: int
    before: list[PlaceInText]
    after: list[PlaceInText]
    violations: list[ViolationAnswer]
    certificate: CertificateAnswer | NamedCertificate


class Redecoded(ApiShape):
    """What other rules would change."""

    model: int | None
    milliseconds: float
    decoded: int
    changed: int
    rules: list[RuleCount]
    records: list[ChangedRecord]


class RuleLine(ApiShape):
    """A line of the rules, before and after."""

    before: str
    after: str


class LabelsAnswer(ApiShape):
    """What a change of labels does. reopened : records no longer confirmed; model : is one put out of use?"""

    labels: list[str]
    records: int
    reopened: int
    rules: list[RuleLine]
    model: bool
    done: bool
