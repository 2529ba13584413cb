"""A template set for text of any kind, for those who have not written their own."""

from __future__ import annotations

from espalier.features.templates import Template
from espalier.features.text import parse_templates

__all__ = ["default_templates"]


def default_templates() -> tuple[Template, ...]:
    """Return templates for general text: the word and its parts, its neighbours to two tokens, and its place.

    Lower-case words rather than words as they stand, because the shape says the rest and few labels go further; no
    conjunctions, which cost more than they gave on held-out references.
    """
    return parse_templates(
        [
            "bias",
            "lower[-2,-1,0,1,2]",
            "shape[-1,0,1]",
            "fullshape",
            "prefix1-4",
            "suffix1-4",
            "length",
            "flags[-1,0,1]",
            "suffix2[-1,1]",
            "position5",
            "edge",
        ]
    )
