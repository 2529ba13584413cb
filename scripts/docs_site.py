"""What MkDocs needs to know about this repository: pages outside `docs/`, links to them, and the style of docstrings.

Links in the Markdown files are right for the repository, as they stand. For the site a link to a file that is a page
is turned to that page, and a link to any other file of the repository becomes its text.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
import textwrap
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "examples/README.md": "examples.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Pages of the site that are kept elsewhere in the repository."""

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\((?!\w+:|#)([^)\s#]*)(#[^)\s]*)?\)")
ITEM = re.compile(r"^([\w*.`\[\]]+(?:, [\w*.`\[\]]+)*) : ")
INNER_ITEM = re.compile(r"(?:;|(?<=\.))\s+(?=\w+(?:, \w+)* : )")
NAMED = re.compile(r"^([\w*]+(?:, [\w*]+)*|list of \w+)\n((?: {4}\S.*(?:\n|$))+)", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
FORMULA = re.compile(r"(?<=\n\n)(?: {4}.*\n?|\n(?= {4}))+")


# -- MkDocs -------------------------------------------------------------------------------------------


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are kept outside `docs/`."""
    from mkdocs.structure.files import File

    for source, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn links between files of the repository into links between pages."""
    here = page.file.src_uri
    source = next((path for path, uri in OUTSIDE.items() if uri == here), f"docs/{here}")

    def turned(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        uri = OUTSIDE.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(uri) is not None:
            return f"[{text}]({os.path.relpath(uri, posixpath.dirname(here) or '.')}{anchor})"
        return text if (ROOT / path).exists() else match[0]  # MkDocs complains of what is nowhere

    return LINK.sub(turned, markdown)


# -- Docstrings ---------------------------------------------------------------------------------------


class HouseStyle(griffe.Extension):
    """Shows what docstrings say of arguments, `name : text`, as a list."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(_as_written(obj) or obj.docstring.value)


def _as_written(obj: griffe.Object) -> str | None:
    """Return the docstring of a module; the usual cleaning would take the indentation of its formulas away."""
    if not obj.is_module or not isinstance(obj.filepath, Path):
        return None
    return ast.get_docstring(ast.parse(obj.filepath.read_text(encoding="utf-8")), clean=False)


def as_markdown(docstring: str) -> str:
    """Return a docstring with what it says of arguments as items of a list, and without underlined headings."""
    docstring = re.sub(r"^(\w+)\n-{3,}$", r"**\1**\n", docstring, flags=re.MULTILINE)
    docstring = EXAMPLE.sub(lambda block: f"```pycon\n{block[0]}\n```", docstring)
    docstring = NAMED.sub(lambda item: f"{item[1]} : {item[2].lstrip()}", docstring)
    docstring = FORMULA.sub(lambda block: f"```text\n{textwrap.dedent(block[0]).rstrip()}\n```\n", docstring)
    lines: list[str] = []
    inside = False
    for line in INNER_ITEM.sub("\n", docstring).splitlines():
        begins = ITEM.match(line)
        if begins and not inside and lines and lines[-1]:
            lines.append("")  # a list begins behind a blank line
        if begins:
            names = ", ".join(f"`{name.strip('`')}`" for name in begins[1].split(", "))
            line = f"* {names}: {line[begins.end() :]}"
        elif inside and line.strip():
            line = f"    {line.strip()}"
        inside = bool(begins) or (inside and bool(line.strip()))
        lines.append(line)
    return "\n".join(lines)
