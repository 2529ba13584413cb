"""Works that nobody wrote, and the references of them that come with the library."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import render_replayed
from rendering.made_up import MadeUp
from rendering.plan import Job, Style

from espalier.citations.adapting import bundled_start, replayed
from espalier.tags import path_of

DATA = Path(__file__).parents[3] / "shared" / "data"
BUILD = Path(__file__).parents[2] / "build"
needs_styles = pytest.mark.skipif(
    shutil.which("node") is None or not (BUILD / "citeproc").exists() or not (DATA / "csl").exists(),
    reason="needs Node.js, citeproc-js (`make rendered` installs it) and the styles",
)


@pytest.mark.parametrize("kind", ["article-journal", "paper-conference", "chapter", "book", "edited-book", "thesis"])
def test_a_work_has_what_its_kind_needs(kind: str) -> None:
    pool, chance = MadeUp(Random(1)), Random(0)
    works = [pool.draw(chance, kind, "en") for _ in range(300)]
    assert len({work["title"] for work in works}) > 60
    for work in works:
        assert "{" not in str([value for value in work.values() if isinstance(value, str)])
        assert work["title"][0].isupper() or not work["title"][0].isalpha()
        assert bool(work["author"]) == (kind != "edited-book")
        assert ("container-title" in work) == (kind in ("article-journal", "paper-conference", "chapter"))
        assert ("publisher" in work) == (kind in ("chapter", "book", "edited-book"))
    assert works == [MadeUp(Random(1)).draw(chance, kind, "en") for _ in range(1)] + works[1:]


def refused(jobs: Sequence[Job]) -> Iterable[dict[str, Any]]:
    """Render nothing: what is left are the styles that need no tool."""
    return ({"job": job.number, "error": "no tool"} for job in jobs)


def test_references_are_the_same_after_writing_and_reading() -> None:
    styles = [Style("apa", "en-US"), Style("else", "de-DE")]
    made, again = (render_replayed.replayed(styles, refused, 30, 5) for _ in range(2))
    assert made == again
    assert 5 < len(made) <= 30
    assert all(map(render_replayed.stays, made))


def test_the_references_of_the_library() -> None:
    documents = replayed()
    assert len(documents) == 180
    assert len({document.text for document in documents}) == 180
    assert bundled_start().replay is None
    start = bundled_start(replaying=True)
    assert start.replay is not None
    assert [document.words for document in documents] == list(start.replay)
    known = {path_of(label) for label in start.learned.labels.names}
    found = {span.label for document in documents for span in document.spans or ()}
    assert found <= known
    assert {"author", "title", "container-title", "editor", "url", "institution", "translator", "note"} <= found
    assert sum(any(c > "\u0400" for c in document.text) for document in documents) >= 8  # other scripts


@needs_styles
def test_the_script_gives_the_file(tmp_path: Path) -> None:
    out = tmp_path / "replayed.txt"
    render_replayed.main(["--data", str(DATA), "--tools", str(BUILD), "--output", str(out)])
    assert out.read_bytes() == render_replayed.FILE.read_bytes()
