"""References found in documents: how many are cut exactly, how long a page takes, and what 2,000 pages need.

    python bench/documents.py [--printed build/printed] [--mixed build/mixed] [--json FILE]

printed   papers that `scripts/print_documents.py --unseen 204` printed, in styles that train nothing: the share of
          references whose letters and digits are exactly those of a reference that was found, by layout
mixed     papers that `scripts/print_documents.py --mixed --output build/mixed --unseen 120` printed, each in its own
          layout: F1 of references that are exact, and papers without a fault
refdocs   the part for development: first lines of references (F1), documents whose list is found (half of its lines are
          in references), documents without a fault; those whose first lines are known
layouts   lists that are pasted, by layout (`documents_cutting.py`)
time      of a page of text, from PDF to lines; what it adds to a paper that it is read in a process of its own; and of
          a paper of 20 pages from PDF to BibTeX, in a new process
memory    of a file of 2,000 pages, from PDF to lines, in a process of its own

The peers are what was asked for.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from common import Row, arguments, compare, lines_of, write_json
from documents_cutting import cut_right, measure_layouts
from documents_lines import measure_refdocs
from espalier.documents.cutting.finding import find_references
from espalier.documents.reading import confined, read_document
from espalier.documents.reading.pdf import read_pdf

PRINTED = Path(__file__).resolve().parents[1] / "build" / "printed"
MIXED = PRINTED.with_name("mixed")
PAGES = 2000
MEGABYTES = """
import sys
from pathlib import Path
from espalier.documents.reading.pdf import read_pdf
print(len(read_pdf(Path(sys.argv[1]).read_bytes(), "file").lines))
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def cut_papers(folder: Path, most: int | None) -> Iterator[tuple[str, int, int, int]]:
    """Yield for each printed paper its layout, how many references it has, how many are exact, and pieces too many."""
    for line in islice(lines_of(folder / "unseen.jsonl"), most):
        row = json.loads(line)
        printed = read_pdf((folder / "unseen" / row["source"]).read_bytes(), row["source"])
        good, bad = cut_right(row["texts"], [one.text for one in find_references(printed).references])
        yield row["layout"], len(row["texts"]), good, bad


def cut_by_layout(folder: Path, most: int | None) -> Iterator[Row]:
    """Yield the share of printed references that are cut exactly, for each layout and for all."""
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    wrong = 0
    for layout, wanted, good, bad in cut_papers(folder, most):
        wrong += bad
        for name in (layout, "all layouts"):
            right[name], total[name] = right[name] + good, total[name] + wanted
    for name in sorted(total, key=lambda name: (name == "all layouts", name)):
        yield compare(f"printed, {name}", "exact", right[name] / total[name], 0.97, "asked for", higher_is_better=True)
    if total:
        print(f"pieces that are no reference: {wrong / total['all layouts']:.3f} a reference")


def cut_mixed(folder: Path, most: int | None) -> Iterator[Row]:
    """Yield F1 of exact references, and the share of papers without a fault."""
    papers = list(cut_papers(folder, most))
    right = sum(good for _, _, good, _ in papers)
    sides = sum(wanted + good + bad for _, wanted, good, bad in papers)
    whole = sum(wanted == good and not bad for _, wanted, good, bad in papers)
    yield compare("mixed, references", "F1", 2 * right / sides, 0.9, "asked for", higher_is_better=True)
    yield compare(
        "mixed, papers without a fault", "share", whole / len(papers), 0.5, "asked for", higher_is_better=True
    )


def found_in_refdocs(data: Path, part: str, most: int | None) -> Iterator[Row]:
    """Yield how first lines, lists and documents of the set `refdocs` are found."""
    asked = {"first lines": 0.98, "found": 0.97, "lists": 0.8}
    for name, figures in measure_refdocs(data, part, n=most).items():
        for what, least in asked.items():
            yield compare(f"{name} {part}, {what}", "share", figures[what], least, "asked for", higher_is_better=True)
        print(
            f"{name} {part}: lists right {figures['set aside']:.2f} without entries of the set that are no references"
        )


