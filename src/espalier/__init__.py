"""Espalier: pull fields out of text with few labels, declared rules and raw text.

Names are imported when first used, so that `import espalier` costs nothing and a command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from espalier.corpus import Corpus as Corpus
    from espalier.corpus import Labels as Labels
    from espalier.decoders.api import decode as decode
    from espalier.decoders.api import explain as explain
    from espalier.decoders.partition import expectations as expectations
    from espalier.document import Document as Document
    from espalier.documents.parsing import parse_document as parse_document
    from espalier.errors import EspalierError as EspalierError
    from espalier.estimators.ccm import CCM as CCM
    from espalier.estimators.codl import CoDL as CoDL
    from espalier.estimators.conv_crf import ConvCRF as ConvCRF
    from espalier.estimators.crf import CRF as CRF
    from espalier.estimators.em import EM as EM
    from espalier.estimators.experts import Experts as Experts
    from espalier.estimators.generalized_expectation import GeneralizedExpectation as GeneralizedExpectation
    from espalier.estimators.hmm import HMM as HMM
    from espalier.estimators.perceptron import Perceptron as Perceptron
    from espalier.estimators.posterior_regularization import PosteriorRegularization as PosteriorRegularization
    from espalier.estimators.word_learner import WordLearner as WordLearner
    from espalier.extract.extraction import Extraction as Extraction
    from espalier.extract.extractor import Extractor as Extractor
    from espalier.extract.reconcile import reconcile as reconcile
    from espalier.features.extract import FeatureExtractor as FeatureExtractor
    from espalier.features.word_classes import WordClasses as WordClasses
    from espalier.io import read as read
    from espalier.io import write as write
    from espalier.joint.layers import PairLayer as PairLayer
    from espalier.joint.layers import TextLayer as TextLayer
    from espalier.joint.problem import JointProblem as JointProblem
    from espalier.learning.discovery import discover as discover
    from espalier.loading import load as load
    from espalier.metrics import evaluate as evaluate
    from espalier.papers.samplerank.estimator import SampleRank as SampleRank
    from espalier.papers.segments.potentials import SegmentPotentials as SegmentPotentials
    from espalier.papers.segments.semicrf import SemiCRF as SemiCRF
    from espalier.papers.two_stage.estimator import TwoStage as TwoStage
    from espalier.potentials import Potentials as Potentials
    from espalier.rules import RuleSet as RuleSet
    from espalier.rules import rules as rules
    from espalier.tasks import load_task as load_task

__version__ = "0.1.0"

_HOME = {
    "CCM": "estimators.ccm",
    "CRF": "estimators.crf",
    "CoDL": "estimators.codl",
    "ConvCRF": "estimators.conv_crf",
    "Corpus": "corpus",
    "Document": "document",
    "EspalierError": "errors",
    "Experts": "estimators.experts",
    "Extraction": "extract.extraction",
    "Extractor": "extract.extractor",
    "FeatureExtractor": "features.extract",
    "HMM": "estimators.hmm",
    "Labels": "corpus",
    "Perceptron": "estimators.perceptron",
    "Potentials": "potentials",
    "RuleSet": "rules",
    "WordClasses": "features.word_classes",
    "WordLearner": "estimators.word_learner",
    "decode": "decoders.api",
    "discover": "learning.discovery",
    "evaluate": "metrics",
    "explain": "decoders.api",
    "load": "loading",
    "load_task": "tasks",
    "parse_document": "documents.parsing",
    "read": "io",
    "reconcile": "extract.reconcile",
    "rules": "rules",
    "write": "io",
}
"""Where each public name lives."""

_ELSEWHERE = {
    "EM": "estimators.em",
    "GeneralizedExpectation": "estimators.generalized_expectation",
    "JointProblem": "joint.problem",
    "PairLayer": "joint.layers",
    "PosteriorRegularization": "estimators.posterior_regularization",
    "SampleRank": "papers.samplerank.estimator",
    "SegmentPotentials": "papers.segments.potentials",
    "SemiCRF": "papers.segments.semicrf",
    "TextLayer": "joint.layers",
    "TwoStage": "papers.two_stage.estimator",
    "expectations": "decoders.partition",
}
"""Names that few look for: they are found in their submodules, and here for who knows them."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    home = _HOME.get(name) or _ELSEWHERE.get(name)
    if home is None:
        raise AttributeError(f"module 'espalier' has no attribute {name!r}")
    module = import_module(f"espalier.{home}")
    # The package `rules` can be called; the function in its place would hide everything else in it.
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
