"""The training process of the workbench: `python -m espalier.workbench.teaching`, orders on stdin, news on stdout.

It does what `espalier train` does, and says how it goes (`workbench.jobs` has the messages). The model that learns from
all corrected records comes first. Then it is judged, against the model that is in use (`workbench.judgement`). Where
there are enough records the learning curve follows. The process ends with its input: it does not outlive the server
that started it.
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
from espalier.recipes import METHODS, Recipe, fit, plan
from espalier.recipes.adapting import Start
from espalier.recipes.judging import interval, judge
from espalier.recipes.rule_files import gather_rules
from espalier.server.failures import Failure, explained
from espalier.server.tasks import REFERENCES
from espalier.workbench.judgement import FEWEST_DRAWN, Judging, folds, verdict

__all__ = ["main", "teach"]

Tell = Callable[[dict[str, Any]], None]


def teach(orders: dict[str, Any], tell: Tell) -> None:
    """Train and judge as ordered; `tell` hears the news."""
    from espalier.io import read

    documents = read(orders["labelled"])
    pool = None if orders["pool"] is None else read(orders["pool"])
    parts = folds(len(documents))
    held_out = sum(map(len, parts))
    drawn = len(parts) == 1 and held_out >= FEWEST_DRAWN
    curve = _sizes(len(documents) - held_out, orders["method"]) if drawn else []
    steps = 1 + len(parts) + len(curve)

    def news(step: int) -> Callable[[str], None]:
        return lambda what: tell({"news": what, "progress": min(step, steps) / steps, "held_out": held_out})

    def learned(method: str, some: Sequence[Document], step: int) -> Any:
        recipe = _recipe(orders, method)
        fit(recipe, some, unlabelled=pool if METHODS[method].pool else None, progress=news(step))
        return recipe.estimator

    news(0)("learning from all corrected records")
    recipe = _recipe(orders, orders["method"])
    fit(recipe, documents, unlabelled=pool, progress=news(0)).save(orders["output"])
    tell({"model": recipe.kind})
    judging = Judging(documents, orders.get("active"), learned, lambda step: news(step)("judging"))
    judged = judging.run(parts, orders["method"])
    if judged is not None:
        tell({"scores": {**judged.scores, "held_out": held_out}})
    tell({"verdict": verdict(judged, orders.get("active"), held_out)})
    if curve:
        _draw(documents, parts[0], curve, recipe, learned, orders, len(parts) + 1, tell)
    tell({"news": "done", "progress": 1.0, "held_out": held_out})


def _draw(
    documents: Sequence[Document], held: Sequence[int], sizes: Sequence[int], recipe: Recipe,
    learned: Callable[[str, Sequence[Document], int], Any], orders: dict[str, Any], step: int, tell: Tell,
) -> None:  # fmt: skip
    """Tell the points of the learning curve, each with its interval."""
    aside = set(held)
    judges, rest = [documents[i] for i in held], [d for i, d in enumerate(documents) if i not in aside]
    if recipe.start is not None:
        from espalier.loading import load

        tell({"point": {"records": 0, **_figures(load("citations").model, judges)}})
    for k, size in enumerate(sizes):
        tell({"point": {"records": size, **_figures(learned(orders["method"], rest[:size], step + k), judges)}})


def _figures(estimator: Any, held: Sequence[Document]) -> dict[str, Any]:
    """Return the figures of a model on held-out records, with 95 % intervals."""
    judged = judge(estimator, held)
    report = judged.report
    found = {"token_accuracy": report.token_accuracy, "field_f1": report.field_f1, "exact": report.exact}
    for metric, short in (("token_accuracy", "token"), ("field_f1", "field")):
        found[f"{short}_low"], found[f"{short}_high"] = interval(judged.gold, judged.predicted, metric)
    return found


def _sizes(n: int, method: str) -> list[int]:
    """Return how many records the points of the curve learn from; a slow method has but one point."""
    return [n] if METHODS[method].pool else sorted({max(1, n // 4), max(1, n // 2), n})


def _recipe(orders: dict[str, Any], method: str) -> Recipe:
    """Return what to train; expectation maximisation knows no rules, they are applied to its answers."""
    rules = gather_rules(None, [] if orders["rules"] is None or method == "em" else [orders["rules"]])
    return plan(
        task=orders["task"], method=method, rules=rules,
        unlabelled=orders["pool"] is not None and METHODS[method].pool,
        usual_start=_bundled_start if orders["task"] == REFERENCES else None,
    )  # fmt: skip


def _bundled_start() -> Start:
    """Return the bundled model; what it knows of other styles is replayed, since a project may hold any."""
    from espalier.citations.adapting import bundled_start

    return bundled_start(replaying=True)


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
