"""Few labels, rules and raw text: six sets, 10 to 1,000 labels, and what each way of learning makes of them.

    python bench/few_labels.py                      all cells, into build/few_labels, hours; stopped, it goes on
    python bench/few_labels.py --only conll04 20    one set, one size
    python bench/few_labels.py --page FILE          a page with curves of what is there so far

The ways:

    crf          `es.CRF()`
    crfsuite     sklearn-crfsuite with the templates of its tutorial, if it is installed
    rules        `recipes.train` with the rules of `few_labels_rules`
    rules, raw   the same with the other sequences of the set as raw text
    before       the same as it was: penalties counted, nothing shared, tags as they were

Rules were written from guidelines and raw text, at most 25 a set, no list of more than 30 words, and committed before
anything was scored. Sequences are drawn from the training part, three times; what is left of it is raw text. Measured
is field F1 on the development part, or where a set has none on a third of it that is never drawn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import espalier as es
from common import DATA, records_of
from espalier.document import Document
from espalier.metrics import segment_scores
from espalier.recipes import train

ROOT = Path(__file__).resolve().parents[1]
RULES = Path(__file__).with_name("few_labels_rules")
SETS = {
    "usaddress": "train",
    "seminars": "all",
    "wikigold": "train",
    "btc": "train",
    "conll04": "train",
    "ads": "train",
}
HELD = {"wikigold": "dev", "btc": "dev", "conll04": "dev", "ads": "dev"}
SIZES, DRAWS, RAW, MOST_TESTED = (10, 20, 50, 100, 300, 1000), 3, 1500, 400

Documents = Sequence[Document]


def parts_of(data: Path, name: str, quick: bool) -> tuple[list[Document], list[Document]]:
    """Return the sequences that are drawn from, and those that judge."""
    found = [_document(record) for record in records_of(data, name, SETS[name]) if record["tokens"]]
    if name in HELD:
        judges = [_document(record) for record in records_of(data, name, HELD[name]) if record["tokens"]]
    else:
        random.Random(name).shuffle(found)
        third = len(found) // 3
        found, judges = found[third:], found[:third]
    return (found[:60], judges[:10]) if quick else (found, judges[:MOST_TESTED])


def _document(record: dict[str, Any]) -> Document:
    return Document.from_tokens(record["tokens"], record["bio"])


def drawn(documents: Documents, name: str, size: int, draw: int) -> tuple[Documents, Documents]:
    """Return the labelled sequences of a draw, and the raw ones."""
    order = random.Random(f"{name} {draw}").sample(range(len(documents)), len(documents))
    return [documents[i] for i in order[:size]], [documents[i] for i in order[size : size + RAW]]


def scored(predict: Callable[[list[list[str]]], list[list[str]]], judges: Documents) -> float:
    """Return field F1, in per cent."""
    gold = [[tag or "O" for tag in document.tags or ()] for document in judges]
    return 100 * segment_scores(gold, predict([document.words for document in judges])).micro.f1


def crf(labelled: Documents, raw: Documents, rules: str) -> Any:
    """Train a CRF as anybody would."""
    corpus = es.Corpus.from_documents(labelled)
    return es.CRF().fit(corpus).predict


def crfsuite(labelled: Documents, raw: Documents, rules: str) -> Any:
    """Train sklearn-crfsuite with the templates of its tutorial."""
    from sklearn_crfsuite import CRF

    def of(words: Sequence[str]) -> list[dict[str, Any]]:
        def one(t: int, name: str) -> dict[str, Any]:
            word = words[t]
            return {f"{name}lower": word.lower(), f"{name}title": word.istitle(), f"{name}upper": word.isupper()}

        found = []
        for t, word in enumerate(words):
            here = {"bias": 1.0, "suffix3": word[-3:], "suffix2": word[-2:], "digit": word.isdigit(), **one(t, "")}
            here |= one(t - 1, "-1:") if t else {"BOS": True}
            here |= one(t + 1, "+1:") if t + 1 < len(words) else {"EOS": True}
            found.append(here)
        return found

    model = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    model.fit([of(d.words) for d in labelled], [[tag or "O" for tag in d.tags or ()] for d in labelled])
    return lambda X: [list(tags) for tags in model.predict([of(words) for words in X])]


def with_rules(labelled: Documents, raw: Documents, rules: str) -> Any:
    """Train with rules, by default settings."""
    return _trained(labelled, None, rules)


def with_raw(labelled: Documents, raw: Documents, rules: str) -> Any:
    """Train with rules and raw text, by default settings."""
    return _trained(labelled, raw, rules)


def before(labelled: Documents, raw: Documents, rules: str) -> Any:
    """Train with rules and raw text as the defaults were."""
    return _trained(labelled, raw, rules, penalties="count", settings={"shared": 0.0})


def _trained(labelled: Documents, raw: Documents | None, rules: str, **options: Any) -> Any:
    text = None if raw is None or not raw else [Document.from_tokens(d.words) for d in raw]
    return train(labelled, unlabelled=text, rules=rules, **options).estimator.predict


WAYS = {"crf": crf, "crfsuite": crfsuite, "rules": with_rules, "rules, raw": with_raw, "before": before}


def measure(options: argparse.Namespace) -> None:
    """Fill in the cells that are missing."""
    options.out.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        for name in SETS:
            if options.only and [name, str(size)] != options.only:
                continue
            documents, judges = parts_of(options.data, name, options.quick)
            if size > len(documents) and size > 100:
                continue
            rules = (RULES / f"{name}.rules").read_text(encoding="utf-8")
            for draw in range(1 if options.quick else DRAWS):
                labelled, raw = drawn(documents, name, size, draw)
                for way, learn in WAYS.items():
                    cell = options.out / f"{name}-{size}-{draw}-{way.replace(', ', '-')}.json"
                    if cell.exists() or (way == "crfsuite" and find_spec("sklearn_crfsuite") is None):
                        continue
                    f1 = scored(learn(labelled, raw, rules), judges)
                    cell.write_text(json.dumps({"set": name, "size": size, "draw": draw, "way": way, "f1": f1}))
                    print(f"{name:<10} {size:>5} {draw} {way:<10} {f1:6.1f}", flush=True)


def page_of(out: Path) -> str:
    """Return a page with a drawing for each set: a curve for each way, over the sizes, means of the draws."""
    from espalier.pages import Line, draw_lines, page, section

    cells = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("*.json"))]
    means: dict[tuple[str, str], dict[int, list[float]]] = {}
    for cell in cells:
        means.setdefault((cell["set"], cell["way"]), {}).setdefault(cell["size"], []).append(cell["f1"])
    body = []
    for name in SETS:
        curves = {way: sorted(means[name, way].items()) for way in WAYS if (name, way) in means}
        lines = [Line(way, [(size, sum(f1) / len(f1)) for size, f1 in curve]) for way, curve in curves.items()]
        if lines:
            body.append(
                section(name, [draw_lines(name, lines, x="labelled sequences", y="field F1", evenly=True).figure()])
            )
    return page("Few labels", body)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description="Field F1 of few labels, rules and raw text.")
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the shared data sets")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "few_labels", help="where cells are kept")
    parser.add_argument("--only", nargs=2, metavar=("SET", "SIZE"), help="one cell")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a page of what there is")
    parser.add_argument("--quick", action="store_true", help="one draw of a few records, to see that it runs")
    options = parser.parse_args()
    if options.page is not None:
        options.page.write_text(page_of(options.out), encoding="utf-8")
        return
    measure(options)


if __name__ == "__main__":
    main()
