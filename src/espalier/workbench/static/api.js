// The one door to the server. Errors are values with what, where and hint; a server that does not answer is told to
// whoever listens, and asked again until it does. One that says "come again" (503: it is starting, or too many wait) has
// done nothing yet, so the same request is sent again. A session that has ended leads to the login form.

import { personName } from "./person.js";

const ROOT = "/api/v1";

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(error, status) {
    super(error.what);
    const { what, where = "", hint = "", current = null } = error;
    Object.assign(this, { what, where, hint, current, status });
  }
}

/** The server did not answer at all. */
class Away extends Error {
  constructor() {
    super("the server does not answer");
    Object.assign(this, { what: this.message, where: "", hint: "start it again with: espalier serve", status: 0 });
  }
}

/** Tells "away" when the server stops to answer, "busy" when it says to come again, and "back" when it answers. */
export const connection = new EventTarget();
let state = "back";
let timer = 0;
let waiting = 0; // requests that were told to come again

function tell(now, what = "") {
  if (state === now) return;
  state = now;
  connection.dispatchEvent(new CustomEvent(state, { detail: what }));
  clearInterval(timer);
  if (state === "away") timer = setInterval(retry, 2000);
}

// How long a request is sent again: a fresh installation compiles for a minute or two.
const PATIENCE = 300_000;

/** Ask whether the server is there again. */
export async function retry() {
  try {
    await send("GET", "/status");
  } catch {
    // Still away; the banner stays.
  }
}

/** Await an answer or its body: a server that dies in the middle of either is away. */
async function reached(work) {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // fetch fails with this one where the network does
    tell("away");
    throw new Away();
  }
}

async function send(method, path, body, headers = {}) {
  const options = { method, headers: { ...headers }, credentials: "same-origin" };
  if (method !== "GET") {
    options.headers["X-Espalier"] = "1";
    options.headers["X-Espalier-Name"] = encodeURIComponent(personName());
  }
  if (body !== undefined) options.body = body;
  const response = await patient(() => reached(fetch(ROOT + path, options)));
  if (response.ok) return response;
  if (response.status === 401) location.href = "/login";
  throw await refused(response);
}

/** Ask until the answer is not "come again". */
async function patient(asks) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const response = await asks();
    const later = response.status === 503 ? Number(response.headers.get("Retry-After")) : 0;
    if (!later && (state === "away" || !waiting)) tell("back");
    if (!later || performance.now() > end) return response;
    tell("busy", (await refused(response)).what);
    waiting += 1;
    await new Promise((resolve) => { setTimeout(resolve, 1000 * later); });
    waiting -= 1;
  }
}

/** What the server said; an answer of a proxy in between has a number alone. */
async function refused(response) {
  let error = null;
  try {
    const said = await response.json();
    error = { ...said.error, current: said.current };
  } catch {
    // Not from our server.
  }
  return new Refusal(error?.what ? error : { what: `the server answered ${response.status}` }, response.status);
}

const json = async (answer) => {
  const response = await answer;
  return response.status === 204 ? null : reached(response.json());
};
const withBody = (method) => (path, value) =>
  json(send(method, path, JSON.stringify(value), { "Content-Type": "application/json" }));

export const get = (path) => json(send("GET", path));
export const post = withBody("POST");
export const put = withBody("PUT");
export const patch = withBody("PATCH");
export const remove = (path) => json(send("DELETE", path));
export const upload = (path, file) => json(send("POST", path, file, { "Content-Type": "application/octet-stream" }));

/** A path with its parts made safe, and a query: at`/tasks/${name}/records`. */
export const at = (parts, ...values) => String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));
export const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

/** The text of a download, and the name that the server gave it. */
export async function fetchFile(path) {
  const response = await send("GET", path);
  const found = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "");
  return { name: found ? found[1] : "download", blob: await reached(response.blob()) };
}

/** Hand a download to the browser. */
export async function download(path) {
  const { name, blob } = await fetchFile(path);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return name;
}
