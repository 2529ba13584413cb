// Measure: how good is a model on labelled records, where is it wrong, and is another one better?

import { get, post, query, upload } from "./api.js";
import { button, h, labelled, panel, percent, plural, points, put, remark, row, select, stack } from "./dom.js";
import { reliability } from "./charts.js";
import { difference } from "./fields.js";
import { busy } from "./messages.js";
import { tint } from "./palette.js";
import { fileButton } from "./transfer.js";
import { modelName } from "./versions.js";

const ERRORS = 50;
const METRICS = { token_accuracy: "tokens right", field_f1: "field F1", exact: "whole records right" };
const metricName = ({ metric }) => METRICS[metric] ?? metric;

/** A table with a name; rows begin with their own name, and may go beyond the screen. */
function table(name, head, rows) {
  const cell = (content) => (content instanceof Node ? content : h("td", {}, content));
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": name }, h("table", {},
    h("thead", {}, h("tr", {}, head.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first), cells.map(cell))))));
}

const titled = (title, ...children) => panel(title, h("h2", {}, title), children);

/** A warning where a model has learned from what it is judged by. */
function seenNote(seen, records) {
  if (!seen) return null;
  const which = seen === records ? "these records" : `${seen} of these records`;
  return h("p", { class: "chip warn" }, `the model has learned from ${which}: the figures flatter it`);
}

function summary(result) {
  const figure = (value, name) => h("div", {}, h("b", {}, value), h("span", {}, name));
  return titled("Result",
    h("div", { class: "figures" },
      Object.entries(METRICS).map(([metric, name]) => figure(`${points(result[metric])} %`, name)),
      figure(String(result.records), "records"), figure(String(result.wrong), "with a mistake")),
    seenNote(result.seen, result.records));
}

function fieldTable(perField, looks) {
  const rows = Object.entries(perField).sort(([, one], [, other]) => other.support - one.support);
  return table("Scores of every field", ["field", "precision", "recall", "F1", "in the data"],
    rows.map(([label, { precision, recall, f1, support }]) => [
      h("span", { class: "labelled" }, tint(h("i", { class: "swatch" }), looks.get(label)), label),
      points(precision), points(recall), points(f1), String(support),
    ]));
}

/** Labels that were never expected nor given are left out; the darker a cell, the larger its share of the row. */
function confusionTable({ labels, counts }) {
  const places = labels.map((_, place) => place);
  const used = places.filter((place) => counts[place].some(Boolean) || counts.some((line) => line[place]));
  const cells = (line) => {
    const total = Math.max(1, counts[line].reduce((sum, count) => sum + count, 0));
    return used.map((column) => {
      const count = counts[line][column];
      const vars = { "--share": (count / total).toFixed(3) };
      return h("td", { class: `heat ${line === column ? "right" : "wrong"}`, vars }, count ? String(count) : "·");
    });
  };
  return table("Tokens: expected in rows, got in columns", ["expected \\ got", ...used.map((place) => labels[place])],
    used.map((line) => [labels[line], ...cells(line)]));
}

/** The confusions that occur most often, in a sentence each. */
function confused({ labels, counts }) {
  const pairs = labels.flatMap((expected, line) => labels
    .map((got, column) => ({ expected, got, count: line === column ? 0 : counts[line][column] })));
  const most = pairs.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count).slice(0, 5);
  if (!most.length) return remark("No token is taken for another.");
  return h("ul", {}, most.map(({ expected, got, count }) =>
    h("li", {}, h("b", {}, expected), " taken for ", h("b", {}, got), `: ${plural(count, "token")}`)));
}

function mistake(error, bench) {
  const href = error.id !== null && bench.address("teach", error.id);
  return h("article", { class: "record" },
    h("header", {}, h("span", { class: "chip bad" }, plural(error.wrong_tokens, "wrong token")),
      h("span", { class: "chip" }, percent(error.confidence)),
      h("span", { class: "actions" }, href && h("a", { class: "button quiet", href }, "Correct"))),
    difference(error.text, error.expected, error.got, bench.looks, ["expected", "got"]));
}

function mistakes({ errors, wrong }, bench) {
  if (!errors.length) return remark("No mistakes.");
  const cut = errors.length < wrong && remark(`The worst ${errors.length} of ${wrong}.`);
  return [cut, h("div", { class: "records" }, errors.map((error) => mistake(error, bench)))];
}

function scoreView(result, bench) {
  const chart = result.reliability
    ? [reliability(result.reliability),
      remark(`Mean gap ${points(result.reliability.error)} points, over ${plural(result.reliability.n, "field")}.`)]
    : remark("No field was found, so there is no confidence to look at.");
  return [
    summary(result),
    titled("Which fields are hard?", fieldTable(result.per_field, bench.looks)),
    titled("What is taken for what?", confused(result.confusion), confusionTable(result.confusion)),
    titled("Do confidences keep their word?", chart),
    titled("Mistakes", mistakes(result, bench)),
  ];
}

