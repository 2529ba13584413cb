// A text area with line numbers that can mark lines.

import { h, put } from "./dom.js";

/** An editor for lines of text; `input(text)` is called on every change. */
export function editor(text, label, input) {
  const area = h("textarea", {
    class: "code", rows: 14, wrap: "off", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    "aria-label": label, value: text,
  });
  const gutter = h("div", { class: "gutter", "aria-hidden": "true" });
  const node = h("div", { class: "editor" }, gutter, area);
  let marks = new Map();
  let drawn = "";

  function draw() {
    const lines = area.value.split("\n").length;
    const wanted = `${lines} ${[...marks.keys()]}`;
    if (wanted === drawn) return;
    drawn = wanted;
    const number = (line) =>
      h("span", { class: marks.has(line) ? "wrong" : "", title: marks.get(line) }, String(line));
    put(gutter, Array.from({ length: lines }, (_, place) => number(place + 1)));
  }
  area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  area.addEventListener("input", () => {
    draw();
    input(area.value);
  });
  draw();
  return {
    node,
    area,
    get text() { return area.value; },
    set text(value) {
      area.value = value;
      draw();
    },
    /** Mark lines: pairs of a line, from 1, and what is wrong there. */
    mark(wrong) {
      marks = new Map(wrong);
      drawn = "";
      draw();
      area.setAttribute("aria-invalid", String(marks.size > 0));
    },
    /** Put the cursor on a line and column, from 1. */
    show(line, column) {
      const before = area.value.split("\n").slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
      area.focus();
      area.setSelectionRange(before + column - 1, before + column - 1);
    },
  };
}
