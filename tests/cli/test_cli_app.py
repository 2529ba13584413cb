"""What all commands share: help, errors as one line, exit codes, cold start, the missing extra."""

from __future__ import annotations

import builtins
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from cli_runs import Espalier

import espalier as es
from espalier.cli import main
from espalier.cli.app import COMMANDS, GROUPS, application, command_of, help_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from write_commands import reference  # noqa: E402


def test_help_names_every_command(espalier: Espalier) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        code, out, err = espalier(*arguments)
        assert (code, err) == (0, "")
        assert all(command in out for command in COMMANDS)


def test_version(espalier: Espalier) -> None:
    assert espalier("--version") == (0, f"espalier {es.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["lable"], "lable"),
        (["train"], "--labelled"),
        (["train", "--labelled"], "--labelled"),
        (["info", "a", "--jason"], "--jason"),
        (["train", "-l", "x", "-o", "y", "--model", "svm"], "svm"),
    ],
)
def test_what_typer_refuses_is_exit_2(espalier: Espalier, arguments: list[str], complaint: str) -> None:
    code, out, err = espalier(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["info", "nowhere.espalier"], "nowhere.espalier"),
        (["evaluate", "-m", "nowhere.espalier", "-d", "x"], "nowhere.espalier"),
        (["convert", "nowhere.txt", "out.jsonl"], "nowhere.txt"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(espalier: Espalier, arguments: list[str], complaint: str) -> None:
    code, out, err = espalier(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("espalier: ")
    assert err.count("\n") == 1
    assert complaint in err


@pytest.mark.parametrize(
    ("arguments", "which"), [(["parse", ""], 2), (["label", "-", "-m", ""], 4), (["convert", "", ""], 2), ([""], 1)]
)
def test_an_empty_argument_is_no_directory(espalier: Espalier, arguments: list[str], which: int) -> None:
    done = espalier(*arguments)
    assert done == (2, "", f"espalier: argument {which} is empty; is a variable of the shell not set?\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_named(espalier: Espalier, corpus: Path, model: Path) -> None:
    done = espalier("convert", corpus, "/dev/full", "--to", "jsonl")
    assert done == (2, "", "espalier: /dev/full: No space left on device\n")
    for command in (["convert", corpus, "-"], ["info", model]):
        with open("/dev/full", "w") as full:
            words = [sys.executable, "-m", "espalier", *map(str, command)]
            ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
        assert (ended.returncode, ended.stderr) == (2, "espalier: <stdout>: No space left on device\n")


def test_a_file_in_a_file(espalier: Espalier, corpus: Path) -> None:
    done = espalier("convert", corpus, corpus / "out.jsonl")
    assert done == (2, "", f"espalier: {corpus / 'out.jsonl'}: Not a directory\n")


def test_interruption_is_exit_130(
    espalier: Espalier, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("espalier.io.iter_read", interrupt)
    code, out, err = espalier("convert", corpus, tmp_path / "out.jsonl")
    assert (code, out, err) == (130, "", "espalier: stopped; a file that was to be written is as it was\n")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_extra_is_one_helpful_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ImportError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["--help"]) == 2
    assert capsys.readouterr().err == (
        f"espalier: the command line needs the package {missing!r}; run: pip install 'espalier-nlp[cli]'\n"
    )


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from espalier.cli import main; code = main(['--help']); "
        "heavy = {'numpy', 'numba', 'scipy', 'sklearn'} & set(sys.modules); sys.exit(code or sorted(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_module_and_closed_pipe(corpus: Path, model: Path) -> None:
    # A reader that goes away at once must not cause a traceback.
    command = [sys.executable, "-m", "espalier", "label", str(corpus), "--model", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait() in (0, 1)
        assert process.stderr.read() == ""


def test_docs_page_is_what_the_commands_say() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == reference(), "run: python scripts/write_commands.py > docs/cli.md"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_agrees_with_the_page(espalier: Espalier, command: str) -> None:
    code, out, _ = espalier(command, "--help")
    assert code == 0
    section = reference().split(f"## espalier {command}\n")[1].split("\n## ")[0]
    options = {part.strip("`,") for part in section.split() if part.startswith("`--")}
    assert options
    assert all(option in out for option in options)


WORDS = [(name,) for name in COMMANDS] + [(name, part) for name, parts in GROUPS.items() for part in parts]
SHARED = {
    *("--from", "--encoding", "--data", "--min-confidence", "--review", "--explain", "-k", "--raw-cells", "--lossy"),
    *("--json", "--jobs", "--model"),
}
# Of one name, but not one thing: a model that is trained or made, files that are written beside, processes of a server.
OTHERS = {
    ("train",): {"--model", "--output", "--jobs"},
    ("reproduce",): {"--json", "--jobs", "--data"},
    ("rules", "discover"): {"--jobs", "--model"},
}


@pytest.mark.parametrize("words", WORDS)
def test_help_ends_with_two_examples_that_can_be_typed(espalier: Espalier, words: tuple[str, ...]) -> None:
    _, examples = help_of(command_of(*words))
    assert len(examples) == 2
    shown = " ".join(espalier(*words, "--help").out.split())
    typed = typer.main.get_command(application())
    for example in examples:
        assert " ".join(example.split()) in shown
        command, *arguments = shlex.split(example)
        assert command == "espalier"
        assert tuple(arguments[: len(words)]) == words
        named: Any = typed
        for word in words:
            named = named.commands[word]
        named.make_context(example, arguments[len(words) :])  # an option that there is not would be an error


def test_an_option_of_one_name_has_one_help() -> None:
    said: dict[str, dict[str, list[str]]] = {}
    for words in WORDS:
        named: Any = typer.main.get_command(application())
        for word in words:
            named = named.commands[word]
        for option in named.params:
            for name in option.opts:
                if name in SHARED and name not in OTHERS.get(words, ()):
                    said.setdefault(name, {}).setdefault(option.help, []).append(" ".join(words))
    assert {name: found for name, found in said.items() if len(found) > 1} == {}
    assert set(said) == SHARED
