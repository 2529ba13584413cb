// Rules: text, sliders and switches on one side, what they change on the other, at once.

import { get, post, put as send, query } from "./api.js";
import { button, debounced, h, labelled, latest, panel, plural, put, row, stack } from "./dom.js";
import { Cards } from "./cards.js";
import { draft, keepDraft } from "./drafts.js";
import { chooseRules } from "./conflict.js";
import { editor } from "./editor.js";
import { historyList } from "./history.js";
import { busy, refuse, say } from "./messages.js";
import { ruleList } from "./rulelist.js";

const SHOWN = 500;
const PAUSE = 180;

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const wordsOf = ({ text, penalties, off }) => ({ text, penalties, off });

/** The rules that the user is working on, and how they differ from those that are stored. */
class Draft {
  constructor(task, stored) {
    this.task = task;
    this.stored = wordsOf(stored);
    const kept = draft(task, "rules");
    this.now = kept ? wordsOf(kept) : wordsOf(stored);
    // The version that the changes began from, so that what others have saved meanwhile is not overwritten.
    this.version = kept?.version ?? stored.version;
  }

  get changed() {
    return !same(this.now, this.stored);
  }

  /** Change some of it; the result is kept in the browser until it is saved. */
  set(part) {
    this.now = { ...this.now, ...part };
    keepDraft(this.task, "rules", this.changed ? { ...this.now, version: this.version } : null);
  }

  /** Drop sliders and switches of rules that are gone. */
  prune(rules) {
    const names = new Set(rules.map(({ name }) => name));
    const penalties = Object.fromEntries(Object.entries(this.now.penalties).filter(([name]) => names.has(name)));
    this.set({ penalties, off: this.now.off.filter((name) => names.has(name)) });
  }

  settle(stored) {
    this.stored = wordsOf(stored);
    this.now = this.stored;
    this.version = stored.version ?? this.version;
    keepDraft(this.task, "rules", null);
  }
}

/** Mistakes of the text, beside it; each leads to its place. */
function mistakes(errors, area) {
  return errors.map(({ line, column, message, hint }) => h("div", { class: "message" },
    h("b", {}, message),
    h("span", {}, button(`line ${line}, column ${column}`, () => area.show(line, column), { class: "quiet small" }),
      hint && h("span", { class: "hint" }, ` ${hint}`))));
}

/** Rules found in the corrected records; a button each adds them to the text. */
function suggestions({ judged, suggestions: found }, add) {
  if (!found.length) return h("p", { class: "soft" }, `No rule stands out in ${plural(judged, "corrected record")}.`);
  return h("ul", { class: "rules" }, found.map((rule) => {
    const node = button("Add", () => {
      add(rule.line);
      node.disabled = true;
    }, { "aria-label": `Add the rule ${rule.name}` });
    const effect = rule.fixes === null ? "" : `; mends ${rule.fixes}, harms ${rule.breaks}`;
    const told = `${rule.gold} corrected records break it, ${rule.predicted} answers${effect}`;
    return h("li", {},
      row(h("b", {}, rule.name), h("span", { class: "soft small" }, told), h("span", { class: "spread" }, node)),
      h("code", {}, rule.text));
  }));
}

