"""Render labelled references: works x styles x languages x noise, as JSON Lines: `make rendered`.

    python scripts/render_references.py --data DIR --output build/rendered --train 120000 --dev 4000 --unseen 4000

DIR holds `csl` (styles and locales of the Citation Style Language, and their parts) and `metadata` (works, and their
parts). Styles of a part meet works of the same part: what is `unseen` trains nothing, and comes without noise. Needs
Node.js; citeproc-js is installed below build/. The same seed gives the same bytes. `docs/rendering.md` says more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from rendering.abroad import Abroad
from rendering.articles import LAYOUTS, write_article
from rendering.bibtex import STYLES, Writer
from rendering.exchange import Exchange
from rendering.kinds import Maker
from rendering.labels import label_marked, read_marked
from rendering.noise import spoil
from rendering.plan import Job, Style, plan, read_styles, work
from rendering.traditions import Traditions
from rendering.words import Words
from rendering.works import Pool

from espalier.citations.training import plain_tags
from espalier.document import Document
from rendering import citeproc

PARTS = ("train", "dev", "unseen")
NOISE = {"train": 1.0, "dev": 0.5, "unseen": 0.0}
"""The share of references that noise may touch."""

EXCHANGED = {"train": 0.6, "dev": 0.0, "unseen": 0.0}
"""The share of references of which rare words are exchanged."""

BIBTEX = 0.16
"""The share of references in styles that CSL lacks; they count as seen, so `unseen` has none."""

ARTICLES = 0.05
"""The share of articles in layouts that styles lack; they count as seen, too."""

TRADITIONS, ABROAD = 0.08, 0.06
"""The shares of references in ways of citing and of countries that have few styles; only `train` has them."""

SPARE = 1.12
"""How many more are rendered than wanted: copies and what is no reference are dropped."""

BUILD = Path(__file__).parents[1] / "build"

Rendering = Callable[[Sequence[Job]], Iterable[dict[str, Any]]]
"""What renders jobs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write a file for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of csl and metadata")
    parser.add_argument("--output", type=Path, default=BUILD / "rendered", help="directory to write to")
    parser.add_argument(
        "--tools", type=Path, default=BUILD, help="directory to install citeproc-js and unpack styles in"
    )
    for part in PARTS:
        parser.add_argument(f"--{part}", type=int, default=0, metavar="N", help=f"how many references of part {part}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2, help="that render at a time; the files do not depend on it")
    parser.add_argument("--clean", action="store_true", help="no noise, no exchanged words: who learns adds them")
    options = parser.parse_args(arguments)
    tool, styles = citeproc.install(options.tools / "citeproc"), citeproc.unpack(options.data, options.tools / "csl")
    options.output.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        wanted = getattr(options, part)
        if wanted:
            rendering = partial(
                citeproc.render,
                citeproc=tool,
                styles=styles,
                kept=styles.with_name("renderings"),
                processes=options.processes,
            )
            rows, dropped = make(part, wanted, options.data, rendering, options.seed, clean=options.clean)
            write(rows, options.output / f"{part}.jsonl.gz")
            sys.stdout.write(f"{part}: {len(rows)} references, dropped: {dict(dropped)}\n")


def make(
    part: str,
    wanted: int,
    data: Path,
    rendering: Rendering,
    seed: int,
    pool: Pool | None = None,
    styles: Sequence[Style] | None = None,
    clean: bool = False,
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the references of a part, shuffled, and what was dropped and why.

    pool, styles : the works and the styles, else those of the part in the directory `data`; those alone, then.
    clean : without noise and exchanged words.
    """
    random, words = Random(f"{seed}/{part}"), Words.read(part)
    maker = Maker(Pool.read(data, part) if pool is None else pool, words, random)
    share = 0.0 if part == "unseen" else BIBTEX
    dropped: Counter[str] = Counter()
    found = list(_bibtex(maker, random, words, round(wanted * share * SPARE)))
    styles = read_styles(data, part) if styles is None else styles
    jobs = list(plan(styles, maker, random, round(wanted * (1 - share) * SPARE), evenly=part != "train"))
    found += _csl(jobs, rendering, dropped)
    found += _articles(maker, random, words, round(wanted * ARTICLES) if share else 0)
    if part == "train" and pool is None:
        found += _traditions(maker, random, round(wanted * TRADITIONS))
        found += _abroad(random, round(wanted * ABROAD))
    exchange, drawn = (
        Exchange((document, origin["locale"][:2]) for document, origin in found),
        Random(f"{seed}/exchange"),
    )
    rows, seen = [], set()
    for document, origin in found:
        if not clean and drawn.random() < EXCHANGED[part]:
            document, origin["exchanged"] = exchange(document, drawn), True
        if not clean and random.random() < NOISE[part]:
            document, origin["noise"] = spoil(document, random)
        key = re.sub(r"[\W_]+", "", document.text).casefold()
        reason = "copy" if key in seen else why_dropped(document)
        if reason:
            dropped[reason] += 1
        else:
            seen.add(key)
            rows.append(row(document, origin))
    random.shuffle(rows)
    for k, one in enumerate(rows[:wanted]):
        one["id"] = f"rendered/{part}/{k}"
    return rows[:wanted], dropped


def _bibtex(maker: Maker, random: Random, words: Words, count: int) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield references in the styles that CSL lacks."""
    writer, n = Writer(random, words), 0
    while n < count:
        style, item = random.choice(STYLES), work(maker, random, "en-US", "")
        latin = item.get("language", "en") not in ("ru", "zh", "ja")
        document = writer.write(item, style) if latin else None
        if document is not None:
            n += 1
            yield document, {"style": f"bst/{style}", "locale": "en-US", "kind": item["kind"], "work": item["work"]}


def _articles(maker: Maker, random: Random, words: Words, count: int) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield articles in layouts of their own; drawn last, so that what citeproc-js renders is the same without them."""
    n = 0
    while n < count:
        layout, item = random.choice(LAYOUTS), work(maker, random, "en-US", "")
        latin = item.get("language", "en") not in ("ru", "zh", "ja")
        document = write_article(random, words, item, layout) if latin else None
        if document is not None:
            n += 1
            origin = {"style": f"layout/{layout}", "locale": "en-US", "kind": item["kind"], "work": item["work"]}
            yield document, origin


def _traditions(maker: Maker, random: Random, count: int) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield references as they are cited where styles are few."""
    writer = Traditions(maker, random)
    for _ in range(count):
        document, language, kind = writer.write()
        yield document, {"style": "tradition", "locale": language, "kind": kind, "work": "made"}


def _abroad(random: Random, count: int) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield references of countries whose styles and works are rare."""
    writer = Abroad(random)
    for _ in range(count):
        document, language, kind = writer.write()
        yield document, {"style": "abroad", "locale": language, "kind": kind, "work": "made"}


def _csl(jobs: Sequence[Job], rendering: Rendering, dropped: Counter[str]) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield references in styles of CSL."""
    for answer in rendering(jobs):
        job = jobs[answer["job"]]
        if "error" in answer:
            dropped["style failed"] += len(job.items)
            continue
        items = {item["id"]: item for item in job.items}
        for id, raw in answer["texts"]:
            item = items[id]
            document = label_marked(read_marked(raw, answer["nodes"]), item["kind"])
            origin = {"style": job.style, "locale": answer["locale"], "kind": item["kind"], "work": item["work"]}
            yield document, origin


def why_dropped(document: Document) -> str:
    """Return why a rendering is of no use; nothing if it is."""
    labels = {span.label for span in document.spans or ()}
    if re.search(r"CSL STYLE ERROR|\[object|undefined|<\w+[ >]|[\ue000-\uf8ff\ufffd]", document.text):
        return "no plain text"
    if len(document.text) < 25 or len(labels) < 3 or not labels & {"title", "container-title"}:
        return "too little"
    return ""


def row(document: Document, origin: dict[str, Any]) -> dict[str, Any]:
    """Return a reference as a line of the file: tokens of the parser's own tokeniser, tags B- and I-."""
    labels = plain_tags(document)
    for k in range(1, len(labels)):  # a token that two fields share is the first's, and so are the marks behind it
        alone = not any(map(str.isalnum, document.words[k])) and labels[k + 1 : k + 2] != [labels[k]]
        if alone and labels[k - 1] != labels[k] and document.text[document.tokens[k][0] - 1].isalnum():
            labels[k] = labels[k - 1]
    tags = [("I-" if k and labels[k - 1] == label else "B-") + label for k, label in enumerate(labels)]
    return {"id": "", "text": document.text, "tokens": list(document.words), "bio": tags, **origin}


def write(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write lines; the same rows give the same bytes."""
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


if __name__ == "__main__":
    main()
