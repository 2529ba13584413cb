"""Chang, Ratinov and Roth (2012), table 8: what each rule for advertisements is worth alone (see `ccm12_rules`)."""

from __future__ import annotations

from espalier.experiments.ccm12_rules import rules_table

__all__ = ["TABLE"]

FIGURES = {
    "None": (53.90, 60.75),
    "FieldLength": (54.38, 63.85),
    "Address": (53.95, 60.85),
    "Available": (53.96, 60.77),
    "Contact": (53.90, 60.75),
    "Features": (54.20, 60.84),
    "Neighborhood": (53.90, 60.75),
    "Photos": (53.90, 60.67),
    "Rent": (53.89, 60.80),
    "Restrictions": (54.27, 60.79),
    "Roommates": (53.90, 60.78),
    "Size": (54.22, 61.11),
    "Punctuation": (58.64, 68.81),
    "Utilities": (54.05, 60.89),
    "all": (61.16, 70.79),
}

TABLE = rules_table("ccm12-table8", "ads", FIGURES, minutes=1)
