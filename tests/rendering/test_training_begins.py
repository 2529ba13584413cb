"""Training of the bundled model can begin at its own experts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from train_citations import MODEL, expert_before

from espalier.citations.seen import document_seen, reference_document
from espalier.corpus import Corpus


def test_training_begins_at_the_experts_of_a_model_or_of_a_directory(tmp_path: Path) -> None:
    corpus = Corpus.from_documents([document_seen(reference_document("Ho, A. On soils. Leeds: Arbor, 1999."))])
    kinds = {"crf": "CRF", "net": "ConvCRF"}
    for name, kind in kinds.items():
        expert = expert_before(MODEL, name)
        assert type(expert).__name__ == kind
        expert.save(tmp_path / f"{name}.espalier")
        again = expert_before(tmp_path, name)
        assert again.labels_ == expert.labels_
        np.testing.assert_array_equal(again.potentials(corpus).unary, expert.potentials(corpus).unary)
