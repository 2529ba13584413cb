"""Works of other kinds: the web, the press, data, programs, patents, standards, courts, archives, talks."""

from __future__ import annotations

from rendering.details import digits, some
from rendering.drawing import Drawing
from rendering.works import Item

from rendering import details


class OtherKinds(Drawing):
    """Draws works that are not, or not only, printed."""

    def webpage(self, language: str) -> Item:
        """Return a page of a web site, mostly with the day of access."""
        item = {**self.basics(language), "type": self.random.choice(("webpage", "webpage", "post-weblog"))}
        item.update({"container-title": self._one("sites"), "URL": details.address(self.random, item)})
        details.set_date(self.random, item, 0.7, 0.8)
        if some(self.random, 0.35):
            item.pop("author", None)
        elif some(self.random, 0.3):
            item["author"] = [{"literal": self._one("bodies")}]
        item["accessed"] = details.day(self.random) if some(self.random, 0.75) else ""
        if some(self.random, 0.25):
            item.pop("issued", None)
        if some(self.random, 0.1):
            item["container-title"] = ""
        return item

    def newspaper(self, language: str) -> Item:
        """Return an article of a newspaper."""
        return self._press(language, "article-newspaper", "newspapers")

    def magazine(self, language: str) -> Item:
        """Return an article of a magazine."""
        item = self._press(language, "article-magazine", "magazines")
        item["volume"] = str(self.random.randint(1, 300)) if some(self.random, 0.5) else ""
        item["issue"] = str(self.random.randint(1, 52)) if some(self.random, 0.4) else ""
        return item

    def _press(self, language: str, kind: str, names: str) -> Item:
        item = {**self.basics(language), "type": kind, "container-title": self._one(names, language)}
        details.set_date(self.random, item, 0.95, 0.9)
        item["author"] = item.get("author", [])[: self.random.choice((0, 1, 1, 1, 2))]
        page = self.random.choice((f"A{self.random.randint(1, 30)}", str(self.random.randint(1, 60)), "12-14", "B1-B3"))
        item["page"] = page if some(self.random, 0.5) else ""
        item["section"] = (
            self.random.choice(("Opinion", "Business", "Feuilleton", "Culture")) if some(self.random, 0.1) else ""
        )
        item["publisher-place"] = self._one("cities") if some(self.random, 0.1) else ""
        item["URL"] = details.address(self.random, item) if some(self.random, 0.4) else ""
        item["accessed"] = details.day(self.random) if item["URL"] and some(self.random, 0.6) else ""
        return item

    def dataset(self, language: str) -> Item:
        """Return a set of data in an archive."""
        item = {**self.basics(language), "type": "dataset", "publisher": self._one("archives")}
        if some(self.random, 0.3):
            item["title"] = (
                self.random.choice(("Data from: ", "Replication data for: ", "Dataset for ")) + item["title"]
            )
        item["version"] = self._version() if some(self.random, 0.5) else ""
        item["genre"] = self.random.choice(("Data set", "Dataset", "data set")) if some(self.random, 0.4) else ""
        self._where(item)
        return item

    def software(self, language: str) -> Item:
        """Return a program."""
        item = {**self.basics(language), "type": "software", "publisher": self._one("hosts")}
        if some(self.random, 0.7):
            item["title"] = self._one("programs")
        if some(self.random, 0.3):
            item["author"] = [{"literal": self.random.choice((item["publisher"], self._one("bodies")))}]
        item["version"] = self._version() if some(self.random, 0.75) else ""
        item["genre"] = (
            self.random.choice(("Computer software", "Software", "computer program")) if some(self.random, 0.3) else ""
        )
        item["publisher-place"] = self._one("cities") if some(self.random, 0.3) else ""
        self._where(item)
        return item

    def patent(self, language: str) -> Item:
        """Return a patent."""
        item = {**self.basics(language), "type": "patent"}
        if some(self.random, 0.6):
            item["title"] = f"{self._one('devices')} {item['title'][0].lower()}{item['title'][1:]}"
        country, office = self.random.choice(
            (("US", "United States"), ("EP", "Europe"), ("WO", "WIPO"), ("DE", "Germany"), ("JP", "Japan"))
        )
        n = self.random.randint(1000000, 9999999)
        item["number"] = self.random.choice(
            (
                f"{country}{n}",
                f"{country} {n:,}",
                f"{n:,}",
                f"{country}{n}B2",
                f"{country}{self.random.randint(2001, 2023)}{digits(self.random, 7)}A1",
            )
        )
        item["jurisdiction"] = office if some(self.random, 0.3) else ""
        item["genre"] = (
            self.random.choice(("Patent", "US Patent", "patent", "Google Patents")) if some(self.random, 0.3) else ""
        )
        item["authority"] = (
            self.random.choice(("United States Patent and Trademark Office", "European Patent Office"))
            if some(self.random, 0.2)
            else ""
        )
        item["submitted"] = details.day(self.random, 1970, 2000) if some(self.random, 0.2) else ""
        details.set_date(self.random, item, 0.8, 0.9)
        return item

    def standard(self, language: str) -> Item:
        """Return a standard."""
        body, year = self._one("standards_bodies"), self.random.randint(1975, 2024)
        mark = self._one("standards_marks")
        number = self.random.choice(
            (
                f"{mark} {digits(self.random, 4)}",
                f"{mark} {digits(self.random, 3)}-{self.random.randint(1, 9)}:{year}",
                f"{mark} {digits(self.random, 3)}.{digits(self.random, 2)}",
            )
        )
        item = {
            "type": "standard",
            "title": self._one("standards"),
            "number": number,
            "issued": {"date-parts": [[year]]},
        }
        if some(self.random, 0.5):
            item["author"] = [{"literal": body}]
        item["publisher"] = body if some(self.random, 0.5) else ""
        item["publisher-place"] = (
            self.random.choice(("Geneva", "West Conshohocken, PA", "Berlin", "New York", "London"))
            if some(self.random, 0.4)
            else ""
        )
        item["genre"] = (
            self.random.choice(("Standard", "Norm", "Technical specification")) if some(self.random, 0.3) else ""
        )
        item["URL"] = details.address(self.random, item) if some(self.random, 0.2) else ""
        return item

    def legal_case(self, language: str) -> Item:
        """Return a decision of a court."""
        item = {
            "type": "legal_case",
            "title": self._case(),
            "authority": self._one("courts"),
        }
        item["issued"] = {"date-parts": [[self.random.randint(1900, 2024)]]}
        item.update(
            {
                "container-title": self._one("reporters"),
                "volume": str(self.random.randint(1, 600)),
                "page": str(self.random.randint(1, 1200)),
            }
        )
        item["number"] = f"{digits(self.random, 2)}-{digits(self.random, 4)}" if some(self.random, 0.2) else ""
        details.set_date(self.random, item, 0.3, 0.9)
        return item

    def _case(self) -> str:
        """Return the name of a case: mostly two parties, else what the court speaks of."""
        first, second = self._one("parties"), self._one("parties")
        against = f"{first} {self.random.choice(('v.', 'v.', 'v', 'v', 'vs.'))} {second}"
        if some(self.random, 0.8):
            return against
        number = f"{self.random.randint(1, 900)}/{digits(self.random, 2)}"
        one = (f"In re {first}", f"Re {first}", f"Ex parte {first}", f"Matter of {first}", f"Case C-{number} {against}")
        return self.random.choice((*one, f"{against} (No. 2)", f"{against} and others"))

    def manuscript(self, language: str) -> Item:
        """Return something that was never printed."""
        item = {**self.pool.draw(self.random, "manuscript", language), "type": "manuscript"}
        item["genre"] = (
            self.random.choice(("Unpublished manuscript", "Manuscript", "Typescript", "Letter", ""))
            if some(self.random, 0.7)
            else ""
        )
        item["archive"] = self._one("libraries") if some(self.random, 0.4) else ""
        item["archive_location"] = (
            f"MS {self.random.choice(('Add.', 'Rawl.', 'Lat.'))} {digits(self.random, 4)}"
            if item["archive"] and some(self.random, 0.6)
            else ""
        )
        return item

    def preprint(self, language: str) -> Item:
        """Return a preprint."""
        number = f"{digits(self.random, 4)}.{digits(self.random, 5)}"
        archive = self.random.choice(
            (
                f"arXiv:{number}",
                f"arXiv:{number} [cs.CL]",
                f"hep-th/{digits(self.random, 7)}",
                f"{digits(self.random, 4)}.{digits(self.random, 4)}",
            )
        )
        item = {
            **self.basics("en"),
            "type": "article",
            "number": archive,
            "publisher": self.random.choice(("arXiv", "bioRxiv", "SSRN", "PsyArXiv")),
        }
        item["URL"] = f"http://arxiv.org/abs/{number}" if some(self.random, 0.5) else ""
        item["genre"] = "preprint" if some(self.random, 0.3) else ""
        item["DOI"] = f"10.48550/arXiv.{number}" if some(self.random, 0.3) else ""
        details.set_date(self.random, item, 0.5, 0.6)
        return item

    def film(self, language: str) -> Item:
        """Return a film, under its director."""
        item = {
            **self.basics(language),
            "type": "motion_picture",
            "publisher": self._one("studios"),
        }
        item["director"] = item.pop("author", [])[:1]
        item["medium"] = (
            self.random.choice(("Film", "DVD", "Motion picture", "Video")) if some(self.random, 0.6) else ""
        )
        item["title"] = " ".join(item["title"].split()[:5]).strip(" ,:;.")
        return item

    def speech(self, language: str) -> Item:
        """Return a talk or a poster."""
        item = {**self.basics(language), "type": "speech", "event-place": self._one("cities")}
        item["event-title"] = self.pool.draw(self.random, "paper-conference").get("container-title", "")
        item["event-title"] = item["event-title"].replace("Proceedings of the ", "")
        item["genre"] = self._one("talks") if some(self.random, 0.4) else ""
        details.set_date(self.random, item, 0.8, 0.6)
        return item
