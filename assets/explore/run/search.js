/* Which rows of the event table a text finds, and why: by label, body, channel, snapshot, process or kind. */

const LEAST_OF_A_KIND = 3; // letters: shorter words are names, not the beginning of "marker" or "records"
const IN_A_WORD = /[\p{L}\p{N}]/u;

/** The ranks of what is found, best first. */
const [WHOLE, BEGINS, WITHIN] = [0, 1, 2];

/** A run that is searched, whatever the texts. */
export class Search {
  constructor(events) {
    this.events = events;
  }

  /** The label of every event, in small letters; made when first needed. */
  get labels() {
    this.lowered ??= Array.from({ length: this.events.count }, (_, at) => this.events.label(at).toLowerCase());
    return this.lowered;
  }

  /**
   * The rows that hold every word of `text` somewhere.
   * @param lane and kind: a process and a kind of row that are wanted; null: any
   */
  query(text, lane = null, kind = null) {
    return new Query(this, text.trim().toLowerCase(), lane, kind);
  }
}

class Query {
  constructor({ events, labels }, text, lane, kind) {
    Object.assign(this, { events, labels, text, lane, kind });
    this.rows = events.rows;
    this.terms = text.split(/\s+/).filter(Boolean).map((term) => new Term(term, this.rows));
  }

  /** Whether anything is asked for at all. */
  get isEmpty() {
    return !this.terms.length && this.lane == null && this.kind == null;
  }

  finds(row) {
    const { rows, lane, kind } = this;
    if (lane != null && rows.lane[row] !== lane) return false;
    if (kind != null && rows.kind[row] !== kind) return false;
    return this.terms.every((term) => term.isIn(this.labelOf(row)) || term.fieldOf(row) != null);
  }

  /** The number of rows found, and the best `most` of them: those called so, those whose label begins so, the others. */
  best(most) {
    const ranks = [[], [], []];
    let count = 0;
    for (let row = 0; row < this.rows.count; row += 1) {
      if (!this.finds(row)) continue;
      count += 1;
      const rank = ranks[this.rankOf(row)];
      if (rank.length < most) rank.push(row);
    }
    return { count, found: ranks.flat().slice(0, most) };
  }

  /** Why a row is found, where its label does not say so: [["kind", "marker sent"], ["channel", "C21"]]. */
  reasons(row) {
    const label = this.labelOf(row);
    const fields = this.terms.filter((term) => !term.isIn(label)).map((term) => term.fieldOf(row));
    return [...new Set(fields)].map((field) => [field, FIELDS[field].name(this.rows, row)]);
  }

  rankOf(row) {
    const label = this.labelOf(row);
    const names = () => Object.values(FIELDS).map(({ name }) => name(this.rows, row).toLowerCase());
    if (this.text && (label === this.text || names().includes(this.text))) return WHOLE;
    return this.text && label.startsWith(this.text) ? BEGINS : WITHIN;
  }

  /** The label of a row in small letters; "" where it is no application event. */
  labelOf(row) {
    return this.labels[this.events.at[row]] ?? "";
  }
}

/**
 * The fields of a row besides its label: `name` writes the one of a row; `texts` lists all that it may be; `of` is the
 * column of indices into these. In the order in which they are given as a reason.
 */
const FIELDS = {
  body: { of: "body", texts: ({ bodies }) => bodies, name: (rows, row) => rows.bodyOf(row), holds: beginsAWord },
  channel: { of: "channel", texts: ({ channels }) => channels, name: channelName, holds: isOfChannel },
  snapshot: { of: "snapshot", texts: ({ snapshots }) => snapshots, name: (rows, row) => rows.snapshots[rows.snapshot[row]] ?? "", holds: beginsAWord },
  process: { of: "lane", texts: ({ processes }) => processes, name: (rows, row) => rows.process(row), holds: beginsAWord },
  kind: { of: "kind", texts: ({ kinds }) => kinds, name: (rows, row) => rows.kindOf(row), holds: isOfKind },
};

/**
 * One word that is searched. Which values of a field hold it is found out once, not row by row. The whole name of a
 * process means that process alone: "P1" finds no P10.
 */
class Term {
  constructor(word, rows) {
    this.word = word;
    this.isProcess = rows.processes.some((name) => name.toLowerCase() === word);
    this.holding = Object.entries(FIELDS).map(([field, { of, texts, holds }]) => ({
      field,
      column: rows[of],
      values: heldBy(texts(rows), holds, word),
    }));
  }

  isIn(label) {
    return this.isProcess ? isWhole(label, this.word) : label.includes(this.word);
  }

  /** The first field of a row that holds the word, or undefined. */
  fieldOf(row) {
    return this.holding.find(({ column, values }) => values[column[row]])?.field;
  }
}

/** Of each value of a field whether it holds a word; where some value is just this word, only that one. */
function heldBy(values, holds, word) {
  const isSame = (value) => (value?.caption ?? String(value)).toLowerCase() === word;
  return values.map(values.some(isSame) ? isSame : (value) => holds(value, word));
}

/** Whether a text in small letters has `word`, with no letter or digit before or behind it. */
function isWhole(text, word) {
  const at = text.indexOf(word);
  if (at < 0) return false;
  const ends = [text[at - 1], text[at + word.length]];
  return ends.every((letter) => letter === undefined || !IN_A_WORD.test(letter));
}

function channelName(rows, row) {
  const { name, caption } = rows.channels[rows.channel[row]] ?? { name: "", caption: "" };
  return caption || name;
}

/** Whether a word of `text` begins with `term`, which is in small letters. */
function beginsAWord(text, term) {
  const low = text.toLowerCase();
  for (let at = low.indexOf(term); at >= 0; at = low.indexOf(term, at + 1)) {
    if (!at || !IN_A_WORD.test(low[at - 1]) || !IN_A_WORD.test(term[0])) return true;
  }
  return false;
}

/** A channel is found by its caption, and by "P1->P2"; P1 alone means the process. */
function isOfChannel({ name, caption }, term) {
  if (term.includes("->")) return name.toLowerCase().includes(term);
  return !caption.includes("->") && beginsAWord(caption, term);
}

function isOfKind(kind, term) {
  return Boolean(kind) && term.length >= LEAST_OF_A_KIND && beginsAWord(`${kind.title} ${kind.aliases}`, term);
}
