"""Chang, Ratinov and Roth (2012), table 7: what each rule for references is worth alone (see `ccm12_rules`)."""

from __future__ import annotations

from espalier.experiments.ccm12_rules import rules_table

__all__ = ["TABLE"]

FIGURES = {
    "None": (58.48, 64.55),
    "Start": (58.52, 64.52),
    "AppearsOnce": (58.69, 65.92),
    "Punctuation": (63.68, 71.23),
    "BookJournal": (58.96, 64.68),
    "Date": (61.50, 66.76),
    "Editors": (58.70, 64.77),
    "Journal": (58.66, 64.73),
    "Note": (58.55, 64.61),
    "Pages": (58.77, 64.68),
    "TechReport": (58.73, 64.43),
    "Title": (59.66, 65.54),
    "Location": (58.81, 64.97),
    "all": (71.64, 77.65),
}

TABLE = rules_table("ccm12-table7", "citations", FIGURES, minutes=0.5)
