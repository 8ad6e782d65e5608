const ZERO = "0".charCodeAt(0);
const SECOND_US = 1_000_000;
const DAY_SECONDS = 86_400;
const COLON = ":".charCodeAt(0);
const DOT = ".".charCodeAt(0);
const ZULU = "Z".charCodeAt(0);
/** Most bytes of an instant that a Date can hold, with its microseconds. */
const INSTANT_BYTES_MAX = 30;

type WriteInstant = (target: Uint8Array, at: number, micros: number) => number;

/**
 * Returns a function that writes instants as bytes and returns where they end: microseconds since the Unix epoch as RFC 3339 in UTC, without trailing zeros. It
 * remembers the latest day, which neighbors in a column mostly share.
 */
export function instantBytes(): WriteInstant {
  let latestDay = Number.NaN;
  let date = Buffer.alloc(0);
  return (target, from, micros) => {
    const second = Math.floor(micros / SECOND_US);
    const day = Math.floor(second / DAY_SECONDS);
    if (day !== latestDay) {
      const midnight = new Date(day * DAY_SECONDS * 1000).toISOString();
      date = Buffer.from(midnight.slice(0, -"00:00:00.000Z".length));
      latestDay = day;
    }
    target.set(date, from);
    const ofDay = second - day * DAY_SECONDS;
    const minute = Math.floor(ofDay / 60);
    const hour = Math.floor(minute / 60);
    let at = writeTwoDigits(target, from + date.length, hour);
    target[at++] = COLON;
    at = writeTwoDigits(target, at, minute - hour * 60);
    target[at++] = COLON;
    at = writeTwoDigits(target, at, ofDay - minute * 60);
    const fraction = micros - second * SECOND_US;
    if (fraction !== 0) at = writeFraction(target, at, fraction);
    target[at++] = ZULU;
    return at;
  };
}

function writeTwoDigits(target: Uint8Array, at: number, number: number): number {
  const tens = (number / 10) | 0;
  target[at] = ZERO + tens;
  target[at + 1] = ZERO + (number - tens * 10);
  return at + 2;
}

/** Writes millionths with the dot before them. */
function writeFraction(target: Uint8Array, at: number, millionths: number): number {
  target[at] = DOT;
  let rest = millionths;
  for (let place = at + 6; place > at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  let end = at + 7;
  while (target[end - 1] === ZERO) end -= 1;
  return end;
}

/** Returns a writer of instants as text: microseconds since the Unix epoch as RFC 3339 in UTC, without trailing zeros. Neighbors in a column are often equal, so it remembers the latest. */
export function writeInstants(): (micros: number) => string {
  const bytes = Buffer.alloc(INSTANT_BYTES_MAX);
  const write = instantBytes();
  let latest = Number.NaN;
  let text = "";
  return (micros) => {
    if (micros === latest) return text;
    text = bytes.toString("latin1", 0, write(bytes, 0, micros));
    latest = micros;
    return text;
  };
}
