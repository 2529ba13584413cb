// Who changed what, and when; the latest change can be taken back, whoever made it.

import { get, post, query } from "./api.js";
import { button, h, put } from "./dom.js";
import { busy, say } from "./messages.js";

const SHOWN = 30;
const when = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
const WORDS = { rules: "saved the rules" };

/** What a change was, in words. */
const told = ({ what, after }) => (Array.isArray(after) ? `${what}, ${after.length} fields` : WORDS[what] ?? what);

/**
 * A list of changes that is read when it is opened: those of a record, or with null those of the rules. `undone` is
 * called when one was taken back.
 */
export function historyList(bench, record, undone) {
  const list = h("ol", { class: "history", "aria-label": "Changes, the newest first" });
  const place = h("div", { "aria-live": "polite" });
  const node = h("details", { class: "small", on: { toggle: () => { if (node.open) load(); } } },
    h("summary", {}, "History"), place, list);

  function entry(change, latest) {
    const undo = button("Take back", () => busy(undo, place, async () => {
      await post(`${bench.path}/history/${change.id}/undo`, {});
      say("It is taken back.");
      await undone();
    }), { class: "quiet small" });
    return h("li", {}, h("b", {}, change.who || "somebody"), ` ${told(change)}, `,
      h("time", { datetime: change.at, class: "soft" }, when(change.at)), latest && undo);
  }
  const load = () => busy(list, place, async () => {
    const { changes } = await get(`${bench.path}/history${query({ record, limit: record === null ? 500 : SHOWN })}`);
    const own = record === null ? changes.filter(({ what }) => what === "rules").slice(0, SHOWN) : changes;
    put(list, own.length ? own.map((change, place_) => entry(change, place_ === 0)) : h("li", {}, "No change yet."));
  });
  return { node, refresh: () => node.open && load() };
}
