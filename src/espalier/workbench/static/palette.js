// One colour a label, from a fixed palette. All colours of a theme have the same lightness (OKLCH), so each label is as
// readable as any other; hues follow the golden angle, so that labels near each other in the list look different. From
// the thirteenth label on the line under a field is dashed. Colour is never alone: a caption names the label.

const HUES = 12;
const GOLDEN = 137.508;

/** The look of every label of a task: {hue, dashed}. */
export function paletteOf(labels) {
  const looks = new Map();
  labels.forEach((label, place) => {
    looks.set(label, { hue: Math.round((145 + place * GOLDEN) % 360), dashed: place >= HUES });
  });
  return looks;
}

/** Give an element the colour of a label; CSS makes ink, line and tint of the hue. */
export function tint(node, look) {
  node.style.setProperty("--hue", look ? look.hue : 0);
  node.classList.toggle("grey", !look);
  node.classList.toggle("dashed", Boolean(look?.dashed));
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
