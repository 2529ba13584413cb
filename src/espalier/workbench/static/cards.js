// A list of records on the page. Cards are built once, and afterwards only those that change are built anew: those in
// sight at once, the others while nothing else is to be done. So hundreds of records answer a slider at once. The
// browser lays out only what is in sight (content-visibility).

import { h } from "./dom.js";
import { broken, changed, corrected, marks, place, proof, strange, sure } from "./chips.js";
import { difference, fieldText, spoken } from "./fields.js";

// Cards that are built at once before the browser has told what is in sight, and milliseconds of work between frames.
const FIRST = 20;
const SLICE = 8;

/** The fields that count: what was confirmed, else what the model says. */
export const fieldsOf = (record) => record.corrected ?? record.fields;

export class Cards {
  /** `actions(record)` gives the buttons of a card; `looks` the colours of labels; `model()` is null without one. */
  constructor({ looks, actions = () => [], label = "Records", model = () => 0 }) {
    Object.assign(this, { looks, actions, model });
    this.cards = new Map();
    this.owners = new WeakMap();
    this.stale = new Set();
    this.near = new Set();
    this.timer = 0;
    this.watch = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "300px" });
    this.node = h("div", {
      class: "records", role: "list", "aria-label": label,
      on: { keydown: (event) => this.move(event), focusin: (event) => this.reach(event) },
    });
  }

  /** Who is behind the element of a field: {record, field, look}, or null. */
  owner(node) {
    return this.owners.get(node) ?? null;
  }

  get records() {
    return [...this.cards.values()].map(({ record }) => record);
  }

  /** The record below another one, if there is one. */
  after(record) {
    const all = this.records;
    return all[all.indexOf(record) + 1] ?? null;
  }

  /** Show these records and no others. */
  show(records) {
    this.watch.disconnect();
    for (const kept of [this.cards, this.stale, this.near]) kept.clear();
    this.node.replaceChildren();
    this.append(records);
  }

  append(records) {
    const batch = document.createDocumentFragment();
    for (const record of records) {
      const node = h("article", { class: "record", role: "listitem", tabindex: -1, data: { id: record.id } });
      const card = { record, change: null, seen: "", node };
      this.cards.set(record.id, card);
      this.build(card);
      this.watch.observe(node);
      batch.append(node);
    }
    this.node.append(batch);
    const [first] = this.node.children;
    if (first && !this.node.querySelector('.record[tabindex="0"]')) this.setReach(first, true);
  }

  /** Show what other rules would change; records that are not among the changes are as they were. */
  compare(changes) {
    const given = new Map(changes.map((change) => [change.id, change]));
    for (const [id, card] of this.cards) {
      const change = given.get(id) ?? null;
      // Most records stay as they are from one step of a slider to the next; those are not touched.
      const seen = change === null ? "" : JSON.stringify([change.after, change.violations, change.certificate]);
      if (card.seen === seen) continue;
      Object.assign(card, { seen, change });
      card.node.classList.toggle("changed", Boolean(change?.changed));
      this.stale.add(card);
    }
    const told = this.near.size > 0;
    let place = 0;
    for (const card of this.stale) {
      if (told ? this.near.has(card.node) : place < FIRST) this.build(card);
      place += 1;
    }
    this.later();
  }

  /** Build the cards that are out of sight a few at a time. */
  later() {
    clearTimeout(this.timer);
    if (!this.stale.size) return;
    this.timer = setTimeout(() => {
      const end = performance.now() + SLICE;
      for (const card of this.stale) {
        if (performance.now() > end) break;
        this.build(card);
      }
      this.later();
    });
  }

  /** Cards that come into sight are built before their turn. */
  look(entries) {
    const byNode = new Map([...this.stale].map((card) => [card.node, card]));
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) this.near.delete(target);
      else {
        this.near.add(target);
        if (byNode.has(target)) this.build(byNode.get(target));
      }
    }
  }

  build(card) {
    this.stale.delete(card);
    const { record, change, node } = card;
    const { violations, certificate } = change ?? record;
    const head = h("header", {},
      h("span", { class: "number" }, String(record.id)),
      change ? change.changed && changed(change.tokens_changed) : sure(record.confidence, this.model()),
      this.model() !== null && proof(certificate), strange(record), broken(violations),
      record.corrected && corrected(record), marks(record), place(record.source),
      h("span", { class: "actions" }, this.actions(record)));
    const own = (element, field) => {
      this.owners.set(element, { record, field, look: this.looks.get(field.label) });
    };
    const body = change?.changed
      ? difference(record.text, change.before, change.after, this.looks)
      : fieldText(record.text, fieldsOf(record), this.looks, own);
    node.replaceChildren(head, body);
    this.setReach(node, node.tabIndex === 0);
  }

  /** Only one card takes part in the tab order, with its buttons; arrows go on from there. */
  setReach(node, reachable) {
    node.tabIndex = reachable ? 0 : -1;
    for (const control of node.querySelectorAll("button, a")) control.tabIndex = reachable ? 0 : -1;
  }

  reach(event) {
    const node = event.target.closest(".record");
    const last = this.node.querySelector('.record[tabindex="0"]');
    if (!node || node === last) return;
    if (last) this.setReach(last, false);
    this.setReach(node, true);
  }

  /** Up and down go from record to record, left and right from field to field. */
  move(event) {
    const node = event.target.closest(".record");
    if (!node || event.altKey || event.ctrlKey || event.metaKey) return;
    const fields = [...node.querySelectorAll(".field")];
    const place = fields.indexOf(event.target);
    const next = {
      ArrowDown: () => node.nextElementSibling,
      ArrowUp: () => node.previousElementSibling,
      ArrowRight: () => fields[place + 1],
      ArrowLeft: () => (place > 0 ? fields[place - 1] : node),
      Home: () => this.node.firstElementChild,
      End: () => this.node.lastElementChild,
    }[event.key]?.();
    if (!next) return;
    event.preventDefault();
    const owner = this.owner(next);
    if (owner) {
      next.tabIndex = -1;
      next.setAttribute("aria-label", spoken(owner.field, next.textContent));
    }
    next.focus();
  }
}
