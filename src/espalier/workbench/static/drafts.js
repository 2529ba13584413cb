// What was typed and not sent yet, kept in the browser, so that a reload loses nothing.

const name = (task, what) => `espalier-draft-${what}-${task}`;

/** What was kept, or null. */
export function draft(task, what) {
  try {
    return JSON.parse(localStorage.getItem(name(task, what)));
  } catch {
    return null;
  }
}

/** Keep a value; null forgets it. */
export function keepDraft(task, what, value) {
  try {
    if (value === null) localStorage.removeItem(name(task, what));
    else localStorage.setItem(name(task, what), JSON.stringify(value));
  } catch {
    // A browser that keeps nothing, or is full: a draft is a comfort, not a promise.
  }
}
