// Train: start a job, watch it, stop it.

import { get, post, put as send, query } from "./api.js";
import { button, h, labelled, panel, percent, plural, points, put, remark, row, stack } from "./dom.js";
import { learningCurve } from "./charts.js";
import { busy, refuse, say } from "./messages.js";

const BEAT = 400;
const FEWEST = 20;
const ACTIVE = new Set(["queued", "running"]);
const STATES = { queued: "waiting for another job", failed: "failed", cancelled: "cancelled" };

/** The learning curve of a job, with its key. */
function curveFigure({ curve, held_out: aside }) {
  const last = curve.at(-1);
  return h("figure", { class: "figure" }, learningCurve(curve), h("figcaption", { class: "small soft" },
    h("span", { class: "key tokens" }, "tokens right"), h("span", { class: "key fields" }, "field F1"),
    ` on ${plural(aside, "record")} kept aside; now ${percent(last.token_accuracy)} and ${percent(last.field_f1)}; `,
    "bars are 95 % intervals"));
}

const METRICS = { field_f1: "field F1", exact: "whole records right" };
const WHY = {
  "nothing to compare": () => ["The new model is in use."],
  "you said so": () => ["The new model is in use, as you said."],
  "too few records": () => ["There are too few records to tell whether it is better; the old model stays in use."],
};

/** Was the new model put in use, and why; `use` puts it in use all the same. */
function judgement({ verdict, model }, use) {
  if (!verdict) return null;
  const { used, why, metric, before, after, p, held_out: judges } = verdict;
  const chance = p === null ? "" : `, p = ${p < 0.001 ? "< 0.001" : p.toFixed(3)}`;
  const figures = `${METRICS[metric]} ${points(before)} before, ${points(after)} now, on ${plural(judges, "record")} `
    + `that neither has learned from${chance}`;
  const words = WHY[why]?.() ?? [`The new model is ${why}: ${figures}.`,
    used ? "It is in use." : "The old one stays in use."];
  return h("div", { class: `verdict ${used ? "" : "message"}`, role: "status" }, h("span", {}, words.join(" ")),
    !used && h("div", {}, button("Use the new one all the same", () => use(model))));
}

/** What a job says about itself; `cancel` is the button that ends it. */
function report(job, cancel, use) {
  const active = ACTIVE.has(job.state);
  const value = job.state === "queued" ? undefined : job.progress;
  return [
    active && h("progress", { max: 1, value, "aria-label": "Progress of the training" }),
    job.state !== "done" && row(
      h("span", { class: "small soft" }, STATES[job.state] ?? job.message),
      active && h("span", { class: "spread" }, cancel)),
    judgement(job, use),
    job.held_out >= FEWEST && job.curve.length > 1 && curveFigure(job),
    job.state === "done" && !job.curve.length
      && remark(`A learning curve is drawn when ${FEWEST} records can be kept aside: from ${5 * FEWEST} on.`),
  ];
}

/** A choice among the methods of the task, those with unlabelled text apart from the others. */
function methodChoice(methods, change) {
  const group = (label, pool) => {
    const names = methods.filter((method) => method.pool === pool).map(({ name }) => name);
    return names.length > 0 && h("optgroup", { label }, names.map((name) => h("option", { value: name }, name)));
  };
  const node = h("select", { on: { change } }, group("supervised", false), group("semi-supervised", true));
  return node;
}

/** The panel. `trained` is called when a job has made a new model. */
export function trainPanel(bench, trained) {
  const { methods } = bench.task;
  let timer = 0;
  let gone = false;
  const told = remark();
  const about = remark();
  const progress = stack();
  const place = h("div", { "aria-live": "polite" });
  const choice = methodChoice(methods, explain);
  const start = button("Train", async () => {
    await busy(start, place, async () => {
      await bench.refresh();
      const name = `after ${plural(bench.task.corrected, "record")}`;
      await watch(await post(`${bench.path}/jobs`, { method: choice.value, name, activate: true }));
    });
    count();
  }, { class: "primary" });

  function explain() {
    about.textContent = methods.find(({ name }) => name === choice.value).summary;
  }
  function count() {
    const { corrected, records } = bench.task;
    told.textContent = corrected
      ? `Learns from ${plural(corrected, "corrected record")} of ${records}.`
      : "Confirm a record first; there is nothing to learn from yet.";
    if (!start.hasAttribute("aria-busy")) start.disabled = !corrected;
  }
  async function use(id) {
    await busy(start, place, async () => {
      await send(`${bench.path}/model`, { id });
      await trained();
      put(progress, remark("The new model is in use."));
    });
  }
  async function watch(job) {
    clearTimeout(timer);
    if (gone) return;
    const stop = async () => watch(await post(`/jobs/${job.id}/cancel`, {}));
    const cancel = button("Cancel", () => busy(cancel, place, stop));
    put(progress, report(job, cancel, use));
    if (job.error) refuse(place, job.error);
    if (ACTIVE.has(job.state)) timer = setTimeout(() => follow(job.id), BEAT);
    else if (job.state === "cancelled") say("The training is cancelled.");
    else if (job.state === "done") {
      await trained();
      say(job.verdict?.used ?? true ? "The new model is in use." : "The new model is there, and not in use.");
    }
  }
  async function follow(id) {
    try {
      await watch(await get(`/jobs/${id}`));
    } catch (error) {
      // A server that is away may come back; the job is then over or goes on.
      if (error.status === 0 && !gone) timer = setTimeout(() => follow(id), 5 * BEAT);
      else refuse(place, error);
    }
  }
  /** A job that runs since before a reload is followed; of one that is done the curve is shown. */
  async function load() {
    count();
    explain();
    const { jobs: [job] } = await get(`/jobs${query({ task: bench.task.name, limit: 1 })}`);
    if (!job) return;
    if (ACTIVE.has(job.state)) await watch(job);
    else put(progress, report(job, null, use));
  }
  function leave() {
    gone = true;
    clearTimeout(timer);
  }

  const how = row(labelled("How", choice), start);
  const node = panel("Training", h("h2", {}, "Train"), told, how, about, place, progress);
  return { node, load, count, leave };
}
