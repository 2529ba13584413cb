"""Anybody's potentials: a CRFsuite model's weights, and sub-word logits of a token classifier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from espalier.corpus import Labels
from espalier.decoders import Status, decode, first_subword
from espalier.errors import InputError
from espalier.potentials import Potentials

TRAINING = [
    ("Ann Lee met Bob", "name name O name"),
    ("Bob Ray saw Ann Lee", "name name O name name"),
    ("the cat saw Ray", "O O O name"),
    ("Lee met the cat", "name O O O"),
    ("Paris saw Ann", "place O name"),
    ("the dog met Bob in Paris", "O O O name O place"),
    ("Rome met Ann Ray in Oslo", "place O name name O place"),
]


def features(tokens: list[str]) -> list[list[str]]:
    return [[f"w={token}", f"cap={token[0].isupper()}", "bias"] for token in tokens]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> object:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    path = tmp_path_factory.mktemp("crfsuite") / "names.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    for text, labels in TRAINING:
        trainer.append(features(text.split()), labels.split())
    trainer.set_params({"c2": 0.1, "max_iterations": 60})
    trainer.train(str(path))
    assert Path(path).exists()
    opened = pycrfsuite.Tagger()
    opened.open(str(path))
    return opened


def potentials_of(tagger: object, tokens: list[str]) -> tuple[Potentials, Labels]:
    """Read a tagger's weights: state features give unary scores, transitions the rest."""
    info = tagger.info()
    labels = Labels(tagger.labels())
    unary = np.array(
        [[sum(info.state_features.get((f, label), 0.0) for f in row) for label in labels] for row in features(tokens)]
    )
    trans = np.array([[info.transitions.get((a, b), 0.0) for b in labels] for a in labels])
    return Potentials(unary.reshape(len(tokens), len(labels)), trans), labels


@pytest.mark.parametrize("text", [text for text, _ in TRAINING] + ["Ann saw Oslo in the dog", "cat", "Lee Lee Lee"])
def test_viterbi_tags_as_crfsuite_does(tagger: object, text: str) -> None:
    tokens = text.split()
    potentials, labels = potentials_of(tagger, tokens)
    assert decode(potentials, labels=labels).names() == tagger.tag(features(tokens))


def test_a_rule_changes_what_crfsuite_would_say(tagger: object) -> None:
    tokens = ["Ann", "met", "Bob"]
    potentials, labels = potentials_of(tagger, tokens)
    plain = tagger.tag(features(tokens))
    assert plain == ["name", "O", "name"]
    ruled = decode(potentials, "One: count(name) <= 1 [hard]", tokens=tokens, labels=labels)
    assert ruled.status is Status.OPTIMAL
    assert ruled.names() != plain
    assert ruled.model_score < decode(potentials, labels=labels).model_score
    assert ruled.violations == ()


LOGITS = np.array(
    [
        [9.0, 9.0, 9.0],  # a special sub-word
        [2.0, 0.0, 1.0],
        [0.0, 5.0, 0.0],  # the second sub-word of the first word
        [0.0, 1.0, 3.5],
        [9.0, 9.0, 9.0],
    ]
)
WORD_IDS = [None, 0, 0, 1, None]


def test_the_first_subword_speaks_for_its_word() -> None:
    found = first_subword(LOGITS, WORD_IDS, trans=np.eye(3))
    assert found.unary.shape == (2, 3)
    np.testing.assert_allclose(np.exp(found.unary).sum(axis=1), 1.0)
    np.testing.assert_allclose(found.unary[0] - found.unary[0, 1], [2.0, 0.0, 1.0])
    np.testing.assert_allclose(found.unary[1] - found.unary[1, 0], [0.0, 1.0, 3.5])
    np.testing.assert_array_equal(found.trans, np.eye(3))


def test_logits_are_decoded_under_rules() -> None:
    labels = ["O", "B-a", "I-a"]
    found = decode(first_subword(LOGITS, WORD_IDS), labels=labels, valid_tags=False)
    assert found.names() == ["O", "I-a"]
    assert not found.valid_tags
    vocabulary = Labels(labels)
    valid = first_subword(LOGITS, WORD_IDS).forbid(*vocabulary.allowed())
    assert decode(valid, labels=vocabulary).names() == ["B-a", "I-a"]
    assert decode(first_subword(LOGITS, WORD_IDS), labels=labels).names() == ["B-a", "I-a"]
    assert decode(first_subword(LOGITS, WORD_IDS), labels=labels).valid_tags
    ruled = decode(valid, "Len: length(a) <= 1 [hard]\nReq: a required", tokens=["one", "two"], labels=vocabulary)
    assert ruled.names() == ["O", "B-a"]


def test_special_subwords_alone_make_an_empty_sequence() -> None:
    assert first_subword(LOGITS[[0, 4]], [None, None]).unary.shape == (0, 3)


@pytest.mark.parametrize(
    ("logits", "word_ids", "options", "complaint"),
    [
        (LOGITS[None], WORD_IDS, {}, "take one sequence of a batch"),
        (LOGITS, WORD_IDS[1:], {}, "5 rows of logits, but 4 word ids"),
        (LOGITS, [None, 0, 0, 2, None], {}, "word 1 of 3 has no sub-word"),
        (LOGITS, WORD_IDS, {"n_words": 3}, "word 2 of 3 has no sub-word"),
        (LOGITS, WORD_IDS, {"n_words": 1}, "word id 1 is outside 0 to 0"),
        (LOGITS, [None, 0, 1, -2, None], {}, "word id -2 is outside"),
        (LOGITS * np.nan, WORD_IDS, {}, "nan"),
    ],
)
def test_bad_logits(logits: np.ndarray, word_ids: list[int], options: dict[str, int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        first_subword(logits, word_ids, **options)
