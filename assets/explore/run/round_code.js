/*
 * The code that a student reads out after a round: which run it was, and which parts were right.
 *
 * A code is some letters of LETTERS, the last two of them checks. They count in base 31, a prime: the first check is the
 * sum of all letters, the second weights each by its place, and both depend on the round. So a code with one wrong
 * letter, or with two letters changed about, is never taken, nor are most codes of another round.
 */

const LETTERS = "123456789ABCDEFGHJKMNPQRSTVWXYZ"; // 31, without 0, I, L, O and U
const BASE = BigInt(LETTERS.length);
const NAME = 4; // letters of the name of a round
export const NUMBERS = LETTERS.length ** NAME; // runs of a round, as in sim/edit/link.py

/** A name for a round, from numbers drawn at random. */
export function roundName(draws) {
  return [...draws].slice(0, NAME).map((draw) => LETTERS[draw % LETTERS.length]).join("");
}

/** A name or code as it is written, whatever the case and the gaps: "k7qf 2xdm" is "K7QF2XDM". */
export function plainCode(text) {
  return text.toUpperCase().replace(/[\s-]+/g, "");
}

/** Whether a text is the name of a round. */
export function isRoundName(text) {
  return text.length === NAME && [...text].every((letter) => LETTERS.includes(letter));
}

/**
 * The code of a run, in groups of four. `parts` has for each part of the answer how it was: 0 wrong, 1 right, 2 not
 * asked. Every code of a round has as many parts.
 */
export function codeOf(round, number, parts) {
  let value = BigInt(number);
  for (const part of parts) value = value * 3n + BigInt(part);
  const places = [];
  for (let place = 0; place < placesOf(parts.length); place += 1, value /= BASE) places.unshift(Number(value % BASE));
  const letters = [...places, ...checksOf(round, places)].map((place) => LETTERS[place]).join("");
  return letters.match(/.{1,4}/g).join("-");
}

/** What a code of a round with `count` parts says: {number, parts}, or {problem}, a sentence. */
function readCode(round, count, text) {
  const code = plainCode(text);
  const length = placesOf(count) + 2;
  const strange = [...code].find((letter) => !LETTERS.includes(letter));
  if (strange) return { problem: `${text}: no code has the letter ${strange}.` };
  if (code.length !== length) return { problem: `${text}: a code has ${length} letters, and this has ${code.length}.` };
  const places = [...code].map((letter) => LETTERS.indexOf(letter));
  const checks = checksOf(round, places.slice(0, -2));
  if (places.at(-2) !== checks[0] || places.at(-1) !== checks[1]) return { problem: `${text}: one letter is wrong, or it is a code of another round.` };
  let value = places.slice(0, -2).reduce((sum, place) => sum * BASE + BigInt(place), 0n);
  const parts = [];
  for (let part = 0; part < count; part += 1, value /= 3n) parts.unshift(Number(value % 3n));
  return value < BigInt(NUMBERS) ? { number: Number(value), parts } : { problem: `${text}: this is no code.` };
}

/** How many letters hold a number and so many parts. */
function placesOf(count) {
  let most = BigInt(NUMBERS) * 3n ** BigInt(count) - 1n;
  let places = 0;
  for (; most > 0n; most /= BASE) places += 1;
  return places;
}

/** The two checks of a round's code. */
function checksOf(round, places) {
  const all = [...[...round].map((letter) => LETTERS.indexOf(letter)), ...places];
  const first = all.reduce((sum, place) => sum + place, 0);
  const second = all.reduce((sum, place, index) => sum + (1 + (index % 30)) * place, 0);
  return [first % 31, second % 31];
}

/** The codes of a round as they are taken: each run once. */
export class Tally {
  /** @param count how many parts the answer has */
  constructor(round, count) {
    Object.assign(this, { round, count, taken: new Map() });
  }

  /** Take the codes of a text: one on a line, or between commas. Returns the problems, a sentence each. */
  take(text) {
    return split(text).map((code) => this.takeOne(code)).filter(Boolean);
  }

  takeOne(text) {
    const { number, parts, problem } = readCode(this.round, this.count, text);
    if (problem) return problem;
    if (this.taken.has(number)) return `${text}: this code is counted already.`;
    this.taken.set(number, parts);
    return null;
  }

  /** For each part how many got it right, and how many were asked; and so for all parts together. */
  counts() {
    const all = [...this.taken.values()];
    const of = (part) => ({
      right: all.filter((parts) => parts[part] === 1).length,
      asked: all.filter((parts) => parts[part] !== 2).length,
    });
    const whole = { right: all.filter((parts) => !parts.includes(0)).length, asked: all.length };
    return { parts: Array.from({ length: this.count }, (_, part) => of(part)), whole };
  }
}

/** The codes in a text. */
function split(text) {
  return text.split(/[\n\r,;]+/).map((code) => code.trim()).filter(Boolean);
}
