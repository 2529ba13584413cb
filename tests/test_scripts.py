"""Every script of the repository runs: in `bench/`, `scripts/` and `examples/`, in a form that takes seconds.

What nothing runs, rots. A new script has to be put into `SCRIPTS` (how it is run here), into `ELSEWHERE` (which test
runs it) or, if it is only imported, into `IMPORTED` (who imports it).
"""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("bench", "scripts", "examples")
TAGS = ["B-author", "I-author", "I-author", "B-title", "I-title", "I-title", "B-date", "I-date"]


@dataclass(frozen=True)
class Quick:
    """How a script is run: {data}, {model} and {out} stand for data sets, the bundled model, an empty directory."""

    arguments: str = ""
    data: bool = False
    browser: bool = False
    writes: str = ""


def bench(arguments: str = "--quick", **needs: bool) -> Quick:
    """Return how a benchmark is run; it writes its rows."""
    return Quick(f"{arguments} --json {{out}}/rows.json", writes="rows.json", **needs)


SCRIPTS = {
    "bench/accuracy.py": bench(data=True),
    "bench/batches.py": bench(),
    "bench/calibration.py": Quick("--quick --train 2 --data {data} --rendered {data}/rendered", data=True),
    "bench/cascade.py": bench(),
    "bench/codl.py": bench(data=True),
    "bench/conv.py": bench(data=True),
    "bench/crf.py": bench(data=True),
    "bench/decode.py": bench(data=True),
    "bench/discovery.py": bench(data=True),
    "bench/documents.py": bench("--quick --data {data} --printed {out}", data=True),
    "bench/documents_cutting.py": Quick("--data {data} --quick", data=True),
    "bench/documents_lines.py": Quick("--data {data} --quick", data=True),
    "bench/documents_real.py": bench(data=True),
    "bench/experts.py": Quick("--quick --results {out}/cells.json", data=True, writes="cells.json"),
    "bench/few_labels.py": Quick(
        "--quick --only conll04 20 --data {data} --out {out}", data=True, writes="conll04-20-0-rules-raw.json"
    ),
    "bench/joint.py": bench(data=True),
    "bench/kills.py": Quick("--kills 3"),
    "bench/material.py": Quick("--quick --data {data} --rendered {data}/rendered", data=True),
    "bench/page.py": bench(browser=True),
    "bench/parse.py": bench(),
    "bench/penalties.py": bench(data=True),
    "bench/phrases.py": bench(),
    "bench/recurrences.py": bench(),
    "bench/raw_text.py": bench("--quick --sets addresses", data=True),
    "bench/samplerank.py": bench(data=True),
    "bench/scale.py": bench(),
    "bench/serve.py": bench(),
    "bench/works.py": bench("--quick --only rare linkedbooks --data {data}", data=True),
    "scripts/adapt_citations.py": Quick("--quick --data {data} --references 4 --subsets 1", data=True),
    "scripts/adapt_lines.py": Quick(
        "--data {data} --papers 8 --real 8 --made 10 --iterations 3 --output {out}/lines.espalier",
        data=True,
        writes="lines.espalier",
    ),
    "scripts/calibrate_citations.py": Quick(
        "--data {data} --rendered {data}/rendered --output {out}/a.espalier", data=True, writes="a.espalier"
    ),
    "scripts/measure_first_minutes.py": Quick("--quick --no-tutorial"),
    "scripts/draw_parse.py": Quick("{out}", writes="parse.svg"),
    "scripts/list_learned.py": Quick("--data {data} --output {out}/sums.npy", data=True, writes="sums.npy"),
    "scripts/measure_hostile.py": Quick("--megabytes 0.01 --lines 2 --only parse label --json {out}/x", writes="x"),
    "scripts/measure_house.py": Quick("--walk parse"),
    "scripts/measure_install.py": Quick("--rounds 1 --json {out}/sizes.json", writes="sizes.json"),
    "scripts/price_oddities.py": Quick("--data {data}", data=True),
    "scripts/random_problems.py": Quick("--problems 12"),
    "scripts/print_documents.py": Quick(
        "--data {data} --rendered {data}/rendered --output {out} --train 2",
        data=True,
        browser=True,
        writes="train.jsonl",
    ),
    "scripts/shoot_workbench.py": Quick("{out}/pictures --quick", browser=True, writes="pictures/teach.png"),
    "scripts/train_lines.py": Quick(
        "--data {data} --real 8 --made 10 --iterations 3 --output {out}/lines.espalier",
        data=True,
        writes="lines.espalier",
    ),
    "scripts/train_names.py": Quick(
        "--data {data} --lists 200 --output {out}/bodies.npy", data=True, writes="bodies.npy"
    ),
    "scripts/train_citations.py": Quick(
        "--quick --data {data} --rendered {data}/rendered --build {out}/experts --output {out}/a.espalier",
        data=True,
        writes="a.espalier",
    ),
}
ELSEWHERE = {
    "examples/demo.sh": "tests/test_readme.py",
    "examples/package/espalier_words.py": "tests/test_own_package.py",
    "scripts/docs_site.py": "tests/docs/test_docs_site.py",
    "scripts/kill_hundred.py": "tests/trust/test_crashes.py",
    "scripts/make_release_files.py": "tests/trust/test_determinism.py",
    "scripts/write_commands.py": "tests/cli/test_cli_app.py",
    "scripts/write_walks.py": "tests/docs/test_docs_architecture.py",
    "scripts/render_references.py": "tests/rendering/test_rendering_run.py",
    "scripts/render_replayed.py": "tests/rendering/test_rendering_made_up.py",
    "bench/styles.py": "tests/rendering/test_rendering_bench.py",
    "scripts/distil_net.py": "tests/rendering/test_distilling.py",
    "bench/lost.py": "tests/citations/test_nothing_lost.py",
    "bench/wild.py": "tests/rendering/test_wild_bench.py",
    "scripts/rules_tables.py": "tests/test_docs_rules.py",
}
IMPORTED = {
    "bench/common.py": "bench/crf.py",
    "scripts/house_imports.py": "scripts/measure_house.py",
    "bench/experts_sets.py": "bench/experts.py",
    "bench/experts_tables.py": "bench/experts.py",
    "bench/reference_features.py": "bench/accuracy.py",
    "bench/serve_clients.py": "bench/serve.py",
    "bench/synthetic.py": "bench/crf.py",
    "bench/works_values.py": "bench/works.py",
    "scripts/citation_reports.py": "scripts/train_citations.py",
    "scripts/page_meaning.py": "scripts/random_problems.py",
    **{f"scripts/distilling/{name}.py": "scripts/distil_net.py" for name in ("course", "lessons", "nets")},
    "scripts/attacking/attacks.py": "scripts/attacking/siege.py",
    "scripts/attacking/siege.py": "scripts/measure_hostile.py",
    "scripts/kill_kinds.py": "scripts/kill_hundred.py",
    "scripts/line_documents.py": "scripts/line_examples.py",
    "scripts/line_examples.py": "scripts/train_lines.py",
    "scripts/real_papers.py": "scripts/adapt_lines.py",
    **{
        f"scripts/printing/{name}.py": "scripts/print_documents.py"
        for name in ("browser", "layouts", "matter", "mixed", "papers", "prose", "truth")
    },
    **{
        f"scripts/rendering/{name}.py": "scripts/render_references.py"
        for name in ("articles", "bibtex", "citeproc", "exchange", "kinds", "labels", "noise", "plan", "words", "works")
    },
    "scripts/rendering/abroad.py": "scripts/render_references.py",
    "scripts/rendering/footnotes.py": "scripts/rendering/traditions.py",
    "scripts/rendering/traditions.py": "scripts/render_references.py",
    "scripts/rendering/made_up.py": "scripts/render_replayed.py",
    "scripts/rendering/details.py": "scripts/rendering/drawing.py",
    "scripts/rendering/drawing.py": "scripts/rendering/print_kinds.py",
    "scripts/rendering/other_kinds.py": "scripts/rendering/kinds.py",
    "scripts/rendering/print_kinds.py": "scripts/rendering/kinds.py",
}


