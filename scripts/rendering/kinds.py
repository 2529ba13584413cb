"""Works of every kind: real ones, and ones put together from real names and titles and from declared words."""

from __future__ import annotations

from copy import deepcopy

from rendering.details import some
from rendering.other_kinds import OtherKinds
from rendering.print_kinds import PrintKinds
from rendering.works import Item

from rendering import details

SHARES = {
    **{
        "article": 33,
        "chapter": 11,
        "conference": 10,
        "book": 10,
        "edited-book": 4,
        "thesis": 5,
        "report": 5,
        "webpage": 5,
    },
    **{"newspaper": 3, "magazine": 1.2, "dataset": 2, "software": 2, "patent": 1.5, "standard": 1.2, "legal-case": 1.2},
    **{
        "translation": 3,
        "reprint": 1.5,
        "volumes": 1.5,
        "manuscript": 0.8,
        "preprint": 1.5,
        "entry": 1.2,
        "film": 0.5,
        "speech": 1,
    },
}
"""How often each kind is drawn."""


class Maker(PrintKinds, OtherKinds):
    """Draws works of one part; what it makes up comes from the same part."""

    def draw(self, language: str = "en") -> Item:
        """Return a work of some kind; in a language, if it can be had in it."""
        kind = self.random.choices(list(SHARES), list(SHARES.values()))[0]
        item: Item = getattr(self, kind.replace("-", "_"))(language)
        self._vary(item, kind)
        item["kind"] = kind
        return {key: value for key, value in item.items() if value}

    def _vary(self, item: Item, kind: str) -> None:
        """Do what may happen to a work of any kind."""
        random = self.random
        if kind in ("article", "chapter", "conference"):
            if item.get("DOI"):
                item["DOI"] = item["DOI"] if some(random, 0.35) else ""
            elif some(random, 0.2):
                item["DOI"] = details.doi(random, item)
            item["URL"] = details.address(random, item) if some(random, 0.1) else ""
        elif kind in ("book", "edited-book", "thesis", "report", "translation", "reprint", "volumes"):
            item["URL"] = details.address(random, item) if some(random, 0.08) else ""
        if item.get("URL") and "accessed" not in item and some(random, 0.5):
            item["accessed"] = details.day(random)
        if item.get("author") and some(random, 0.04):
            item["author"] = item["author"] + [
                deepcopy(random.choice(self.pool.people)) for _ in range(random.randint(3, 22))
            ]
        elif item.get("author") and some(random, 0.02):
            item["author"] = [{"literal": self._one("bodies")}]
        if some(random, 0.02) and kind != "legal-case":
            item.pop("issued", None)
        elif kind in ("article", "conference", "chapter") and some(random, 0.015):
            item.update(
                {
                    "status": random.choice(("in press", "forthcoming", "submitted")),
                    "volume": "",
                    "issue": "",
                    "page": "",
                }
            )
        elif kind in ("volumes", "book") and item.get("issued") and some(random, 0.02):
            item["issued"] = {"date-parts": [[details.year_of(item)], [details.year_of(item) + random.randint(1, 9)]]}
        for people in (item.get(role) or [] for role in ("author", "editor", "translator")):
            for name in people:
                if len(name.get("given", "")) > 2 and some(random, 0.01):
                    name["suffix"] = random.choice(("Jr.", "III", "Sr."))
