// Parse: texts in, fields over the original text out.

import { get, post, query, Refusal, remove } from "./api.js";
import { button, h, labelled, panel, plural, put, row, select, stack } from "./dom.js";
import { Cards, fieldsOf } from "./cards.js";
import { draft, keepDraft } from "./drafts.js";
import { findPanel, wantedIn } from "./finding.js";
import { legend } from "./legend.js";
import { markDialog } from "./marks.js";
import { ask, busy, refuse, say } from "./messages.js";
import { attachPopover } from "./popover.js";
import { copyExport, downloadMenu, dropZone, fileButton, problemList, told, uploadRecords } from "./transfer.js";

const PAGE = 500;
const ORDERS = [["position", "as pasted"], ["uncertainty", "least sure first"], ["confidence", "surest first"]];

/** The box where texts come in. `added` is called when the server has new records. */
function inputPanel(bench, added) {
  const text = h("textarea", {
    id: "input", rows: 7, "aria-label": "Text to parse", value: draft(bench.task.name, "input") ?? "",
    placeholder: "Paste text here: one record per line, or blocks between blank lines. Or drop a file: text, PDF, DOCX, HTML, LaTeX.",
  });
  text.addEventListener("input", () => keepDraft(bench.task.name, "input", text.value || null));
  const place = h("div", { "aria-live": "polite" });

  const report = async (answer) => {
    put(place, problemList(answer.problems));
    await added();
    say(told(answer));
  };
  const parse = button("Parse", () => busy(parse, place, async () => {
    if (!text.value.trim()) throw new Refusal({ what: "there is no text yet", hint: "paste some, or drop a file" });
    const answer = await post(`${bench.path}/records`, { text: text.value, layout: "auto" });
    if (answer.added.length || !answer.problems.length) { // what was left out whole stays, to be mended
      text.value = "";
      keepDraft(bench.task.name, "input", null);
    }
    await report(answer);
  }), { class: "primary" });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse.click();
  });
  const send = (file) => busy(parse, place, async () => report(await uploadRecords(bench, file)));
  const examples = bench.task.examples > 0 && button("Examples", () => busy(examples, place, async () => {
    const { texts } = await get(`${bench.path}/examples`);
    text.value = texts.join("\n\n");
    keepDraft(bench.task.name, "input", text.value);
    text.focus();
  }), { title: "Put some texts to try into the box" });
  return {
    node: panel("Input", text, row(parse, fileButton("Open file", send), examples), place),
    send,
  };
}

const canCopy = (bench) => bench.task.formats.some(({ name }) => name === "bibtex");

/** The toolbar above the records: order, downloads, copying, clearing. */
function toolbar(bench, order, wanted, place, reload) {
  const clear = button("Clear", async () => {
    if (!(await ask("Remove all records that are not corrected?", "Remove them"))) return;
    await busy(clear, place, async () => {
      const { deleted } = await remove(`${bench.path}/records?corrected=no`);
      say(`${plural(deleted, "record")} removed.`);
      await reload();
    });
  }, { class: "quiet", title: "Remove the records that are not corrected" });
  const copy = canCopy(bench) && button("Copy as BibTeX", () => busy(copy, place, () => copyExport(bench, "bibtex")));
  const go = (value) => { location.hash = bench.address("parse", null, { ...wanted, order: value }); };
  const sorted = select(ORDERS, order, go);
  return row(h("h2", { id: "count", "aria-live": "polite" }), labelled("Order", sorted),
    copy, downloadMenu(bench, "all", place), clear);
}

function nothing(bench) {
  return h("div", { class: "empty" },
    h("p", {}, "Nothing here yet. Paste a text, drop a file, or take the examples."),
    bench.task.model === null
      && h("p", {}, "This task has no model yet: rules alone will answer, until you have taught it a little."));
}

export async function mountParse(root, bench, { query: asked }) {
  const order = ORDERS.some(([name]) => name === asked.get("order")) ? asked.get("order") : "position";
  const wanted = wantedIn(asked);
  const searching = Object.keys(wanted).length > 0;
  const place = h("div", { "aria-live": "polite" });
  const rest = row();
  let turn = 0;
  const cards = new Cards({ looks: bench.looks, actions, model: () => bench.task.model });
  const labels = legend(bench.task.labels, bench.looks, cards.node);
  const readings = (record, k) => get(`${bench.path}/records/${record.id}${query({ k })}`);
  const popover = attachPopover(cards.node, (node) => cards.owner(node), readings);

  function actions(record) {
    const copyIt = () => busy(copy, place, () => copyExport(bench, "bibtex", [record.id]));
    const copy = canCopy(bench) && button("Copy", copyIt, { class: "quiet", title: "Copy as BibTeX" });
    const drop = button("Remove", () => busy(drop, place, async () => {
      if (record.corrected && !(await ask("This record is corrected. Remove it all the same?", "Remove it"))) return;
      await remove(`${bench.path}/records/${record.id}`);
      await load();
    }), { class: "quiet" });
    const more = button("More …", () => markDialog(bench, record, cards.after(record), load), { class: "quiet",
      title: "Flag, comment, split, merge" });
    return [h("a", { class: "button quiet", href: bench.address("teach", record.id) }, "Correct"), copy, more, drop];
  }

  /** Fetch records from `offset` on; null if others were asked for meanwhile, since answers may overtake each other. */
  async function fetchPage(offset) {
    turn += 1;
    const mine = turn;
    const answer = await get(`${bench.path}/records${query({ order, offset, limit: PAGE, ...wanted })}`);
    if (turn !== mine) return null;
    const shown = offset + answer.records.length;
    const left = answer.matching - shown;
    const done = answer.corrected ? `, ${answer.corrected} corrected` : "";
    const all = plural(answer.total, "record") + done;
    document.getElementById("count").textContent = searching ? `${answer.matching} of ${all}` : all;
    put(rest, left > 0 && button(`Show ${Math.min(PAGE, left)} more`, () => more(shown)));
    return answer.records;
  }
  async function load() {
    const records = await fetchPage(0);
    if (!records) return;
    popover.forget();
    cards.show(records);
    if (!records.length) put(rest, searching ? h("div", { class: "empty" }, "No record fits.") : nothing(bench));
    labels.update(cards.records.map(fieldsOf));
  }
  async function more(offset) {
    try {
      cards.append((await fetchPage(offset)) ?? []);
      labels.update(cards.records.map(fieldsOf));
    } catch (error) {
      refuse(place, error);
    }
  }

  const find = await findPanel(bench, wanted, (found) => {
    location.hash = bench.address("parse", null, { ...(order === "position" ? {} : { order }), ...found });
  });
  const input = inputPanel(bench, load);
  const hint = (signs, what) => h("span", {}, [...signs].map((key) => h("kbd", {}, key)), ` ${what}`);
  const keys = h("p", { class: "help soft small" }, hint("↑↓", "records"), hint("←→", "fields"));
  put(root, dropZone(h("div", { class: "columns side-left" },
    stack(input.node, panel("Legend", h("h2", {}, "Labels"), labels.node, keys)),
    stack(toolbar(bench, order, wanted, place, load), find, place, cards.node, rest)), input.send));
  try {
    await load();
  } catch (error) {
    popover.remove();
    throw error;
  }
  return { leave: () => popover.remove() };
}
