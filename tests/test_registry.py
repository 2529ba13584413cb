"""What packages bring by name: ours without any metadata, others' by entry points, and nobody's by a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier import registry, store
from espalier.decoders import DECODERS
from espalier.decoders.api import marginals
from espalier.decoders.base import Decoder
from espalier.errors import InputError, ModelFileError
from espalier.estimators.persist import LEARNERS, MODELS, class_of
from espalier.recipes import METHODS, plan
from espalier.recipes.methods import Method
from espalier.registry import Registered, ours

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "espalier"
GROUPS = {"models": MODELS, "learners": LEARNERS, "methods": METHODS, "decoders": DECODERS}


def brought(folder: Path, *distributions: str, module: str = "") -> Path:
    """Write distributions as an installer does: `name: rows`; and a module that they name."""
    for about in distributions:
        name, _, rows = about.partition(": ")
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(rows, encoding="utf-8")
    (folder / "brings.py").write_text(module, encoding="utf-8")
    return folder


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_of_others", registry._of_others.__wrapped__)
    sys.modules.pop("brings", None)
    return tmp_path


def run(script: str, *path: Path | str, **more: str) -> str:
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **more}
    done = subprocess.run([sys.executable, "-c", script], env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("group", GROUPS)
def test_every_row_names_what_it_says(group: str) -> None:
    found = GROUPS[group]
    assert [*ours(group)] == [*found][: len(ours(group))] != []
    for name in ours(group):
        value = found[name]
        assert getattr(value, "kind", getattr(value, "name", name)) == name


def test_ours_are_found_without_metadata_and_nobody_asks_for_it() -> None:
    script = (
        "from espalier import registry; registry._of_others = None;"
        "from espalier.estimators.persist import class_of; import espalier as es; class_of('two_stage');"
        "es.decode([[0.0, 1.0]], method='beam'); from espalier.recipes import plan;"
        "print(plan(method='samplerank').kind, es.load('citations').model.kind)"
    )
    assert run(script, SRC.parent) == "samplerank ccm"


def test_to_import_espalier_loads_nothing_of_the_papers() -> None:
    script = (
        "import sys, espalier as es; model = es.CRF(); es.load; es.decode; es.Extractor; es.CoDL; es.rules;"
        "import espalier.recipes, espalier.decoders.table;"
        "print([m for m in sys.modules if m.startswith('espalier.papers')])"
    )
    assert run(script, SRC.parent) == "[]"


def test_the_core_works_without_the_papers(tmp_path: Path) -> None:
    """A folder that is taken away takes its rows with it."""
    copy = tmp_path / "espalier"
    copy.mkdir()
    for path in SRC.iterdir():
        if path.name not in ("papers", "__pycache__"):
            (copy / path.name).symlink_to(path)
    script = """
import warnings, json, espalier as es
from espalier.decoders.api import marginals
from espalier.recipes import METHODS, MODELS, train
X, y = [["Plum", "35"], ["Fig", "9"], ["Pear", "4"]], [["fruit", "price"]] * 3
rules = "Once: each field once"
model = es.CoDL(es.CCM(es.HMM(), rules)).fit(X, y, unlabelled=X)
found = es.Extractor(es.CCM(es.CRF(), rules).fit(X, y)).extract("Plum 12")
answer = es.decode([[0.0, 1.0]] * 3, "A: each field once [hard]", tokens=list("abc"), labels=["x", "y"])
try:
    marginals([[0.0, 1.0]] * 30, "O: x before y", labels=["x", "y"], tokens=["t"] * 30, max_edges=1)
except es.EspalierError as error:
    said = str(error)
