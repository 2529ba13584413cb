"""`espalier label`, `evaluate` and `convert`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_runs import TAGGED, Espalier

import espalier as es
from espalier.cli.convert import convert
from espalier.io import FORMATS

PLAIN = ["plum at £ 3 in Ely", "pear for £ 9 near Wye", "in Ely a plum at £ 9"]


def test_label_text_from_stdin(espalier: Espalier, model: Path) -> None:
    code, out, err = espalier("label", "-", "-m", model, "-f", "inline", stdin="\n".join(PLAIN) + "\n")
    assert (code, out, err) == (0, TAGGED, "")


def test_label_replaces_labels_and_keeps_the_rest(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps({"id": "a7", "text": PLAIN[0], "spans": [[0, 7, "wrong"]], "shelf": 4}) + "\n")
    code, out, _ = espalier("label", given, "-m", model)
    record = json.loads(out)
    assert code == 0
    assert (record["id"], record["shelf"], record["text"]) == ("a7", 4, PLAIN[0])
    assert record["bio"] == ["B-fruit", "O", "B-price", "I-price", "O", "B-place"]


def test_label_to_a_file_by_its_name(espalier: Espalier, model: Path, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.conll"
    assert espalier("label", corpus, corpus, "-m", model, "-o", path) == (0, "", "")
    assert [d.tags for d in es.read(path)] == 2 * [d.tags for d in es.read(corpus)]


def test_a_bad_file_is_named_and_the_others_are_labelled(
    espalier: Espalier, model: Path, corpus: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "plum at £ 3 in Ely"}\n{"text": 7}\n', encoding="utf-8")
    code, out, err = espalier("label", bad, tmp_path / "none.txt", corpus, "-m", model, "-f", "inline")
    assert code == 1
    assert out == TAGGED.splitlines(keepends=True)[0] + TAGGED
    first, second, summary = err.splitlines()
    assert first.startswith(f"espalier: {bad}:2: ")
    assert second == f"espalier: {tmp_path / 'none.txt'}: No such file or directory"
    bad = "left out: 1 record; files without records, or not read to the end: 1 (named above)"
    assert summary == f"espalier: records labelled: 4; {bad}"


BAD_SECOND = {
    "jsonl": ['{"text": "plum"}', '{"text": 7}', '{"text": "Ely"}'],
    "doccano": ['{"text": "plum", "label": []}', '{"text": "p", "label": [[0, 9, "x"]]}', '{"text": "Ely"}'],
    "prodigy": ['{"text": "plum", "spans": []}', '{"text": "pear", "answer": "maybe"}', '{"text": "Ely"}'],
    "inline": ["<fruit>plum</fruit>", "<fruit>pear</friut>", "<place>Ely</place>"],
}


@pytest.mark.parametrize("format", ["jsonl", "doccano", "prodigy", "inline"])
def test_a_bad_record_does_not_end_the_file(espalier: Espalier, model: Path, format: str) -> None:
    code, out, err = espalier("label", "-", "-m", model, "--from", format, stdin="\n".join(BAD_SECOND[format]))
    assert code == 1
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["plum", "Ely"]
    bad, summary = err.splitlines()
    assert bad.startswith("espalier: <stdin>:2: ")
    assert "records labelled: 2" in summary


def test_a_file_that_ends_in_the_middle_is_said_to(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(b"plum\n" * 100 + b"caf\xe9\n" + b"Ely\n")
    code, out, err = espalier("label", data, "-m", model)
    assert (code, out.count("\n")) == (1, 100)
    bad, summary = err.splitlines()
    assert bad.startswith(
        f"espalier: {data}:101: byte 0xe9, number 4 of the line, is not utf-8; pass --encoding latin-1"
    )
    assert bad.endswith(f"; the rest of {data} was not read")
    assert "records labelled: 100;" in summary


def test_encoding_of_every_command_that_reads(espalier: Espalier, tmp_path: Path) -> None:
    data, path = tmp_path / "data.txt", tmp_path / "m.espalier"
    data.write_text(TAGGED, encoding="latin-1")
    latin = ("--encoding", "latin-1")
    assert espalier("train", "-l", data, "-o", path, "--set", "l2=0.01").code == 2
    assert espalier("train", "-l", data, "-o", path, "--set", "l2=0.01", *latin).code == 0
    assert json.loads(espalier("evaluate", "-m", path, "-d", data, "--json", *latin).out)["exact"] == 1
    assert espalier("label", data, "-m", path, "-f", "inline", *latin) == (0, TAGGED, "")
    assert espalier("convert", data, "-", "--to", "inline", *latin) == (0, TAGGED, "")
    code, _, err = espalier("convert", data, "-", "--encoding", "utf-9")
    assert (code, "unknown encoding 'utf-9'" in err) == (2, True)


def test_messages_speak_of_options(espalier: Espalier, model: Path, corpus: Path) -> None:
    code, _, err = espalier("convert", corpus, "-", "--to", "plain")
    assert code == 2
    assert err == (
        "espalier: record 1: it is labelled, and plain text has no labels; --to inline has them, "
        "or --lossy writes the text alone\n"
    )
    assert "; --format inline has them" in espalier("label", corpus, "-m", model, "-f", "plain").err
    nested = espalier("convert", "-", "-", "--from", "inline", stdin="<a>x <b>y</b></a>\n").err
    assert nested.endswith("nested tags are --from hierarchical\n")
    columns = espalier("convert", "-", "-", "--from", "conll", stdin="x B-a\ny I-b\nz I-b\n\nw B-b\nv B-b\n").err
    assert "=" not in columns


def test_joined_emojis_are_shown(espalier: Espalier, model: Path) -> None:
    out = espalier("label", "-", "-m", model, "-f", "table", stdin="plum 👩\u200d🌾 in Ely\n").out
    assert "👩\u200d🌾" in out
    assert "�" not in out


@pytest.mark.parametrize("format", ["jsonl", "table"])
def test_nothing_readable_leaves_the_output_as_it_was(
    espalier: Espalier, model: Path, tmp_path: Path, format: str
) -> None:
    old = tmp_path / "old"
    old.write_text("precious\n", encoding="utf-8")
    code, _, err = espalier("label", tmp_path / "none.txt", "-m", model, "-f", format, "-o", old)
    assert code == 2
    assert err.splitlines()[0] == f"espalier: {tmp_path / 'none.txt'}: No such file or directory"
    assert old.read_text(encoding="utf-8") == "precious\n"


def test_unknown_input_format(espalier: Espalier, model: Path, corpus: Path) -> None:
    code, _, err = espalier("label", corpus, "-m", model, "--from", "cnll")
    assert code == 2
    assert "did you mean 'conll'" in err


def test_many_records_keep_their_order(espalier: Espalier, model: Path) -> None:
    texts = [f"plum number {i}" for i in range(2500)]  # more than two batches
    code, out, _ = espalier("label", "-", "-m", model, stdin="\n".join(texts))
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == texts


def test_label_nothing(espalier: Espalier, model: Path) -> None:
    done = espalier("label", "-", "-m", model, stdin="")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("espalier: <stdin>: there is no record in it\n")


def test_label_a_record_without_tokens(espalier: Espalier, model: Path) -> None:
    code, out, _ = espalier("label", "-", "-m", model, stdin='{"text": ""}\n{"text": "plum"}\n')
    assert code == 0
    assert [json.loads(line)["bio"] for line in out.splitlines()] == [[], ["B-fruit"]]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-f", "jsno"], "jsonl"),
        (["-o", "out.xyz"], "--format"),
        (["-f", "conl"], "conll"),
    ],
)
def test_bad_formats(
    espalier: Espalier, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], complaint: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, out, err = espalier("label", corpus, "-m", model, *arguments)
    assert code == 2
    assert out == ""
    assert complaint in err
    assert err.count("\n") == 1


def test_evaluate_counts_by_hand(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    # The model is right about every word; here gold calls Wye a fruit. One token of 19, one segment of 9.
    gold = tmp_path / "gold.txt"
    gold.write_text(TAGGED.replace("<place>Wye</place>", "<fruit>Wye</fruit>"), encoding="utf-8")
    code, out, _ = espalier("evaluate", "-m", model, "-d", gold, "--json")
    report = json.loads(out)
    assert code == 0
    assert report["token_accuracy"] == pytest.approx(18 / 19)
    assert report["field_f1"] == pytest.approx(8 / 9)
    assert report["exact"] == pytest.approx(2 / 3)
    assert report["per_field"]["fruit"] == pytest.approx({"precision": 1, "recall": 3 / 4, "f1": 6 / 7, "support": 4})
    shown = espalier("evaluate", "-m", model, "-d", gold).out
    assert "token accuracy 94.7    field F1 88.9    exact 66.7    3 records, 19 tokens" in shown


@pytest.mark.parametrize("form", ["--plain", "--tags"])
@pytest.mark.parametrize("kind", ["crf", "hmm", "perceptron", "semicrf"])
def test_every_model_learns_the_corpus(espalier: Espalier, corpus: Path, tmp_path: Path, kind: str, form: str) -> None:
    path = tmp_path / "m.espalier"
    settings = ["--set", "l2=0.01"] if "crf" in kind else []
    assert espalier("train", "-l", corpus, "-o", path, "--model", kind, form, *settings).code == 0
    report = json.loads(espalier("evaluate", "-m", path, "-d", corpus, "--json").out)
    assert (report["token_accuracy"], report["field_f1"], report["exact"]) == (1, 1, 1)


def test_evaluate_names_labels_that_the_model_does_not_have(espalier: Espalier, model: Path) -> None:
    gold = "<fruit>plum</fruit> at <cost>£ 3</cost> by <seller>Ada</seller>\n"
    code, _, err = espalier("evaluate", "-m", model, "-d", "-", "--from", "inline", stdin=gold)
    what = "labels that the model does not have, so that they count as missed: cost, seller"
    assert (code, err) == (0, f"espalier: -: {what}\n")
    assert espalier("evaluate", "-m", model, "-d", "-", "--from", "inline", stdin="<fruit>plum</fruit> at\n").err == ""


def test_evaluate_needs_labels(espalier: Espalier, model: Path) -> None:
    code, _, err = espalier("evaluate", "-m", model, "-d", "-", stdin="plum\n")
    assert code == 2
    assert "no record is labelled" in err


def test_records_without_labels_are_counted_aloud(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"text": "plum"}\n{"text": "plum", "spans": [[0, 4, "fruit"]]}\n', encoding="utf-8")
    code, out, err = espalier("evaluate", "-m", model, "-d", data, "--json")
    assert (code, json.loads(out)["n_sequences"], json.loads(out)["exact"]) == (0, 1, 1)
    assert err == f"espalier: {data}: records without labels, not counted: 1\n"
    code, out, err = espalier("train", "-l", data, "-o", tmp_path / "m.espalier", "--json")
    assert (code, json.loads(out)["unlabelled"]) == (0, 1)
    assert err == "espalier: training records without labels: 1; their labels count as unknown\n"


def test_help_lists_the_formats() -> None:
    assert f"Formats: {', '.join(FORMATS)}." in (convert.__doc__ or "")


def test_convert_by_hand(espalier: Espalier, tmp_path: Path) -> None:
    out = tmp_path / "out.conll"
    code, _, err = espalier("convert", "-", out, stdin="<fruit>plum</fruit> at <price>£ 3</price>\n")
    assert (code, err) == (0, "")
    assert out.read_text(encoding="utf-8") == "plum\tB-fruit\nat\tO\n£\tB-price\n3\tI-price\n\n"
    assert espalier("convert", out, "-", "--to", "inline").out == "<fruit>plum</fruit> at <price>£ 3</price>\n"
    assert json.loads(espalier("convert", out, "-").out)["bio"] == ["B-fruit", "O", "B-price", "I-price"]


@pytest.mark.parametrize("format", [name for name, f in FORMATS.items() if f.labels])
def test_convert_there_and_back(espalier: Espalier, corpus: Path, tmp_path: Path, format: str) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    assert espalier("convert", corpus, there, "--to", format).code == 0
    assert espalier("convert", there, back, "--from", format, "--to", "inline") == (0, "", "")
    assert back.read_text(encoding="utf-8") == TAGGED


def test_convert_refuses_loss_until_it_is_accepted(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    code, _, err = espalier("convert", corpus, out)
    assert code == 2
    assert "plain text has no labels" in err
    assert not out.exists()
    assert espalier("convert", corpus, out, "--lossy").code == 0
    assert out.read_text(encoding="utf-8").splitlines() == PLAIN


def test_convert_repairs_and_says_where(espalier: Espalier) -> None:
    broken = "<fruit>fig</fruit>\n<fruit>plum</fruit> at <price>£ 3\n"
    code, _, err = espalier("convert", "-", "-", stdin=broken)
    assert code == 2
    assert "<stdin>:2: " in err
    code, out, err = espalier("convert", "-", "-", "--to", "inline", "--repair", stdin=broken)
    assert (code, out) == (0, "<fruit>fig</fruit>\n<fruit>plum</fruit> at <price>£ 3</price>\n")
    assert err.startswith("espalier: <stdin>:2: ")


def test_many_repairs_are_counted(espalier: Espalier) -> None:
    code, _, err = espalier("convert", "-", "-", "--from", "inline", "--repair", stdin="<a>x\n" * 25)
    assert code == 0
    assert err.count("\n") == 11
    assert err.endswith("and 15 more like these\n")


def test_undecodable_input(espalier: Espalier) -> None:
    code, _, err = espalier("convert", "-", "-", stdin=b"plum\xff\n")
    assert code == 2
    assert err.startswith("espalier: ")
    assert err.count("\n") == 1


def test_extractions_of_any_model_have_confidence_proof_and_other_readings(espalier: Espalier, model: Path) -> None:
    code, out, err = espalier("label", "-", "-m", model, "-f", "extractions", "-k", "2", stdin="\n".join(PLAIN) + "\n")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    extractor = es.load(model)
    for row, text in zip(rows, PLAIN, strict=True):
        found = extractor.extract(text, k=2)
        assert list(row) == ["text", "fields", "confidence", "certificate", "violations", "alternatives"]
        assert row["fields"] == found.to_dict()["fields"]
        assert row["confidence"] == found.confidence
        assert row["certificate"]["status"] == "optimal"
        assert [other["confidence"] for other in row["alternatives"]] == [o.confidence for o in found.alternatives]


def test_csv_has_a_line_for_each_record(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    """Read back by Python's own reader: every value is what the extractor finds."""
    texts, path = [*PLAIN, "nothing", "plum and plum at £ 3"], tmp_path / "new.csv"
    assert espalier("label", "-", "-m", model, "-o", path, stdin="\n".join(texts) + "\n").code == 0
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    extractor = es.load(model)
    assert list(rows[0]) == ["text", "confidence", *extractor.labels]
    for row, text in zip(rows, texts, strict=True):
        found = extractor.extract(text)
        assert row["text"] == text
        assert float(row["confidence"]) == pytest.approx(found.confidence, abs=1e-6)
        for label in extractor.labels:
            assert row[label] == " | ".join(field.text for field in found.fields if field.label == label)
    assert espalier("label", "-", "-m", model, "-f", "csv", stdin="\n".join(texts) + "\n").out == path.read_text(
        "utf-8"
    )


