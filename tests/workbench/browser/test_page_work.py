"""See, correct, teach: one visit to the workbench from an empty task to an export."""

from __future__ import annotations

import json
from pathlib import Path

from browser_desk import Desk
from playwright.sync_api import Route, expect
from stalls import ADVERTS, LABELS, correct, give_model, label_by_keys, make, shown, strip_text, train, truth


def test_paste_correct_train_and_the_answer_changes(desk: Desk) -> None:
    page = desk.go("citations", "parse")
    page.get_by_text("Tasks").click()
    page.get_by_role("button", name="New task …").click()
    page.get_by_label("Name (a-z").fill("stalls")
    page.get_by_label("Labels, with commas").fill("fruit, price\nplace, fruit")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Task", exact=True)).to_have_value("stalls")
    assert desk.server.ask("GET", "/tasks/stalls")["labels"] == LABELS

    desk.paste("\n".join(ADVERTS))
    desk.said("8 records added")
    before = [desk.fields(place) for place in range(len(ADVERTS))]
    assert shown(ADVERTS[-1]) != before[-1]

    page.get_by_role("link", name="Teach").click()
    corrected = []
    for _ in range(2):
        corrected.append(strip_text(desk))
        correct_by_mouse(desk)
        page.get_by_role("button", name="Confirm").click()
        desk.said("is confirmed")
        page.get_by_text(f"{len(ADVERTS) - len(corrected)} records in the queue").wait_for()
    for text, record in zip(ADVERTS, desk.server.ask("GET", "/tasks/stalls/records")["records"], strict=True):
        if text in corrected:
            assert record["corrected"] == truth(text)
        elif len(corrected) < 6:
            correct(desk.server, "stalls", record["id"], text)
            corrected.append(text)

    desk.go("stalls", "teach")
    train(desk)
    # There was no model before, and six records draw no curve.
    expect(page.locator(".verdict")).to_contain_text("The new model is in use")
    expect(page.get_by_text("A learning curve is drawn when")).to_be_visible()
    expect(page.get_by_role("list", name="Model versions").get_by_role("listitem").first).to_contain_text("in use")
    [left] = [text for text in ADVERTS if text not in [*corrected, strip_text(desk)]]
    page.get_by_role("link", name="Parse").click()
    page.locator(".record").first.wait_for()
    assert desk.fields(ADVERTS.index(left)) == shown(left)


def correct_by_mouse(desk: Desk) -> None:
    """Click or drag over tokens, and click on labels."""
    page = desk.page
    tokens = page.get_by_role("listbox").get_by_role("option")
    expect(tokens).to_have_count(4)
    for first, last, label in ((0, 0, "fruit"), (1, 2, "price"), (3, 3, "place")):
        tokens.nth(first).hover()
        page.mouse.down()
        tokens.nth(last).hover()
        page.mouse.up()
        page.get_by_role("group", name="Labels and their keys").get_by_role("button", name=label).click()


def test_go_back_to_an_earlier_model(desk: Desk, model_file: bytes) -> None:
    records = make(desk.server, "versions")
    give_model(desk.server, "versions", model_file)
    first = [record["fields"] for record in desk.server.ask("GET", "/tasks/versions/records")["records"]]
    for record, text in list(zip(records, ADVERTS, strict=True))[4:7]:  # now the opposite is taught
        whole = [{"label": "place", "start": 0, "end": len(text)}]
        desk.server.ask("PUT", f"/tasks/versions/records/{record}/fields", {"fields": whole})
    page = desk.go("versions", "teach")
    train(desk, versions=2)
    second = [record["fields"] for record in desk.server.ask("GET", "/tasks/versions/records")["records"]]
    assert first != second
    back = page.get_by_role("button", name="Go back to")  # the one that is not in use has it
    for expected in (first, second):
        name = back.get_attribute("aria-label")
        back.click()
        expect(back).not_to_have_attribute("aria-label", name or "")
        page.reload()
        expect(back).to_have_count(1)
        assert [record["fields"] for record in desk.server.ask("GET", "/tasks/versions/records")["records"]] == expected


def test_a_training_can_be_cancelled(desk: Desk) -> None:
    records = make(desk.server, "cancelled")
    correct(desk.server, "cancelled", records[0], ADVERTS[0])
    page = desk.go("cancelled", "teach")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    desk.said("The training is cancelled")
    assert desk.server.ask("GET", "/tasks/cancelled/models")["models"] == []
    expect(page.get_by_text("No model yet: rules alone")).to_be_visible()


