"""Segmentations under rules against enumeration: every segmentation, judged by the meaning of the rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_problems import WORDS, known, rule_nodes
from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.papers.segments.decoding import SegmentDecoding, decode_segments
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.rules import Rule, RuleSet, rules
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.meaning import degrees
from oracles import Piece, pieces, segmentation_score, segmentations
from strategies import score_arrays

FIELDS = ("a", "b", "c")
MOST = 300


def labels_of(y: tuple[Piece, ...], fields: tuple[str, ...], marked: bool) -> list[str]:
    """Write a segmentation as labels: plain ones, or tags."""
    found = []
    for piece in y:
        name = fields[piece.label]
        rest = piece.end - piece.start - 1
        found += [f"B-{name}", *[f"I-{name}"] * rest] if marked else [name] * (rest + 1)
    return found


def best_of_all(
    potentials: SegmentPotentials, compiled: Compiled, tokens: list[str], rho: np.ndarray, marked: bool
) -> float:
    """Return the best penalised score of all segmentations, from the definitions."""
    fields = FIELDS[: potentials.n_labels]

    def gain(y: tuple[Piece, ...]) -> float:
        found = degrees(compiled.rules, tokens, labels_of(y, fields, marked))
        return -math.fsum(float(r) * int(d) for r, d in zip(rho, found, strict=True) if d)

    return segmentations(potentials).reweighted(gain).total(max)


@st.composite
def segment_problems(draw: st.DrawFn, marked: bool) -> tuple[SegmentPotentials, Compiled, list[str], np.ndarray]:
    L = draw(st.integers(1, 3))
    T = draw(st.integers(0, max(t for t in range(6) if L * (1 + L) ** (t - 1) <= MOST)))
    D = draw(st.integers(1, 6))
    potentials = SegmentPotentials(*(draw(score_arrays(shape)) for shape in [(T, D, L), (L, L), (L,), (L,)]))
    names = [f"{m}-{f}" for m in "BI" for f in FIELDS[:L]] if marked else list(FIELDS[:L])
    penalty = st.one_of(st.just(0.0), st.floats(0.0, 5.0), st.just(math.inf))
    drawn = draw(st.lists(st.tuples(rule_nodes(known(tuple(names))), penalty, st.booleans()), min_size=1, max_size=4))
    ruleset = RuleSet(Rule(f"r{k}", node, rho, once) for k, (node, rho, once) in enumerate(drawn))
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=T, max_size=T))
    return potentials, compile_rules(ruleset, Labels(names)), tokens, ruleset.penalties


def check(problem: tuple[SegmentPotentials, Compiled, list[str], np.ndarray], marked: bool) -> None:
    potentials, compiled, tokens, rho = problem
    L = potentials.n_labels
    tags = np.arange(2 * L).reshape(2, L) if marked else None
    found = decode_segments(
        SegmentBatch.of([potentials]), compiled, Corpus.from_tokens([tokens]), rho, tags=tags, max_paths=4096
    )
    best = best_of_all(potentials, compiled, tokens, rho, marked)
    if best == -math.inf:
        assert found.bounds[0] == found.scores[0] == -math.inf
        assert (found.labels == -1).all()
        assert not found.settled[0]
        return
    assert found.settled[0]
    assert found.scores[0] == pytest.approx(best, abs=1e-9)
    y = pieces(found.labels.tolist(), found.starts.tolist())
    broken = degrees(compiled.rules, tokens, labels_of(y, FIELDS[:L], marked))
    paid = math.fsum(float(r) * int(d) for r, d in zip(rho, broken, strict=True) if d)
    assert segmentation_score(potentials, y) - paid == pytest.approx(best, abs=1e-9)


@settings(deadline=None, derandomize=True, max_examples=70)
@given(segment_problems(marked=False))
def test_plain_labels_against_enumeration(problem) -> None:
    check(problem, marked=False)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(segment_problems(marked=True))
def test_tags_against_enumeration(problem) -> None:
    check(problem, marked=True)


def decode(text: str, tokens: str, score: object, **options: object) -> SegmentDecoding:
    words = tokens.split()
    compiled = compile_rules(rules(text, labels=FIELDS), Labels(FIELDS))
    batch = SegmentBatch.of([SegmentPotentials(score)])
    return decode_segments(batch, compiled, Corpus.from_tokens([words]), **options)


def test_neighbouring_segments_of_one_label_are_one_run() -> None:
    # One token a segment: every labelling is made of short segments, and staying in a label is no change.
    score = np.zeros((3, 1, 3))
    score[:, 0, 1] = 1.0
    found = decode('P: change only after token in "," [hard]\nO: each field once [hard]', "x y z", score)
    assert found.labels.tolist() == [1, 1, 1]
    assert found.starts.tolist() == [True, True, True]
    assert found.scores[0] == 3.0
    assert found.settled[0]


def test_a_change_rule_is_folded_and_needs_one_list() -> None:
    rng = np.random.default_rng(0)
    found = decode('P: change only after token in "," [penalty 2.5]', "x , y z , x y", rng.normal(size=(7, 4, 3)))
    assert found.rounds.tolist() == [1]
    assert found.nodes.tolist() == [1]
    assert found.settled[0]


def test_a_list_that_is_too_short_says_so() -> None:
    rng = np.random.default_rng(1)
    text, score = "O: each field once [penalty 3]\nN: count(c) >= 2 [penalty 3]", rng.normal(size=(5, 3, 3))
    short, long = (decode(text, "x y z x y", score, max_paths=m) for m in (1, 4096))
    assert not short.settled[0]
    assert short.scores[0] <= long.scores[0] <= short.bounds[0]
    assert long.settled[0]
    assert long.rounds[0] > 1


def test_nothing_possible_and_nothing_found() -> None:
    impossible = decode("A: first in a [hard]\nB: first in b [hard]", "x y", np.zeros((2, 2, 3)))
    assert impossible.bounds[0] == -math.inf
    assert impossible.labels.tolist() == [-1, -1]
    score = np.zeros((2, 2, 3))
    score[:, :, 2] = 5.0
    unfound = decode("A: count(a) >= 1 [hard]", "x y", score, max_paths=1)
    assert unfound.labels.tolist() == [-1, -1]
    assert not unfound.settled[0]
    assert unfound.bounds[0] > 0


def test_several_sequences_and_one_without_tokens() -> None:
    rng = np.random.default_rng(2)
    parts = [SegmentPotentials(rng.normal(size=(T, 3, 3))) for T in (3, 0, 4)]
    tokens = [["x", ",", "y"], [], ["x", "x", ",", "y"]]
    compiled = compile_rules(rules('R: count(a) >= 1 [penalty 1.5]\nT: token in "x" -> b', labels=FIELDS), FIELDS)
    found = decode_segments(SegmentBatch.of(parts), compiled, Corpus.from_tokens(tokens))
    expected = [
        best_of_all(p, compiled, words, compiled.rules.penalties, False) for p, words in zip(parts, tokens, strict=True)
    ]
    assert found.scores.tolist() == pytest.approx(expected)
    assert found.scores[1] == -1.5
    assert found.settled.all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": [["x"]]}, "of tokens, or of other lengths"),
        ({"tags": [[0, 1]]}, "tags have shape"),
        ({"tags": [[0, 1, 2], [3, 4, 5]]}, "say by tags="),
        ({"fields": 2}, "potentials of 2 fields, but rules for 3 labels"),
        ({"max_paths": 0}, "max_paths is 0"),
        ({"penalties": [-1.0]}, "must be zero or more"),
    ],
)
def test_wrong_input(change: dict[str, object], message: str) -> None:
    compiled = compile_rules(rules("R: count(a) >= 1", labels=FIELDS), FIELDS)
    batch = SegmentBatch.of([SegmentPotentials(np.zeros((2, 2, change.pop("fields", 3))))])
    corpus = Corpus.from_tokens(change.pop("tokens", [["x", "y"]]))
    with pytest.raises(InputError, match=message):
        decode_segments(batch, compiled, corpus, **change)
