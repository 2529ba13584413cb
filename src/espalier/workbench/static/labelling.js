// A labelling that is being corrected: fields over tokens, a selection, and undo. Pure values, no page.

/** Fields in characters as fields in tokens: {label, from, to}, `to` is behind the last. */
function toTokens(fields, tokens) {
  const starts = tokens.filter((_, place) => place % 2 === 0);
  const first = (at) => {
    let token = starts.findIndex((start) => start >= at);
    if (token < 0) token = starts.length;
    // A field that begins inside a token has that token.
    return token > 0 && tokens[2 * token - 1] > at ? token - 1 : token;
  };
  const behind = (at) => {
    const token = starts.findIndex((start) => start >= at);
    return token < 0 ? starts.length : token;
  };
  return fields
    .map(({ label, start, end }) => ({ label, from: first(start), to: behind(end) }))
    .filter(({ from, to }) => from < to);
}

export class Labelling {
  constructor(record) {
    this.tokens = record.tokens;
    this.size = record.tokens.length / 2;
    this.fields = toTokens(record.corrected ?? record.fields, record.tokens);
    this.past = [];
    this.anchor = 0;
    this.caret = 0;
  }

  /** The selected tokens, from and behind. */
  get selection() {
    return [Math.min(this.anchor, this.caret), Math.max(this.anchor, this.caret) + 1];
  }

  /** Move the caret; extending keeps the other end of the selection. */
  move(to, extend = false) {
    this.caret = Math.max(0, Math.min(this.size - 1, to));
    if (!extend) this.anchor = this.caret;
  }

  /** The field that a token is in, or null. */
  at(token) {
    return this.fields.find(({ from, to }) => from <= token && token < to) ?? null;
  }

  /** Select a whole field, or the token alone where there is none. */
  selectField(token) {
    const field = this.at(token);
    [this.anchor, this.caret] = field ? [field.from, field.to - 1] : [token, token];
  }

  /** Go to the next (1) or previous (-1) field, and select it. */
  jump(direction) {
    const [from, to] = this.selection;
    const next = direction > 0
      ? this.fields.find((field) => field.from >= to)
      : this.fields.findLast((field) => field.to <= from);
    if (next) [this.anchor, this.caret] = [next.from, next.to - 1];
  }

  /** Give the selection a label; null takes it out of every field. Joins neighbours of that label unless `apart`. */
  assign(label, apart = false) {
    let [from, to] = this.selection;
    let fields = this.fields.flatMap((field) => [
      { ...field, to: Math.min(field.to, from) },
      { ...field, from: Math.max(field.from, to) },
    ]).filter((field) => field.from < field.to);
    if (label !== null) {
      const joins = (field) => !apart && field.label === label && (field.to === from || field.from === to);
      const joined = fields.filter(joins);
      fields = fields.filter((field) => !joined.includes(field));
      from = Math.min(from, ...joined.map((field) => field.from));
      to = Math.max(to, ...joined.map((field) => field.to));
      fields.push({ label, from, to });
    }
    fields.sort((one, other) => one.from - other.from);
    if (JSON.stringify(fields) === JSON.stringify(this.fields)) return false;
    this.past.push(this.fields);
    this.fields = fields;
    return true;
  }

  /** Go on with changes that were made before: the fields as `spans()` gave them. */
  restore(spans) {
    this.past.push(this.fields);
    this.fields = toTokens(spans, this.tokens);
  }

  /** Take the last change back; false if there is none. */
  undo() {
    const before = this.past.pop();
    if (before) this.fields = before;
    return Boolean(before);
  }

  /** The fields in characters, as the server wants them. */
  spans() {
    return this.fields.map(({ label, from, to }) =>
      ({ label, start: this.tokens[2 * from], end: this.tokens[2 * to - 1] }));
  }
}
