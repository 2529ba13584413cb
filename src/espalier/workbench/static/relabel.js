// The labels of a task: added, renamed, merged, removed. What happens to records and rules is shown before it is done.

import { at, get, put as send } from "./api.js";
import { button, h, labelled, plural, put, remark, row } from "./dom.js";
import { busy, openDialog, refuse, say } from "./messages.js";

/** What a change does, in words. */
function told({ records, reopened, rules, model }) {
  return h("div", { class: "stack", "aria-label": "What happens" },
    h("p", {}, records ? `${plural(records, "corrected record")} change.` : "No corrected record changes.",
      reopened > 0 && ` ${reopened} of them are not confirmed any more.`,
      model && " The model in use knows the old labels, and is put out of use: train a new one."),
    rules.length > 0 && h("p", {}, "Rules:"),
    rules.length > 0 && h("pre", { tabindex: 0 }, rules.map(({ before, after }) => `- ${before}\n+ ${after}\n`)));
}

/** The dialog; `done` is called when the labels are changed. */
export async function editLabels(name, done) {
  const path = at`/tasks/${name}`;
  const task = await get(path);
  const place = h("div", { "aria-live": "polite" });
  const preview = h("div", { "aria-live": "polite" });
  const lines = task.labels.map((label) => {
    const called = h("input", { type: "text", value: label, maxlength: 80, "aria-label": `Name of ${label}` });
    const gone = h("input", { type: "checkbox", "aria-label": `Remove ${label}` });
    return { label, called, gone, node: row(called, h("label", { class: "small" }, gone, " remove")) };
  });
  const more = h("input", { type: "text", placeholder: "colour, size" });
  const change = () => ({
    add: more.value.split(/[\s,;]+/).filter(Boolean),
    rename: Object.fromEntries(lines.filter(({ label, called, gone }) => !gone.checked && called.value.trim() !== label)
      .map(({ label, called }) => [label, called.value.trim()])),
    remove: lines.filter(({ gone }) => gone.checked).map(({ label }) => label),
    version: task.version,
  });
  const look = button("Show what happens", () => busy(look, place, async () => {
    put(preview, told(await send(`${path}/labels`, change())));
    apply.disabled = false;
  }), { class: "primary" });
  const apply = button("Change the labels", () => busy(apply, place, async () => {
    await send(`${path}/labels`, { ...change(), really: true });
    box.close();
    say("The labels are changed.");
    await done();
  }), { disabled: true });
  const box = openDialog("Labels", h("form", { on: { submit: (event) => event.preventDefault(),
    input: () => { apply.disabled = true; } } },
  h("h2", {}, `Labels of ${name}`),
  remark("Give a label another name, or the name of another label to merge the two."),
  lines.map(({ node }) => node), labelled("New labels", more), place, preview,
  row(look, apply, button("Cancel", () => box.close()))));
  if (task.builtin) refuse(place, { what: "these labels come with the library", hint: "make a task of your own" });
  look.disabled = task.builtin;
}
