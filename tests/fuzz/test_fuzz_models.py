"""Model files: damaged bytes are refused; forged ones, whose digests are right, load and label, or are refused.

`tests/test_store.py` flips and cuts every byte of the container. Here its contents lie: a header or an array says
something else than it did, in a file that is otherwise sound. No such file may end the process or do anything but
raise an error of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import Campaign, attempt
from hypothesis import strategies as st
from mutations import damaged_bytes

from espalier import store
from espalier.errors import EspalierError, ModelFileError
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.ccm import CCM
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from espalier.papers.segments.semicrf import SemiCRF
from espalier.rules.ruleset import rules

X = [["A.", "Cau", "1999"], ["B.", "Dee", ",", "2001"], ["the", "end"], ["C.", "Elm", "1987", "x"]]
Y = [["who", "who", "when"], ["who", "who", "O", "when"], ["O", "O"], ["who", "who", "when", "O"]]
FEATURES = ["bias", "lower[-1,0,1]", "shape", "regex:year"]
MODELS: dict[str, Callable[[], SequenceLabeller]] = {
    "crf": lambda: CRF(max_iterations=5),
    "hmm": lambda: HMM(),
    "perceptron": lambda: Perceptron(epochs=2),
    "semicrf": lambda: SemiCRF(max_iterations=3),
    "conv_crf": lambda: ConvCRF(4, dilations=(1, 2), embedding=4, buckets=32, epochs=1, crf_epochs=1, min_steps=0),
    "ccm": lambda: CCM(CRF(max_iterations=5), rules("Once: each field once\nYear: token ~ /\\d+/ -> when")),
}
NUMBERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31), 2**62, 1e300, -1e300, 0.5)
VALUES = st.one_of(st.sampled_from([None, True, "", "x", [], {}, [[]], [1], *NUMBERS]), st.text(max_size=4))


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The name of a kind, and a small file of it."""
    path = tmp_path_factory.mktemp("models") / f"{request.param}.espalier"
    MODELS[request.param]().fit(X, Y).save(path)
    return request.param, path


def accepts(path: Path) -> bool:
    """Load and label; whatever is not right is an error of ours."""
    model, refusal = attempt(lambda: load(path), ModelFileError)
    if model is None:
        assert str(path) in refusal
        return False
    answers, _ = attempt(lambda: model.predict(X), EspalierError)
    assert answers is None or [len(answer) for answer in answers] == [len(tokens) for tokens in X]
    return answers is not None


def test_damaged_bytes(campaign: Campaign, model: tuple[str, Path], tmp_path: Path) -> None:
    name, path = model
    original = path.read_bytes()
    target = tmp_path / "damaged.espalier"

    def check(data: bytes) -> bool:
        target.write_bytes(data)
        assert accepts(target) == (data == original)
        return data == original

    campaign.fuzz(f"model file, {name}", damaged_bytes([original]), check, few=20)


@st.composite
def forged(draw: st.DrawFn, path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Draw the contents of a model file with one or two lies in them."""
    header, arrays = store.load(path)
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            header = draw(_changed(header))
        elif arrays:
            name = draw(st.sampled_from(sorted(arrays)))
            arrays = {**arrays, name: draw(_bent(arrays[name]))}
            if draw(st.integers(0, 9)) == 0:
                del arrays[name]
    return header, arrays


@st.composite
def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Change one value somewhere inside a JSON value."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 6)) == 0:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: draw(_changed(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], *draw(st.sampled_from([[], [draw(_changed(value[at]))]])), *value[at + 1 :]]
    return draw(VALUES) if not isinstance(value, dict) else {"kind": draw(VALUES)}


@st.composite
def _bent(draw: st.DrawFn, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Change the numbers, the length, the axes or the type of an array."""
    match draw(st.sampled_from(["number", "number", "short", "long", "axes", "type", "order"])):
        case "number" if array.size and array.dtype.kind in "iuf":
            bent = array.copy()
            limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
            number = draw(st.sampled_from(NUMBERS))
            least, most = (np.asarray(limit).item() for limit in (limits.min, limits.max))
            bent.flat[draw(st.integers(0, array.size - 1))] = min(max(number, least), most)
            return bent
        case "short":
            return array[: draw(st.integers(0, max(len(array) - 1, 0)))] if array.ndim else array[None]
        case "long" if array.ndim:
            return np.concatenate([array, array])
        case "axes":
            return array[..., None]
        case "type":
            return np.nan_to_num(array).astype(draw(st.sampled_from([np.int8, np.uint8, np.int64, np.float32, bool])))
        case _:
            return array[::-1].copy() if array.ndim else array
    return array


def test_forged_contents(campaign: Campaign, model: tuple[str, Path], tmp_path: Path) -> None:
    name, path = model
    target = tmp_path / "forged.espalier"

    def check(contents: tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]) -> bool:
        store.save(target, contents[0], contents[1])
        return accepts(target)

    campaign.fuzz(f"forged model, {name}", forged(path), check, few=60)
