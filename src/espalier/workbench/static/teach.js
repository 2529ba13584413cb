// Teach: correct the records that the model is least sure of, and train on what was confirmed.

import { get, put as send, query, remove } from "./api.js";
import { button, h, panel, plural, put, row, stack } from "./dom.js";
import { proof, sure } from "./chips.js";
import { Labelling } from "./labelling.js";
import { busy, say } from "./messages.js";
import { tint } from "./palette.js";
import { strip } from "./strip.js";
import { trainPanel } from "./training.js";
import { dataPanel, modelPanel } from "./versions.js";

const HELP = [
  [["←", "→"], "move"], [["Shift", "→"], "extend"], [["Ctrl", "→"], "next field"], [["Enter"], "confirm, next"],
  [["u"], "undo"], [["s"], "skip"], [["x"], "no field"],
];

/** The labels with their keys; a click assigns, too. */
function keyboard(bench, assign) {
  const entry = (label, key, ...words) =>
    h("button", { type: "button", data: { label: label ?? "" }, on: { click: () => assign(label) } },
      key && h("kbd", {}, key), words);
  const swatch = (label) => tint(h("span", { class: "swatch" }), bench.looks.get(label));
  return h("div", { class: "labels", role: "group", "aria-label": "Labels and their keys" },
    bench.task.labels.map((label) => entry(label, bench.keys.get(label), swatch(label), label)),
    bench.task.outside && entry(null, "x", "no field"));
}

function help(bench) {
  const shown = HELP.filter(([[key]]) => key !== "x" || bench.task.outside);
  return h("p", { class: "help soft small", id: "teach-help" },
    shown.map(([keys, what]) => h("span", {}, keys.map((key) => h("kbd", {}, key)), ` ${what}`)));
}

/** One record at a time: what is shown, how it is changed, what is confirmed. */
class Desk {
  constructor(bench, place) {
    Object.assign(this, { bench, place, record: null, skipped: [], done: [], turn: 0, fresh: true });
    this.card = panel("Record to correct");
    this.card.classList.add("desk");
    this.card.addEventListener("keydown", (event) => this.press(event));
    this.labels = new Map([...bench.keys].map(([label, key]) => [key, label]));
  }

  /** Show this record, or the next of the queue. */
  async open(id = null) {
    this.turn += 1;
    const { bench, turn } = this;
    const one = id === null ? null : get(`${bench.path}/records/${encodeURIComponent(id)}`);
    const queue = get(`${bench.path}/queue${query({ skip: this.skipped.join(",") })}`);
    const [record, { left, records }] = await Promise.all([one, queue]);
    // What was asked for later, or changed by hand meanwhile, is not overwritten.
    if (turn !== this.turn) return;
    this.left = left;
    this.show(id === null ? records[0] ?? null : record);
  }

  /** Read the record again, for what a new model says; changes that are not confirmed stay. */
  async again() {
    if (!this.record) return this.open();
    if (this.labelling.past.length) return undefined;
    return this.open(this.record.id);
  }

  show(record) {
    // An answer that comes when another view is shown may not take the address back.
    if (!location.hash.startsWith(this.bench.address("teach"))) return;
    // Keys work at once on a fresh desk; later an answer that comes by itself may not take the focus from elsewhere.
    const focus = this.fresh || this.card.contains(document.activeElement);
    Object.assign(this, { record, fresh: false });
    history.replaceState(null, "", this.bench.address("teach", record?.id ?? null));
    if (!record) {
      const why = this.bench.task.records ? "Every record is corrected or skipped." : "There are no records yet.";
      put(this.card, h("div", { class: "empty" }, h("p", {}, why),
        row(h("a", { class: "button", href: this.bench.address("parse") }, "Add more texts"),
          this.done.length > 0 && button("Undo the last one", () => this.undo()))));
      this.labelling = null;
      return;
    }
    this.labelling = new Labelling(record);
    this.keys = keyboard(this.bench, (label) => this.assign(label));
    this.strip = strip(record, this.labelling, this.bench.looks, () => this.tellSelection());
    this.state = h("span", { class: "chip" });
    this.confirm = button("Confirm", () => this.accept(), { class: "primary" });
    put(this.card,
      row(h("h2", {}, `Record ${record.id}`),
        h("span", { class: "soft small" }, `${plural(this.left, "record")} in the queue`),
        sure(record.confidence), proof(record.certificate), this.state),
      this.strip.node, this.keys,
      row(this.confirm, button("Skip", () => this.skip()), button("Undo", () => this.undo()),
        record.corrected && button("Take the correction back", () => this.takeBack(), { class: "quiet" })),
      help(this.bench));
    this.tellState();
    if (focus) this.strip.node.focus({ preventScroll: true });
  }