export async function mountRules(root, bench) {
  const page = () => get(`${bench.path}/records${query({ limit: SHOWN })}`);
  const [stored, answer] = await Promise.all([get(`${bench.path}/rules`), page()]);
  const work = new Draft(bench.task.name, stored);
  const errors = h("div", { class: "stack", role: "status", "aria-live": "polite" });
  const place = h("div", { "aria-live": "polite" });
  const summary = h("h2", { id: "decoded", "aria-live": "polite" }, "");
  const found = h("div");
  const correct = (record) => h("a", { class: "button quiet", href: bench.address("teach", record.id) }, "Correct");
  const cards = new Cards({ looks: bench.looks, actions: correct, model: () => bench.task.model });
  const area = editor(work.now.text, "The rules as text", (text) => { edit({ text }); check(); });
  const list = ruleList({
    penalty: (name, value) => edit({ penalties: { ...work.now.penalties, [name]: value } }, true),
    toggle: (name, on) => {
      const others = work.now.off.filter((other) => other !== name);
      edit({ off: on ? others : [...others, name] }, true);
    },
    reset: (name) => {
      const { [name]: _, ...penalties } = work.now.penalties;
      edit({ penalties });
      checkNow();
    },
  });
  /** Send the rules; where somebody was faster, ask which to keep. Returns what is stored then, null to go on. */
  async function store(version) {
    try {
      const answer = await send(`${bench.path}/rules`, { ...work.now, version });
      say("The rules are saved.");
      return answer;
    } catch (error) {
      if (error.status !== 409 || !error.current) throw error;
      const choice = await chooseRules(error, work.now.text);
      if (choice === "mine") return store(error.current.version);
      return choice === "theirs" ? error.current : null;
    }
  }
  async function take(rules) {
    if (!rules) return;
    work.settle(rules);
    area.text = work.now.text;
    await reload();
    past.refresh();
  }
  const save = button("Save", () => busy(save, place, async () => take(await store(work.version))).then(state),
    { class: "primary" });
  const past = historyList(bench, null, async () => take(await get(`${bench.path}/rules`)));
  const discard = button("Discard changes", () => {
    work.settle(work.stored);
    area.text = work.now.text;
    checkNow();
  });
  const suggest = button("Suggest rules", () => busy(suggest, found, async () => {
    put(found, suggestions(await post(`${bench.path}/rules/suggest`, { most: 10 }), (line) => {
      area.text = `${area.text.replace(/\n*$/, "\n")}${line}\n`;
      edit({ text: area.text });
      checkNow();
    }));
  }), { title: "Look for rules that the corrected records keep and the model's answers break" });
  const unchanged = h("div", { class: "empty", hidden: true }, "These rules change no record.");
  const only = h("input", { type: "checkbox", on: { change: () => {
    cards.node.classList.toggle("only-changed", only.checked);
    unchanged.hidden = !only.checked || cards.node.querySelector(".changed") !== null;
  } } });
  let ids = [];

  function state() {
    save.disabled = !work.changed || errors.childElementCount > 0;
    discard.disabled = !work.changed;
  }
  function edit(part, decode = false) {
    work.set(part);
    state();
    if (decode) redecode();
  }
  const checkNow = latest(async () => {
    try {
      const checked = await post(`${bench.path}/rules/check`, work.now);
      area.mark(checked.errors.map(({ line, message }) => [line, message]));
      put(errors, mistakes(checked.errors, area));
      list.show(checked.rules);
      if (!checked.errors.length) {
        work.prune(checked.rules);
        redecode();
      }
      state();
    } catch (error) {
      refuse(place, error, checkNow);
    }
  });
  const check = debounced(checkNow, PAUSE);
  const redecode = latest(async () => {
    try {
      const result = await post(`${bench.path}/redecode`, { records: ids, ...work.now });
      cards.compare(result.records);
      list.count(result.rules);
      put(place);
      const all = plural(ids.length, "record");
      summary.textContent = work.changed ? `${result.changed} of ${all} changed` : all;
      unchanged.hidden = !only.checked || result.changed > 0;
      summary.title = `decoded in ${Math.round(result.milliseconds)} ms`;
      summary.dataset.turn = Number(summary.dataset.turn ?? 0) + 1;
    } catch (error) {
      if (error.status === 400) return; // The text has a mistake meanwhile, and the check says which.
      refuse(place, error, redecode);
    }
  });
  async function reload() {
    show(await page());
    await checkNow();
  }
  function show({ records }) {
    ids = records.map(({ id }) => id);
    cards.show(records);
  }

  put(root, h("div", { class: "columns halves" },
    stack(
      panel("Rules as text", row(h("h2", {}, "Rules"), suggest, discard, save), area.node, errors, place, found,
        past.node),
      panel("Penalties", list.node)),
    stack(row(summary, labelled("Only changed", only)), unchanged, cards.node,
      !answer.records.length
        && h("div", { class: "empty" }, "Paste some texts under Parse to see here what rules do to them."))));
  show(answer);
  if (work.changed) say("Your unsaved changes are back.");
  await checkNow();
  state();
  return {};
}
