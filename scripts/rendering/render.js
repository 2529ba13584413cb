// Renders works in citation styles, and marks in the text which node of the style wrote what.
//
//     node render.js CSL_DIRECTORY < jobs.jsonl > renderings.jsonl
//
// A job is {"style", "locale", "force", "items": [CSL-JSON, ...]}; force: the locale overrides the style's own. A rendering is
// {"style", "locale", "nodes": {id: {name, variable, term, value}}, "texts": [[item id, marked text], ...]}, or has "error".
//
// citeproc-js passes the output of every node through "@showid/true" of the output format, after case, marks and quotes are
// settled. Here that puts private-use characters around it: OPEN, two that stand for the node, the text, CLOSE. People are
// marked in the data: `names` with `substitute` says whom it stands for, not whom it prints.
const fs = require("fs");
const path = require("path");
const readline = require("readline");
const CSL = require(process.env.CITEPROC || "citeproc");

const OPEN = "\uE000", CLOSE = "\uE001", ZERO = 0xE010, BASE = 1000; // a node is two digits of this base behind OPEN
const ROLES = { author: "\uE004", editor: "\uE005", translator: "\uE006", director: "\uE004" };
const directory = process.argv[2];

CSL.debug = () => {};
CSL.Output.Formats.text["@showid/true"] = (state, text, id) => {
  if (id === undefined || id === null || isNaN(id) || state.tmp.just_looking || state.tmp.suppress_decorations) return text;
  return OPEN + String.fromCharCode(ZERO + Math.floor(id / BASE), ZERO + (id % BASE)) + text + CLOSE;
};

// A part that stands in the margin or in a line of its own has white space around it.
for (const place of ["block", "left-margin", "right-inline", "indent"])
  CSL.Output.Formats.text[`@display/${place}`] = (state, text) => ` ${text} `;

const locales = {};
function localeOf(name) {
  if (!(name in locales)) {
    const file = path.join(directory, `locales-${name}.xml`);
    locales[name] = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : null;
  }
  return locales[name];
}

function markPeople(item) {
  for (const role in ROLES)
    for (const name of item[role] || []) {
      const part = name.family ? "family" : "literal";
      if (name[part]) name[part] += ROLES[role];
    }
  return item;
}

function nodesOf(xml) {
  const found = {};
  (function walk(node) {
    const { cslid, variable, term, value } = node.attrs || {};
    if (cslid !== undefined) found[cslid] = { name: node.name, variable: variable || "", term: term || "", value: value || "" };
    for (const child of node.children || []) if (typeof child === "object") walk(child);
  })(xml);
  return found;
}

function textsOf(engine, [{ entry_ids: ids }, entries], all) {
  if (ids.length === entries.length) return ids.map(([id], k) => [id, entries[k].trim()]);
  // A style may leave works out, law cases mostly, and does not say which: ask for one at a time.
  const found = all.map((id) => [id, engine.makeBibliography({ include: [{ field: "id", value: id }] })]);
  return found.filter(([, one]) => one && one[1].length === 1).map(([id, one]) => [id, one[1][0].trim()]);
}

function render(job) {
  // No dash for the author of the reference before, and nothing that tells references apart: it costs time, and says nothing here.
  const xml = fs.readFileSync(path.join(directory, `${job.style}.csl`), "utf8").replace(/(subsequent-author-substitute|disambiguate-[a-z-]+|givenname-disambiguation-rule|collapse)="[^"]*"/g, "");
  const items = Object.fromEntries(job.items.map((item) => [item.id, markPeople(item)]));
  const system = { retrieveLocale: localeOf, retrieveItem: (id) => items[id], csl_reverse_lookup_support: true };
  const engine = new CSL.Engine(system, xml, job.locale, job.force);
  engine.opt.development_extensions.wrap_url_and_doi = false;
  engine.setOutputFormat("text");
  const nodes = nodesOf(engine.cslXml.dataObj);
  engine.updateItems(job.items.map((item) => item.id));
  const bibliography = engine.makeBibliography();
  if (!bibliography) return { style: job.style, error: "no bibliography" };
  const texts = textsOf(engine, bibliography, Object.keys(items));
  const used = {};
  for (const [, text] of texts)
    for (const match of text.matchAll(/\uE000(.)(.)/g)) {
      const id = (match[1].charCodeAt(0) - ZERO) * BASE + match[2].charCodeAt(0) - ZERO;
      if (id in nodes) used[id] = nodes[id];
    }
  return { style: job.style, locale: engine.opt.lang, nodes: used, texts };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const job = JSON.parse(line);
  let answer;
  try {
    answer = render(job);
  } catch (error) {
    answer = { style: job.style, error: String(error).slice(0, 200) };
  }
  process.stdout.write(JSON.stringify({ ...answer, job: job.number }) + "\n");
});
