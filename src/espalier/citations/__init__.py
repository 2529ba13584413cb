"""References: text in, bibliographic records out.

A reference is cut into labelled fields (`record`), read into names, dates and identifiers (`normalise`) and
written in the formats that other tools read (`formats`).
"""
