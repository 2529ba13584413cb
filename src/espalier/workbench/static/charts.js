// Two small charts as SVG: lines over a count, and how well confidences keep their word.

import { points, s } from "./dom.js";

const WIDTH = 340;
const HEIGHT = 190;
const LEFT = 34;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 30;
const FLOOR = HEIGHT - BOTTOM;

const across = (share) => LEFT + share * (WIDTH - LEFT - RIGHT);
const up = (share, low = 0) => TOP + (1 - (share - low) / (1 - low)) * (FLOOR - TOP);

const frame = (title, ...children) =>
  s("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title }, children);
const text = (style, x, y, words) => s("text", { class: style, x, y }, words);
const dot = (style, x, y, title) => s("circle", { class: `dot ${style}`, cx: x, cy: y, r: 3.2 }, s("title", {}, title));
const line = (style, places) => s("polyline", { class: `line ${style}`, points: places.map(String).join(" ") });
const below = (words) => text("middle", across(0.5), HEIGHT - 2, words);

/** Lines across for shares from `low` to 1, in per cent. */
function shares(low) {
  const steps = [0, 1, 2, 3, 4, 5].map((step) => low + (step * (1 - low)) / 5);
  return steps.map((share) => [
    s("line", { class: "grid", x1: across(0), x2: across(1), y1: up(share, low), y2: up(share, low) }),
    text("end", LEFT - 5, up(share, low) + 4, String(Math.round(share * 100))),
  ]);
}

/** The interval of a point, as a bar with ends. */
const whisker = (style, x, low, high, floor) => s("path", {
  class: `whisker ${style}`,
  d: `M${x - 3},${up(high, floor)}h6M${x},${up(high, floor)}V${up(low, floor)}M${x - 3},${up(low, floor)}h6`,
});

/** A learning curve: points {records, token_accuracy, field_f1}, in per cent, with intervals where they are known. */
export function learningCurve(curve) {
  const values = curve.flatMap((point) =>
    [point.token_accuracy, point.field_f1, point.token_low ?? 1, point.field_low ?? 1]);
  const low = Math.max(0, Math.floor((Math.min(...values) - 0.05) * 10) / 10);
  const most = Math.max(1, ...curve.map(({ records }) => records));
  const draw = (name, style, part) => {
    const places = curve.map((point) => [across(point.records / most), up(point[name], low)]);
    const spread = curve.map((point, k) => {
      const [from, to] = [point[`${part}_low`], point[`${part}_high`]];
      return typeof from === "number" && whisker(style, places[k][0], from, to, low);
    });
    const told = ({ records, [name]: share }) => `${records} records: ${points(share)} %`;
    return [spread, line(style, places), curve.map((point, k) => dot(style, ...places[k], told(point)))];
  };
  const last = curve.at(-1);
  const said = `Learning curve: ${points(last.token_accuracy)} % of tokens and ${points(last.field_f1)} % field F1`;
  return frame(`${said} after ${last.records} records`,
    shares(low), draw("token_accuracy", "tokens", "token"), draw("field_f1", "fields", "field"),
    curve.map(({ records }) => text("middle", across(records / most), FLOOR + 15, String(records))),
    below("corrected records learned from"));
}

/** A reliability diagram: in each bin the share that came true over the confidence that was claimed. */
export function reliability({ bins, error, n }) {
  const filled = bins.filter(({ count }) => count > 0);
  const most = Math.max(1, ...filled.map(({ count }) => count));
  const bar = ({ low, high, count }) => {
    const height = (count / most) * (FLOOR - TOP) * 0.5;
    const width = across(high) - across(low) - 2;
    const size = { x: across(low) + 1, y: FLOOR - height, width, height };
    return s("rect", { class: "bar", ...size }, s("title", {}, `${count} fields`));
  };
  const places = filled.map(({ confidence, accuracy }) => [across(confidence), up(accuracy)]);
  const told = ({ confidence, accuracy, count }) =>
    `claimed ${points(confidence)} %, right ${points(accuracy)} %, ${count} fields`;
  return frame(`Reliability: mean gap ${points(error)} points over ${n} fields`,
    shares(0), filled.map(bar),
    s("line", { class: "ideal", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }),
    line("", places), filled.map((bin, k) => dot("", ...places[k], told(bin))),
    [0, 0.25, 0.5, 0.75, 1].map((share) => text("middle", across(share), FLOOR + 15, String(share * 100))),
    below("confidence claimed, %; right, % (bars: how many)"));
}