def test_keyboard_alone(desk: Desk) -> None:
    make(desk.server, "keys", texts=ADVERTS[:3])
    page = desk.go("keys", "teach")
    page.get_by_role("listbox").wait_for()
    done = []
    for left in (2, 1):
        done.append(label_by_keys(desk))
        page.keyboard.press("Enter")
        page.get_by_text(f"{left} record{'s' * (left > 1)} in the queue").wait_for()
    known = {record["text"]: record["corrected"] for record in desk.server.ask("GET", "/tasks/keys/records")["records"]}
    assert {text: known[text] for text in done} == {text: truth(text) for text in done}

    page.keyboard.press("u")  # nothing changed here yet, so the last confirmation is taken back
    desk.said("The last confirmation is taken back")
    assert strip_text(desk) == done[1]
    assert desk.server.ask("GET", "/tasks/keys")["corrected"] == 1
    label_by_keys(desk)
    assert desk.page.locator(".strip .field").evaluate_all("all => all.map(x => x.dataset.label)") == LABELS
    page.keyboard.press("u")  # the place
    page.keyboard.press("u")  # the price
    assert desk.page.locator(".strip .field").evaluate_all("all => all.map(x => x.dataset.label)") == ["fruit"]
    page.keyboard.press("s")
    expect(page.get_by_role("listbox")).not_to_contain_text(done[1])
    assert strip_text(desk) not in done


def test_downloads_are_what_was_confirmed(desk: Desk) -> None:
    records = make(desk.server, "exports", texts=[*ADVERTS[:2], "Nut £5 Bath"])
    for record, text in zip(records, ADVERTS[:2], strict=False):
        correct(desk.server, "exports", record, text)
    page = desk.go("exports", "teach")
    page.get_by_text("Save corrected records").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="jsonl (.jsonl)").click()
    lines = Path(started.value.path()).read_text(encoding="utf-8").splitlines()
    assert started.value.suggested_filename.endswith(".jsonl")
    assert [json.loads(line)["text"] for line in lines] == ADVERTS[:2]
    assert [json.loads(line)["bio"] for line in lines] == [["B-fruit", "B-price", "I-price", "B-place"]] * 2


REFERENCE = "Hartley, M. R. (2011). Grafting and patience. Journal of Applied Pomology, 24(3), 211–229."


def test_references_as_bibtex(desk: Desk) -> None:
    page = desk.go("citations", "parse")
    desk.paste(REFERENCE)
    card = page.locator(".record", has_text=REFERENCE)
    expect(card.locator(".field", has_text="Hartley")).to_have_attribute("data-label", "author")
    card.get_by_role("button", name="Copy").click()
    desk.said("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@article{")
    assert "Grafting and patience" in copied
    page.get_by_text("Download").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="bibtex (.bib)").click()
    assert copied.strip() in Path(started.value.path()).read_text(encoding="utf-8")


def test_other_readings_of_a_field(desk: Desk) -> None:
    desk.server.ask("POST", "/tasks/citations/records", {"text": REFERENCE})
    page = desk.go("citations", "parse")
    page.locator(".record", has_text=REFERENCE).focus()
    page.keyboard.press("ArrowRight")
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("author")
    expect(tip.get_by_role("listitem").first).to_contain_text("%")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_measure_and_compare(desk: Desk, trained: str, tmp_path: Path) -> None:
    page = desk.go(trained, "measure")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.get_by_text("the figures flatter it")).to_be_visible()
    expect(page.get_by_role("img", name="Reliability")).to_be_visible()
    # A file with one advert as it is and one where everything is said to be a place.
    odd = "Grape £14 Settle"
    rows = [
        {"text": ADVERTS[6], "spans": truth(ADVERTS[6])},
        {"text": odd, "spans": [{"label": "place", "start": 0, "end": len(odd)}]},
    ]
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Score a labelled file").click()
    chooser.value.set_files(file)
    mistakes = page.get_by_role("region", name="Mistakes")
    # Of its four tokens only the place is as the file says.
    expect(mistakes).to_contain_text("3 wrong tokens")
    expect(page.get_by_role("region", name="Result")).to_contain_text("50.0 %")  # whole records
    sides = mistakes.locator(".versus p").evaluate_all("all => all.map(x => [...x.children].map(y => y.dataset.label))")
    assert sides == [["place"], LABELS]
    expect(page.get_by_text("There is one model only")).to_be_visible()
    parts = page.locator("main h2").all_inner_texts()
    assert parts.index("Result") < parts.index("What is taken for what?") < parts.index("Mistakes")


def test_compare_says_who_won(desk: Desk, trained: str) -> None:
    models = desk.server.ask("GET", f"/tasks/{trained}/models")
    own = models["models"][0]
    older = {**own, "id": own["id"] + 1000, "name": "older"}
    listed = {**models, "models": [{**own, "parent": older["id"]}, older]}
    desk.page.route("**/models", lambda route: route.fulfill(json=listed))
    rows = [
        {"metric": "exact", "a": 0.7, "b": 0.8, "difference": 0.1, "low": 0.05, "high": 0.15, "p_bootstrap": 0.01,
         "p_wilcoxon": 0.02},
        {"metric": "field_f1", "a": 0.7, "b": 0.71, "difference": 0.01, "low": -0.05, "high": 0.05, "p_bootstrap": 0.6,
         "p_wilcoxon": 0.7},
    ]  # fmt: skip
    told = {"a": own["id"] + 1000, "b": own["id"], "records": 40, "seen_a": 0, "seen_b": 0, "rows": rows}
    desk.page.route("**/compare", lambda route: route.fulfill(json=told))
    page = desk.go(trained, "measure")
    chosen = page.get_by_role("combobox", name="A", exact=True)
    expect(chosen).to_have_value(str(older["id"]))
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".winner")).to_have_text(
        f"#{own['id']} {own['name']} is better: whole records right by 10.0 points, on 40 records."
    )
    rows[0] |= {"p_bootstrap": 0.2}
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".winner")).to_have_text("No winner: on 40 records the difference may be chance.")


