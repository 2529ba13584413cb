// A task of one's own: a name, labels and rules.

import { at, get, post, Refusal, remove } from "./api.js";
import { button, h, labelled, row } from "./dom.js";
import { ask, busy, openDialog, say } from "./messages.js";

const LABEL = /^[\p{L}_][\p{L}\p{N}_]*(-[\p{L}\p{N}_]+)*$/u;

/** Labels as people type them: with commas or a line each; repetitions are dropped. */
function labelsIn(text) {
  const labels = [...new Set(text.split(/[\n,;]+/).map((label) => label.trim()).filter(Boolean))];
  const odd = labels.find((label) => !LABEL.test(label));
  if (odd === undefined) return labels;
  const hint = "a label is one word that begins with a letter, as price or container-title";
  throw new Refusal({ what: `'${odd}' cannot be a label`, hint });
}

/** The dialog for a new task; `done(name)` is called when the server has it. */
export function newTask(done) {
  const name = h("input", {
    type: "text", required: true, maxlength: 40, autocomplete: "off", placeholder: "prices",
    pattern: "[a-z][a-z0-9\\-]*", title: "a-z, 0-9 and -, beginning with a letter",
  });
  const labels = h("textarea", { rows: 3, required: true, placeholder: "item, price, place" });
  const rules = h("textarea", { rows: 4, placeholder: 'Price: token in "$", "EUR" -> price' });
  const outside = h("input", { type: "checkbox" });
  outside.checked = true;
  const place = h("div", { "aria-live": "polite" });
  const create = h("button", { class: "primary" }, "Create");
  const above = { class: "labelled above" };
  const box = openDialog("New task", h("form", { on: { submit } },
    h("h2", {}, "New task"),
    labelled("Name (a-z, 0-9 and -)", name, above),
    labelled("Labels, with commas or a line each", labels, above),
    labelled("Rules, a line each; may be empty", rules, above),
    h("label", { class: "row" }, outside, "Some text is in no field"),
    place,
    row(create, button("Cancel", () => box.close()))));

  async function submit(event) {
    event.preventDefault();
    await busy(create, place, async () => {
      const wanted = { name: name.value.trim(), labels: labelsIn(labels.value), rules: rules.value };
      const made = await post("/tasks", { ...wanted, outside: outside.checked });
      box.close();
      say(`The task ${made.name} is there.`);
      done(made.name);
    });
  }
}

/** Forget a task, after a question; true if it was done. */
export async function deleteTask(name) {
  const task = await get(at`/tasks/${name}`);
  const question = task.builtin
    ? `Empty ${name}: forget its ${task.records} records, its corrections and the models that you trained?`
    : `Delete ${name} with its ${task.records} records, its corrections and its models?`;
  if (!(await ask(question, task.builtin ? "Empty it" : "Delete it"))) return false;
  await remove(at`/tasks/${name}`);
  say(task.builtin ? `${name} is empty.` : `${name} is gone.`);
  return true;
}
