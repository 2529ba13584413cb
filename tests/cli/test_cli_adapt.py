"""`espalier train` that begins from a model: the bundled one, a file, nothing; labels of other schemes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Espalier

from citation_models import tiny_model
from espalier import store
from espalier.citations import adapting
from espalier.citations.adapting import bundled_start, converted
from espalier.document import Document, Span
from espalier.errors import InputError
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.loading import load
from espalier.recipes import plan
from espalier.recipes.adapting import Start, begin
from espalier.tasks import load_task
from kept_nets import kept_nets

LABELS = load_task("citations").labels.names
STYLE = Path(__file__).resolve().parents[2] / "examples" / "style.xml"
XML = """\
<dataset>
  <sequence>
    <author>Hartley, M. R.</author>
    <date>(2011).</date>
    <title>Grafting and patience.</title>
    <journal>Journal of Pomology,</journal>
    <volume>24(3),</volume>
    <pages>211–229.</pages>
  </sequence>
</dataset>
"""


def pieces(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def labelled(*parts: tuple[str, str]) -> Document:
    text, spans = "", []
    for label, words in parts:
        start = len(text)
        text += words + " "
        spans += [Span(start, start + len(words), label)] if label else []
    return Document.from_text(text.rstrip(), spans)


def test_labels_of_anystyle_of_ours_and_of_grobid() -> None:
    anystyle = labelled(("author", "Ada."), ("journal", "Notes,"), ("volume", "24(3),"), ("pages", "1-2."))
    ours = labelled(("author", "Ada."), ("container-title", "Notes,"), ("volume", "24"), ("issue", "(3),"))
    grobid = labelled(("author", "Ada"), ("", "."), ("title", "Wires"), ("", "."), ("tech", "Report"))
    assert pieces(converted([anystyle], LABELS)[0]) == [
        ("author", "Ada."), ("container-title", "Notes,"), ("volume", "24"), ("issue", "(3),"), ("pages", "1-2."),
    ]  # fmt: skip
    assert pieces(converted([ours], LABELS)[0]) == pieces(ours)
    assert pieces(converted([grobid], LABELS)[0]) == [("author", "Ada ."), ("title", "Wires ."), ("genre", "Report")]
    raw = Document.from_text("Ada. Notes.")
    assert converted([raw], LABELS) == [raw]
    with pytest.raises(InputError, match=r"has no label 'autor'.*did you mean 'author'"):
        converted([labelled(("autor", "Ada."), ("title", "Notes."))], LABELS)


def test_a_style_from_the_bundled_model(espalier: Espalier, tmp_path: Path) -> None:
    mine, path = tmp_path / "mine.espalier", tmp_path / "new.txt"
    with kept_nets(min_steps=6):  # the tutorial's test takes all steps
        done = espalier("train", "--task", "citations", "--labelled", STYLE, "--output", mine, "--json")
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    assert (summary["prior"], summary["records"], summary["labels"]) == ("citations", 6, len(LABELS))
    assert "calibration" in store.load(mine)[0]
    text = "¶8 1992 | Drought and dwarfing rootstocks | Petrova S. | Arid Press, Almería"
    fields = ["citation-number", "date", "title", "author", "publisher", "location"]
    assert [field.label for field in load("citations").parse(text).fields] != fields
    path.write_text(text + "\n", encoding="utf-8")
    row = json.loads(espalier("parse", path, "--model", mine).out)
    assert [field["label"] for field in row["fields"]] == fields


def test_from_a_file_and_from_nothing(espalier: Espalier, tmp_path: Path) -> None:
    tiny, xml = tmp_path / "tiny.espalier", tmp_path / "my.xml"
    tiny_model(tags=True).save(tiny)
    xml.write_text(XML, encoding="utf-8")
    first = ("train", "-t", "citations", "-l", xml, "-o", tmp_path / "out.espalier", "--json")
    done = espalier(*first, "--set", f"prior={tiny}")
    assert (done.code, json.loads(done.out)["prior"]) == (0, str(tiny))
    parameters = store.load(tmp_path / "out.espalier")[0]["base"]["parameters"]
    assert (parameters["l2"], parameters["copies"]) == (0.03, 10)
    done = espalier(*first, "--set", "prior=null")
    assert (done.code, "prior" in json.loads(done.out)) == (0, False)


def test_labels_of_several_levels_have_no_copies() -> None:
    for label, copies in (("B-name", 10), ("B-name/B-last", 0)):
        learned = CRF(["lower"]).fit([["Ada"]], [[label]]).learned_
        assert Start("mine", learned).parameters["copies"] == copies


def test_old_styles_are_replayed_if_wanted(espalier: Espalier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small model in the place of the bundled one; without copies, which take time."""
    seen = []
    small = CRF(["lower", "shape"]).fit([["Ada"]], [["B-author"]], labels=LABELS)
    monkeypatch.setattr(adapting, "begin", lambda path, name: Start(name, small.learned_))
    monkeypatch.setattr(CRF, "train", lambda self, data: seen.append(len(data.indptr) - 1) or train(self, data))
    for setting in ("replay=true", "replay=false"):
        more = ("--set", setting, "--set", "copies=0", "--set", "max_iterations=2")
        done = espalier("train", "-t", "citations", "-l", STYLE, "-o", tmp_path / "mine.espalier", *more)
        assert done.code == 0
    assert seen == [6 + len(adapting.replayed()), 6]


