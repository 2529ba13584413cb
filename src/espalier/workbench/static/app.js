// The frame: which task and view the address names, the header, the theme, and the banner when the server is away.

import { at, connection, get, post, retry } from "./api.js";
import { h, put } from "./dom.js";
import { refuse } from "./messages.js";
import { mountMeasure } from "./measure.js";
import { keysOf, paletteOf } from "./palette.js";
import { mountParse } from "./parse.js";
import { editLabels } from "./relabel.js";
import { askPerson, personKnown, personName } from "./person.js";
import { mountRules } from "./rules.js";
import { deleteTask, newTask } from "./tasks.js";
import { mountTeach } from "./teach.js";

const VIEWS = {
  parse: { title: "Parse", mount: mountParse,
    lead: "Paste texts or drop a file, press Parse, and see the fields; what is wrong you put right under Teach." },
  rules: { title: "Rules", mount: mountRules,
    lead: "Write what must hold, and see at once which records it changes; nothing is stored until you save." },
  teach: { title: "Teach", mount: mountTeach,
    lead: "Put the fields of one record after another right and confirm them; then train a model on what you confirmed." },
  measure: { title: "Measure", mount: mountMeasure,
    lead: "Score a model on records whose fields are known, or compare two." },
};
const main = document.getElementById("main");
let shown = { view: null, failed: false, turn: 0 };

/** #/task/view/detail?query as its parts; what is missing or unknown gets a default. */
function route() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [task, view, detail] = path.split("/").map(decoded);
  return { task: task || null, view: view || "parse", detail: detail || null, query: new URLSearchParams(search) };
}

/** A part of an address; one that is spelled wrong stays as it is. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view of a task. */
export function address(task, view, detail = null, query = {}) {
  const search = new URLSearchParams(query).toString();
  return `#/${encodeURIComponent(task)}/${view}${detail === null ? "" : `/${detail}`}${search ? `?${search}` : ""}`;
}

/** What every view gets: the task, its colours and keys, and ways to move on. */
async function benchFor(name) {
  const task = await get(at`/tasks/${name}`);
  const bench = {
    task,
    path: at`/tasks/${name}`,
    looks: paletteOf(task.labels),
    keys: keysOf(task.labels),
    address: (view, detail, query) => address(name, view, detail, query),
    /** Read the task again: counts and the active model may have changed. */
    refresh: async () => { bench.task = await get(bench.path); },
    remount: () => render(),
  };
  return bench;
}

function header(tasks, here) {
  const choice = document.getElementById("task");
  put(choice, tasks.map((task) => h("option", { value: task.name, selected: task.name === here.task }, task.name)));
  choice.onchange = () => { location.hash = address(choice.value, here.view); };
  const nav = document.getElementById("views");
  // Links stay and are only set anew, so that the keyboard does not lose its place.
  if (!nav.childElementCount) put(nav, Object.values(VIEWS).map(({ title }) => h("a", {}, title)));
  Object.keys(VIEWS).forEach((name, place) => {
    nav.children[place].href = address(here.task, name);
    nav.children[place].ariaCurrent = name === here.view ? "page" : null;
  });
  document.title = `${VIEWS[here.view]?.title ?? "Nothing here"} · ${here.task} · Espalier`;
}

/** What stands where an address leads nowhere. */
function nowhere(here, task) {
  put(main, h("div", { class: "empty" }, h("h1", {}, "There is nothing at this address"),
    h("p", {}, VIEWS[here.view] ? `There is no task '${here.task}'.` : `There is no view '${here.view}'.`),
    h("a", { class: "button", href: address(task, "parse") }, `Parse, with the task ${task}`)));
}

