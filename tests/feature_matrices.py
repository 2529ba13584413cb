"""Random two-level feature matrices, and the attributes of tokens by name, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from espalier.corpus import Corpus
from espalier.features.extract import FeatureExtractor
from espalier.features.index import FeatureIndex
from espalier.features.matrix import FeatureMatrix


def random_matrix(rng: np.random.Generator, *, n_tokens: int | None = None, weighted: bool = False) -> FeatureMatrix:
    """Draw a matrix with a few bundles, direct attributes, empty tokens and attributes that nobody has."""
    M = int(rng.integers(1, 40)) if n_tokens is None else n_tokens
    A, R = int(rng.integers(1, 30)), int(rng.integers(0, 8))
    bundles = [rng.choice(A, int(rng.integers(1, min(A, 6) + 1)), replace=False) for _ in range(R)]
    tokens = []
    for _ in range(M):
        used = rng.choice(R, int(rng.integers(0, min(R, 3) + 1)), replace=False) if R else np.zeros(0, int)
        inside = set(np.concatenate([bundles[b] for b in used]).tolist()) if len(used) else set()
        # Binary matrices: an attribute stands on a token once, be it by a bundle or by itself.
        taken: set[int] = set()
        kept = []
        for b in used:
            if not taken & set(bundles[b].tolist()):
                taken |= set(bundles[b].tolist())
                kept.append(A + b)
        direct = [a for a in rng.choice(A, int(rng.integers(0, min(A, 5) + 1)), replace=False) if a not in inside]
        tokens.append(np.array(kept + [int(a) for a in direct], np.int32))
    token_refs = np.concatenate([np.zeros(0, np.int32), *tokens]).astype(np.int32)
    bundle_ids = np.concatenate(bundles).astype(np.int32) if R else np.zeros(0, np.int32)
    return FeatureMatrix(
        A,
        np.concatenate([[0], np.cumsum([len(t) for t in tokens])]).astype(np.int64),
        token_refs,
        np.concatenate([[0], np.cumsum([len(b) for b in bundles])]).astype(np.int64),
        bundle_ids,
        rng.normal(size=len(token_refs)) if weighted else np.zeros(0),
        rng.normal(size=len(bundle_ids)) if weighted else np.zeros(0),
    )


def attributes_of(extractor: FeatureExtractor | FeatureIndex, tokens: Sequence[str]) -> list[list[str]]:
    """Return the names of the attributes of each token of one sequence.

    An index gives those it knows; an extractor, which knows none yet, gives all (whatever its `min_count`).
    Real-valued attributes are listed by name only.
    """
    corpus = Corpus.from_tokens([tokens])
    if isinstance(extractor, FeatureExtractor):
        index, matrix = replace(extractor, min_count=1).fit_transform(corpus)
    else:
        index, matrix = extractor, extractor.transform(corpus)
    names, A = index.names(), matrix.n_attributes
    found = []
    for m in range(matrix.n_tokens):
        attributes: list[str] = []
        for ref in matrix.token_refs[matrix.token_indptr[m] : matrix.token_indptr[m + 1]].tolist():
            bundle = slice(matrix.bundle_indptr[ref - A], matrix.bundle_indptr[ref - A + 1]) if ref >= A else None
            attributes += [names[a] for a in ([ref] if bundle is None else matrix.bundle_ids[bundle].tolist())]
        found.append(attributes)
    return found
