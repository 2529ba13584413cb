"""Task files: the bundled ones, files of one's own, and what is wrong with some of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import espalier as es
from espalier import tasks
from espalier.errors import EspalierError, FormatError, InputError, RuleError
from espalier.features.fields import default_templates
from espalier.tasks import Task, load_task, names

CORA = "author booktitle date editor institution journal location note pages publisher tech title volume"
ADS = "address available contact features neighborhood photos rent restrictions roommates size utilities"


def write(directory: Path, text: str, name: str = "my.toml") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_bundled_names() -> None:
    """Every task file of the package, in order."""
    files = Path(tasks.__file__).parent.glob("*.toml")
    assert names() == tuple(sorted(file.name.removesuffix(".toml") for file in files))
    assert {"ads", "ads-extended", "cora", "cora-extended"} <= set(names())


@pytest.mark.parametrize(
    ("name", "labels", "K"),
    [
        ("cora", CORA, 12),
        ("ads", ADS, 13),
        ("cora-extended", CORA, 66),
        ("ads-extended", ADS, 24),
        ("cora-general", CORA, 85),
        ("ads-general", ADS, 40),
    ],
)
def test_bundled_tasks(name: str, labels: str, K: int) -> None:
    task = load_task(name)
    assert task.name == name
    assert list(task.labels) == labels.split()
    assert task.rules.K == K
    assert task.rules.check(task.labels) is task.rules
    assert task.defaults["model"] == "crf"


@pytest.mark.parametrize("name", ["cora", "ads", "cora-extended", "ads-extended", "ads-general", "umass"])
def test_defaults_and_features_fit_the_estimator(name: str) -> None:
    """What a task declares is what the model it names takes."""
    task = load_task(name)
    parameters = {key: value for key, value in task.defaults.items() if key != "model"}
    first, second = task.labels[:2]
    model = es.CRF(task.extractor, **parameters).fit([["One", ",", "1994"]], [[first, first, second]])
    assert model.predict([["One", ",", "1994"]]) == [[first, first, second]]


def test_umass_has_marked_paths_and_no_rules() -> None:
    task = load_task("umass")
    assert (len(task.labels), task.rules.K) == (138, 0)
    assert {"B-title", "I-title", "I-venue/I-editor/I-person/B-person-last", "O"} <= set(task.labels)


def test_bundled_rules_name_each_label_they_should() -> None:
    """Every word list of table 2 belongs to one of the eleven labels, and each label has one."""
    ruled = {str(rule).rsplit("-> ", 1)[1] for rule in load_task("ads").rules if "->" in str(rule)}
    assert ruled == set(ADS.split())


def test_a_file_of_one_s_own(tmp_path: Path) -> None:
    write(tmp_path, "Ludlow\nTenbury\n", "places.txt")
    write(tmp_path, 'Start: first in fruit [hard]\nPlace: token in file "places.txt" -> place\n', "my.rules")
    path = write(
        tmp_path,
        """
        labels = ["fruit", "place"]
        [features]
        templates = ["lower", "lexicon:places"]
        [features.lexicons]
        places = "places.txt"
        [rules]
        file = "my.rules"
        [defaults]
        model = "hmm"
        """,
    )
    task = load_task(str(path))
    assert task == Task("my", es.Labels(["fruit", "place"]), task.extractor, task.rules, {"model": "hmm"})
    assert [template.text for template in task.extractor.templates] == ["lower", "lexicon:places"]
    assert task.rules["Start"].hard
    best = es.decode([[0, 1], [0.5, 0]], task.rules, tokens=["Plum", "tenbury"], labels=task.labels)
    assert best.names() == ["fruit", "place"]  # the scores alone say place, fruit


def test_rules_of_several_files(tmp_path: Path) -> None:
    """The rules of all files, in order; a mistake is reported in the file that has it."""
    write(tmp_path, "A: title once\n", "one.rules")
    write(tmp_path, "B: price once\nC: title before price\n", "two.rules")
    task = load_task(write(tmp_path, 'labels = ["title", "price"]\n[rules]\nfile = ["one.rules", "two.rules"]'))
    assert task.rules.names == ("A", "B", "C")
    write(tmp_path, "B: prize once\n", "two.rules")
    with pytest.raises(RuleError, match=r"two\.rules: line 1, column 4: unknown field 'prize'"):
        load_task(tmp_path / "my.toml")


@pytest.mark.parametrize("name", ["ads", "cora"])
def test_an_extended_task_adds_to_the_plain_one(name: str) -> None:
    plain, extended = load_task(name), load_task(f"{name}-extended")
    assert extended.labels == plain.labels
    assert extended.rules.only(plain.rules.names) == plain.rules


def test_what_may_be_left_out(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, 'labels = ["a"]'))
    assert task.extractor.templates == default_templates()
    assert (task.rules.K, task.defaults) == (0, {})


def test_a_path_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that comes with the library is never a file; `.toml` or a slash makes a path."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, 'labels = ["a"]', "ads.toml")
    assert len(load_task("ads").labels) == 11
    assert len(load_task("ads.toml").labels) == len(load_task("./ads.toml").labels) == 1


RULES = 'labels = ["title", "price"]\n[rules]\n'


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("labels = [", FormatError, "my.toml:1: not TOML: "),
        ('labels = ["a"]\n\n[rules\n', FormatError, "my.toml:3: not TOML: "),
        ('labels = ["a"]\nlabels = ["b"]', FormatError, "my.toml:2: not TOML: "),
        ('labels = ["a"]\nmodel = "crf"', FormatError, "my.toml: unknown key 'model'; known: labels, features"),
        ('labels = ["a"]\n[feature]', FormatError, "my.toml: unknown key 'feature'; did you mean 'features'?"),
        ("", FormatError, "my.toml: a task needs a list of labels, such as"),
        ("labels = []", FormatError, "a task needs a list of labels"),
        ('labels = "a"', FormatError, "a task needs a list of labels"),
        ('labels = ["a", "a"]', FormatError, "my.toml: labels: label 'a' is listed twice"),
        ("labels = [1]", FormatError, "my.toml: labels: a label is a non-empty string, not 1"),
        ('labels = ["a"]\nrules = "A: a once"', FormatError, r"'rules' must be a table: write \[rules\]"),
        (RULES, FormatError, r"\[rules\]: give either 'file' or 'text'"),
        (RULES + 'file = "a"\ntext = ""', FormatError, r"\[rules\]: give either 'file' or 'text'"),
        (RULES + 'texts = ""', FormatError, r"\[rules\]: unknown key 'texts'; did you mean 'text'"),
        (RULES + "text = 1", FormatError, r"\[rules\]: 'file' is a string or a list of strings, 'text' a string"),
        (RULES + 'file = ["a.rules", 1]', FormatError, r"\[rules\]: 'file' is a string or a list of strings"),
        (RULES + 'file = "none.rules"', FormatError, "none.rules: there is no such file"),
        (
            RULES + "text = '''\nA: title once\nB: prize once\n'''",
            RuleError,
            r"my.toml: \[rules\] text: line 2, column 4: unknown field 'prize'; did you mean 'price'\?",
        ),
        (RULES + 'file = "bad.rules"', RuleError, "bad.rules: line 2, column 4: unknown field 'prize'; did you mean"),
        (
            'labels = ["a"]\n[features]\ntemplates = ["lower"]\nmin_cuont = 2',
            FormatError,
            "my.toml: .*did you mean 'min_count'",
        ),
        ('labels = ["a"]\n[features]\n', FormatError, r"my.toml: \[features\]: 'templates' must be a list"),
        ('labels = ["a"]\n[defaults]\nl2 = [1]', FormatError, r"\[defaults\]: 'l2' must be a word, a number, true or"),
        ('labels = ["a"]\n[defaults]\nmodel = 1', FormatError, r"\[defaults\]: 'model' is the name of an estimator"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, kind: type[EspalierError], message: str) -> None:
    write(tmp_path, "A: title once\nB: prize once", "bad.rules")
    with pytest.raises(kind, match=message) as caught:
        load_task(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("citation", "no task is named 'citation'; did you mean 'citations'?"),
        (
            "recipes",
            f"no task is named 'recipes'; tasks: {', '.join(names())} (one of your own is a path that ends in .toml)",
        ),
        ("", "no task is named ''; tasks: ads, ads-extended, ads-general, citations"),
        ("nowhere/at.toml", "at.toml: there is no such file"),
    ],
)
def test_unknown_tasks(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_task(name)
    assert message in str(caught.value)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes('labels = ["é"]'.encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin.toml: cannot be read as UTF-8 text"):
        load_task(tmp_path / "latin.toml")
    with pytest.raises(FormatError, match="cannot be read as UTF-8 text"):
        load_task(tmp_path)