/** Show what the address names. A view that comes too late, because another was asked for, is dropped. */
async function render() {
  const turn = shown.turn + 1;
  shown.view?.leave?.();
  shown = { view: null, failed: false, turn };
  try {
    const { tasks } = await get("/tasks");
    const here = route();
    here.task ??= tasks[0].name;
    const known = tasks.some(({ name }) => name === here.task);
    const task = known ? here.task : tasks[0].name;
    header(tasks, { ...here, task });
    if (!known || !Object.hasOwn(VIEWS, here.view)) return nowhere(here, task);
    const bench = await benchFor(here.task);
    if (shown.turn !== turn) return;
    const { title, lead, mount } = VIEWS[here.view];
    const place = h("div");
    put(main, h("h1", { class: "visually-hidden" }, `${title}: ${here.task}`), h("p", { class: "lead" }, lead), place);
    const view = await mount(place, bench, here);
    if (shown.turn === turn) shown.view = view;
    else view?.leave?.();
  } catch (error) {
    if (shown.turn !== turn) return;
    shown.failed = true;
    if (!("what" in error)) console.error(error);
    const mistake = { what: "the page made a mistake", where: String(error), hint: "reload it" };
    refuse(put(main), "what" in error ? error : mistake, render);
  }
}

function setUpTheme() {
  const root = document.documentElement;
  const wished = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const dark = () => (root.dataset.theme ?? wished()) === "dark";
  const node = document.getElementById("theme");
  const name = () => { node.textContent = dark() ? "☀" : "☾"; node.title = dark() ? "Light" : "Dark"; };
  node.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("espalier-theme", root.dataset.theme);
    } catch {
      // A browser that keeps nothing shows the chosen theme until the page is left.
    }
    name();
  });
  name();
}

function setUpConnection() {
  const banner = document.getElementById("banner");
  const [away, waits] = banner.querySelectorAll("span");
  const show = (busy) => {
    banner.hidden = false;
    [away.hidden, waits.hidden, document.getElementById("retry").hidden] = [busy, !busy, busy];
  };
  connection.addEventListener("away", () => show(false));
  connection.addEventListener("busy", ({ detail }) => {
    waits.textContent = `Please wait: ${detail}. The page asks again by itself.`;
    show(true);
  });
  connection.addEventListener("back", () => {
    banner.hidden = true;
    if (shown.failed) render();
  });
  document.getElementById("retry").addEventListener("click", retry);
}

function setUpTasks() {
  const menu = document.getElementById("task-menu");
  document.getElementById("new-task").addEventListener("click", () => {
    menu.open = false;
    newTask((name) => { location.hash = address(name, "parse"); });
  });
  document.getElementById("edit-labels").addEventListener("click", async () => {
    menu.open = false;
    await editLabels(document.getElementById("task").value, render);
  });
  document.getElementById("delete-task").addEventListener("click", async () => {
    menu.open = false;
    if (await deleteTask(document.getElementById("task").value)) {
      location.hash = "";
      render();
    }
  });
}

/** The name of who works here, and the way out where one had to log in; there the name is asked once. */
async function setUpPerson() {
  const menu = document.getElementById("person-menu");
  const show = () => { document.getElementById("person").textContent = personName() || "You"; };
  const ask = () => { menu.open = false; askPerson(show); };
  const leave = async (everywhere) => {
    await post("/logout", { everywhere });
    location.href = "/login";
  };
  document.getElementById("rename-me").addEventListener("click", ask);
  for (const [id, everywhere] of [["leave", false], ["leave-all", true]])
    document.getElementById(id).addEventListener("click", () => leave(everywhere));
  show();
  const { login } = await get("/status");
  for (const id of ["leave", "leave-all"]) document.getElementById(id).hidden = !login;
  if (login && !personKnown()) ask();
}

/** A menu closes when one clicks elsewhere or presses Escape. */
function setUpMenus() {
  const close = (but) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
  };
  document.addEventListener("click", (event) => close(event.target.closest("details.menu")));
  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest?.("details.menu[open]");
    if (event.key !== "Escape" || !menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/** Links that lead past the header: to the content, or to the first record. */
function setUpSkips() {
  const go = (id, find) => document.getElementById(id).addEventListener("click", (event) => {
    event.preventDefault(); // The address names the view.
    (find() ?? main).focus();
  });
  go("skip", () => main);
  go("skip-records", () => main.querySelector('.strip, .record[tabindex="0"]'));
}

setUpTheme();
setUpSkips();
setUpConnection();
setUpTasks();
setUpMenus();
setUpPerson().catch(() => {}); // A server that is away has its banner already.
addEventListener("hashchange", render);
render();
