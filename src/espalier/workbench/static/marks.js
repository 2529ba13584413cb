// What one does to a record besides correcting it: flag it, comment on it, split it, merge it; and confirming many.

import { get, patch, post } from "./api.js";
import { button, h, labelled, percent, plural, put, row } from "./dom.js";
import { fieldsOf } from "./cards.js";
import { fieldText } from "./fields.js";
import { busy, openDialog, say } from "./messages.js";

const when = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** The dialog of a record. `changed(id)` is called when something was done; `next` is the record below, if any. */
export function markDialog(bench, record, next, changed) {
  const path = `${bench.path}/records/${record.id}`;
  const place = h("div", { "aria-live": "polite" });
  const said = h("ul", { class: "comments", "aria-label": "Comments" });
  const why = h("input", { type: "text", maxlength: 500, value: record.flag ?? "", placeholder: "why" });
  const words = h("textarea", { rows: 2, maxlength: 5000 });
  const text = h("textarea", { rows: 4, readonly: true, "aria-label": "The text; put the cursor where to split" }, record.text);
  const act = (name, action, style = {}) => {
    const node = button(name, () => busy(node, place, action), style);
    return node;
  };
  const done = async (told) => {
    box.close();
    say(told);
    await changed();
  };
  const flag = act(record.flag === null ? "Flag it" : "Take the flag away", async () => {
    await patch(path, { flag: record.flag === null ? why.value.trim() || "look at this" : null });
    await done(record.flag === null ? "The record is flagged." : "The flag is gone.");
  });
  const comment = act("Add the comment", async () => {
    show((await post(`${path}/comments`, { text: words.value.trim() })).said);
    words.value = "";
  });
  const split = act("Split at the cursor", async () => {
    const at = Array.from(record.text.slice(0, text.selectionStart)).length;
    await post(`${path}/split`, { at });
    await done("The record is split in two.");
  });
  const merge = next && act(`Merge with record ${next.id}`, async () => {
    await post(`${path}/merge`, { other: next.id });
    await done("Both are one record now.");
  });
  const back = record.skipped && act("Back into the queue", async () => {
    await patch(path, { skipped: false });
    await done("The record is in the queue again.");
  });

  function show(comments) {
    put(said, comments.map(({ who, at, text: words_ }) =>
      h("li", {}, h("b", {}, who || "somebody"), `: ${words_} `, h("time", { datetime: at, class: "soft" }, when(at)))));
  }
  const box = openDialog(`Record ${record.id}`, h("div", { class: "stack" },
    h("h2", {}, `Record ${record.id}`),
    row(labelled("Flag", why), flag, back),
    h("div", { class: "stack" }, h("h3", {}, "Comments"), said, labelled("Say something", words, { class: "labelled above" }),
      row(comment)),
    h("div", { class: "stack" }, h("h3", {}, "Split or merge"), text, row(split, merge)),
    place, row(button("Close", () => { box.close(); if (said.childElementCount !== record.comments) changed(); }))));
  busy(comment, place, async () => show((await get(`${path}/comments`)).said));
}

/** The dialog that confirms what the model is sure of, after a look at a sample; `done` is called afterwards. */
export function sureDialog(bench, done) {
  const above = h("input", { type: "number", min: 50, max: 100, step: 0.1, value: 99 });
  const place = h("div", { "aria-live": "polite" });
  const sample = h("div", { class: "records" });
  const ask = (really) => post(`${bench.path}/sure`, { above: Number(above.value) / 100, really });
  const look = button("Show some of them", () => busy(look, place, async () => {
    const { matching, records } = await ask(false);
    put(sample, h("p", {}, `${plural(matching, "record")} of this confidence, not corrected yet. The least sure first:`),
      records.map((record) => h("article", { class: "record" },
        h("header", {}, h("span", { class: "chip" }, percent(record.confidence))),
        fieldText(record.text, fieldsOf(record), bench.looks))));
    confirm.disabled = matching === 0;
    confirm.textContent = `Confirm ${plural(matching, "record")}`;
  }), { class: "primary" });
  const confirm = button("Confirm them", () => busy(confirm, place, async () => {
    const { confirmed } = await ask(true);
    box.close();
    say(`${plural(confirmed, "record")} confirmed.`);
    await done();
  }), { disabled: true });
  above.addEventListener("input", () => { confirm.disabled = true; });
  const box = openDialog("Confirm what is sure", h("div", { class: "stack wide-dialog" },
    h("h2", {}, "Confirm what is sure"),
    h("p", { class: "soft" }, "Records that the model is at least so sure of are confirmed as it says. Look at some first."),
    row(labelled("Confidence in %, at least", above), look), place, sample,
    row(confirm, button("Cancel", () => box.close()))));
}
