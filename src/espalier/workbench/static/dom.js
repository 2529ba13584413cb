// Elements from plain values. Text is only ever set as text, so nothing that stands in a record can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Fill an element: `on` holds listeners, `data` data-attributes, `vars` style properties; the rest are attributes. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "vars") for (const [key, given] of Object.entries(value)) node.style.setProperty(key, given);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
}

/** Children in one list, without those that are not there. */
const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** An HTML element with attributes and children; strings become text. */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Put new children in place of the old ones. */
export function put(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

/** A button that does something. */
export const button = (text, click, attributes = {}) =>
  h("button", { type: "button", ...attributes, on: { click } }, text);

/** Things side by side; those that do not fit go to the next line. */
export const row = (...children) => h("div", { class: "row" }, children);

/** Things one below the other. */
export const stack = (...children) => h("div", { class: "stack" }, children);

/** A remark in small letters. */
export const remark = (...children) => h("p", { class: "small soft" }, children);

/** A box with a name. */
export const panel = (name, ...children) => h("section", { class: "panel", "aria-label": name }, children);

/** A labelled control: the label stands before or above it. */
export const labelled = (text, control, attributes = {}) =>
  h("label", { class: "labelled", ...attributes }, h("span", {}, text), control);

/** A choice among [value, text] pairs. */
export function select(options, chosen, change, attributes = {}) {
  const node = h("select", { ...attributes, on: { change: () => change(node.value) } });
  node.append(...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return node;
}

/** Call `act` when there were no more calls for a while. */
export function debounced(act, wait) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}

/** One call at a time; of those that come meanwhile only the last is made, so that the newest state always wins. */
export function latest(act) {
  let running = false;
  let waiting = null;
  return async function call(...given) {
    if (running) {
      waiting = given;
      return;
    }
    running = true;
    try {
      await act(...given);
    } finally {
      running = false;
      if (waiting) {
        const next = waiting;
        waiting = null;
        call(...next);
      }
    }
  };
}

/** 0.934 as "93 %", and never 100 % for what is not certain. */
export const percent = (share) => `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100} %`;

/** One decimal for figures of a table: 93.4. */
export const points = (share) => (share === null || share === undefined ? "–" : (share * 100).toFixed(1));

/** "1 record", "2 records". */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
