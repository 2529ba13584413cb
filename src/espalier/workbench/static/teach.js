// Teach: correct the records that the model is least sure of, and train on what was confirmed.

import { h, put, stack } from "./dom.js";
import { Desk } from "./desk.js";
import { trainPanel } from "./training.js";
import { dataPanel, modelPanel } from "./versions.js";

export async function mountTeach(root, bench, { detail }) {
  const place = h("div", { "aria-live": "polite" });
  const desk = new Desk(bench, place);
  const models = modelPanel(bench, async () => {
    await bench.refresh();
    await desk.again();
  });
  const train = trainPanel(bench, async () => {
    await bench.refresh();
    await Promise.all([models.load(), desk.again()]);
  });
  const data = dataPanel(bench, bench.remount);
  desk.onchange = () => train.count();
  put(root, h("div", { class: "columns side-right" },
    stack(desk.card, place, data), stack(train.node, models.node)));
  try {
    await Promise.all([desk.open(detail), models.load(), train.load()]);
  } catch (error) {
    train.leave();
    throw error;
  }
  return { leave: train.leave };
}
