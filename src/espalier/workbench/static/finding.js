// Finding records: what must be in them, which state they are in, how sure the model is; the address keeps it.

import { get } from "./api.js";
import { button, h, select } from "./dom.js";

const STATES = [["", "all records"], ["open", "not corrected yet"], ["corrected", "corrected"], ["skipped", "skipped"],
  ["flagged", "flagged"], ["commented", "with comments"]];
const SURE = [["", "any confidence"], ["0,0.5", "below 50 %"], ["0,0.9", "below 90 %"], ["0.9,1", "90 % and more"]];
export const WANTED = ["text", "state", "label", "rule", "low", "high", "who"];

/** What the address asks for, as a query of the server; empty where nothing is asked for. */
export const wantedIn = (asked) => Object.fromEntries(WANTED.map((name) => [name, asked.get(name) ?? ""])
  .filter(([, value]) => value !== ""));

/** The form; it is open where something is asked for. `go(wanted)` shows what fits. */
export async function findPanel(bench, wanted, go) {
  const [{ rules }, { names }] = await Promise.all([get(`${bench.path}/rules`), get(`${bench.path}/history?limit=1`)]);
  const now = { ...wanted };
  const change = (name) => (value) => { now[name] = value; };
  const options = (none, values) => [["", none], ...values.map((value) => [value, value])];
  const text = h("input", { type: "search", value: wanted.text ?? "", "aria-label": "Text to find", placeholder: "text" });
  const sure = wanted.low || wanted.high ? `${wanted.low ?? 0},${wanted.high ?? 1}` : "";
  const submit = (event) => {
    event.preventDefault();
    now.text = text.value.trim();
    go(Object.fromEntries(Object.entries(now).filter(([, value]) => value !== "")));
  };
  const form = h("form", { class: "row", role: "search", on: { submit } }, text,
    select(STATES, wanted.state ?? "", change("state"), { "aria-label": "State" }),
    select(options("any label", bench.task.labels), wanted.label ?? "", change("label"), { "aria-label": "Label" }),
    rules.length > 0 && select(options("any rule", rules.map(({ name }) => name)), wanted.rule ?? "", change("rule"),
      { "aria-label": "Broken rule" }),
    select(SURE, sure, (value) => { [now.low, now.high] = value ? value.split(",") : ["", ""]; },
      { "aria-label": "Confidence" }),
    names.length > 0 && select(options("anybody", names), wanted.who ?? "", change("who"), { "aria-label": "Person" }),
    h("button", {}, "Find"), Object.keys(wanted).length > 0 && button("Show all", () => go({}), { class: "quiet" }));
  return h("details", { class: "find", open: Object.keys(wanted).length > 0 },
    h("summary", {}, "Find records"), form);
}