train = CRF.train


def test_all_experts_learn_from_where_they_were(tmp_path: Path) -> None:
    X, y = [["Ada", ":", "Wires"], ["Bo", ":", "Pears"]], [["B-author", "I-author", "B-title"]] * 2
    crf = CRF(["lower"]).fit(X, y)
    net = ConvCRF(8, dilations=(1, 2), buckets=64, min_steps=50).fit(X, y, labels=crf.labels_.names)
    for before, after in ((0.75, 0.75), (0.25, 0.5)):  # a net counts half of the CRF, or more if it did
        Experts.of([crf, net], [1, before], temperature=1.5, ask_below=0.7).save(tmp_path / "both.espalier")
        found = begin(tmp_path / "both.espalier").joined(CRF(["lower"], prior=crf.learned_))
        assert (found.weights, found.temperature, found.ask_below) == ([1.0, after], 1.5, 0.7)
    first, second = found.experts
    assert (first.prior.labels, second.prior.labels, second.copies) == (crf.labels_, crf.labels_, 10)
    found.fit(X[:1], y[:1]).save(tmp_path / "mine.espalier")
    again = load(tmp_path / "mine.espalier").model
    assert again.predict(X) == found.predict(X) == y
    assert again.experts_[1].net_.shape == net.net_.shape


def test_a_product_of_other_models_begins_with_its_first(tmp_path: Path) -> None:
    X, y = [["Ada", ":", "Wires"]], [["author", "author", "title"]]
    crf = CRF(["lower"]).fit(X, y)
    Experts.of([crf, HMM().fit(X, y)], [1, 0.25]).save(tmp_path / "both.espalier")
    assert begin(tmp_path / "both.espalier").experts is None


def test_raw_text_teaches_through_copies() -> None:
    learner = plan(task="citations", unlabelled=True, usual_start=bundled_start).estimator
    crf, net = learner.model.base.experts
    assert (learner.update, learner.cycles, crf.copies, net.copies) == (None, 1, 10, 10)
    assert (crf.replay, net.replay) == (None, None)
    more = {"method.cycles": 3}
    assert plan(task="citations", unlabelled=True, usual_start=bundled_start, settings=more).estimator.cycles == 3


def test_what_cannot_be(espalier: Espalier, tmp_path: Path) -> None:
    hmm, xml = tmp_path / "hmm.espalier", tmp_path / "my.xml"
    HMM().fit([["a"]], [["author"]]).save(hmm)
    xml.write_text(XML, encoding="utf-8")
    first = ("train", "-t", "citations", "-l", xml, "-o", tmp_path / "out.espalier")
    for settings, message in (
        ((f"prior={hmm}",), "holds a HMM; only a CRF can be learned from further"),
        (("prior=3",), "expected a model file, or null"),
        (("replay=3",), "--set replay=3: expected true or false"),
        ((f"prior={tmp_path / 'none'}",), "none"),
    ):
        done = espalier(*first, *(part for setting in settings for part in ("--set", setting)))
        assert done.code == 2
        assert message in done.err
    done = espalier(*first, "--model", "hmm", "--set", f"prior={hmm}")
    assert "--set prior is for --model crf" in done.err
    xml.write_text(XML.replace("journal", "jurnal"), encoding="utf-8")
    assert "did you mean 'journal'?" in espalier(*first, "--set", "prior=null").err


def test_a_task_of_that_name_is_no_business_of_ours(espalier: Espalier, tmp_path: Path) -> None:
    task, data = tmp_path / "citations.toml", tmp_path / "data.txt"
    task.write_text('labels = ["O", "who"]\n', encoding="utf-8")
    data.write_text("<who>Ada</who> wrote\n", encoding="utf-8")
    done = espalier("train", "-t", task, "-l", data, "-o", tmp_path / "m.espalier", "--json")
    assert (done.code, "prior" in json.loads(done.out)) == (0, False)
