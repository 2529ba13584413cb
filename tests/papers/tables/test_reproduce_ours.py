"""The table of the best configuration, on tiny sets of invented advertisements and references."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from reproduce_tables import write_split

from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.features.word_classes import WordClasses
from espalier.papers.tables import ours
from espalier.papers.tables.ccm12 import SETS
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell
from espalier.tasks.task import load_task

# Label -> phrases; a sequence has one of each, in this order.
PHRASES = {
    "ads": {
        "size": ["two bedrooms and bath .", "three bedrooms and bath .", "one bedroom and bath ."],
        "features": ["sunny kitchen with parking .", "new carpet and laundry .", "large deck with storage ."],
        "rent": ["rent is $ 900 .", "rent is $ 1200 .", "deposit is $ 500 ."],
        "contact": ["call *PHONE* now .", "please call *PHONE* .", "email *EMAIL* today ."],
    },
    "citations": {
        "author": ["A . Smith .", "B . Jones .", "C . Miller and D . King ."],
        "title": ["On growing pears .", "The pruning of trees .", "A theory of hedges ."],
        "journal": ["Journal of Gardens ,", "Annals of Orchards ,", "Transactions on Fruit ,"],
        "date": ["1994 .", "1987 .", "2001 ."],
    },
}


def record(domain: str, rng: random.Random, *, everything: bool = False) -> dict[str, Any]:
    tokens: list[str] = []
    labels: list[str] = []
    for label, phrases in PHRASES[domain].items():
        words = rng.choice(phrases).split()
        tokens += words
        labels += [label] * len(words)
    if everything:  # so that the label names of the split are those of the task
        missing = [label for label in load_task(SETS[domain]).labels if label not in PHRASES[domain]]
        tokens += ["filler"] * len(missing)
        labels += missing
    return {"tokens": tokens, "labels": labels}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    directory, rng = tmp_path_factory.mktemp("data"), random.Random(0)
    for domain, name in SETS.items():
        write_split(directory, f"{name}/train", [record(domain, rng, everything=True) for _ in range(8)])
        write_split(directory, f"{name}/test", [record(domain, rng) for _ in range(10)])
        pool = [{"tokens": record(domain, rng)["tokens"]} for _ in range(40)]
        write_split(directory, f"{name}/unlabelled", pool)
        write_split(directory, "unlabelled_refs/unlabelled", pool)
    return Data(directory)


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text here has too few words for 256 clusters."""
    learn = WordClasses.learn
    few = {"clusters": (4, 8), "dimensions": 3, "min_count": 2}
    monkeypatch.setattr(ours.WordClasses, "learn", lambda text, seed=0, **_: learn(text, seed=seed, **few))
    ours._learned.cache_clear()
    later = {size: {**chosen, "from": 10} for size, chosen in ours.GENERAL_AT["ads"].items()}  # there are 40
    monkeypatch.setattr(ours, "GENERAL_AT", {**ours.GENERAL_AT, "ads": later})


def cell(row: str, column: str = "5") -> Cell:
    return Cell("ours", row, column, 0, ours.TABLE.settings(row, column))


@pytest.mark.usefixtures("few_words")
@pytest.mark.parametrize(
    "row", [row for row in ours.TABLE.published if row.startswith("ads") and not row.endswith("best")]
)
def test_every_row_learns_what_is_easy(data: Data, row: str) -> None:
    """Phrases are few and tell their labels apart: a figure far below 100 means a broken row."""
    found = ours.TABLE.measure(data, cell(row))
    assert found[row, "5"] > 90
    taken = row == f"ads, {ours.BEST_OF['ads']['5']}"
    assert found.get(("ads, best", "5")) == (found[row, "5"] if taken else None)


@pytest.mark.usefixtures("few_words")
def test_references_too(data: Data) -> None:
    data.check(ours.TABLE.needs)
    assert ours.TABLE.measure(data, cell("citations, recipe"))["citations, recipe", "5"] > 90


@pytest.mark.usefixtures("few_words")
def test_figures_do_not_depend_on_what_ran_before(data: Data) -> None:
    one = cell("ads, recipe")
    first = ours.fitted(data, one).predict(data.corpus("ads/test"))
    ours.fitted(data, replace(one, run=1))
    assert ours.fitted(data, one).predict(data.corpus("ads/test")) == first


def parts(row: str, classes: WordClasses | None = None) -> tuple[Any, Any, Any]:
    """The teacher, the rules and the base of a row's learner, None for those that it lacks."""
    learner: Any = ours.recipe(cell(row).settings, classes)
    teacher = learner if isinstance(learner, CoDL) else None
    model = learner if teacher is None else teacher.model
    return teacher, *((model.rules, model.base) if isinstance(model, CCM) else (None, model))


