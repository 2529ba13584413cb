// A text with its fields, as elements. The text is the input, character by character; captions are drawn by CSS, so
// that copying gives the input back.

import { percent } from "./dom.js";

/** A function (start, end) -> text. The server counts code points, JavaScript UTF-16 units; mostly they agree. */
export function cutter(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (start, end) => text.slice(start, end);
  const points = Array.from(text);
  return (start, end) => points.slice(start, end).join("");
}

// A caption is set in letters of about this width; a field that is narrower than its caption is widened to it.
const CAPTION_REM = 0.4;
const SHORT = 24;

/**
 * Give an element the looks of a field: colour, caption, confidence; `style` adds a class. There are thousands of them,
 * so classes and properties are set at one stroke each.
 */
export function dress(node, size, field, looks, style = "") {
  const look = looks.get(field.label);
  const short = size <= SHORT;
  const classes = ["field", look ?? "look-none", short && "short", style];
  node.className = classes.filter(Boolean).join(" ");
  node.dataset.label = field.label;
  const sure = field.confidence === undefined ? "" : `--sure:${field.confidence.toFixed(3)};`;
  const caption = short ? `--caption:${(field.label.length * CAPTION_REM + 0.3).toFixed(2)}rem;` : "";
  node.style.cssText = `${sure}${caption}`;
}

/** The text of a record as a paragraph with its fields; `mark(element, field)` is told each, and may name a class. */
export function fieldText(text, fields, looks, mark = null) {
  const cut = cutter(text);
  const line = document.createElement("p");
  line.className = "text";
  let at = 0;
  for (const field of fields) {
    if (field.start > at) line.append(cut(at, field.start));
    const node = document.createElement("mark");
    node.textContent = cut(field.start, field.end);
    dress(node, field.end - field.start, field, looks, mark?.(node, field));
    line.append(node);
    at = field.end;
  }
  line.append(cut(at, Infinity));
  return line;
}

const key = (field) => `${field.label} ${field.start} ${field.end}`;

/** The fields of one list that the other has not. */
export function without(fields, others) {
  const known = new Set(others.map(key));
  return fields.filter((field) => !known.has(key(field)));
}

/** Two readings of one text, one above the other; what only one of them has stands out. */
export function difference(text, before, after, looks, names = ["before", "after"]) {
  const gone = new Set(without(before, after));
  const fresh = new Set(without(after, before));
  const box = document.createElement("div");
  box.className = "versus";
  [[names[0], before, gone, "gone"], [names[1], after, fresh, "fresh"]].forEach(([name, fields, changed, style]) => {
    const title = document.createElement("span");
    title.className = "side";
    title.textContent = name;
    box.append(title, fieldText(text, fields, looks, (_, field) => (changed.has(field) ? style : "same")));
  });
  return box;
}

/** What a field says in words: "author, 98 %: L. O. Andersen". */
export const spoken = (field, text) =>
  `${field.label}${field.confidence === undefined ? "" : `, ${percent(field.confidence)}`}: ${text}`;