def test_csv_disarms_formulas(espalier: Espalier, model: Path) -> None:
    for options, cell in (([], "'=1+1 plum"), (["--raw-cells"], "=1+1 plum")):
        out = espalier("label", "-", "-m", model, "-f", "csv", *options, stdin="=1+1 plum\n").out
        assert out.splitlines()[1].startswith(f"{cell},")


def test_what_is_less_sure_goes_to_review(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    review, strange = tmp_path / "review.jsonl", "quince wherever"
    sure = min(es.load(model).extract(text).confidence for text in PLAIN)
    less = es.load(model).extract(strange).confidence
    assert less < sure
    arguments = ("label", "-", "-m", model, "-f", "jsonl", "--min-confidence", str((less + sure) / 2))
    text = "\n".join([*PLAIN, strange]) + "\n"
    code, out, err = espalier(*arguments, "--review", review, stdin=text)
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == PLAIN
    assert [json.loads(line)["text"] for line in review.read_text(encoding="utf-8").splitlines()] == [strange]
    code, out, err = espalier(*arguments, stdin=text)
    assert "records below --min-confidence left out: 1 of 4" in err
    code, out, err = espalier(*arguments, "--output", tmp_path / "sure.jsonl", "--review", "-", stdin=text)
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == [strange]
    assert not Path("-").exists()


def test_tables_of_any_model_can_be_explained(espalier: Espalier, model: Path) -> None:
    code, out, _ = espalier("label", "-", "-m", model, "-f", "table", "--explain", "-k", "2", stdin=PLAIN[0] + "\n")
    assert code == 0
    assert "sure" in out
    assert "or  " in out
    assert out.index("No rules are used in decoding") < out.index("or  ")  # it is about the best reading


def test_tables_explain_the_tokens_that_were_given(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    columns, ruled = "plum-tree O\n£ O\n3 O\n", tmp_path / "ruled.espalier"
    es.load(model).with_rules('Shop: token in "plum-tree" -> place [hard]').save(ruled)
    code, out, _ = espalier("label", "-", "-m", ruled, "-f", "table", "--explain", "--from", "conll", stdin=columns)
    assert code == 0
    assert "→ place: plum-tree" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-f", "conll", "-k", "2"], "use --format extractions or table"),
        (["-f", "jsonl", "--explain"], "goes with --format table"),
        (["-f", "jsonl", "--review", "x.jsonl"], "--review needs --min-confidence"),
        (["-f", "extraction"], "did you mean 'extractions'?"),
        (["-f", "csv", "-k", "2"], "use --format extractions or table"),
        (["-f", "jsonl", "--raw-cells"], "--raw-cells is for --format csv; jsonl has no cells"),
        (["-f", "xyz"], "plain, table, extractions, csv"),
        (["-o", "x.out"], "plain, table, extractions, csv"),
    ],
)
def test_options_that_cannot_be_followed_are_refused(
    espalier: Espalier, model: Path, options: list[str], message: str
) -> None:
    code, _, err = espalier("label", "-", "-m", model, *options, stdin="plum\n")
    assert code == 2
    assert message in err
