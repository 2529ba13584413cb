"""The grammar of the text form of rules, its words, and how names and strings are written."""

from __future__ import annotations

import re

__all__ = ["GRAMMAR", "KEYWORDS", "NAME", "print_name", "print_string"]

GRAMMAR = r"""
line       = name ":" rule [ "[" option { "," option } "]" ]
option     = "hard" | "penalty" number | "once"

rule       = "if" rule "then" rule | both { "or" both }
both       = single { "and" single }
single     = "not" single | "(" rule ")" | simple

simple     = ( "first" | "last" ) [ "not" ] "in" fields
           | "tokens" position ".." position "are" fields
           | where ( "->" | "only" "in" ) [ "previous" | "next" ] fields
           | "change" "only" ( "after" | "before" | "at" ) tight
           | fields "once"
           | "length" "(" fields ")" ( "<=" | ">=" | "==" ) integer
           | sum ( "<=" | ">=" | "==" | "!=" | "<" | ">" ) sum
           | field "required"
           | fields ( "before" | "excludes" | "requires" ) fields
           | fields "followed" [ "later" ] "by" fields
           | "any" "token" tight
           | "text" "~" pattern

where      = condition | "label" fields [ "and" condition ]
condition  = conjunction { "or" conjunction }
conjunction= tight { "and" tight }
tight      = [ "token" ] ( "not" tight | "previous" tight | "next" tight
                         | "within" position [ ".." position ] tight | "(" condition ")" | atom )
atom       = [ "in" | "exactly" [ "in" ] ] string { "," string }
           | [ "exactly" ] "in" "file" string
           | [ "exactly" ] place "phrase" ( string { "," string } | "file" string )
           | place "phrase" "(" row { "or" row } ")"
           | [ "~" ] pattern | "text" "~" pattern
           | "shape" string
           | "is" ( "first" | "last" | name )
           | "at" position [ ".." position ]
place      = "in" | "begins" | "continues" | "ends"
row        = element { element }
element    = ( "(" row { "or" row } ")" | conjunction ) [ "?" | "*" | "+" ]

sum        = [ "-" ] summand { ( "+" | "-" ) summand }
summand    = integer | [ integer [ "*" ] ] ( "count" "(" fields ")" | "tokens" [ "(" fields ")" ] )

fields     = [ "not" ] ( "any" | "each" ) "field" | "anything" | [ "not" | "any" "but" ] field { "," field }
field      = name
name       = word | string
position   = [ "-" ] integer
"""
"""EBNF. At the beginning of a rule `not` denies the rule, so a negated set of fields is `any but ...` there;
a `where` begins there with `token`, `previous token`, `next token` or `label`."""

KEYWORDS = frozenset(re.findall(r'"([a-z]+)"', GRAMMAR)) - {"after", "hard", "penalty"}
"""Words of the language; a field or rule with such a name is written in quotes. The three that are left out stand only
where no name can."""

NAME = re.compile(r"[^\W\d]\w*(?:[-/]\w+)*")
"""A plain word: letters, digits, inner hyphens and slashes."""


def print_name(name: str) -> str:
    """Return a rule's or field's name, in quotes if it is not a plain word or means something else."""
    return name if NAME.fullmatch(name) and name not in KEYWORDS else print_string(name)


def print_string(text: str) -> str:
    """Return a string in quotes."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'
