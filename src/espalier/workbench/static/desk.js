// The desk of Teach: one record at a time, what is shown, how it is changed, what is confirmed.

import { get, patch, post, put as send, query, remove } from "./api.js";
import { button, h, panel, plural, put, row } from "./dom.js";
import { marks, proof, strange, sure } from "./chips.js";
import { chooseFields } from "./conflict.js";
import { draft, keepDraft } from "./drafts.js";
import { historyList } from "./history.js";
import { Labelling } from "./labelling.js";
import { busy, say } from "./messages.js";
import { tint } from "./palette.js";
import { strip } from "./strip.js";

// Nobody has read a record that has been there for so many milliseconds.
const GLANCE = 300;

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
export class Desk {
  constructor(bench, place) {
    Object.assign(this, { bench, place, record: null, done: [], turn: 0, fresh: true });
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
    const queue = get(`${bench.path}/queue${query({ limit: 1 })}`);
    const [record, { left, records }] = await Promise.all([one, queue]);
    // What was asked for later, or changed by hand meanwhile, is not overwritten.
    if (turn !== this.turn) return;
    this.left = left;
    this.show(id === null ? records[0] ?? null : record);
  }

  /** Read the record again, for what a new model or another person says; changes that are not confirmed stay. */
  async again(certainly = false) {
    if (!this.record) return this.open();
    if (this.labelling.past.length && !certainly) return undefined;
    return this.open(this.record.id);
  }

  /** Go on with changes that were not confirmed when the page was left. */
  takeUp(kept) {
    if (!kept) return;
    this.labelling.restore(kept.spans);
    this.version = kept.version;
    say("Your unconfirmed changes are back.");
  }

  /** Keep what is not confirmed yet, so that leaving the page loses nothing. */
  keep() {
    const changed = this.labelling.past.length > 0;
    const kept = changed ? { version: this.version, spans: this.labelling.spans() } : null;
    keepDraft(this.bench.task.name, `record-${this.record.id}`, kept);
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
          h("a", { class: "button", href: this.bench.address("parse", null, { state: "skipped" }) }, "Show the skipped ones"),
          this.done.length > 0 && button("Undo the last one", () => this.undo()))));
      this.labelling = null;
      return;
    }
    this.labelling = new Labelling(record);
    this.version = record.version;
    this.takeUp(draft(this.bench.task.name, `record-${record.id}`));
    Object.assign(this, { shownAt: performance.now(), touched: this.labelling.past.length > 0 });
    this.keys = keyboard(this.bench, (label) => this.assign(label));
    this.strip = strip(record, this.labelling, this.bench.looks, () => this.tellSelection());
    this.state = h("span", { class: "chip" });
    this.confirm = button("Confirm", () => this.accept(), { class: "primary" });
    put(this.card,
      row(h("h2", {}, `Record ${record.id}`),
        h("span", { class: "soft small" }, `${plural(this.left, "record")} in the queue`),
        sure(record.confidence, this.bench.task.model), this.bench.task.model !== null && proof(record.certificate),
        strange(record), marks(record), this.state),
      this.strip.node, this.keys,
      h("div", { class: "row deciding" }, this.confirm, button("Skip", () => this.skip()),
        button("Undo", () => this.undo()),
        record.corrected && button("Take the correction back", () => this.takeBack(), { class: "quiet" })),
      help(this.bench), historyList(this.bench, record.id, () => this.again(true)).node);
    this.tellState();
    if (focus) this.strip.node.focus({ preventScroll: true });
  }

  tellState() {
    const changed = this.labelling.past.length;
    const { corrected, corrected_by: who } = this.record;
    const asGiven = this.bench.task.model === null ? "as the rules say" : "as the model says";
    const [text, style] = corrected ? [who ? `corrected by ${who}` : "corrected", "good"] : [asGiven, ""];
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
    this.touched = true;
    if (this.labelling.assign(label, apart)) this.strip.draw();
    this.keep();
    this.tellState();
    this.strip.node.focus();
  }

  async undo() {
    if (this.labelling?.undo()) {
      this.strip.draw();
      this.keep();
      this.tellState();
      return;
    }
    const last = this.done.pop();
    if (!last) return say("There is nothing to undo.");
    await this.act(async () => {
      const { changes: [change] } = await get(`${this.bench.path}/history${query({ record: last.id, limit: 1 })}`);
      const mine = change?.version === last.version;
      if (mine) await post(`${this.bench.path}/history/${change.id}/undo`, {});
      await this.open(last.id);
      await this.changed();
      say(mine ? "The last confirmation is taken back."
        : `${change.who || "Somebody"} has changed record ${last.id} since; it stays as it is.`);
    });
  }

  /** Confirm what is on the desk. */
  accept() {
    return this.act(async () => {
      const { record } = this;
      const confirmed = await this.store(record, this.labelling.spans(), this.version);
      if (!confirmed) return;
      keepDraft(this.bench.task.name, `record-${record.id}`, null);
      this.done.push(confirmed);
      say(`Record ${record.id} is confirmed.`);
      await this.open();
      await this.changed();
    });
  }

  /** Send fields; where somebody was faster, ask which to keep. Returns the record, or null if it stays open. */
  async store(record, fields, version) {
    try {
      return await send(`${this.bench.path}/records/${record.id}/fields`, { fields, version });
    } catch (error) {
      if (error.status !== 409 || !error.current) throw error;
      const choice = await chooseFields(error, fields, this.bench.looks);
      if (choice === "mine") return this.store(record, fields, error.current.version);
      if (choice === "theirs") {
        keepDraft(this.bench.task.name, `record-${record.id}`, null);
        await this.open(record.id);
      }
      return null;
    }
  }

  skip() {
    return this.act(async () => {
      await patch(`${this.bench.path}/records/${this.record.id}`, { skipped: true });
      say(`Record ${this.record.id} is put off.`);
      await this.open();
    });
  }

  takeBack() {
    return this.act(async () => {
      await remove(`${this.bench.path}/records/${this.record.id}/fields${query({ version: this.version })}`);
      keepDraft(this.bench.task.name, `record-${this.record.id}`, null);
      await this.open(this.record.id);
      await this.changed();
    });
  }

  async changed() {
    await this.bench.refresh();
    this.onchange?.();
  }

  /** One thing at a time: what is asked for meanwhile is not heard. */
  async act(action) {
    if (this.working) return;
    this.working = true;
    await busy(this.confirm, this.place, action);
    this.working = false;
    this.strip?.node.focus({ preventScroll: true });
  }

  /** Enter confirms what somebody may have read: not what a held key runs over, nor what has just appeared. */
  acceptSeen() {
    if (!this.touched && performance.now() - this.shownAt < GLANCE) return say("Look at the record first.");
    return this.accept();
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
    const acts = { Enter: () => this.acceptSeen(), u: () => this.undo(), s: () => this.skip(), x: () => this.assign(null) };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (moves[key]) {
      moves[key]();
      this.touched = true;
      this.strip.select();
    } else if (jump) return;
    else if (acts[key] && event.repeat) event.preventDefault();
    else if (acts[key]) acts[key]();
    else if (this.labels.has(key)) this.assign(this.labels.get(key), event.shiftKey);
    else return;
    event.preventDefault();
  }
}

