// The labels with their colours and counts; pressing one lights its fields up.

import { h, put } from "./dom.js";
import { tint } from "./palette.js";

/** A legend for what is shown inside `container`. */
export function legend(labels, looks, container) {
  const list = h("ul", { class: "legend", "aria-label": "Labels" });
  let lit = null;

  function light() {
    container.classList.toggle("muted", lit !== null);
    for (const node of container.querySelectorAll(".field")) node.classList.toggle("lit", node.dataset.label === lit);
    for (const node of list.querySelectorAll("button")) node.setAttribute("aria-pressed", node.dataset.label === lit);
  }

  function entry(label, count) {
    const click = () => {
      lit = lit === label ? null : label;
      light();
    };
    return h("button", { type: "button", "aria-pressed": String(label === lit), data: { label }, on: { click } },
      tint(h("span", { class: "swatch" }), looks.get(label)), label, h("span", { class: "count" }, String(count)));
  }

  /** Count the fields of lists of fields, and show the labels that occur. */
  function update(readings) {
    const counts = new Map(labels.map((label) => [label, 0]));
    for (const fields of readings) for (const { label } of fields) counts.set(label, (counts.get(label) ?? 0) + 1);
    put(list, [...counts].filter(([, count]) => count > 0).map(([label, count]) => h("li", {}, entry(label, count))));
    if (lit !== null) light();
  }

  return { node: list, update };
}
