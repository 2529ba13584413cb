// The rules of a task, each with a switch, a slider for its penalty, and what it does to the records on the page.

import { button, h, plural, put, row } from "./dom.js";
import { amount } from "./chips.js";

const TOP = 10;
const STEP = 0.1;

/** The penalty in words. */
const priced = (penalty) => (penalty === "hard" || penalty === null ? "hard" : amount(penalty));

/**
 * A list of rules. `changes` has what the user may do: penalty(name, value or "hard"), reset(name), toggle(name, on).
 */
export function ruleList(changes) {
  const list = h("ul", { class: "rules", "aria-label": "Rules" });
  const counts = new Map();

  function entry(rule) {
    const value = h("output", {}, priced(rule.penalty));
    const slider = h("input", {
      type: "range", min: 0, max: Math.max(TOP, Math.ceil(rule.penalty ?? 0)), step: STEP, value: rule.penalty ?? TOP,
      disabled: rule.hard, "aria-label": `Penalty of ${rule.name}`, "aria-valuetext": priced(rule.penalty),
      on: { input: () => told(Number(slider.value)) },
    });
    const hard = h("input", { type: "checkbox", "aria-label": `${rule.name} is hard`, on: { change: () => {
      slider.disabled = hard.checked;
      told(hard.checked ? "hard" : Number(slider.value));
    } } });
    hard.checked = rule.hard;
    const reset = button("Reset", () => changes.reset(rule.name), {
      class: "quiet", title: "Back to the penalty of the text or the model",
      "aria-label": `Reset the penalty of ${rule.name}`,
    });
    reset.hidden = rule.source !== "slider";
    const on = h("input", {
      type: "checkbox", class: "switch", role: "switch", "aria-label": `Apply ${rule.name}`,
      on: { change: () => {
        item.classList.toggle("off", !on.checked);
        changes.toggle(rule.name, on.checked);
      } },
    });
    on.checked = rule.on;
    const count = h("span", { class: "soft small count" });
    counts.set(rule.name, count);
    const item = h("li", { class: rule.on ? "" : "off", data: { rule: rule.name } },
      row(on, h("b", {}, rule.name), h("code", {}, rule.text), count),
      h("div", { class: "price" }, slider, value, h("label", { class: "small" }, hard, " hard"), reset));

    function told(penalty) {
      value.textContent = priced(penalty);
      slider.setAttribute("aria-valuetext", priced(penalty));
      reset.hidden = false;
      changes.penalty(rule.name, penalty);
    }
    return item;
  }

  return {
    node: list,
    show(rules) {
      counts.clear();
      put(list, rules.length ? rules.map(entry) : h("li", { class: "soft" }, "No rules yet."));
    },
    /** How often each rule is broken, before and after, and in how many records that differs. */
    count(rules) {
      for (const { name, before, after, records } of rules) {
        const node = counts.get(name);
        if (!node) continue;
        const times = before === null || before === after ? `${after ?? 0}` : `${before} → ${after}`;
        node.textContent = `broken ${times}${records ? ` (${plural(records, "record")})` : ""}`;
        node.classList.toggle("moved", Boolean(records));
      }
    },
  };
}
