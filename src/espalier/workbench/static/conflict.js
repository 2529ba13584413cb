// Two people, one record: what the other one said and what you said, side by side; you choose.

import { h, row } from "./dom.js";
import { difference } from "./fields.js";
import { openDialog } from "./messages.js";

/** Show both, and return "mine", "theirs" or null for later. */
function choose(error, ...content) {
  return new Promise((resolve) => {
    openDialog("Somebody was faster", h("form", { method: "dialog", class: "conflict" },
      h("h2", {}, "Somebody was faster"),
      h("p", {}, `${error.what[0].toUpperCase()}${error.what.slice(1)}.`),
      content,
      row(h("button", { value: "theirs" }, "Keep theirs"), h("button", { value: "mine" }, "Use mine instead"),
        h("button", { value: "later", class: "quiet" }, "Decide later")),
    ), (answer) => resolve(["mine", "theirs"].includes(answer) ? answer : null));
  });
}

/** Fields of a record: theirs above mine; what differs stands out. */
export function chooseFields(error, mine, looks) {
  const { text, corrected, fields } = error.current;
  return choose(error, difference(text, corrected ?? fields, mine, looks, ["theirs", "mine"]));
}

/** Two texts of rules, line by line: what only one of them has is marked. */
export function chooseRules(error, mine) {
  const side = (name, text, other) => {
    const known = new Set(other.split("\n"));
    const lines = text.split("\n").map((line) => h(known.has(line) ? "span" : "mark", {}, `${line}\n`));
    return h("div", { class: "side-by-side" }, h("h3", {}, name), h("pre", { tabindex: 0, "aria-label": name }, lines));
  };
  const theirs = error.current.text;
  return choose(error, h("div", { class: "columns halves" }, side("Theirs", theirs, mine), side("Mine", mine, theirs)));
}
