"""`parse -o`: what was finished before a stop is kept, and `--resume` goes on to the same bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier

from citation_models import reference, tiny_model
from espalier.citations import parse_job

COUNT = 100


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a tiny model and references, in batches of ten."""
    tiny_model().save(tmp_path / "tiny.espalier")
    lines = [reference(n) for n in range(COUNT)]
    (tmp_path / "refs.txt").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(parse_job, "BATCH", 10)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ("parse", "refs.txt", "--input", "lines", "-m", "tiny.espalier", "--min-confidence", "0.3")


def stop_after(
    monkeypatch: pytest.MonkeyPatch, batches: int, error: type[BaseException] = KeyboardInterrupt
) -> list[int]:
    """Let the parser work on some batches, then Ctrl-C; return where it writes how many it has seen."""
    real, seen = parse_job.write_batch, []

    def counted(*arguments: Any) -> Any:
        if len(seen) == batches:
            raise error
        seen.append(len(arguments[2]))
        return real(*arguments)

    monkeypatch.setattr(parse_job, "write_batch", counted)
    return seen


@pytest.mark.parametrize("format", ["bib", "jsonl", "csv"])
@pytest.mark.parametrize("stopped", [1, 4, 9])
def test_a_stop_costs_nothing(
    espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch, format: str, stopped: int
) -> None:
    out, whole = f"out.{format}", f"whole.{format}"
    assert espalier(*COMMAND, "-o", whole, "--review", "all.jsonl")[0] == 0
    with monkeypatch.context() as patch:
        stop_after(patch, stopped)
        code, _, err = espalier(*COMMAND, "-o", out, "--review", "review.jsonl")
    kept = f"references that are kept in {out}.unfinished: {10 * stopped}. To go on, add --resume"
    assert (code, err) == (130, f"espalier: stopped; {kept}\n")
    assert not (work / out).exists()
    with monkeypatch.context() as patch:
        seen = stop_after(patch, 100)
        assert espalier(*COMMAND, "-o", out, "--review", "review.jsonl", "--resume") == (0, "", "")
    assert sum(seen) == COUNT - 10 * stopped
    assert (work / out).read_bytes() == (work / whole).read_bytes()
    assert (work / "review.jsonl").read_bytes() == (work / "all.jsonl").read_bytes()
    assert not (work / f"{out}.unfinished").exists()


