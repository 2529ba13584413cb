r"""The text form of rules: one rule a line, readable without knowing Python.

    Start:   first in name, title
    Once:    each field once
    Punct:   change only after /[.,;:!?]/
    Pages:   token in "pp.", "pages" -> pages
    Year:    token ~ /(19|20)\d\d/ -> date
    Quotes:  token in "\"" only in title
    Venue:   count(series) + count(volume) <= 1          [hard]
    Title:   title required                              [penalty 2.5]
    Order:   name before title
    Len:     length(each field) >= 3
    Thesis:  if any token in "thesis" then school required

A line that is indented deeper than the first rule and does not begin with a name and a colon continues the rule
above it; `#` begins a comment.
Words are in double quotes and ignore case unless they stand behind `exactly`; patterns stand between slashes
and speak about the whole token (behind `text ~`, about any part of the text). A field whose name is a word of
the language, or not a plain word, is written in quotes. Positions count from 0, and from -1 at the end.

`GRAMMAR` is the whole language; `espalier.rules.meaning` says what each rule means.
"""

from __future__ import annotations

from espalier.rules.lexer import KEYWORDS
from espalier.rules.parser import parse_node
from espalier.rules.printer import print_node

__all__ = ["GRAMMAR", "KEYWORDS", "parse_node", "print_node"]

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
tight      = [ "token" ] ( "not" tight | "previous" tight | "next" tight | "(" condition ")" | atom )
atom       = [ "in" | "exactly" [ "in" ] ] string { "," string }
           | [ "exactly" ] "in" "file" string
           | [ "~" ] pattern | "text" "~" pattern
           | "shape" string
           | "is" ( "first" | "last" | name )
           | "at" position [ ".." position ]

sum        = [ "-" ] summand { ( "+" | "-" ) summand }
summand    = integer | [ integer [ "*" ] ] ( "count" "(" fields ")" | "tokens" [ "(" fields ")" ] )

fields     = ( "any" | "each" ) "field" | "anything" | [ "not" | "any" "but" ] field { "," field }
field      = name
name       = word | string
position   = [ "-" ] integer
"""
"""EBNF. At the beginning of a rule `not` denies the rule, so a negated set of fields is `any but ...` there;
a `where` begins there with `token`, `previous token`, `next token` or `label`."""
