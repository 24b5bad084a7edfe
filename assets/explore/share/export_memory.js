/* What the user has chosen in the export dialog, kept in this browser. */

const STORAGE_KEY = "consistent-cut-export";

/** The last format, and the choices by option: formats with the same option share its choice. */
export class ExportMemory {
  get format() {
    return read().format;
  }

  set format(name) {
    write({ ...read(), format: name });
  }

  /** Give an option what was chosen for it, if anything was. */
  recall(asked) {
    const held = read().held?.[keyOf(asked)];
    if (asked.isKept && Array.isArray(held)) asked.held = held;
  }

  keep(asked) {
    const { held, ...others } = read();
    if (asked.isKept) write({ ...others, held: { ...held, [keyOf(asked)]: asked.held } });
  }

  forget(asked) {
    const { held, ...others } = read();
    write({ ...others, held: Object.fromEntries(Object.entries(held ?? {}).filter(([key]) => key !== keyOf(asked))) });
  }
}

function keyOf({ option }) {
  return JSON.stringify(option);
}

/** All that is kept; nothing where the browser keeps nothing, or another page's. */
function read() {
  try {
    return Object(JSON.parse(localStorage.getItem(STORAGE_KEY)));
  } catch {
    return {};
  }
}

function write(kept) {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
  } catch {
    // the browser keeps nothing, or has no room: the dialog begins with its defaults
  }
}