def test_two_stops_and_a_torn_line(espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert espalier(*COMMAND, "-o", "whole.bib")[0] == 0
    for batches, more in ((3, []), (4, ["--resume"])):
        with monkeypatch.context() as patch:
            stop_after(patch, batches)
            assert espalier(*COMMAND, "-o", "out.bib", *more)[0] == 130
    kept = work / "out.bib.unfinished"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 3 + 4
    with kept.open("a", encoding="utf-8") as stream:
        stream.write('{"count": 10, "lo')  # what a crash leaves
    with kept.open("ab") as torn:
        torn.write("Ü".encode()[:1])  # in the middle of a letter
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        assert espalier(*COMMAND, "-o", "out.bib", "--resume")[0] == 130
    assert espalier(*COMMAND, "-o", "out.bib", "--resume")[0] == 0
    assert (work / "out.bib").read_bytes() == (work / "whole.bib").read_bytes()


def test_the_rest_may_come_in_batches_of_another_size(
    espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with --jobs, which has smaller ones."""
    assert espalier(*COMMAND, "-o", "whole.bib")[0] == 0
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        assert espalier(*COMMAND, "-o", "out.bib")[0] == 130
    monkeypatch.setattr(parse_job, "BATCH", 7)
    assert espalier(*COMMAND, "-o", "out.bib", "--resume") == (0, "", "")
    assert (work / "out.bib").read_bytes() == (work / "whole.bib").read_bytes()


def test_an_error_keeps_batches_too(espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, 2, MemoryError)
        with pytest.raises(MemoryError):
            espalier(*COMMAND, "-o", "out.bib")
    assert espalier(*COMMAND, "-o", "out.bib", "--resume") == (0, "", "")


def test_something_else_is_not_gone_on_with(espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        assert espalier(*COMMAND, "-o", "out.bib")[0] == 130
    code, _, err = espalier(*COMMAND, "-o", "out.bib", "-f", "ris", "--resume")
    assert (code, "asked for something else (format)" in err, err.count("\n")) == (2, True, 1)
    (work / "refs.txt").write_text("Other, A. 2001. Title. Journal 1.\n" * 3, encoding="utf-8")
    assert "(files)" in espalier(*COMMAND, "-o", "out.bib", "--resume")[2]
    code, _, err = espalier(*COMMAND, "-o", "out.bib")
    begun = (
        "espalier: out.bib.unfinished was left by a run that was stopped; begun anew (--resume would have gone on)\n"
    )
    assert (code, err.startswith(begun)) == (0, True)  # these three are not sure, too
    assert not (work / "out.bib.unfinished").exists()
    (work / "out.bib.unfinished").write_text("[1]\n2\n", encoding="utf-8")
    assert "out.bib.unfinished is damaged" in espalier(*COMMAND, "-o", "out.bib", "--resume")[2]


def test_what_cannot_be_gone_on_with(espalier: Espalier, work: Path) -> None:
    for more in ([], ["-o", "out.txt"]):
        code, _, err = espalier(*COMMAND, "--resume", *more)
        assert (code, "--resume goes on with an --output FILE" in err) == (2, True)
    assert espalier(*COMMAND, "-o", "out.bib", "--resume") == (0, "", "")  # nothing to go on with: from the beginning
    for damage in (b"[1]\n", b'"\xff"\n', b"{}\n[1]\n"):
        (work / "out.bib.unfinished").write_bytes(damage)
        code, _, err = espalier(*COMMAND, "-o", "out.bib", "--resume")
        assert (code, "out.bib.unfinished is damaged" in err) == (2, True)


def test_nothing_was_finished(espalier: Espalier, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(monkeypatch, 0)
    done = espalier(*COMMAND, "-o", "out.bib")
    assert done == (130, "", "espalier: stopped; nothing was finished yet, and out.bib is as it was\n")
    assert not list(work.glob("out.bib*"))


PLAIN = """
import sys
for name in ("joblib", "distributed", "dask", "fsspec", "pyarrow", "fastapi", "uvicorn", "pypdfium2", "sklearn"):
    sys.modules[name] = None
from espalier.cli import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def test_jobs_need_no_extra(work: Path) -> None:
    """With the command line's own extra alone, in a process of its own: two processes write what one does."""
    (work / "refs.txt").write_text("\n".join(reference(n) for n in range(1100)), encoding="utf-8")
    (work / "plain.py").write_text(PLAIN, encoding="utf-8")
    for jobs in ("1", "2"):
        line = [sys.executable, "plain.py", *COMMAND, "-o", f"out{jobs}.jsonl", "-j", jobs]
        done = subprocess.run(line, capture_output=True, text=True, cwd=work)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    one = (work / "out1.jsonl").read_text(encoding="utf-8")
    assert one == (work / "out2.jsonl").read_text(encoding="utf-8")
    assert all(json.loads(line)["fields"] for line in one.splitlines())


# A job that a shell starts in the background ignores Ctrl-C, and so does all that it starts: the tests, too.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from espalier.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a process")
def test_ctrl_c_with_several_processes(work: Path) -> None:
    """One line on stderr, exit code 130, and no traceback of a worker."""
    (work / "refs.txt").write_text("\n".join(reference(n) for n in range(60_000)), encoding="utf-8")
    line = [sys.executable, "-c", LISTENING, *COMMAND, "-o", "out.jsonl", "-j", "2"]
    started = subprocess.Popen(
        line, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    kept = work / "out.jsonl.unfinished"
    while started.poll() is None and not kept.exists():
        pass_time()
    import os

    os.killpg(started.pid, signal.SIGINT)
    _, err = started.communicate(timeout=120)
    assert started.returncode == 130, err
    assert err.startswith("espalier: stopped; references that are kept in out.jsonl.unfinished: ")
    assert err.count("\n") == 1


def pass_time() -> None:
    import time

    time.sleep(0.05)
