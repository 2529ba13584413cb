"""What each run of references is: a list, notes with citations, or neither (an advert, a form, contents, a table).

Line by line, what follows a list often looks like it, and so does what stands before it: works of the same series,
tables, lives of authors, short citations. What they are is seen in a run of them: how long it is beside the others,
what heading it has, where it stands, how many of its lines have years, whether its type and its marks are those of the
others. A CRF over the runs of a document says it, under rules for what documents have (`runs.rules`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.documents.deciding.features import Seen, bucket
from espalier.documents.line_words import NAMED

__all__ = ["RUNS", "LineRun", "run_attributes", "run_words", "runs_of"]

RUNS = ("list", "notes", "none")
"""What a run of references may be."""
GAP = 2
"""Lines of text in a run, at most: what is a little more is the beginning of another."""
LEAST_HEADED = 3
"""References under a heading of their own, at least, if it says that they are a list."""
NEAR = 12
"""Lines to the run above, at most, if it may be more of the same."""
ABOVE = 3
"""Lines above a run in which its heading may stand."""

_SHARES = (0.02, 0.1, 0.3, 0.6, 0.95)
_PARTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)

_TOGETHER = (
    *(("place", name) for name in ("head", "share", "dated", "size", "style", "long", "rival", "gap", "page")),
    *(("rival", name) for name in ("head", "size", "long")),
    *(("long", "sure"), ("long", "named"), ("long", "dated"), ("head", "share"), ("noted", "share")),
)
"""What says more together."""

Float = NDArray[np.float64]


class LineRun(NamedTuple):
    """A run. starts : units that begin its references; first, behind : its first unit, and the one behind its last."""

    starts: tuple[int, ...]
    first: int
    behind: int


def runs_of(labels: Sequence[str]) -> list[LineRun]:
    """Return the runs of a document; a heading begins another, and so do more lines of text than a few."""
    found: list[LineRun] = []
    starts: list[int] = []
    behind = apart = 0
    for i, label in enumerate((*labels, "heading")):
        if label in ("ref", "ref-cont"):
            if apart > GAP and starts:
                found.append(LineRun(tuple(starts), starts[0], behind))
                starts = []
            starts += [i] if label == "ref" or not starts else []
            behind, apart = i + 1, 0
        elif label == "heading":
            apart = GAP + 1
        elif label == "text":
            apart += 1
    return [*found, LineRun(tuple(starts), starts[0], behind)] if starts else found


def run_attributes(page: Seen, labels: Sequence[str], inside: Float, runs: Sequence[LineRun]) -> list[list[str]]:
    """Return the attributes of each run. inside : how likely each unit is one of a reference."""
    whole = [sum(labels[i] in ("ref", "ref-cont") for i in range(run.first, run.behind)) for run in runs]
    total, most = sum(whole), max(whole, default=0)
    sizes = [median(page.units[i].size for i in run.starts) for run in runs]
    styles = [_style(page, run) for run in runs]
    heads = [_heading(page, labels, run) for run in runs]
    named = [head.startswith("references") for head in heads]
    main = max(range(len(runs)), key=lambda k: (named[k], whole[k]), default=0)
    n, pages = len(page.units), max((unit.page for unit in page.units), default=1)
    found = []
    for k, run in enumerate(runs):
        looks = [page.looks[i] for i in range(run.first, run.behind) if labels[i] in ("ref", "ref-cont")]
        count, lines = len(run.starts), len(looks)
        place = "main" if k == main else "before" if k < main else "behind"
        size = "same" if abs(sizes[k] - sizes[main]) < 0.3 else "small" if sizes[k] < sizes[main] else "large"
        dated = bucket(sum(one.years > 0 for one in looks) / count, (0.2, 0.4, 0.6, 0.8, 0.95, 1.2))
        share, long = bucket(whole[k] / total, _SHARES), bucket(count, (2, 3, 5, 8, 12, 20, 40))
        sure = bucket(fmean(inside[run.first : run.behind].tolist()), (0.3, 0.5, 0.7, 0.85, 0.95, 0.99))
        before = run.first - (runs[k - 1].behind if k else 0)
        first, last = page.units[run.first].page, page.units[run.behind - 1].page
        noted = sum(page.units[i].hint == "note" or _note(page, i) for i in run.starts) / count
        mine = {
            "place": place,
            "long": f"{long}",
            "share": f"{share}",
            "head": heads[k],
            "dated": f"{dated}",
            "sure": f"{sure}",
            "size": size if page.units[run.first].placed else "none",
            "style": "same" if styles[k] == styles[main] else f"{styles[k]} in {styles[main]}",
            "mark": styles[k],
            "noted": f"{bucket(noted, (0.2, 0.5, 0.8))}",
            "from": f"{bucket(run.first / n, _PARTS)}",
            "to": f"{bucket(run.behind / n, _PARTS)}",
            "covers": f"{bucket((run.behind - run.first) / n, _SHARES)}",
            "page": "cover" if last <= min(2, pages - 1) else "last" if first == pages else "amid",
            "gap": f"{bucket(before, (1, 4, 8, 15, 40, 200))}",
            "named": f"{bucket(sum(page.looks[i].begin in NAMED for i in run.starts) / count, (0.2, 0.4, 0.6, 0.8))}",
            "lines": f"{bucket(lines / count, (1.3, 2, 3, 5, 8))}",
            "prose": f"{bucket(sum(one.prose for one in looks) / lines, (0.05, 0.15, 0.3, 0.6))}",
            "rival": f"{named[main] and k != main}&{whole[k] == most}",
        }
        for flag in ("pages", "url", "publisher", "in", "email", "copyright", "cite", "wie anm", "suggested"):
            mine[flag] = f"{bucket(sum(flag in one.flags for one in looks) / count, (0.01, 0.2, 0.5))}"
        found.append(["bias", *(f"{name}={value}" for name, value in mine.items())])
        found[-1] += [f"{a}={mine[a]}&{b}={mine[b]}" for a, b in _TOGETHER]
    return found


def run_words(page: Seen, labels: Sequence[str], runs: Sequence[LineRun]) -> list[str]:
    """Return the word for each run that rules are about; see `runs.rules`."""
    heads = [_heading(page, labels, run) for run in runs]
    headed = [
        len(run.starts) >= LEAST_HEADED and head.startswith("references") for run, head in zip(runs, heads, strict=True)
    ]
    found = []
    for k, run in enumerate(runs):
        above = labels[runs[k - 1].behind : run.first] if k else ()
        near = k > 0 and len(above) <= NEAR and not heads[k] and "heading" not in above
        found.append("headed" if headed[k] else "near" if near else "apart" if any(headed[:k]) else "plain")
    return found


def _heading(page: Seen, labels: Sequence[str], run: LineRun) -> str:
    """Return the kind of the heading right above a run, "plain" for one of no known kind, or nothing."""
    for i in range(run.first - 1, max(run.first - 1 - ABOVE, -1), -1):
        if labels[i] == "heading" or page.looks[i].heading.startswith(("references", "other")):
            return page.looks[i].heading or "plain"
    return ""


def _style(page: Seen, run: LineRun) -> str:
    """Return the kind of marks that more than half of the references begin with, or nothing."""
    marks = [mark[0] if (mark := page.looks[i].mark) is not None else "" for i in run.starts]
    style, times = Counter(marks).most_common(1)[0]
    return style if 2 * times > len(marks) else ""


def _note(page: Seen, i: int) -> bool:
    mark = page.looks[i].mark
    return mark is not None and mark[0] in ("n", "n^")
