"""The pages hang together: navigation, links, the reference of every public name, and the project's own files."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest
from doc_pages import ROOT, blocks, page, run_page

import espalier as es

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
OTHERS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"]
CONFIG = page("mkdocs.yml")
NAV = re.findall(r"^ +- [\w'() ]+: (\S+\.md)$", CONFIG.split("\nnav:\n")[1], re.MULTILINE)


@cache
def site() -> ModuleType:
    """The hooks of the site, from a file that is no module of the package."""
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "scripts" / "docs_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prose(text: str) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES + OTHERS)
def test_links(name: str) -> None:
    """A link that is no address leads to a file of the repository, and to a heading that is there."""
    text = prose(page(name))
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        path = (ROOT / name).parent / target if target else ROOT / name
        assert path.exists(), f"{name}: {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{name}: {target}#{anchor}"


def test_every_page_is_in_the_navigation() -> None:
    written = {name.removeprefix("docs/") for name in PAGES} | set(site().OUTSIDE.values())
    assert written == set(NAV), "put it into the nav of mkdocs.yml, or out"


@pytest.mark.parametrize(
    ("source", "markdown", "turned"),
    [
        ("learning.md", "[a](../examples/README.md#orchard)", "[a](examples.md#orchard)"),
        ("examples.md", "[a](../docs/tutorial.md)", "[a](tutorial.md)"),
        ("changelog.md", "[`a`](docs/rules.md)", "[`a`](rules.md)"),
        ("reference/io.md", "[a](../rules.md)", "[a](../rules.md)"),
        ("index.md", "[the licence](../LICENSE) and", "the licence and"),
        ("index.md", "[a](nowhere.md)", "[a](nowhere.md)"),
        ("index.md", "[a](https://example.org/x) ![b](../LICENSE)", "[a](https://example.org/x) ![b](../LICENSE)"),
    ],
)
def test_links_of_the_site(source: str, markdown: str, turned: str) -> None:
    known = {"rules.md", "tutorial.md", "examples.md", "changelog.md", "index.md", "learning.md"}
    files = SimpleNamespace(get_file_from_path=lambda uri: uri if uri in known else None)
    here = SimpleNamespace(file=SimpleNamespace(src_uri=source))
    assert site().on_page_markdown(markdown, here, None, files) == turned


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("Do.\n\na : x; b, c : y\n    and z. d : u.", "Do.\n\n* `a`: x\n* `b`, `c`: y\n    and z.\n* `d`: u."),
        ("Sum.\n\nParameters\n----------\nx : one", "Sum.\n\n**Parameters**\n\n* `x`: one"),
        ("Sum.\n\n    f(x) = 1\n\n    g(x)\n\nText.", "Sum.\n\n```text\nf(x) = 1\n\ng(x)\n```\n\nText."),
        ("One: two. Three : no, `a : b` is code.", "One: two.\n\n* `Three`: no, `a : b` is code."),
    ],
)  # fmt: skip
def test_docstrings_as_markdown(docstring: str, shown: str) -> None:
    assert site().as_markdown(docstring) == shown


def test_the_reference_has_every_public_name() -> None:
    index = page("docs/reference/index.md")
    rows = dict(re.findall(r"^\| \[`(\w+)`\]\[([\w.]+)\] \|", index, re.MULTILINE))
    assert list(rows) == [*es.__all__, *sorted(es._ELSEWHERE)]
    listed = [path for name in PAGES for path in re.findall(r"^::: ([\w.]+)$", page(name), re.MULTILINE)]
    assert len(set(listed)) == len(listed)
    for name, path in rows.items():
        module, _, attribute = path.rpartition(".")
        value = getattr(import_module(module), attribute)
        assert value is getattr(es, name) or name == "rules"  # the package `rules` can be called: it is both
        assert path in listed or module in listed, path
    for path in listed:
        try:
            import_module(path)
        except ModuleNotFoundError:
            assert getattr(import_module(path.rpartition(".")[0]), path.rpartition(".")[2]).__doc__


def test_the_front_page() -> None:
    for block, printed, shown in run_page("docs/index.md", skip=("pip ", "espalier ")):
        assert printed == shown, block


def test_nothing_comes_from_elsewhere() -> None:
    """No theme file or script that a browser would have to fetch from another server."""
    assert "highlightjs: false" in CONFIG
    assert "http" not in CONFIG


def test_the_changelog_knows_the_version() -> None:
    log = page("CHANGELOG.md")
    versions = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", log, re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    assert all(date for version, date in versions[1:])
    assert es.__version__ in (versions[1][0] if len(versions) > 1 else log)
    sections = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", log, re.MULTILINE)) <= sections
    for name in re.findall(r"`([A-Z]\w+)`", log):
        assert hasattr(es, name), name


def test_the_citation_file() -> None:
    """Valid by the schema 1.2.0: the keys that must be there, known types, authors by name or in two parts."""
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load(page("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["cff-version"], cited["type"], str(cited["version"])) == ("1.2.0", "software", es.__version__)
    assert cited["license"] == "BSD-3-Clause"
    assert cited["authors"] == [{"name": "The Espalier developers"}]
    for reference in cited["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
        assert reference["type"] in ("article", "conference-paper")
        assert ("journal" in reference) == (reference["type"] == "article")
        assert all(set(author) == {"family-names", "given-names"} for author in reference["authors"])
    readme = re.sub(r"\s+", " ", page("README.md"))
    assert all(reference["title"] in readme for reference in cited["references"])


def test_recipes_name_files_that_exist() -> None:
    text = page("CONTRIBUTING.md")
    folder = ""
    for path in re.findall(r"`([\w./-]+\.(?:py|md|toml)|(?:src|tests|docs|bench|scripts)/[\w./-]*)`", text):
        if "/" in path:
            folder = path.rpartition("/")[0]
        near = [ROOT / path, ROOT / folder / path, ROOT / "src" / "espalier" / path, ROOT / "src" / path]
        assert any(place.exists() for place in near), path
    headings = [
        f"A {what}" for what in ("rule form", "decoder", "model", "learner", "format", "table of a paper", "task")
    ]
    assert [heading for heading in headings if f"\n## {heading}\n" not in text] == []
    assert all(line.startswith((".venv/bin/", "make ")) for b in blocks(text) for line in b.text.splitlines())
