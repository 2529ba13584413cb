"""Tables of pandas and others, in and out: a table is anything that gives a column by its name.

    corpus = corpus_from_table(frame, sequence="sentence", token="word", label="tag")     one row for each token
    pd.DataFrame(token_columns(corpus))                                                   and back
    pd.DataFrame(field_columns(extractor.extract_many(frame["text"])))                    one row for each field found
    pd.DataFrame(record_columns(extractor.extract_many(frame["text"])), frame.index)      one row for each text

Columns out are a dict of lists, which pandas, Polars and pyarrow all take; so none of them is needed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from espalier.corpus import Corpus
from espalier.errors import InputError, check_several, in_order, nearest
from espalier.extract.extraction import Extraction

__all__ = ["corpus_from_table", "field_columns", "record_columns", "token_columns"]

_SEVERAL = "expected what extract_many gives; one extraction stands in a list: [found]"


def corpus_from_table(table: Any, *, sequence: str, token: str, label: str | None = None) -> Corpus:
    """Return the sequences of a table that has a row for each token.

    Parameters
    ----------
    table : a DataFrame, a dict of columns, or anything else with `table[name]`.
    sequence : the column whose value is the same for all tokens of a sequence, which stand one after the other.
    token : the column of tokens.
    label : the column of labels; None, nan and NA in it are unknown labels.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> table = {"n": [1, 1, 2], "word": ["Plum", "35", "Pear"], "tag": ["B-fruit", "B-price", None]}
    >>> corpus = corpus_from_table(table, sequence="n", token="word", label="tag")
    >>> corpus.all_labels()
    [['B-fruit', 'B-price'], [None]]
    """
    keys, words = _column(table, sequence), _column(table, token)
    missing = next((row for row, key in enumerate(keys) if _is_unknown(key)), None)
    if missing is not None:
        what = f"column {sequence!r} has no value in row {missing}, and none says to which sequence its token belongs"
        fill = f"df[{sequence!r}] = df[{sequence!r}].ffill()"
        raise InputError(what, hint=f"where only the first row of a sequence has one, fill it down in pandas: {fill}")
    tags = None if label is None else [None if _is_unknown(tag) else tag for tag in _column(table, label)]
    for name, column in ((token, words), *([(label, tags)] if tags is not None else ())):
        if len(column) != len(keys):
            raise InputError(f"column {name!r} has {len(column)} rows, but {sequence!r} has {len(keys)}")
    begins = [i for i, key in enumerate(keys) if i == 0 or key != keys[i - 1]]
    again = len(begins) - len({keys[i] for i in begins})
    if again:
        raise InputError(
            f"rows of one sequence do not stand together: {again} of {sequence!r} come again",
            hint="sort the table by it, but keep the order of rows that are equal; in pandas: kind='stable'",
        )
    pieces = list(pairwise([*begins, len(keys)])) if keys else []
    labels = None if tags is None else [tags[a:b] for a, b in pieces]
    return Corpus.from_tokens([words[a:b] for a, b in pieces], labels)


def token_columns(corpus: Corpus) -> dict[str, list[Any]]:
    """Return a row for each token, as columns: `sequence` from 0, `token`, and `label` where there are labels.

    Parameters
    ----------
    corpus : with or without labels; `corpus.with_labels(model.predict(corpus))` has those of a model.

    Returns
    -------
    dict of lists
    """
    if not isinstance(corpus, Corpus):
        raise InputError(f"a Corpus is needed, not {type(corpus).__name__}", hint="Corpus.from_tokens(X, y) makes one")
    tokens = [corpus.tokens(i) for i in range(len(corpus))]
    columns: dict[str, list[Any]] = {
        "sequence": [i for i, own in enumerate(tokens) for _ in own],
        "token": [token for own in tokens for token in own],
    }
    if corpus.y is not None:
        columns["label"] = [label for own in corpus.all_labels() for label in own]
    return columns


def field_columns(extractions: Iterable[Extraction]) -> dict[str, list[Any]]:
    """Return a row for each field that was found, as columns.

    Parameters
    ----------
    extractions : what `extract_many` or `parse_many` gives.

    Returns
    -------
    dict of lists : `text`, the number of the text from 0; `label`, `value`, `start`, `end`, `confidence`.
    """
    check_several(extractions, "extractions", _SEVERAL)
    names = ("text", "label", "value", "start", "end", "confidence")
    rows = [
        (i, field.label, field.text, field.start, field.end, field.confidence)
        for i, found in enumerate(extractions)
        for field in found.fields
    ]
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def record_columns(
    extractions: Iterable[Extraction], labels: Iterable[str] | None = None, *, between: str = " | "
) -> dict[str, list[Any]]:
    """Return a row for each text, in their order, as columns: the text, how sure its fields are, and a column a field.

    Parameters
    ----------
    extractions : what `extract_many` or `parse_many` gives.
    labels : the fields that get a column, in this order; by default those that are found, as they come.
    between : stands between the values of a field that a text has more than once.

    Returns
    -------
    dict of lists : `text`, `confidence`, and the values of each field, None where a text has none. A field that is
        called `text` or `confidence` itself has the column `field.text` or `field.confidence`.
    """
    rows = in_order(extractions, "extractions", _SEVERAL)
    names = dict.fromkeys([f.label for row in rows for f in row.fields] if labels is None else labels)
    columns: dict[str, list[Any]] = {
        "text": [row.text for row in rows],
        "confidence": [row.confidence for row in rows],
    }
    own = tuple(columns)
    for label in names:
        values = [[field.text for field in row.fields if field.label == label] for row in rows]
        columns[f"field.{label}" if label in own else label] = [
            between.join(value) if value else None for value in values
        ]
    return columns


def _column(table: Any, name: str) -> list[Any]:
    try:
        return list(table[name])
    except (KeyError, IndexError, TypeError):
        known = [str(known) for known in getattr(table, "columns", table)]
        raise InputError(
            f"the table has no column {name!r}", hint=nearest(name, known, f"it has {', '.join(known)}")
        ) from None


def _is_unknown(value: Any) -> bool:
    """Is this how a table says that there is no value? Of all values only nan differs from itself; NA is no truth."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True
