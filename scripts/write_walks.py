"""Write the two walks into `docs/architecture.md`: the files of one `parse` and of one `train`, in order.

    python scripts/write_walks.py

What is between `<!-- walk: parse -->` and `<!-- end of walk -->` is generated. The files come from a run that is
watched (`scripts/measure_house.py --walk parse`); what each does is the first sentence of its docstring. A test
compares the page with a new run, so the page cannot lie.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from measure_house import HERE, walk

PAGE = HERE / "docs" / "architecture.md"
WALK = re.compile(r"(?<=<!-- walk: )(\w+)( -->\n).*?(?=<!-- end of walk -->)", re.DOTALL)


def with_walks(page: str, tree: Path = HERE) -> str:
    """Return a page with its walks written anew."""
    return WALK.sub(lambda found: found[1] + found[2] + table(walk(found[1], tree), tree), page)


def table(files: list[str], tree: Path) -> str:
    """Return the files of a walk as a table."""
    rows = [f"| {n} | `{file}` | {purpose(tree / 'src' / 'espalier' / file)} |" for n, file in enumerate(files, 1)]
    return "\n".join(["\n| | file | what it does |", "|---|---|---|", *rows, "\n"])


def purpose(path: Path) -> str:
    """Return the first sentence of the docstring of a file, on one line."""
    said = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split())
    said = re.match(r"(?:`[^`]*`|[^`])*?(?:[.;] (?=[A-Z`a-z])|$)", said)[0]  # type: ignore[index]
    return said.strip().rstrip(".:;").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(with_walks(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
