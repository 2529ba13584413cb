// The other readings of a field, beside it, while the mouse or the focus is on it.

import { h, percent, put, row } from "./dom.js";
import { cutter, without } from "./fields.js";
import { tint } from "./palette.js";

const DELAY = 160;
const READINGS = 4;

function readings(record, alternatives) {
  const cut = cutter(record.text);
  const items = alternatives.map((other) => {
    const own = without(other.fields, record.fields).map(({ label, start, end }) => `${label}: ${cut(start, end)}`);
    return h("li", {}, h("span", {}, percent(other.confidence)), h("span", {}, own.join(" · ") || "fewer fields"));
  });
  if (!items.length) return h("span", { class: "soft" }, "There is no other reading.");
  return h("div", {}, h("span", { class: "soft" }, "Other readings of the record"), h("ol", {}, items));
}

/**
 * Show readings for the fields inside `container`. `owner(element)` says {record, field, look} of a field's element or
 * null, and `ask(record, k)` fetches the record with its alternatives.
 */
export function attachPopover(container, owner, ask) {
  const box = h("div", { class: "popover", role: "tooltip", id: "readings", hidden: true });
  const kept = new Map();
  let current = null;
  let timer = 0;
  document.body.append(box);

  function hide() {
    clearTimeout(timer);
    current?.removeAttribute("aria-describedby");
    current = null;
    box.hidden = true;
  }

  async function show(node) {
    const { record, field, look } = owner(node);
    current = node;
    const list = h("div", { class: "soft" }, "Other readings …");
    put(box,
      row(tint(h("span", { class: "swatch" }), look), h("b", {}, field.label),
        h("span", { class: "soft spread" }, field.confidence === undefined ? "" : percent(field.confidence))),
      h("div", { class: "meter", vars: { "--sure": field.confidence ?? 1 } }, h("i")),
      list);
    const place = node.getClientRects()[0] ?? node.getBoundingClientRect();
    box.hidden = false;
    const left = Math.min(place.left, document.documentElement.clientWidth - box.offsetWidth - 12);
    box.style.left = `${Math.max(12, left) + window.scrollX}px`;
    box.style.top = `${place.bottom + 22 + window.scrollY}px`;
    node.setAttribute("aria-describedby", "readings");
    try {
      if (!kept.has(record)) kept.set(record, (await ask(record, READINGS)).alternatives ?? []);
    } catch {
      list.textContent = "Other readings cannot be shown now.";
      return;
    }
    if (current === node) list.replaceWith(readings(record, kept.get(record)));
  }

  function enter(event) {
    const node = event.target.closest?.(".field");
    if (!node || node === current || !owner(node)) return;
    hide();
    timer = setTimeout(() => show(node), event.type === "focusin" ? 0 : DELAY);
  }
  const leave = (event) => { if (event.target.closest?.(".field")) hide(); };
  const escape = (event) => { if (event.key === "Escape") hide(); };
  container.addEventListener("pointerover", enter);
  container.addEventListener("focusin", enter);
  container.addEventListener("pointerout", leave);
  container.addEventListener("focusout", leave);
  document.addEventListener("keydown", escape);
  return {
    forget: () => { hide(); kept.clear(); },
    remove: () => { hide(); document.removeEventListener("keydown", escape); box.remove(); },
  };
}
