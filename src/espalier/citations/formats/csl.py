"""CSL-JSON: the input of citation processors (citeproc), Zotero and pandoc; one array of items.

    item(work, "andersen1994program")       # {"id": ..., "type": "thesis", "title": ..., "author": [...], ...}

The items satisfy the published schema of CSL data (version 1.0.2: `id` and `type` required, no other properties than
its own). Values are those of the `Work`, every character of them. Where the schema has no place of its own:

- 'et al.' is the last name, behind others, with the `literal` "others", as pandoc has it;
- what could not be read is in `custom.unread`, [label, text] each, and the text of a date that was read in part in
  `custom.issued`;
- an institution is the `publisher` when there is none (CSL's custom for theses and reports), else the `authority`;
- an arXiv number is the `archive_location` of the `archive` 'arXiv'; one of JSTOR or of the Handle system, if there is
  no arXiv number, that of 'JSTOR' or 'Handle'; another archive's number beside it is in `custom`;
- a date that could not be read is a `literal`; one that could has `date-parts`, one list or two for a range, and the
  letter of '2004a' is the `year-suffix`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from espalier.citations.formats import Keys, OutputFormat, page_range, to_json, year_suffix

if TYPE_CHECKING:
    from espalier.citations.work import Date, Name, Work

__all__ = ["FORMAT", "item"]

# CSL variable: the attribute of Work that it is, character for character.
_SAME = {
    "title": "title",
    "container-title": "container_title",
    "collection-title": "collection_title",
    "volume": "volume",
    "issue": "issue",
    "edition": "edition",
    "publisher": "publisher",
    "publisher-place": "location",
    "genre": "genre",
    "number": "number",
    "number-of-pages": "number_of_pages",
    "number-of-volumes": "number_of_volumes",
    "event-title": "event",
    "version": "version",
    "note": "note",
    "DOI": "doi",
    "URL": "url",
    "ISBN": "isbn",
    "ISSN": "issn",
    "PMID": "pmid",
    "PMCID": "pmcid",
}
_ARCHIVES = {"arXiv": "arxiv", "JSTOR": "jstor", "Handle": "handle"}
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}
_NAME = {"family": "family", "given": "given", "non-dropping-particle": "particle", "suffix": "suffix"}


def item(work: Work, key: str = "") -> dict[str, Any]:
    """Return the CSL item of a work; without `key` its id is the one it would have alone in a run."""
    found: dict[str, Any] = {"id": key or Keys()(work), "type": work.type}
    for variable, role in _ROLES.items():
        found[variable] = [name for name in map(_name, getattr(work, role)) if name]
        if found[variable] and variable in work.others:
            found[variable].append({"literal": "others"})
    found.update((variable, getattr(work, attribute)) for variable, attribute in _SAME.items())
    found["page"] = page_range(work.pages, "-") if work.pages else ""
    found["issued"], found["accessed"] = _date(work.issued), _date(work.accessed)
    found["original-date"] = _date(work.original_date)
    found["year-suffix"] = year_suffix(work.issued)
    if work.institution:
        found["authority" if work.publisher else "publisher"] = work.institution
    archives = [(name, number) for name, attribute in _ARCHIVES.items() if (number := getattr(work, attribute))]
    if archives:
        found["archive"], found["archive_location"] = archives[0]
    found["custom"] = _custom(work) | dict(archives[1:])
    return {variable: value for variable, value in found.items() if value}


def _name(name: Name) -> dict[str, str]:
    if name.literal:
        return {"literal": name.literal}
    return {part: getattr(name, attribute) for part, attribute in _NAME.items() if getattr(name, attribute)}


def _custom(work: Work) -> dict[str, Any]:
    """Return what CSL has no variable for."""
    dates = (("issued", work.issued), ("accessed", work.accessed), ("original_date", work.original_date))
    custom = {
        "unread": [list(pair) for pair in work.unread],
        **{name: date.literal for name, date in dates if date and date.parts},
    }
    return {name: value for name, value in custom.items() if value}


def _date(date: Date | None) -> dict[str, Any]:
    if date is None or not (date.parts or date.literal):
        return {}
    if not date.parts:
        found: dict[str, Any] = {"literal": date.literal}
    else:
        found = {"date-parts": [list(parts) for parts in date.parts]}
        if date.season:
            found["season"] = date.season
    return found | ({"circa": True} if date.circa else {})


FORMAT = OutputFormat(
    name="csl",
    summary="CSL-JSON, an array of items for citation processors",
    extensions=(".csl.json", ".json"),
    media_type="application/json",
    accepted=("application/vnd.citationstyles.csl+json",),
    entry=lambda record, key: to_json(item(record.work, key)),
    head="[\n",
    between=",\n",
    tail="\n]\n",
    empty="[]\n",
)
