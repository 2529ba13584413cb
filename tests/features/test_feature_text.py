"""The text form of templates: there and back, short forms, and what is said of mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_features import DEFINITIONS

from espalier.errors import InputError
from espalier.features.declare import parse_template, parse_templates
from espalier.features.fields import (
    MAX_OFFSET,
    Bias,
    Edge,
    FeatureField,
    Flags,
    FullShape,
    LengthField,
    Lower,
    Part,
    Position,
    Prefix,
    ShapeField,
    Suffix,
    Template,
    Word,
    default_templates,
)
from espalier.features.spans import Beyond, Bracketed, Measure, Quoted, Within

fields: st.SearchStrategy[FeatureField] = st.one_of(
    st.sampled_from([Word(), Lower(), ShapeField(), FullShape(), LengthField(), Flags(), Bias(), Edge(), *DEFINITIONS]),
    st.builds(Prefix, st.integers(1, 100)),
    st.builds(Suffix, st.integers(1, 100)),
    st.builds(Position, st.integers(1, 1000)),
)
values = st.one_of(st.just(1.0), st.floats(1e-5, 1e5))
stringy = fields.filter(lambda field: not field.dense)
fields = st.one_of(
    fields,
    st.builds(
        Within,
        st.sampled_from(["chunk", "sentence"]),
        fields,
        st.sampled_from(["all", "first", "last"]),
        st.integers(-9, 9),
        values,
    ),
    st.builds(Beyond, st.sampled_from(["before", "after"]), stringy, values),
    st.sampled_from([Quoted(), Bracketed(), Measure("chunk", "index"), Measure("sentence", "length")]),
)
parts = st.builds(Part, fields, st.integers(-MAX_OFFSET, MAX_OFFSET))
templates = st.builds(Template, st.lists(parts, min_size=1, max_size=4, unique=True).map(tuple))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(templates)
def test_text_parses_back(template: Template) -> None:
    assert parse_template(template.text, DEFINITIONS) == (template,)
    assert str(template) == template.text


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("shape[-1,0,1]", ["shape@-1", "shape", "shape@1"]),
        ("prefix1-4", ["prefix1", "prefix2", "prefix3", "prefix4"]),
        ("suffix2-3[-1, +1]", ["suffix2@-1", "suffix3@-1", "suffix2@1", "suffix3@1"]),
        ("lower@-1&lower@0", ["lower@-1 & lower"]),
        ("  lower @ -1  &  word ", ["lower@-1 & word"]),
        ("shape[0,1] & prefix1-2", ["shape & prefix1", "shape & prefix2", "shape@1 & prefix1", "shape@1 & prefix2"]),
        ("position", ["position5"]),
        ("regex:year@-2", ["regex:year@-2"]),
        ("chunk+0( prefix1-2 )*1", ["chunk(prefix1)", "chunk(prefix2)"]),
        ("sentencelast-1(chunk(lower)*0.50)", ["sentencelast-1(chunk(lower)*0.5)"]),
        ("before(regex:year)[-1,0]", ["before(regex:year)@-1", "before(regex:year)"]),
    ],
)
def test_short_forms(short: str, long: list[str]) -> None:
    assert [template.text for template in parse_template(short, DEFINITIONS)] == long
    assert parse_template(short, DEFINITIONS) == parse_templates(long, DEFINITIONS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wrod", "template 'wrod': unknown field 'wrod'; did you mean 'word'?"),
        ("shapes@-1", "unknown field 'shapes'; did you mean 'shape'?"),
        ("prefx3", "unknown field 'prefx3'; did you mean 'prefix'?"),
        ("zzz", "unknown field 'zzz'; known: word, lower"),
        ("prefix", "unknown field 'prefix'; it needs a length: 'prefix3' or 'prefix1-4'"),
        ("prefix0", "prefix0: the length must be a whole number from 1 to 100"),
        ("prefix4-1", "'prefix4-1' is not a range of lengths"),
        ("prefix2-2", "'prefix2-2' is not a range of lengths"),
        ("prefix1-99999999999", "the length must be a whole number from 1 to 100"),
        ("position2-5", "'position2-5' is not a range of lengths"),
        ("position0", "the number of bins must be a whole number from 1 to 1000"),
        ("regex:yaer", "regex 'yaer' is not defined; did you mean 'year'?"),
        ("regex:qqq", "regex 'qqq' is not defined; defined: year"),
        ("regx:year", "unknown field 'regx:year'; did you mean 'regex:year'?"),
        ("lower@", "template 'lower@': the offset '' is not a whole number"),
        ("lower@x", "the offset 'x' is not a whole number"),
        ("lower@1.5", "the offset '1.5' is not a whole number"),
        ("lower[]", "the offset '' is not a whole number"),
        ("lower[1,]", "the offset '' is not a whole number"),
        ("lower@5000", "the offset 5000 is not a whole number from -1000 to 1000"),
        ("lower@1@2", "cannot read 'lower@1@2'"),
        ("lower[1", "cannot read 'lower[1'"),
        ("", "cannot read ''"),
        ("lower & ", "cannot read ''"),
        ("chunk(lowr)", "unknown field 'lowr'; did you mean 'lower'?"),
        ("chunk(lower", "unknown field 'chunk(lower'"),
        ("chunks(lower)", "unknown field 'chunks(lower)'"),
        ("chunk(lower)*", "the value '' is not a number above 0"),
        ("chunk(lower)*-1", "the value '-1' is not a number above 0"),
        ("chunk(lower)*inf", "the value 'inf' is not a number above 0"),
        ("chunk(lower)*x", "the value 'x' is not a number above 0"),
        ("chunk-5000(lower)", "the shift -5000 is not a whole number from -1000 to 1000"),
        ("before(vectors:v)", "vectors:v is a vector; its mean is taken by chunk or sentence"),
        ("classes:txet", "classes 'txet' is not defined; did you mean 'text'?"),
        ("lower & lower@0", "template 'lower & lower' names the same part twice"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_template(text, DEFINITIONS)
    assert message in str(caught.value)


def test_kinds_without_definitions() -> None:
    with pytest.raises(InputError, match="lexicon 'places' is not defined; no lexicon is defined"):
        parse_template("lexicon:places")


@pytest.mark.parametrize("offset", [1.0, True, "1", None])
def test_offsets_are_whole_numbers(offset: int) -> None:
    with pytest.raises(InputError, match="is not a whole number"):
        Lower() @ offset


def test_templates_are_values() -> None:
    template = Lower() @ -1 & ShapeField()
    assert template == Template((Part(Lower(), -1), Part(ShapeField(), 0)))
    assert hash(template) == hash(Lower() @ -1 & ShapeField() @ 0)
    assert len({Prefix(1), Suffix(1), Prefix(2), Prefix(1)}) == 3
    with pytest.raises(InputError, match="at least one part"):
        Template(())


def test_the_default_templates_as_text() -> None:
    """The default set is what its text form says: nobody has to read the objects."""
    written = [
        *("bias", "lower[-2,-1,0,1,2]", "shape[-1,0,1]", "fullshape", "prefix1-4", "suffix1-4", "length"),
        *("flags[-1,0,1]", "suffix2[-1,1]", "position5", "edge"),
    ]
    assert default_templates() == parse_templates(written)
