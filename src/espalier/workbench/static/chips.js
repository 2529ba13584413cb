// Small signs beside a record: how sure, how well proven, which rules it breaks and at what price.

import { h, percent } from "./dom.js";

const chip = (text, style = "", title = null) => h("span", { class: `chip ${style}`, title }, text);

/** A gap or a price with two decimals at most, and no trailing zeros. */
export const amount = (value) => String(Math.round(value * 100) / 100);

const PROOFS = {
  optimal: () => chip("proven best", "good", "No labelling scores more under these rules"),
  bounded: ({ gap }) =>
    chip(gap === null ? "bounded" : `within ${amount(gap)}`, "warn", "The best labelling scores at most so much more"),
  heuristic: () => chip("not proven", "warn", "Found by a search that proves nothing"),
  infeasible: () => chip("hard rules conflict", "bad", "No labelling keeps all hard rules; this one breaks least"),
};

/** What is proven about an answer, and about whose scores, where a model may have several. */
export function proof(certificate) {
  const sign = (PROOFS[certificate.status] ?? PROOFS.heuristic)(certificate);
  if (certificate.scores) sign.title += ` (${certificate.scores})`;
  return sign;
}

/** The rules that an answer breaks, each once, with the price of all its breaches. */
export function broken(violations) {
  const sums = new Map();
  for (const { rule, price } of violations) {
    const known = sums.get(rule) ?? { times: 0, price: 0, hard: false };
    sums.set(rule, { times: known.times + 1, price: known.price + (price ?? 0), hard: known.hard || price === null });
  }
  return [...sums].map(([rule, { times, price, hard }]) =>
    h("span", { class: `chip ${hard ? "bad" : "warn"}`, title: `This answer breaks the rule ${rule}` },
      `${rule}${times > 1 ? ` ×${times}` : ""}`, h("b", {}, hard ? "hard" : `−${amount(price)}`)));
}

/** How sure a record is. */
export const sure = (confidence, model = 0) => (model === null
  ? chip("no model yet", "", "Rules alone answer, until you have taught it a little")
  : chip(percent(confidence), "", "How likely the whole record is right"));

/** The text is unlike those that the model was tried on: its confidence is worth less. */
export const strange = ({ unfamiliar }) =>
  unfamiliar && chip(`unfamiliar: ${unfamiliar}`, "warn", "This text is unlike those that the model was tried on");

/** Where a reference stood in its document, and whether it was perhaps cut at the wrong place. */
export function place(source) {
  if (!source) return [];
  const { file, page, confidence, mark, filled } = source;
  const title = [mark && `number ${mark}`, filled && `${filled} stands for a dash`].filter(Boolean).join("; ");
  const where = h("span", { class: "place", title: title || null }, `${file}, page ${page}`);
  const cut = `cut ${percent(confidence)}`;
  return confidence < 0.5 ? [where, chip(cut, "warn", "It may begin or end at the wrong place")] : [where];
}

/** Somebody confirmed the fields of a record. */
export const corrected = ({ corrected_by: who }) =>
  chip(who ? `corrected by ${who}` : "corrected", "good", `${who || "Somebody"} confirmed these fields`);
export const changed = (count) => chip(count === 1 ? "1 token changed" : `${count} tokens changed`, "good");

/** What people have said about a record: a flag with its reason, how many comments, that it was put off. */
export const marks = ({ flag, comments, skipped }) => [
  flag && chip(`flag: ${flag}`, "warn"),
  comments > 0 && chip(comments === 1 ? "1 comment" : `${comments} comments`),
  skipped && chip("skipped", "", "It is not in the queue of Teach; More … puts it back"),
];
