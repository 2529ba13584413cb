"""The training process of the workbench: `python -m espalier.workbench.teaching`, orders on stdin, news on stdout.

It does what `espalier train` does, and says how it goes (`workbench.jobs` has the messages). The model that learns from
all corrected records comes first, so that it can be used at once. Then a fifth of the records judges models that learn
from more and more of the others: the learning curve, whose last point is the score of the version. The process ends
with its input: it does not outlive the server that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from espalier.document import Document
from espalier.errors import EspalierError
from espalier.recipes import Recipe, fit, plan
from espalier.recipes.adapting import Start
from espalier.recipes.judging import judge
from espalier.recipes.rule_files import gather_rules
from espalier.workbench.failures import Failure, explained
from espalier.workbench.tasks import REFERENCES

__all__ = ["main", "teach"]

_FOLD = 5
"""One record of so many judges."""

Tell = Callable[[dict[str, Any]], None]


def teach(orders: dict[str, Any], tell: Tell) -> None:
    """Train and judge as ordered; `tell` hears the news."""
    from espalier.io import read

    documents = read(orders["labelled"])
    pool = None if orders["pool"] is None else read(orders["pool"])
    held = documents[_FOLD - 1 :: _FOLD]
    rest = [document for i, document in enumerate(documents) if i % _FOLD != _FOLD - 1]
    sizes = _sizes(len(rest), pool is None) if held else []
    steps = 1 + len(sizes)

    def news(step: int) -> Callable[[str], None]:
        return lambda what: tell({"news": what, "progress": step / steps, "held_out": len(held)})

    news(0)("learning from all corrected records")
    recipe = _recipe(orders)
    fit(recipe, documents, unlabelled=pool, progress=news(0)).save(orders["output"])
    tell({"model": recipe.kind})
    if held and recipe.start is not None:
        from espalier.loading import load

        tell({"point": {"records": 0, **_scores(load("citations").model, held)}})
    for step, size in enumerate(sizes, 1):
        part = _recipe(orders)
        fit(part, rest[:size], unlabelled=pool, progress=news(step))
        scores = _scores(part.estimator, held)
        tell({"point": {"records": size, **scores}})
        if size == len(rest):
            tell({"scores": {**scores, "held_out": len(held)}})
    tell({"news": "done", "progress": 1.0, "held_out": len(held)})


def _sizes(n: int, quick: bool) -> list[int]:
    """Return how many records the points of the curve learn from; a slow method has but one point."""
    return sorted({max(1, n // 4), max(1, n // 2), n}) if quick else [n]


def _recipe(orders: dict[str, Any]) -> Recipe:
    """Return what to train; expectation maximisation knows no rules, they are applied to its answers."""
    rules = gather_rules(None, [] if orders["rules"] is None or orders["method"] == "em" else [orders["rules"]])
    return plan(
        task=orders["task"], method=orders["method"], rules=rules, unlabelled=orders["pool"] is not None,
        usual_start=_bundled_start if orders["task"] == REFERENCES else None,
    )  # fmt: skip


def _bundled_start() -> Start:
    from espalier.citations.adapting import bundled_start

    return bundled_start()


def _scores(estimator: Any, held: Sequence[Document]) -> dict[str, float]:
    report = judge(estimator, held).report
    return {"token_accuracy": report.token_accuracy, "field_f1": report.field_f1, "exact": report.exact}


def _limit(memory: int) -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _end_with_input() -> None:
    """Wait for the end of stdin, which the server holds open, and end the process then."""
    sys.stdin.read()
    os._exit(3)


def main() -> int:
    """Read the orders, train, and tell."""
    orders = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    stdout, sys.stdout = sys.stdout, sys.stderr  # what anything else prints is no news
    lock = threading.Lock()

    def tell(news: dict[str, Any]) -> None:
        with lock:
            stdout.write(json.dumps(news) + "\n")
            stdout.flush()

    try:
        _limit(orders["memory"])
        teach(orders, tell)
    except EspalierError as error:
        tell(explained(error).body())
        return 1
    except MemoryError:
        tell(Failure(507, "training needs more memory than a job may have", "use fewer texts").body())
        return 1
    finally:
        sys.stdout = stdout
    return 0


if __name__ == "__main__":
    sys.exit(main())
