"""Write the references that adapting replays: works that nobody wrote, in styles of the training part.

    python scripts/render_replayed.py --data DIR [--references 180]

DIR holds `csl`, as for `render_references.py`, whose tools this takes. The works are put together from declared words
(`rendering/made_up.toml`), so the file may be part of the package: src/espalier/citations/replayed.txt, one labelled
reference a line. `espalier train --task citations` learns from them beside the references of a new style, so that it
keeps what it knew. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random

from render_references import BUILD, Rendering, make
from rendering.made_up import MadeUp
from rendering.plan import COMMON, Style, read_styles

from espalier.document import Document
from espalier.errors import InputError
from espalier.io import read, write
from rendering import citeproc

FILE = Path(__file__).parents[1] / "src" / "espalier" / "citations" / "replayed.txt"
STYLES = 110
"""How many styles are drawn; every other one is among those that many use."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of csl")
    parser.add_argument("--tools", type=Path, default=BUILD, help="directory of citeproc-js and the unpacked styles")
    parser.add_argument("--output", type=Path, default=FILE, help="the file to write")
    parser.add_argument("--references", type=int, default=180)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    tool, styles = citeproc.install(options.tools / "citeproc"), citeproc.unpack(options.data, options.tools / "csl")
    rendering = partial(citeproc.render, citeproc=tool, styles=styles, kept=styles.with_name("renderings"))
    documents = replayed(read_styles(options.data, "train"), rendering, options.references, options.seed)
    write(documents, options.output, "inline")
    sys.stdout.write(f"{options.output.name}: {len(documents)} references\n")


def replayed(styles: Sequence[Style], rendering: Rendering, references: int, seed: int) -> list[Document]:
    """Return labelled references in some of the styles, of works that are made for it."""
    random = Random(f"{seed}/replayed")
    common = [style for style in styles if COMMON.match(style.name)]
    chosen = random.sample(common, min(len(common), STYLES // 2))
    chosen += random.sample(styles, min(len(styles), STYLES - len(chosen)))
    rows, _ = make("train", 2 * references, Path(), rendering, seed, pool=MadeUp(random), styles=chosen)
    whole = read(StringIO("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)), "jsonl")
    return [document for document in whole if stays(document)][:references]


def stays(document: Document) -> bool:
    """Say whether a reference is the same after it was written and read: the file has text and labels, no tokens."""
    target = StringIO()
    try:
        write([document], target, "inline")
    except InputError:
        return False
    (back,) = read(StringIO(target.getvalue()), "inline")
    return (back.text, back.words, back.tags) == (document.text, document.words, document.tags)


if __name__ == "__main__":
    main()
