// The text of a record as tokens that can be selected with the mouse, the finger or the keyboard.

import { h, put } from "./dom.js";
import { cutter, dress } from "./fields.js";

/** A strip of tokens over a Labelling. `selected` is called when the selection has changed. */
export function strip(record, labelling, looks, selected) {
  const cut = cutter(record.text);
  const start = (token) => record.tokens[2 * token];
  const end = (token) => record.tokens[2 * token + 1];
  const node = h("div", {
    class: "text strip", tabindex: 0, role: "listbox", "aria-multiselectable": "true",
    "aria-label": "Tokens of the record", "aria-describedby": "teach-help",
    on: { pointerdown, pointermove, dblclick },
  });
  let elements = [];

  function token(place, field) {
    const text = cut(start(place), end(place));
    return h("span", {
      class: "token", role: "option", id: `token-${place}`, data: { token: place },
      "aria-label": `${text}, ${field ? field.label : "no field"}`,
    }, text);
  }

  /** Build the tokens and fields anew; a record has few enough. */
  function draw() {
    const children = [];
    elements = [];
    let at = 0;
    let place = 0;
    const add = (into, field) => {
      if (start(place) > at) into.push(cut(at, start(place)));
      elements[place] = token(place, field);
      into.push(elements[place]);
      at = end(place);
      place += 1;
    };
    for (const field of labelling.fields) {
      while (place < field.from) add(children, null);
      if (start(place) > at) children.push(cut(at, start(place)));
      at = start(place);
      const inner = [];
      while (place < field.to) add(inner, field);
      const mark = h("span", { class: "field" }, inner);
      dress(mark, end(field.to - 1) - start(field.from), field, looks);
      children.push(mark);
    }
    while (place < labelling.size) add(children, null);
    children.push(cut(at, Infinity));
    put(node, children);
    select();
  }

  /** Show which tokens are selected. */
  function select() {
    const [from, to] = labelling.selection;
    elements.forEach((element, place) => {
      const chosen = from <= place && place < to;
      element.classList.toggle("chosen", chosen);
      element.setAttribute("aria-selected", String(chosen));
    });
    node.setAttribute("aria-activedescendant", `token-${labelling.caret}`);
    elements[labelling.caret]?.scrollIntoView({ block: "nearest" });
    selected();
  }

  const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".token")?.dataset.token;
  function pointerdown(event) {
    const place = under(event);
    if (place === undefined || event.button !== 0) return;
    event.preventDefault();
    node.focus();
    labelling.move(Number(place), event.shiftKey);
    select();
  }
  function pointermove(event) {
    const place = under(event);
    if (!(event.buttons & 1) || place === undefined || Number(place) === labelling.caret) return;
    labelling.move(Number(place), true);
    select();
  }
  function dblclick(event) {
    const place = under(event);
    if (place === undefined) return;
    labelling.selectField(Number(place));
    select();
  }

  draw();
  return { node, draw, select };
}