def test_every_script_is_run_by_a_test() -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for place in PLACES
        for path in (ROOT / place).rglob("*")
        if path.suffix in (".py", ".sh")
    }
    assert there == {*SCRIPTS, *ELSEWHERE, *IMPORTED}
    for script, other in {**ELSEWHERE, **IMPORTED}.items():
        assert Path(script).stem in (ROOT / other).read_text(encoding="utf-8"), f"{other} does not run {script}"
    for script in IMPORTED:
        assert "__main__" not in (ROOT / script).read_text(encoding="utf-8"), f"{script} can be run: say how"


@pytest.fixture(scope="session")
def few_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory like the shared data sets, with the first records of those that scripts read."""
    chosen = os.environ.get("ESPALIER_DATA")
    data = Path(chosen) if chosen else ROOT.parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("needs the shared data sets (set ESPALIER_DATA)")
    directory = tmp_path_factory.mktemp("data")
    names = [path.relative_to(data) for path in data.glob("*/normalised/*.json*")]
    names += [path.relative_to(data) for place in ("publishers", "excite") for path in data.glob(f"{place}/*.json*")]
    for name in (*names, *(path.relative_to(data) for path in data.glob("anystyle/original/*.xml*"))):
        packed = name.suffix == ".gz"
        source, target = data / name, directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(source, "rt", encoding="utf-8") if packed else open(source, encoding="utf-8") as file:
            text = first_sequences(file.read(), 40) if ".xml" in name.name else "".join(islice(file, 40))
        target.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    papers = data / "excite"
    if papers.is_dir():
        for folder in ("lists", "pdf"):
            (directory / "excite" / folder).symlink_to(papers / folder)
    (directory / "rendered").mkdir()
    line = {"tokens": ["Ann", "Lee", ".", "On", "pears", ".", "1999", "."], "bio": TAGS}
    (directory / "rendered" / "train.jsonl.gz").write_bytes(gzip.compress(json.dumps(line).encode()))
    return directory


def first_sequences(text: str, n: int) -> str:
    """Return the first records of a file of AnyStyle."""
    return "</sequence>".join(text.split("</sequence>")[:n]) + "</sequence>\n</dataset>\n"


@pytest.mark.parametrize("script", SCRIPTS)
def test_script(script: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    quick = SCRIPTS[script]
    if quick.browser and not (os.environ.get("CHROMIUM") or shutil.which("chromium")):
        assert "CI" not in os.environ, "chromium is missing; .ci/run installs it"
        pytest.skip("needs chromium")
    data = request.getfixturevalue("few_records") if quick.data else tmp_path / "no data"
    arguments = quick.arguments.format(data=data, out=tmp_path).split()
    environment = {**os.environ, "ESPALIER_DATA": str(data), "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(ROOT / script), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr
    if quick.writes:
        assert (tmp_path / quick.writes).stat().st_size > 0
    if quick.writes == "rows.json":
        rows = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
        assert rows
        for row in rows:
            assert set(row) == {"name", "unit", "ours", "peer", "peer_name", "ratio"}
            assert math.isfinite(row["ratio"]), row