def made_pdf(path: Path) -> Path:
    """Write a page of text, for want of printed papers."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    file = pypdfium2.PdfDocument.new()
    page = file.new_page(595, 842)
    for number in range(50):
        line = pdfium.FPDFPageObj_NewTextObj(file.raw, b"Helvetica", 10)
        text = f"[{number + 1}] Smith, J. ({1950 + number}). On pears and their wires. Journal of Orchards {number}."
        encoded = (text + "\0").encode("utf-16-le")
        pdfium.FPDFText_SetText(line, ctypes.cast(encoded, ctypes.POINTER(ctypes.c_ushort)))
        pdfium.FPDFPageObj_Transform(line, 1, 0, 0, 1, 60, 780 - 14 * number)
        pdfium.FPDFPage_InsertObject(page.raw, line)
    pdfium.FPDFPage_GenerateContent(page.raw)
    file.save(path)
    file.close()
    return path


def join_pdf(files: Sequence[Path], pages: int, path: Path) -> None:
    """Write a PDF file of so many pages, those of the files over and over."""
    import pypdfium2

    target = pypdfium2.PdfDocument.new()
    while len(target) < pages:
        for file in files:
            source = pypdfium2.PdfDocument(file)
            missing = pages - len(target)
            if missing > 0:
                target.import_pages(source, list(range(len(source)))[:missing])
            source.close()
    target.save(path)
    target.close()


def page_time(files: Sequence[Path], rounds: int) -> Iterator[Row]:
    """Yield the processor time of a page: the least of some rounds over all files."""
    contents = [(file.read_bytes(), file.name) for file in files]
    best, pages = float("inf"), 1
    for _ in range(rounds):
        start = time.process_time()
        pages = sum(len(read_pdf(data, name).pages) for data, name in contents)
        best = min(best, time.process_time() - start)
    yield compare("a page of text, PDF to lines", "ms", 1000 * best / pages, 50.0, "asked for")


def confined_time(files: Sequence[Path], rounds: int) -> Iterator[Row]:
    """Yield what a paper of 20 pages takes longer in a process of its own: the first one, and the others."""
    with tempfile.TemporaryDirectory() as folder:
        paper = Path(folder) / "paper.pdf"
        join_pdf(files, 20, paper)
        data = paper.read_bytes()
    confined.close()
    read_document(data, "paper.pdf", trusted=True)
    first = _seconds(lambda: read_document(data, "paper.pdf"))
    inside, own = [], []
    for _ in range(3 * rounds):  # by turns, so that a busy machine is as busy for both
        inside.append(_seconds(lambda: read_document(data, "paper.pdf", trusted=True)))
        own.append(_seconds(lambda: read_document(data, "paper.pdf")))
    yield compare("20 pages, what a process of its own adds", "ms", 1000 * (min(own) - min(inside)), 15.0, "asked for")
    begun = 1000 * (first - min(own))
    print(f"20 pages in place: {1000 * min(inside):.0f} ms; the first one waits {begun:.0f} ms for a new process")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_a_process(files: Sequence[Path], rounds: int, pages: int) -> Iterator[Row]:
    """Yield the time of 20 pages from PDF to BibTeX, and the memory of 2,000 pages."""
    with tempfile.TemporaryDirectory() as folder:
        paper, large = Path(folder) / "paper.pdf", Path(folder) / "large.pdf"
        join_pdf(files, 20, paper)
        join_pdf(files, pages, large)
        command = [sys.executable, "-m", "espalier", "parse", str(paper), "-f", "bibtex"]
        seconds = []
        for _ in range(rounds):
            before = os.times()
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = os.times()
            seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
        yield compare("20 pages, PDF to BibTeX", "s", min(seconds), 2.0, "asked for")
        start = time.perf_counter()
        answer = subprocess.run(
            [sys.executable, "-c", MEGABYTES, str(large)], check=True, capture_output=True, text=True
        )
        lines, megabytes = answer.stdout.split()
        print(f"{pages} pages: {lines} lines in {time.perf_counter() - start:.0f} s")
        yield compare(f"{pages} pages, PDF to lines", "MB", float(megabytes), 400.0, "asked for")


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--printed", type=Path, default=PRINTED, help="directory of printed papers")
    parser.add_argument("--mixed", type=Path, default=MIXED, help="directory of papers in mixed layouts")
    parser.add_argument("--part", default="dev", help="the part of refdocs")
    parser.add_argument(
        "--only", nargs="*", default=["printed", "mixed", "refdocs", "layouts", "time"], help="what to measure"
    )
    options = parser.parse_args()
    if importlib.util.find_spec("pypdfium2") is None:
        print("no PDF files are measured: that needs pip install 'espalier-nlp[documents]'", file=sys.stderr)
        options.only = [one for one in options.only if one not in ("printed", "mixed", "time")]
    most, rounds, pages = (3, 1, 20) if options.quick else (None, 5, PAGES)
    rows: list[Row] = []
    files = sorted((options.printed / "unseen").glob("*.pdf"))[:20]
    if files and "printed" in options.only:
        rows += cut_by_layout(options.printed, most)
    if (options.mixed / "unseen.jsonl").exists() and "mixed" in options.only:
        rows += cut_mixed(options.mixed, most)
    if "refdocs" in options.only:
        rows += found_in_refdocs(options.data, options.part, most)
    if "layouts" in options.only:
        for name, scores in measure_layouts(options.data, "dev", most or 30).items():
            rows.append(compare(f"pasted, {name}", "exact", scores["right"], 0.95, "asked for", higher_is_better=True))
    if "time" in options.only:
        with tempfile.TemporaryDirectory() as folder:
            files = files or [made_pdf(Path(folder) / "made.pdf")]
            rows += page_time(files, rounds)
            rows += confined_time(files, rounds)
            rows += in_a_process(files, rounds, pages)
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