print(json.dumps([es.__file__, [f.label for f in found.fields], str(answer.status), [*MODELS], [*METHODS], said]))
"""
    file, fields, status, models, methods, said = json.loads(run(script, tmp_path))
    assert Path(file).parent == copy
    assert (fields, status, models) == (["fruit", "price"], "optimal", ["crf", "hmm", "perceptron", "conv_crf"])
    assert methods == ["supervised", "words", "codl", "em", "pr", "ge"]
    assert "draws no labellings; use 'auto' or 'exact'" in said


def test_others_stand_behind_ours_and_never_replace_them(others: Path) -> None:
    rows = "[espalier.decoders]\nmine = brings:MINE\nastar = brings:MINE\n[else]\nx = y:z\n"
    brought(others, f"one: {rows}", module="from espalier.decoders.ilp import ILP as MINE")
    assert [*DECODERS][-1] == "mine"
    assert DECODERS["mine"] is DECODERS["ilp"]
    assert DECODERS["astar"].name == "astar"
    assert es.decode([[0.0, 1.0]], method="mine").labels.tolist() == [1]
    with pytest.raises(InputError, match="did you mean 'mine'"):
        es.decode([[0.0, 1.0]], method="mime")


def test_one_name_of_two_distributions_is_refused_where_it_is_asked_for(others: Path) -> None:
    row = "[espalier.decoders]\nmine = brings:{}\n"
    brought(others, f"one: {row.format('A')}", f"two: {row.format('B')}", f"three: {row.format('B')}")
    with pytest.raises(InputError, match=r"one and (two|three) both bring 'mine', one of the decoders; uninstall"):
        DECODERS["mine"]
    assert "mine" in DECODERS
    assert DECODERS["astar"].name == "astar"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("absent_module:X", "absent_module:X, which one names among its decoders, cannot be imported: No module"),
        ("brings:Absent", "which one names among its decoders, cannot be imported: module 'brings' has no"),
        ("brings", "which one names among its decoders, cannot be imported"),
        ("brings:NUMBER", "brings:NUMBER is a int; decoders are of the class Decoder"),
    ],
)
def test_what_cannot_be_used_says_whose_it_is(others: Path, place: str, message: str) -> None:
    brought(others, f"one: [espalier.decoders]\nmine = {place}\n", module="NUMBER = 1")
    with pytest.raises(InputError, match=message):
        DECODERS["mine"]


def test_a_call_may_name_a_place(others: Path) -> None:
    brought(others, module="from espalier.decoders.ilp import ILP as MINE\nNUMBER = 1")
    assert es.decode([[0.0, 1.0]], method="brings:MINE").labels.tolist() == [1]
    with pytest.raises(InputError, match="brings:NUMBER is a int"):
        es.decode([[0.0, 1.0]], method="brings:NUMBER")
    assert plan(model="espalier.estimators.hmm:HMM").kind == "hmm"
    with pytest.raises(InputError, match="absent:X, which this call names among its models, cannot be imported"):
        plan(model="absent:X")


def test_a_file_names_no_place(tmp_path: Path) -> None:
    """A model file is data: what it calls its kind imports nothing that is not registered."""
    assert class_of("two_stage") is es.TwoStage
    path = tmp_path / "m.espalier"
    store.save(path, {"kind": "antigravity:x", "parameters": {}, "labels": []}, {"x": np.zeros(1)})
    with pytest.raises(ModelFileError, match="unknown kind 'antigravity:x'"):
        es.load(path)
    assert "antigravity" not in sys.modules
    task = tmp_path / "t.toml"
    task.write_text('labels = ["a"]\n[defaults]\nmodel = "antigravity:x"\n', encoding="utf-8")
    with pytest.raises(InputError, match="unknown model 'antigravity:x'"):
        plan(task=task)
    assert "antigravity" not in sys.modules


def test_a_class_that_is_not_what_its_row_says(others: Path) -> None:
    brought(others, "one: [espalier.models]\nmine = espalier.estimators.crf:CRF\n")
    with pytest.raises(ModelFileError, match=r"crf:CRF is registered as a model of kind 'mine'; give the class that"):
        class_of("mine")


def test_a_group_is_a_mapping() -> None:
    nothing = Registered("nothing", Decoder)
    assert (len(nothing), [*nothing], "x" in nothing, nothing.get("x")) == (0, [], False, None)
    with pytest.raises(KeyError):
        nothing.named("x")
    assert len(METHODS) >= len(ours("methods"))
    assert all(isinstance(method, Method) for method in METHODS.values())


def test_what_cannot_be_summed_is_sampled_by_who_can() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 2))
    named, chosen = (
        marginals(scores, "O: x before y", labels=["x", "y"], tokens=["t"] * 4, sweeps=20, rng=3, **how)
        for how in ({"method": "gibbs"}, {"max_edges": 1})
    )
    assert (named.method, chosen.method, named.exact) == ("gibbs", "gibbs", False)
    assert named.probabilities.tolist() == chosen.probabilities.tolist()
