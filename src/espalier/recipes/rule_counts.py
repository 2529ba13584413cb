"""How often rules apply to labelled records, and how often the labels keep and break them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from espalier.tags import is_tag

if TYPE_CHECKING:
    from espalier.corpus import Corpus
    from espalier.document import Document
    from espalier.rules.ruleset import RuleSet

__all__ = ["Applied", "count_rules", "labelled_corpus"]


class Applied(NamedTuple):
    """How often a rule has something to say about labels, and how often these keep and break it.

    first : the record that breaks it first, from 0; None where none does.
    """

    applies: int
    kept: int
    broken: int
    first: int | None


def labelled_corpus(documents: Sequence[Document], labels: Iterable[str] = ()) -> Corpus:
    """Return documents as tags; labels : more names that rules may use, for fields that these documents lack."""
    from espalier.corpus import Corpus, Labels

    corpus = Corpus.from_documents(documents)
    found = () if corpus.labels is None else corpus.labels.names
    listed = {name if is_tag(name) else "/".join(f"B-{part}" for part in name.split("/")) for name in labels}
    return Corpus.from_documents(documents, vocabulary=Labels(sorted({*found, *listed})))


def count_rules(rules: RuleSet, corpus: Corpus) -> list[Applied]:
    """Count the occasions of every rule in the labels of a corpus, and its violations.

    What an occasion is depends on the form of the rule; `espalier.learning.penalties` has the table. Penalties that are
    learned with `over="applicable"` come from the same counts.
    """
    from espalier.decoders.certify import degree_matrix
    from espalier.learning.penalties import tally
    from espalier.rules.compile import compile_rules

    assert corpus.labels is not None
    assert corpus.y is not None
    if not rules.K:
        return []
    compiled = compile_rules(rules, corpus.labels)
    counted = tally(compiled, corpus, over="applicable")
    degrees = degree_matrix(compiled, corpus, corpus.y)
    rows = zip(counted.kept.astype(int).tolist(), counted.violated.astype(int).tolist(), strict=True)
    return [
        Applied(kept + broken, kept, broken, int(degrees[:, k].argmax()) if broken else None)
        for k, (kept, broken) in enumerate(rows)
    ]
