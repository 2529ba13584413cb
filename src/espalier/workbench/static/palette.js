// One look a label: one of six colours and one of four lines under the field, so that 24 labels differ, also for eyes that
// tell colours apart badly; labels near each other in the list have different colours. A caption names the label, too.

const COLOURS = 6;
const LINES = 4;

/** The look of every label of a task, as CSS classes: "look-3 line-1". */
export function paletteOf(labels) {
  const look = (place) => `look-${place % COLOURS} line-${Math.floor(place / COLOURS) % LINES}`;
  return new Map(labels.map((label, place) => [label, look(place)]));
}

/** Give an element the look of a label. */
export function tint(node, look) {
  node.classList.add(...(look ?? "look-none").split(" "));
  return node;
}

const RESERVED = new Set(["u", "s", "x"]);

/** A key for every label: a letter of its name if one is free, else a digit or any letter. u, s, x do other things. */
export function keysOf(labels) {
  const keys = new Map();
  const free = (key) => !RESERVED.has(key) && ![...keys.values()].includes(key);
  const spare = [..."123456789abcdefghijklmnopqrtvwyz"];
  for (const label of labels) {
    const wanted = [...label.toLowerCase()].filter((letter) => letter >= "a" && letter <= "z");
    const key = [...wanted, ...spare].find(free);
    if (key) keys.set(label, key);
  }
  return keys;
}