const chance = (p) => (p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));

/** Who won, in a sentence: only differences that are more than chance count. */
function winner({ a, b, records, rows }, names) {
  if (a === b) return "This is one model, compared with itself.";
  const decided = rows.filter(({ p_bootstrap: p, difference }) => p !== null && p < 0.05 && difference !== 0);
  const side = (sign) => decided.filter(({ difference }) => Math.sign(difference) === sign);
  const told = (lines) => lines.map((line) =>
    `${metricName(line)} by ${points(Math.abs(line.difference))} points`).join(", ");
  const [first, second] = [side(-1), side(1)];
  if (first.length && second.length)
    return `No winner: ${names[0]} has more of ${told(first)}, ${names[1]} of ${told(second)}.`;
  if (second.length) return `${names[1]} is better: ${told(second)}, on ${plural(records, "record")}.`;
  if (first.length) return `${names[0]} is better: ${told(first)}, on ${plural(records, "record")}.`;
  return `No winner: on ${plural(records, "record")} the difference may be chance.`;
}

function comparison(result, names) {
  const rows = result.rows.map((line) => [
    metricName(line), points(line.a), points(line.b), `${line.difference > 0 ? "+" : ""}${points(line.difference)}`,
    `${points(line.low)} to ${points(line.high)}`, chance(line.p_bootstrap), chance(line.p_wilcoxon),
  ]);
  const head = ["", ...names, "difference", "95 % interval", "p (bootstrap)", "p (Wilcoxon)"];
  return titled("Comparison", h("p", { class: "winner" }, winner(result, names)), table("Two models", head, rows),
    seenNote(Math.max(result.seen_a, result.seen_b), result.records));
}

/** The panel that scores one model. */
function scorePanel(bench, pick, chosen, place, show) {
  const byCorrected = () => post(`${bench.path}/evaluate`, { model: Number(chosen.model), errors: ERRORS });
  const byFile = (file) =>
    upload(`${bench.path}/evaluate/upload${query({ name: file.name, model: chosen.model, errors: ERRORS })}`, file);
  const run = (node, ask) => busy(node, place, async () => show(scoreView(await ask(), bench)));
  const score = button("Score", () => run(score, byCorrected), { class: "primary" });
  return titled("Score",
    remark(`On your ${plural(bench.task.corrected, "corrected record")}, or on a labelled file of any format.`),
    row(pick("model", "Model"), score,
      fileButton("Score a labelled file", (file, node) => run(node, () => byFile(file)))));
}

/** The panel that compares two. */
function comparePanel(bench, pick, chosen, nameOf, place, show) {
  const byCorrected = () => post(`${bench.path}/compare`, { a: Number(chosen.a), b: Number(chosen.b) });
  const byFile = (file) =>
    upload(`${bench.path}/compare/upload${query({ name: file.name, a: chosen.a, b: chosen.b })}`, file);
  const run = (node, ask) => busy(node, place, async () => {
    const names = [nameOf(chosen.a), nameOf(chosen.b)];
    show(comparison(await ask(), names));
  });
  const compare = button("Compare", () => run(compare, byCorrected));
  if (chosen.a === chosen.b)
    return titled("Compare", remark("There is one model only; train another one to compare the two."));
  return titled("Compare", remark("Is one model better than another, or is it chance?"),
    row(pick("a", "A"), pick("b", "B"), compare,
      fileButton("Compare on a labelled file", (file, node) => run(node, () => byFile(file)))));
}

export async function mountMeasure(root, bench) {
  const { active, models } = await get(`${bench.path}/models`);
  if (!models.length) {
    put(root, h("div", { class: "empty" }, h("p", {}, "There is no model to measure yet."),
      h("a", { class: "button", href: bench.address("teach") }, "Teach one")));
    return {};
  }
  const place = h("div", { "aria-live": "polite" });
  const out = h("div", { class: "stack", "aria-live": "polite" });
  const show = (view) => put(out, view);
  const names = models.map((model) => [String(model.id), modelName(model)]);
  const current = String(active ?? models[0].id);
  // Compared with the model in use is the one that it came from, else another one.
  const { parent } = models.find(({ id }) => String(id) === current) ?? {};
  const other = models.find(({ id }) => id === parent && String(id) !== current)
    ?? models.find(({ id }) => String(id) !== current);
  const chosen = { model: current, a: String(other?.id ?? current), b: current };
  const pick = (part, text) => labelled(text, select(names, chosen[part], (value) => { chosen[part] = value; }));
  const nameOf = (id) => names.find(([value]) => value === id)[1];
  put(root, stack(
    h("div", { class: "columns halves" },
      scorePanel(bench, pick, chosen, place, show),
      comparePanel(bench, pick, chosen, nameOf, place, show)),
    place, out));
  return {};
}
