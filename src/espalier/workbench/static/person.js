// Who works here: a name that is asked once and kept in this browser; it stands beside what one confirms.

import { h, labelled, row } from "./dom.js";
import { openDialog } from "./messages.js";

const KEY = "espalier-name";
let chosen = null;

/** The name, or an empty string. */
export function personName() {
  if (chosen !== null) return chosen;
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function keep(name) {
  chosen = name;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // A browser that keeps nothing asks again after a reload.
  }
}

/** Was the question answered, perhaps with nothing? */
export function personKnown() {
  try {
    return chosen !== null || localStorage.getItem(KEY) !== null;
  } catch {
    return chosen !== null;
  }
}

/** Ask for the name; `done` is called when it is answered. */
export function askPerson(done = () => {}) {
  const name = h("input", { type: "text", maxlength: 60, autocomplete: "name", value: personName() });
  openDialog("Your name", h("form", { method: "dialog" },
    h("h2", {}, "Who are you?"),
    h("p", { class: "soft" }, "Others see this name beside the records that you confirm. It is kept in this browser."),
    labelled("Your name", name, { class: "labelled above" }),
    row(h("button", { class: "primary" }, "Keep it"))), () => {
    keep(name.value.trim());
    done();
  });
  name.focus();
}