  tellState() {
    const changed = this.labelling.past.length;
    const [text, style] = this.record.corrected ? ["corrected", "good"] : ["as the model says", ""];
    this.state.textContent = changed ? plural(changed, "change") : text;
    this.state.className = `chip ${changed ? "warn" : style}`;
  }

  /** Which labels the selection has now. */
  tellSelection() {
    const [from, to] = this.labelling.selection;
    const labels = new Set();
    for (let token = from; token < to; token += 1) labels.add(this.labelling.at(token)?.label ?? "");
    for (const node of this.keys.children) node.classList.toggle("here", labels.has(node.dataset.label));
  }

  assign(label, apart = false) {
    if (label === null && !this.bench.task.outside) return;
    this.turn += 1;
    if (this.labelling.assign(label, apart)) this.strip.draw();
    this.tellState();
    this.strip.node.focus();
  }

  async undo() {
    if (this.labelling?.undo()) {
      this.strip.draw();
      this.tellState();
      return;
    }
    const last = this.done.pop();
    if (!last) return say("There is nothing to undo.");
    await this.act(async () => {
      if (last.corrected) await send(`${this.bench.path}/records/${last.id}/fields`, { fields: last.corrected });
      else await remove(`${this.bench.path}/records/${last.id}/fields`);
      await this.open(last.id);
      await this.changed();
      say("The last confirmation is taken back.");
    });
  }

  accept() {
    return this.act(async () => {
      const { record } = this;
      await send(`${this.bench.path}/records/${record.id}/fields`, { fields: this.labelling.spans() });
      this.done.push(record);
      say(`Record ${record.id} is confirmed.`);
      await this.open();
      await this.changed();
    });
  }

  skip() {
    this.skipped.push(this.record.id);
    return this.act(() => this.open());
  }

  takeBack() {
    return this.act(async () => {
      await remove(`${this.bench.path}/records/${this.record.id}/fields`);
      await this.open(this.record.id);
      await this.changed();
    });
  }

  async changed() {
    await this.bench.refresh();
    this.onchange?.();
  }

  act(action) {
    return busy(this.confirm, this.place, action).then(() => this.strip.node.focus({ preventScroll: true }));
  }

  press(event) {
    if (!this.record || event.altKey || (event.key === "Enter" && event.target.closest("button, a"))) return;
    const { labelling } = this;
    const jump = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowRight: () => (jump ? labelling.jump(1) : labelling.move(labelling.caret + 1, event.shiftKey)),
      ArrowLeft: () => (jump ? labelling.jump(-1) : labelling.move(labelling.caret - 1, event.shiftKey)),
      Home: () => labelling.move(0, event.shiftKey),
      End: () => labelling.move(labelling.size - 1, event.shiftKey),
    };
    const acts = { Enter: () => this.accept(), u: () => this.undo(), s: () => this.skip(), x: () => this.assign(null) };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (moves[key]) {
      moves[key]();
      this.strip.select();
    } else if (jump) return;
    else if (acts[key]) acts[key]();
    else if (this.labels.has(key)) this.assign(this.labels.get(key), event.shiftKey);
    else return;
    event.preventDefault();
  }
}

export async function mountTeach(root, bench, { detail }) {
  const place = h("div", { "aria-live": "polite" });
  const desk = new Desk(bench, place);
  const models = modelPanel(bench, async () => {
    await bench.refresh();
    await desk.again();
  });
  const train = trainPanel(bench, async () => {
    await bench.refresh();
    await Promise.all([models.load(), desk.again()]);
  });
  const data = dataPanel(bench, bench.remount);
  desk.onchange = () => train.count();
  put(root, h("div", { class: "columns side-right" },
    stack(desk.card, place, data), stack(train.node, models.node)));
  try {
    await Promise.all([desk.open(detail), models.load(), train.load()]);
  } catch (error) {
    train.leave();
    throw error;
  }
  return { leave: train.leave };
}
