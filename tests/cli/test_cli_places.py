"""What is read is never written: outputs that are inputs, or one another, by name, by link or by redirection."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import TAGGED, Espalier

from citation_models import reference, tiny_model
from espalier.cli.files import keep_apart
from espalier.errors import InputError

Link = Callable[[Path, Path], None]


def same(source: Path, other: Path) -> None:
    """Make no link: the name is the file's own."""


LINKS: dict[str, Link] = {
    "itself": same,
    "symlink": lambda a, b: b.symlink_to(a),
    "hard link": lambda a, b: os.link(a, b),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Path:
    """A directory with what a person may have: references, labelled records, a task, rules, models."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.txt").write_text(f"{reference(51)}\n", encoding="utf-8")
    (tmp_path / "my.txt").write_text(TAGGED, encoding="utf-8")
    (tmp_path / "my.jsonl").write_text('{"text": "plum in Ely", "spans": [[0, 4, "fruit"]]}\n', encoding="utf-8")
    (tmp_path / "my.toml").write_text('[features]\ntemplates = ["lower"]\n', encoding="utf-8")
    (tmp_path / "my.rules").write_text("Once: each field once [penalty 2]\n", encoding="utf-8")
    (tmp_path / "my.espalier").write_bytes(model.read_bytes())
    tiny_model().save(tmp_path / "refs.espalier")
    return tmp_path


COMMANDS = [
    ("refs.txt", "parse refs.txt -m refs.espalier -o OUT -f jsonl"),
    ("refs.txt", "parse my.txt refs.txt -m refs.espalier -o OUT -f table"),
    ("refs.espalier", "parse refs.txt -m refs.espalier -o OUT -f bibtex"),
    ("refs.txt", "parse refs.txt -m refs.espalier --min-confidence 0.9 --review OUT"),
    ("my.txt", "label my.txt -m my.espalier -o OUT -f inline"),
    ("my.espalier", "label my.txt -m my.espalier -o OUT -f inline"),
    ("my.txt", "convert my.txt OUT --to jsonl"),
    ("my.txt", "evaluate -m my.espalier -d my.txt --report OUT"),
    ("my.espalier", "evaluate -m my.espalier -d my.txt --report OUT"),
    ("my.txt", "train -l my.txt -o OUT"),
    ("refs.txt", "train -l my.txt -u refs.txt -o OUT"),
    ("refs.txt", "train -l my.txt --dev refs.txt -o OUT"),
    ("my.rules", "train -l my.txt --rules my.rules -o OUT"),
    ("my.toml", "train -l my.txt --features my.toml -o OUT"),
    ("my.toml", "train -l my.txt --task my.toml -o OUT"),
    ("my.espalier", "train -l my.txt --set prior=my.espalier -o OUT"),
    ("my.txt", "rules discover -d my.txt -o OUT"),
    ("my.espalier", "rules discover -d my.txt -m my.espalier -o OUT"),
]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("source", "command"), COMMANDS, ids=[command for _, command in COMMANDS])
def test_what_is_read_is_not_written(espalier: Espalier, here: Path, link: str, source: str, command: str) -> None:
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    out = source if link == "itself" else f"other{Path(source).suffix}"
    LINKS[link](here / source, here / out)
    done = espalier(*command.replace("OUT", out).split())
    assert (done.code, done.out) == (2, "")
    assert f" {out} is the same file as {source}, which is read; name another to write\n" in done.err
    assert done.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before | {out: before[source]}


def test_nothing_is_read_first(espalier: Espalier, here: Path) -> None:
    """Otherwise the first complaint would be about the model, which is none."""
    done = espalier("label", "my.txt", "-m", "my.rules", "-o", "my.txt", "-f", "inline")
    assert done.err == "espalier: --output my.txt is the same file as my.txt, which is read; name another to write\n"


def test_names_that_look_different(espalier: Espalier, here: Path) -> None:
    (here / "sub").mkdir()
    done = espalier("convert", "my.txt", "sub/../my.txt")
    assert (done.code, "OUT sub/../my.txt is the same file as my.txt" in done.err) == (2, True)


@pytest.mark.parametrize(("out", "review"), [("a.bib", "a.bib"), ("a.bib", "./a.bib"), ("-", "-")])
def test_two_outputs_are_two_files(espalier: Espalier, here: Path, out: str, review: str) -> None:
    options = ("-m", "refs.espalier", "--min-confidence", "0.99", "-f", "bibtex", "-o", out, "--review", review)
    done = espalier("parse", "refs.txt", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"espalier: --output {out} and --review {Path(review)} are the same file; name two\n"
    assert not (here / "a.bib").exists()


def test_two_outputs_by_link(here: Path) -> None:
    (here / "a").symlink_to(here / "b")  # which is not there yet
    with pytest.raises(InputError, match="--one a and --two b are the same file"):
        keep_apart([], {"--one": Path("a"), "--two": Path("b")})


def test_what_does_no_harm(here: Path) -> None:
    """Devices hold nothing, a name may be that of a task, stdin and stdout differ, and outputs may be left out."""
    null = Path(os.devnull)
    keep_apart([null, null, None], {"--output": null, "--review": null})
    keep_apart(["citations"], {"--output": Path("citations")})
    keep_apart(["-", "my.txt", "my.txt"], {"--output": Path("-"), "--review": None})


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_pages_and_figures_do_not_share_stdout(espalier: Espalier, here: Path, option: str) -> None:
    done = espalier("reproduce", option, "-")
    assert (done.code, done.err) == (
        2,
        f"espalier: {option} -: the figures are written to stdout; name a file for the page\n",
    )
    done = espalier("evaluate", "-m", "my.espalier", "-d", "my.txt", "--report", "-")
    assert (done.code, "--report -: the figures" in done.err) == (2, True)
    assert not (here / "-").exists()


@pytest.mark.parametrize(("redirection", "out"), [("-o my.jsonl <my.jsonl", "my.jsonl"), (">>my.jsonl", "-")])
def test_redirections(here: Path, redirection: str, out: str) -> None:
    """`-` is the file that the shell puts in its place; a file that is appended to would be read without end."""
    before = (here / "my.jsonl").read_bytes()
    source = "-" if out != "-" else "my.jsonl"
    command = f"{sys.executable} -m espalier label {source} -m my.espalier {redirection}"
    done = subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert f"--output {out} is the same file as {source}, which is read" in done.stderr
    assert (here / "my.jsonl").read_bytes() == before