VERDICT = {"why": "worse", "metric": "exact", "held_out": 24, "before": 0.79, "after": 0.73, "p": 0.048, "used": False}
POINT = {"token_accuracy": 0.9, "field_f1": 0.8, "exact": 0.7}
SPREAD = {"token_low": 0.85, "token_high": 0.94, "field_low": 0.7, "field_high": 0.88}


def test_a_worse_model_is_not_in_use_unless_you_say_so(desk: Desk, trained: str) -> None:
    [model] = desk.server.ask("GET", f"/tasks/{trained}/models")["models"]
    desk.server.ask("PUT", f"/tasks/{trained}/model", {"id": None})
    [job] = desk.server.ask("GET", f"/jobs?task={trained}&limit=1")["jobs"]
    curve = [{"records": n, **POINT, **SPREAD} for n in (24, 48, 96)]
    shown = {**job, "verdict": VERDICT, "curve": curve, "held_out": 24}
    desk.page.route("**/api/v1/jobs?*", lambda route: route.fulfill(json={"jobs": [shown]}))
    page = desk.go(trained, "teach")
    expect(page.locator(".verdict")).to_contain_text("worse: whole records right 79.0 before, 73.0 now, on 24 records")
    expect(page.locator(".verdict")).to_contain_text("The old one stays in use")
    expect(page.locator("svg.chart .whisker")).to_have_count(6)  # three points, two lines
    page.get_by_role("button", name="Use the new one all the same").click()
    expect(page.locator(".versions li.active")).to_contain_text(model["name"])
    assert desk.server.ask("GET", f"/tasks/{trained}")["model"] == model["id"]
    shown |= {"curve": curve[:1], "held_out": 6}  # too few: no curve
    desk.go(trained, "teach").locator(".verdict").wait_for()
    expect(page.locator("svg.chart")).to_have_count(0)


def choose_file(desk: Desk, button: str, path: Path) -> None:
    with desk.page.expect_file_chooser() as chooser:
        desk.page.get_by_role("button", name=button).click()
    chooser.value.set_files(path)


def test_models_as_files(desk: Desk, trained: str, tmp_path: Path) -> None:
    page = desk.go(trained, "teach")
    with page.expect_download() as started:
        page.get_by_role("button", name="Save file of #").click()
    file = tmp_path / "spare.espalier"
    started.value.save_as(file)
    choose_file(desk, "Load a model file", file)
    desk.said("The model is loaded and in use")
    versions = page.get_by_role("list", name="Model versions").locator("li")
    expect(versions.first).to_contain_text("spare")
    expect(versions.first).to_contain_text("in use")
    page.get_by_role("button", name="Rename #").first.click()
    page.get_by_label("New name").fill("renamed")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(versions.first).to_contain_text("renamed")
    page.get_by_role("button", name="Go back to").click()
    expect(versions.first).not_to_contain_text("in use")
    page.get_by_role("button", name="Delete #").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("renamed")).to_have_count(0)
    assert [model["name"] for model in desk.server.ask("GET", f"/tasks/{trained}/models")["models"]] == ["first"]

    file.write_bytes(b"not a model")
    desk.watch.expected = "status of 400"
    choose_file(desk, "Load a model file", file)
    expect(page.get_by_role("alert").filter(has_text="model")).to_be_visible()


def test_a_late_answer_does_not_overwrite_a_newer_one(desk: Desk) -> None:
    make(desk.server, "late", texts=ADVERTS[:1])
    held: list[Route] = []
    # The first list of records is kept back until the second is there.
    desk.page.route("**/tasks/late/records?*", lambda route: route.continue_() if held else held.append(route))
    page = desk.go("late", "parse")
    desk.paste(ADVERTS[1])
    desk.said("1 record added")
    expect(page.locator(".record")).to_have_count(2)
    held[0].fulfill(json={"total": 0, "corrected": 0, "matching": 0, "offset": 0, "model": None, "records": []})
    page.wait_for_timeout(300)
    expect(page.locator(".record")).to_have_count(2)


def test_labelled_files_come_in(desk: Desk, tmp_path: Path) -> None:
    make(desk.server, "files", texts=ADVERTS[:1])
    bio = ["B-fruit", "B-price", "I-price", "B-place"]
    file = tmp_path / "more.conll"
    file.write_text(
        "\n".join(f"{token} {tag}" for token, tag in zip(["Sloe", "£", "7", "Ely"], bio, strict=True)) + "\n\n"
    )
    page = desk.go("files", "parse")
    choose_file(desk, "Open file", file)
    desk.said("1 record added, 1 with labels")
    expect(page.locator(".record .chip", has_text="corrected")).to_have_count(1)
    assert [label for label, _ in desk.fields(1)] == LABELS
