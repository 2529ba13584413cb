"""Runs of references: where they begin and end, what rules say about them, and that none are lost."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus, Labels
from espalier.decoders.batch import decode_batch
from espalier.documents.cutting.finding import find_references
from espalier.documents.deciding.features import seen
from espalier.documents.deciding.model import LineModel, bundled, compiled_runs
from espalier.documents.deciding.runs import GAP, RUNS, LineRun, run_attributes, run_words, runs_of
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import PrintedText, TextLine
from espalier.documents.references import cut
from espalier.potentials import ChainBatch

NAMES = ("Abel", "Baker", "Carter", "Dunn", "Evans", "Foster", "Grant", "Hill")
WORKS = [f"{name}, J. ({1980 + n}). Wires and walls. Journal of Orchards, {n}, 4-9." for n, name in enumerate(NAMES)]
PROSE = "The trees of this garden were planted by people who liked shade, and nobody has counted them since then."


def test_a_heading_and_more_text_than_a_little_part_runs() -> None:
    labels = ["ref", "ref-cont", "page", "ref", *["text"] * GAP, "ref", "heading", "ref", *["text"] * (GAP + 1), "ref"]
    assert runs_of(labels) == [
        LineRun((0, 3, 4 + GAP), 0, 5 + GAP),
        LineRun((6 + GAP,), 6 + GAP, 7 + GAP),
        LineRun((8 + 2 * GAP,), 8 + 2 * GAP, 9 + 2 * GAP),
    ]
    assert runs_of(["text", "page", "heading"]) == []


@pytest.mark.parametrize(
    ("heading", "words"),
    [("References", ["headed", "apart"]), ("Discussion", ["plain", "plain"])],
)
def test_a_run_far_below_a_headed_list_stands_apart(heading: str, words: list[str]) -> None:
    texts = [heading, *WORKS, *[PROSE] * 20, *WORKS[:3]]
    labels = ["heading", *["ref"] * 8, *["text"] * 20, *["ref"] * 3]
    page = seen(units_of([TextLine(text) for text in texts], inside=False))
    runs = runs_of(labels)
    assert run_words(page, labels, runs) == words
    assert len(run_attributes(page, labels, np.ones(len(labels)), runs)) == 2


@pytest.mark.parametrize(
    ("words", "likely", "best"),
    [
        (("headed", "apart"), ((2.0, 0, 0), (5.0, 0, 1.0)), ("list", "none")),  # one list, whatever it looks like
        (("plain", "plain"), ((2.0, 0, 0), (5.0, 0, 1.0)), ("list", "list")),
        (("plain", "plain"), ((0, 1.0, 0), (3.0, 0, 0)), ("none", "list")),  # notes count where there is no list
        (("plain", "plain"), ((0, 1.0, 0), (0, 3.0, 0)), ("notes", "notes")),
    ],
)
def test_rules_for_runs(words: tuple[str, ...], likely: tuple[tuple[float, ...], ...], best: tuple[str, ...]) -> None:
    n, k = len(words), len(RUNS)
    zero = np.zeros(k)
    batch = ChainBatch(np.array([0, n]), np.array(likely), np.zeros((1, k, k)), np.zeros(n, np.int32), zero, zero)
    found = decode_batch(batch, compiled_runs(), Corpus.from_tokens([list(words)]), threads=1)
    assert tuple(RUNS[label] for label in found.labels) == best
    assert Labels(RUNS).names == RUNS


def test_a_model_without_runs_believes_every_run() -> None:
    own = bundled()
    lines = [TextLine(text) for text in ["References", *WORKS]]
    units = seen(units_of(lines))
    model = LineModel(own.first, own.second, own.rules, own.curve)
    labels, p, _ = model.labelled(units)
    assert model.nowhere(units, labels, p) == []
    assert labels == own.labelled(units)[0]


def test_nothing_is_lost() -> None:
    """What is no reference is named among what was left out."""
    code = [f"> orchard${name} <- ordered(orchard${name}, levels = c('small', 'large'))" for name in "abcd"]
    printed = PrintedText.of([TextLine(text) for text in [*[PROSE] * 12, *code, *[PROSE] * 12]])
    found = find_references(printed)
    kept = "".join(one.text for one in found.references) + "".join(one.text for one in found.dropped)
    assert all(line.split()[1] in kept for line in code)
    assert not any("orchard$" in one.text for one in found.references)


def test_a_pasted_list_without_years_is_a_list() -> None:
    works = ["Smith, J. On pears. London: Tree.", "Jones, K. On plums. Rome: Leaf."]
    assert [one.text for one in cut("\n\n".join(works)).references] == works


def test_the_end_of_a_citation_in_a_sentence_is_no_reference() -> None:
    note = [
        "2 Note that there are ways that differ from",
        "each other (Bolker, 2015; Gelman, 2005). The definition",
        "here is the one that is most useful to us.",
    ]
    printed = PrintedText.of([TextLine(text) for text in [*[PROSE] * 8, *note, *[PROSE] * 8, "References", *WORKS]])
    assert [one.text for one in find_references(printed).references] == WORKS
