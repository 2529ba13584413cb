"""The component of spaCy: entities, groups of spans, the whole extraction; with the real package, blank."""

from __future__ import annotations

from pathlib import Path

import pytest

import espalier as es

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny model of fruit and prices."""
    X = [["Plum", "for", "35"], ["Pear", "for", "40"], ["red", "Plum", "for", "12"], ["Pear", "or", "Plum"]]
    y = [["B-fruit", "O", "B-price"]] * 2 + [["B-fruit", "I-fruit", "O", "B-price"], ["B-fruit", "O", "B-fruit"]]
    path = tmp_path_factory.mktemp("spacy") / "fruit.espalier"
    es.Extractor(es.CRF(l2=0.1).fit(X, y)).save(path)
    return str(path)


def pipeline(**config: object) -> object:
    import espalier.bridges.spacy_component  # noqa: F401  (an installed package is found by its entry point)

    nlp = spacy.blank("en")
    nlp.add_pipe("espalier", config=config)
    return nlp


def test_fields_are_entities(model: str) -> None:
    doc = pipeline(model=model)("red Plum for 12")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("red Plum", "fruit"), ("12", "price")]
    assert doc._.espalier.certificate.proven
    assert [field.text for field in doc._.espalier.fields] == ["red Plum", "12"]


def test_rules_of_the_config_hold(model: str) -> None:
    text = "Pear or Plum"
    assert [ent.label_ for ent in pipeline(model=model)(text).ents] == ["fruit", "fruit"]
    ruled = pipeline(model=model, rules="Once: fruit once [hard]")(text)
    assert sum(ent.label_ == "fruit" for ent in ruled.ents) == 1


def test_many_documents_give_what_one_by_one_gives(model: str) -> None:
    nlp = pipeline(model=model, spans_key="fields")
    texts = ["Plum for 35", "", "Pear or\n Plum", "red Plum"] * 3
    for doc, text in zip(nlp.pipe(texts, batch_size=5), texts, strict=True):
        alone = nlp(text)
        assert [(s.text, s.label_) for s in doc.spans["fields"]] == [(s.text, s.label_) for s in alone.spans["fields"]]
        assert not doc.ents


def test_entities_of_others_are_kept(model: str) -> None:
    import espalier.bridges.spacy_component  # noqa: F401

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "COLOUR", "pattern": "red"}])
    nlp.add_pipe("espalier", config={"model": model})
    assert [(e.text, e.label_) for e in nlp("red Plum for 12").ents] == [("red", "COLOUR"), ("12", "price")]


def test_a_pipeline_is_saved_and_loaded(model: str, tmp_path: Path) -> None:
    pipeline(model=model).to_disk(tmp_path / "nlp")
    assert [e.label_ for e in spacy.load(tmp_path / "nlp")("Plum for 35").ents] == ["fruit", "price"]


def test_without_a_model() -> None:
    with pytest.raises(es.EspalierError, match="needs a model"):
        pipeline()
