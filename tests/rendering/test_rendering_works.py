"""Works: what is kept of metadata, languages, kinds, and parts that share nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rendering.kinds import SHARES, Maker
from rendering.plan import LOCALES, Style, plan, work
from rendering.words import LANGUAGES, Words
from rendering.works import Pool, cleaned, language_of

from rendering import details

NAME = {"family": "Doe", "given": "Jane"}


def item(type: str = "article-journal", **fields: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "type": type,
        "title": "On things",
        "author": [dict(NAME)],
        "issued": {"date-parts": [[1990]]},
        **fields,
    }


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """Return a pool with a work or two of every type that metadata have."""
    place = {"publisher": "A Press", "publisher-place": "Here"}
    rows = [
        item(source="crossref", **{"container-title": "Journal of Things", "volume": "1", "page": "2-9"}),
        item("paper-conference", **{"container-title": "Proceedings of Things"}),
        item("chapter", editor=[dict(NAME)], **{"container-title": "A Book"}, **place),
        item("book", **place),
        {**item("book", editor=[dict(NAME)], **place), "author": []},
        *(item("thesis", **place), item("manuscript"), item("report", **place), item("webpage")),
    ]
    (tmp_path / "metadata" / "normalised").mkdir(parents=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "metadata" / "normalised" / "train.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return Pool.read(tmp_path, "train")


@pytest.mark.parametrize(
    "fields",
    [
        {"title": ""},
        {"title": "On things, 30 pp. [Chapter I]"},
        {"issued": None},
        {"container-title": "May"},
        {"container-title": "(500)"},
        {"publisher": "Press 1990"},
        {"author": [{"family": "Doe et al"}]},
    ],
)
def test_a_work_with_a_wrong_field_is_left_out(fields: dict[str, Any]) -> None:
    assert cleaned(item()) is not None
    assert cleaned({**item(), **fields}) is None


def test_values_are_put_right() -> None:
    found = cleaned(item("book", publisher="Berlin: Mouton.", page="see there", issue="May"))
    assert found is not None
    assert (found["publisher"], found["publisher-place"]) == ("Mouton", "Berlin")
    assert "page" not in found
    assert "issue" not in found
    loud = cleaned(item(author=[{"family": "GILL", "given": "J. A"}]))
    assert loud is not None
    assert loud["author"][0]["family"] == "Gill"


@pytest.mark.parametrize(
    ("title", "language"),
    [
        ("Categories of Actor in Lhasa Tibetan", "en"),
        ("Dialektgeographie von Südmecklenburg und den Elbmarschen der Mark", "de"),
        ("Les recherches concernant l'écriture et la langue", "fr"),
        ("Теория русского языка", "ru"),
        ("基于深度学习的研究", "zh"),
        ("日本語における文法の研究", "ja"),
        ("Sunwar copulas", "en"),
    ],
)
def test_the_language_of_a_title(title: str, language: str) -> None:
    assert language_of(title) == language


def test_every_kind_is_drawn_in_every_language(pool: Pool) -> None:
    maker = Maker(pool, Words.read("train"), Random(0))
    for language in ("en", *LANGUAGES):
        for kind in SHARES:
            made = getattr(maker, kind.replace("-", "_"))(language)
            assert made["title"]
            assert made["type"]
    drawn = {maker.draw("it")["kind"] for _ in range(2000)}
    assert drawn == set(SHARES)


def test_parts_share_no_declared_words() -> None:
    train, dev, unseen = (Words.read(part) for part in ("train", "dev", "unseen"))
    for key, entries in train._lists.items():
        assert entries == dev._lists[key]
        assert entries
        assert unseen._lists[key]
        assert not set(entries) & set(unseen._lists[key])


def test_the_same_seed_gives_the_same_works(pool: Pool) -> None:
    first, second = (Maker(pool, Words.read("train"), Random(3)) for _ in range(2))
    assert [first.draw("de") for _ in range(50)] == [second.draw("de") for _ in range(50)]


def test_a_plan_has_every_style_and_about_as_many_works_as_asked_for(pool: Pool) -> None:
    random = Random(1)
    styles = [Style(f"style-{k}", "en-US") for k in range(30)] + [Style("apa", "en-US")]
    jobs = list(plan(styles, Maker(pool, Words.read("train"), random), random, 500))
    sizes = {style.name: sum(len(job.items) for job in jobs if job.style == style.name) for style in styles}
    assert min(sizes.values()) >= 10
    assert sizes["apa"] >= 3 * sorted(sizes.values())[15]
    assert 450 <= sum(sizes.values()) <= 550
    assert {job.locale for job in jobs if job.force} <= set(LOCALES)
    assert [job.number for job in jobs] == list(range(len(jobs)))
    assert "kind" not in json.loads(jobs[0].line())["items"][0]


def test_works_of_other_locales_are_in_english(pool: Pool) -> None:
    maker = Maker(pool, Words.read("train"), Random(0))
    assert all("language" not in work(maker, Random(k), "tr-TR", "1") for k in range(30))


def test_short_titles() -> None:
    assert details.short_title("Journal of American Linguistics") == "J. Am. Linguist."
    assert details.short_title("Nature") is None


@pytest.mark.parametrize("part", ["train", "unseen"])
def test_entries_may_be_made_of_others(part: str) -> None:
    tables = {"common": {"institutes": "Institute of {topics}|CERN|Centre for {topics}", "topics": "Pears|Walls|Soil"}}
    words, random = Words(tables, part), Random(0)
    drawn = {words.one(random, "institutes") for _ in range(200)}
    topics = set(words.all("topics"))
    patterns = [entry for entry in words.all("institutes") if "{" in entry]
    made = {entry.replace("{topics}", topic) for entry in patterns for topic in topics}
    assert drawn == made | {entry for entry in words.all("institutes") if "{" not in entry}


def test_every_list_that_an_entry_names_is_there() -> None:
    for part in ("train", "unseen"):
        words, random = Words.read(part), Random(0)
        for language, name in words._lists:
            for _ in range(30):
                assert "{" not in words.one(random, name, language) or language != "common"
