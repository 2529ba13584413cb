// What the page says: errors in place, short notices in a live region, questions in dialogs.

import { button, h, put, row } from "./dom.js";

/** Show what was refused, where, and what to do; `again` adds a button to try once more. */
export function refuse(place, error, again = null, text = "Try again") {
  if (!("what" in error)) throw error;
  put(place, h("div", { class: "message", role: "alert" },
    h("b", {}, error.what),
    error.where && h("span", { class: "where" }, error.where),
    error.hint && h("span", { class: "hint" }, error.hint),
    again && h("div", {}, button(text, again))));
}

let timer = 0;

/** Say something short; screen readers hear it, and it goes away by itself. */
export function say(text) {
  const place = document.getElementById("toast");
  place.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => { place.textContent = ""; }, 4000);
}

/** Open a dialog; it is thrown away when it closes, and `closed` gets what was answered. */
export function openDialog(name, content, closed = () => {}) {
  const box = h("dialog", { "aria-label": name }, content);
  box.addEventListener("close", () => {
    box.remove();
    closed(box.returnValue);
  });
  document.body.append(box);
  box.showModal();
  return box;
}

/** Ask before something is thrown away. */
export function ask(question, yes) {
  return new Promise((resolve) => {
    openDialog(question, h("form", { method: "dialog" },
      h("p", {}, question),
      row(h("button", { class: "primary", value: "yes" }, yes), h("button", { value: "no" }, "Keep it")),
    ), (answer) => resolve(answer === "yes"));
  });
}

/** Run an action of a button: the button is busy meanwhile, and a refusal is shown at `place`. */
export async function busy(node, place, action) {
  node.disabled = true;
  node.setAttribute("aria-busy", "true");
  put(place);
  try {
    return await action();
  } catch (error) {
    refuse(place, error);
    return undefined;
  } finally {
    node.disabled = false;
    node.removeAttribute("aria-busy");
  }
}