@pytest.mark.parametrize("domain", SETS)
def test_what_rows_are_made_of(domain: str) -> None:
    """Each change takes away what it says, and nothing else."""
    papers, extended = load_task(SETS[domain]), load_task(f"{SETS[domain]}-extended")
    teacher, rules, base = parts(f"{domain}, recipe")
    assert (type(teacher), type(base), rules) == (CoDL, Experts, extended.rules)
    assert teacher.update == "pool"
    assert set(base.experts[0].features.templates) == set(extended.extractor.templates)

    teacher, rules, base = parts(f"{domain}, papers' rules, no word lists")
    assert (type(teacher), rules) == (CoDL, papers.rules)
    assert not [t for t in base.experts[0].features.templates if "lexicon" in t.text]

    teacher, rules, base = parts(f"{domain}, without word lists")
    assert (type(teacher), type(base), rules) == (CoDL, Experts, extended.rules)
    kept = {t for t in extended.extractor.templates if "lexicon" not in t.text}
    assert set(base.experts[0].features.templates) == kept
    assert (kept < set(extended.extractor.templates)) == (f"{domain}, without word lists" in ours.TABLE.published)

    teacher, rules, base = parts(f"{domain}, without rules")
    assert (type(teacher), rules, type(base)) == (CoDL, None, Experts)
    teacher, rules, base = parts(f"{domain}, without pool")
    assert (teacher, rules, type(base)) == (None, extended.rules, Experts)
    assert type(parts(f"{domain}, HMM alone")[2]) is HMM
    assert type(parts(f"{domain}, CRF alone")[2]) is CRF


@pytest.mark.usefixtures("few_words")
def test_nets_join_the_sum(data: Data) -> None:
    """CRF and HMM have the weights of the answers, whatever they were while learning, and each net its own."""
    chosen = ours.settings("citations, general rules", "300")
    assert [net["weight"] for net in chosen["nets"]] == [0.21, 0.21]
    assert [net["parameters"].get("copies", 0) for net in chosen["nets"]] == [0, 3]
    tiny = {"channels": 8, "dilations": [1], "buckets": 64, "epochs": 0, "crf_epochs": 1, "min_steps": 60}
    nets = [{**net, "parameters": {**tiny, "copies": copies}} for copies, net in enumerate(chosen["nets"])]
    model = ours.fitted(data, Cell("ours", "citations, general rules", "5", 0, {**chosen, "nets": nets}))
    assert [type(expert) for expert in model.base_.experts_] == [CRF, HMM, ConvCRF, ConvCRF]
    assert [expert.copies for expert in model.base_.experts_[2:]] == [0, 1]
    assert model.base_.weights_.tolist() == [0.7, 0.7, 0.21, 0.21]
    assert model.rules_.names == load_task("cora-general").rules.names
    assert model.score(data.corpus("cora/test")) > 0.9


@pytest.mark.usefixtures("few_words")
def test_several_learners_share_the_weights_of_one(data: Data) -> None:
    """Each member has raw text or word classes of its own; together they count as much as a single one."""
    chosen = ours.settings("ads, general rules", "100")
    assert len(chosen["members"]) == 5
    assert len({repr(member) for member in chosen["members"]}) == 5
    members = [{}, {"from": 20, "classes": {"seed": 3}}]
    few = {**chosen, "from": 10, "pool": 10, "members": members}
    model = ours.fitted(data, Cell("ours", "ads, general rules", "5", 0, few))
    assert [type(expert) for expert in model.base_.experts_] == [CRF, HMM, CRF, HMM]
    assert model.base_.weights_.tolist() == [1.0, 0.5, 1.0, 0.5]
    assert {expert.copies for expert in model.base_.experts_[::2]} == {2}
    templates = {template.text for template in model.base_.experts_[0].features.templates}
    assert {"vector:text", "vector:text@-2", "vector:text@2"} <= templates
    assert model.score(data.corpus("ads/test")) > 0.9


def test_what_few_labels_have_is_one_learner_without_nets() -> None:
    """The sums are for all labels of a split: they cost several times the work."""
    for domain, sizes in ours.GENERAL_AT.items():
        for size, chosen in sizes.items():
            assert ({"members", "nets", "copies"} & set(chosen) != set()) == (size in ours.TABLE.once), (domain, size)


@pytest.mark.usefixtures("few_words")
def test_word_classes_reach_both_experts(data: Data) -> None:
    classes = ours.word_classes(data, "ads")
    assert ours.word_classes(data, "ads") is classes
    _, _, base = parts("ads, recipe", classes)
    assert base.experts[1].word_classes is classes
    assert "vector:text" in {t.text for t in base.experts[0].features.templates}
    assert not ours.TABLE.settings("ads, without word classes", "5")["classes"]


def test_published_figures_stand_beside_comparable_rows_only() -> None:
    published = ours.TABLE.published
    assert published["citations, recipe"] == {"5": 77.65, "10": 81.51, "20": 85.11, "300": 94.32}
    assert published["ads, papers' rules, no word lists"] == {"5": 70.79, "10": 75.40, "20": 77.56, "100": 82.00}
    assert published["ads, CRF alone"] == {"5": None, "20": None}


def test_the_best_row_is_filled_at_every_size() -> None:
    """It has no cells of its own, so the row that it takes must be computed wherever it takes it."""
    cells = set(ours.TABLE.cells)
    for domain, taken in ours.BEST_OF.items():
        assert set(ours.TABLE.published[f"{domain}, best"]) == set(taken)
        assert {(f"{domain}, {row}", size) for size, row in taken.items()} <= cells
    assert not [row for row, _ in cells if row.endswith("best")]


@pytest.mark.usefixtures("few_words")
def test_confusions_add_up_to_the_tokens_and_agree_with_the_accuracy(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "LABELLED", "5")
    table = ours.CONFUSION
    ((row, column),) = table.cells
    found = table.measure(data, Cell(table.name, row, column, 0, table.settings(row, column)))
    test = data.corpus("cora/test")
    assert sum(found.values()) == test.n_tokens
    right = sum(count for (given, answer), count in found.items() if given == answer)
    expected = ours.TABLE.measure(data, cell("citations, recipe"))["citations, recipe", "5"]
    assert 100.0 * right / test.n_tokens == pytest.approx(expected)
