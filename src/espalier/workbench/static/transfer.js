// Files in and out: dropping and choosing files, downloads in every format, copying.

import { download, fetchFile, query, upload } from "./api.js";
import { button, h, plural } from "./dom.js";
import { openDialog, refuse, say } from "./messages.js";

/** A button that asks for a file and hands it on, with itself: act(file, button). */
export function fileButton(text, act) {
  const open = button(text, () => input.click());
  const input = h("input", { type: "file", hidden: true, on: { change: () => {
    if (input.files.length) act(input.files[0], open);
    input.value = "";
  } } });
  return h("span", {}, input, open);
}

/** Let files be dropped on a node. */
export function dropZone(node, act) {
  node.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    node.classList.add("drop");
  });
  node.addEventListener("dragleave", () => node.classList.remove("drop"));
  node.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    node.classList.remove("drop");
    act(event.dataTransfer.files[0]);
  });
  return node;
}

/** Send a file of records, labelled or not, to the task. */
export const uploadRecords = (bench, file) =>
  upload(`${bench.path}/records/upload${query({ name: file.name })}`, file);

/** What became of texts that were added, in a sentence. */
export function told({ added, known, corrected, problems }) {
  const parts = [`${plural(added.length, "record")} added`];
  if (known) parts.push(`${known} already there`);
  if (corrected) parts.push(`${corrected} with labels`);
  if (problems.length) parts.push(plural(problems.length, "problem"));
  return `${parts.join(", ")}.`;
}

/** Problems of an import, each with its place; nothing where there are none. */
export function problemList(problems) {
  if (!problems.length) return [];
  return h("details", { class: "small", open: problems.length < 4 },
    h("summary", {}, plural(problems.length, "problem")),
    h("ul", {}, problems.map(({ where, what }) => h("li", {}, where ? `${where}: ${what}` : what))));
}

const exportPath = (bench, wanted) => `${bench.path}/export${query(wanted)}`;

/** A menu of all formats. What a format cannot say is refused first, and written on request. */
export function downloadMenu(bench, which, place, text = "Download") {
  async function fetchIt(format, lossy = null) {
    place.replaceChildren();
    try {
      say(`${await download(exportPath(bench, { format: format.name, which, lossy }))} is written.`);
    } catch (error) {
      const again = error.status === 400 && !lossy ? () => fetchIt(format, "true") : null;
      refuse(place, error, again, "Write what can be written");
    }
  }
  const entry = (format) => button(`${format.name} (${format.extension})`, () => {
    menu.open = false;
    fetchIt(format);
  }, { title: format.summary });
  const menu = h("details", { class: "menu" },
    h("summary", { class: "button" }, text), h("div", {}, bench.task.formats.map(entry)));
  return menu;
}

/** Copy an export to the clipboard; where the browser does not allow it, show the text to be copied by hand. */
export async function copyExport(bench, format, records = null) {
  const wanted = { format, which: "all", records: records?.join(","), lossy: "true" };
  const { blob } = await fetchFile(exportPath(bench, wanted));
  const text = await blob.text();
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    const area = h("textarea", { rows: 12, readonly: true, "aria-label": "Text to copy" }, text);
    openDialog("Copy this", h("form", { method: "dialog" },
      h("p", {}, "The browser does not let the page copy. Here is the text:"), area,
      h("div", {}, h("button", {}, "Close"))));
    area.select();
  }
}
