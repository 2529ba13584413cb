"""Rules by example: every block prints what stands below it, every rule changes what its section says, no ties."""

from __future__ import annotations

import re

from doc_pages import blocks, page, run_page

import espalier as es

NAME = "docs/rules-by-example.md"
PAGE = page(NAME)
SECTIONS = PAGE.split("\n## ")[1:]


def test_blocks_print_what_stands_below_them() -> None:
    ran = list(run_page(NAME))
    assert len(ran) == 24
    for block, printed, shown in ran:
        assert printed == shown, block


def test_every_situation_has_a_rule_that_decides() -> None:
    assert len(SECTIONS) == 22
    for section in SECTIONS[:-1]:
        name = re.search(r"""show\(\s*r?['"](\w+):""", section)
        assert name is not None, section
        assert f"The rule {name[1]} changes the answer at a cost of 1 (optimal)." in section


def test_answers_are_no_accident() -> None:
    """The best labelling of every situation is better than the next: ties would depend on the decoder."""
    seen: list[float] = []

    def explain(unary, rules, *, tokens, labels):
        best = es.decode(unary, rules, tokens=tokens, labels=labels, k=2)
        first, second = [answer.score for answer in best]
        seen.append(first - second)
        return ""

    names: dict[str, object] = {"explain": explain}
    for block in blocks(PAGE):
        if block.language == "python" and "relax" not in block.text:
            exec(compile(block.text.replace("print(es.explain(", "(explain("), NAME, "exec"), names)
    assert len(seen) == 22
    assert min(seen) >= 0.5


def test_forms_that_the_page_promises() -> None:
    """Rules that the text mentions in passing are rules."""
    labels = ["author", "editor", "title", "price", "publisher", "place"]
    for rule in ("each field once", 'token in "£" -> next price', "tokens(author) <= 6",
                 "count(author) + count(editor) <= 3", "publisher followed later by place"):  # fmt: skip
        assert f"`{rule}`" in PAGE
        assert es.rules(f"R: {rule}", labels=labels).K == 1
