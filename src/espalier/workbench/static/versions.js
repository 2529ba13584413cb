// Model versions, to go back to any of them; and data and models as files.

import { download, get, patch, put as send, query, remove, upload } from "./api.js";
import { button, h, panel, plural, points, put, remark, row } from "./dom.js";
import { sureDialog } from "./marks.js";
import { ask, busy, openDialog, say } from "./messages.js";
import { downloadMenu, fileButton, problemList, told, uploadRecords } from "./transfer.js";

const when = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** What a model is called, in lists; the number tells two of one name apart. */
export const modelName = ({ id, name, source }) => (source === "bundled" ? name : `#${id} ${name}`);

/** Where a model comes from. */
function origin({ source, created, method, corrected, pool }) {
  if (source === "bundled") return "comes with the package";
  if (source === "uploaded") return `loaded from a file, ${when(created)}`;
  return `${method} on ${plural(corrected, "record")}${pool ? ` and ${pool} uncorrected` : ""}, ${when(created)}`;
}

function scored(scores) {
  if (!scores) return "no record was kept aside to judge it";
  const { token_accuracy: tokens, field_f1: fields, exact, held_out: aside } = scores;
  const figures = `tokens ${points(tokens)}, fields ${points(fields)}, whole ${points(exact)}`;
  return `${figures} (${plural(aside, "record")} kept aside)`;
}

/** Ask for a new name, and call `change` with it. */
function askName(model, change) {
  const value = model.name;
  const name = h("input", { type: "text", maxlength: 80, required: true, "aria-label": "New name", value });
  const place = h("div", { "aria-live": "polite" });
  const rename = h("button", { class: "primary" }, "Rename");
  const submit = (event) => {
    event.preventDefault();
    busy(rename, place, async () => {
      await change(name.value);
      box.close();
    });
  };
  const box = openDialog("Rename the model", h("form", { on: { submit } },
    h("h2", {}, "Rename the model"), name, place, row(rename, button("Cancel", () => box.close()))));
  name.select();
}

/** The list of versions. `switched` is called when another one is active. */
export function modelPanel(bench, switched) {
  const list = h("ul", { class: "versions", "aria-label": "Model versions" });
  const place = h("div", { "aria-live": "polite" });
  const path = (model) => `${bench.path}/models/${model.id}`;

  /** A button for a model: what it is called is said, too, since every model has such a button. */
  function act(model, text, spoken, action, style = "quiet small") {
    const name = spoken.replace("%", modelName(model));
    const node = button(text, () => busy(node, place, action), { class: style, "aria-label": name });
    return node;
  }
  async function use(id) {
    await send(`${bench.path}/model`, { id });
    await load();
    await switched();
  }
  async function forget(model) {
    if (!(await ask(`Delete the model ${modelName(model)}?`, "Delete it"))) return;
    await remove(path(model));
    await load();
  }
  const save = async (model) => say(`${await download(`${path(model)}/file`)} is written.`);
  const rename = (model) => askName(model, async (name) => {
    await patch(path(model), { name });
    await load();
  });

  function item(model) {
    const own = model.source !== "bundled";
    return h("li", { class: model.active ? "active" : "" },
      row(h("b", {}, modelName(model)), model.active && h("span", { class: "chip good spread" }, "in use")),
      remark(origin(model)),
      model.source === "trained" && remark(scored(model.scores)),
      row(
        !model.active && act(model, "Go back to this one", "Go back to this one: %", () => use(model.id), "small"),
        act(model, "Save file", "Save file of %", () => save(model)),
        own && act(model, "Rename", "Rename %", () => rename(model)),
        own && !model.active && act(model, "Delete", "Delete %", () => forget(model))));
  }
  async function load() {
    const { active, models } = await get(`${bench.path}/models`);
    const none = button("Use rules alone", () => busy(none, place, () => use(null)), { class: "quiet small" });
    const bundled = models.some(({ source }) => source === "bundled");
    put(list, models.map(item),
      !models.length && h("li", { class: "soft" }, "No model yet: rules alone answer. Correct some records and train."),
      active !== null && !bundled && h("li", {}, none));
  }
  const open = fileButton("Load a model file", (file, node) => busy(node, place, async () => {
    await upload(`${bench.path}/models${query({ name: file.name.replace(/\.[^.]*$/, "") })}`, file);
    say("The model is loaded and in use.");
    await load();
    await switched();
  }));
  return { node: panel("Models", row(h("h2", {}, "Models"), open), place, list), load };
}

/** Labelled data in and out. `changed` is called when records were added. */
export function dataPanel(bench, changed) {
  const place = h("div", { "aria-live": "polite" });
  const open = fileButton("Load labelled file", (file, node) => busy(node, place, async () => {
    const answer = await uploadRecords(bench, file);
    say(told(answer));
    if (answer.problems.length) put(place, problemList(answer.problems));
    else await changed();
  }));
  const save = downloadMenu(bench, "corrected", place, "Save corrected records");
  const sure = bench.task.model !== null && button("Confirm what is sure …", () => sureDialog(bench, changed));
  return panel("Data", row(h("h2", {}, "Labelled data"), sure, open, save), place);
}
