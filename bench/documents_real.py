"""Real papers (`excite`): references that are found exactly, and what would be if one thing were perfect.

    python bench/documents_real.py --data ../shared/data [--kept DIR] [--model FILE]

as found         F1 of references whose letters and digits are exactly those that people found, by group, and papers
                 without a fault
perfect runs     without the runs of references that hold none: adverts, tables, forms, notes that people left out
nothing missed   the same, and with the references of which no line was found
perfect cuts     what was found of lines that are of references, cut as people cut it
perfect tails    references that end where they should, if they begin where they should
runs and cuts    perfect runs, with perfect cuts

The bundled model has learned from these papers. How it finds the references of papers that it has not seen, by folds of
papers, `scripts/adapt_lines.py` prints. `--kept` keeps the lines of papers for the next time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import arguments, compare, write_json
from espalier.documents.cutting.finding import find_references
from espalier.documents.deciding.model import LineModel, bundled

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from real_papers import Row, figures, read_papers, row, simulated


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--model", type=Path, help="a model of lines; the bundled one if not given")
    parser.add_argument("--kept", type=Path, help="where the lines of papers are kept")
    options = parser.parse_args()
    model = LineModel.load(options.model) if options.model else bundled()
    rows: dict[str, list[Row]] = {}
    for paper in read_papers(options.data, options.kept, 2 if options.quick else None):
        for name, texts in simulated(paper, find_references(paper.printed, model).references):
            rows.setdefault(name, []).append(row(paper, texts))
    for name, some in rows.items():
        print(f"{name:15}" + "  ".join(f"{what} {100 * value:5.1f}" for what, value in figures(some)))
    found = dict(figures(rows["as found"]))
    asked = {"F1": 0.92, "without a fault": 0.5}
    write_json(
        options.json,
        [
            compare(f"real papers, {what}", "share", found[what], least, "asked for", higher_is_better=True)
            for what, least in asked.items()
        ],
    )


if __name__ == "__main__":
    main()
