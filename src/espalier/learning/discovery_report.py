"""What `discover` found: rules with their figures, as values and as a task file that a person can prune."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from espalier.corpus import Labels
from espalier.rules.ruleset import RuleSet

__all__ = ["Discovery", "Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule and what the data say about it.

    template : where it comes from; text : the rule without name and penalty.
    support : clauses of the gold labels for which the rule applies and holds; confidence : their share of those for
    which it applies. gold, predicted : sequences whose gold labels, or predictions, break it; importance : predicted /
    gold. separated : sequences whose prediction breaks it while the gold labels keep it.
    penalty : None if none was asked for. fixes, breaks : the sequences, by number, whose labels get better and worse
    if the model is decoded under this rule alone, at this penalty; None where there is no model to decode.
    """

    name: str
    template: str
    text: str
    support: int
    confidence: float
    gold: int
    predicted: int
    importance: float
    separated: tuple[int, ...]
    penalty: float | None = None
    fixes: tuple[int, ...] | None = None
    breaks: tuple[int, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold; an infinite importance or penalty becomes "inf"."""
        return {name: "inf" if value == math.inf else value for name, value in asdict(self).items()}

    def __str__(self) -> str:
        """Say it in one line."""
        share = f"{100 * self.confidence:.1f}%"
        said = [
            f"support {self.support} ({share})",
            f"broken by {self.predicted} predictions, {self.gold} gold labellings",
        ]
        if self.fixes is not None and self.breaks is not None:
            said.append(f"alone fixes {len(self.fixes)}, breaks {len(self.breaks)}")
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class Discovery:
    """Rules found in data, the most useful first.

    labels : what the rules speak about; rules : the K rules, with penalties if they were asked for; rows : one
    Finding a rule, in the same order; candidates, important : how many rules were looked at, and how many passed the
    threshold of importance before a covering was chosen; sequences : N.
    """

    labels: Labels
    rules: RuleSet
    rows: tuple[Finding, ...]
    candidates: int
    important: int
    sequences: int

    def only(self, names: Iterable[str]) -> Discovery:
        """Return the named rules alone."""
        kept = self.rules.only(names)
        rows = tuple(row for row in self.rows if row.name in kept.names)
        return Discovery(self.labels, kept, rows, self.candidates, self.important, self.sequences)

    def to_rules(self) -> str:
        """Return the text of a rules file, each rule under a comment with its figures."""
        lines = []
        for rule, row in zip(self.rules, self.rows, strict=True):
            lines += [f"# {row}", str(rule)]
        return "".join(f"{line}\n" for line in lines)

    def to_task(self, *, defaults: Mapping[str, str | int | float | bool] | None = None) -> str:
        """Return the text of a task file that `load_task` reads: labels, rules, and the given defaults."""
        about = (
            f"# {self.rules.K} rules found in {self.sequences} labelled sequences, out of {self.candidates} candidates."
        )
        labels = "".join(f"  {_quoted(name)},\n" for name in self.labels)
        text = self.to_rules()
        body = f"'''\n{text}'''" if "'''" not in text else _quoted(text)
        parts = [f"{about}\n# Delete what does not convince you.\n\nlabels = [\n{labels}]\n"]
        if self.rules.K:
            parts.append(f"[rules]\ntext = {body}\n")
        if defaults:
            parts.append("[defaults]\n" + "".join(f"{key} = {_quoted(value)}\n" for key, value in defaults.items()))
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "candidates": self.candidates,
            "important": self.important,
            "sequences": self.sequences,
            "labels": list(self.labels),
            "rules": [row.to_dict() for row in self.rows],
        }


def _quoted(value: str | int | float | bool) -> str:
    """Return a TOML value; a JSON string is one, but for DEL, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
