import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";
import type { Schema } from "../../route.ts";
import { valuesJson } from "../../http/json.ts";
import { valueSchema } from "../replies.ts";

const step: Schema = { type: "number", minimum: 0 };

/** A point as it is answered. */
export const pointSchema: Schema = {
  type: "object",
  required: ["key", "step", "value", "created_at"],
  properties: {
    key: { type: "string" },
    step,
    value: valueSchema,
    created_at: { type: "string", format: "date-time", description: "When the server received the point." },
    timestamp: { type: "string", format: "date-time", description: "The client's time, where it sent one." },
  },
};

/** Most bytes of a point without its key: two numbers of 25, two instants of 30, and the names around them. */
const POINT_BYTES_MAX = 180;

/** `write` for this one encoding. Looking the encoding up takes as long as a short write. */
type FastBuffer = Buffer & { latin1Write(text: string, at: number): number };

const ZERO = "0".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const CLOSE = "]".charCodeAt(0);
const valueName = Buffer.from(',"value":');
const createdName = Buffer.from(',"created_at":"');
const timestampName = Buffer.from('","timestamp":"');
const end = Buffer.from('"}');

/** Returns a bound of the bytes that {@link writePoints} writes. */
export function pointsBytesMax(key: string, { steps }: PointColumns, before = ""): number {
  // Escaped, a character of the key has at most six bytes.
  return steps.length * (POINT_BYTES_MAX + 6 * key.length + before.length);
}

/**
 * Writes the points of one key as JSON objects, comma between them, into `bytes` from byte `from`, and returns where they end: `key`, `step`, `value`,
 * `created_at`, and `timestamp` where the client sent one. Bytes, because an object per point costs several times as much, and a text that grows by pieces
 * more than twice. Members that precede the key, in ASCII and each with its comma, are the same in all points.
 */
export function writePoints(bytes: Buffer, from: number, key: string, points: PointColumns, before = ""): number {
  const target = bytes as FastBuffer;
  let at = from;
  const put = (piece: Buffer): void => {
    target.set(piece, at);
    at += piece.length;
  };
  const { steps, values, createdUs, timestampsUs } = points;
  const head = Buffer.from(`,{${before}"key":${JSON.stringify(key)},"step":`);
  const begin = head.subarray(1);
  const [writeCreated, writeSent] = [instantBytes(), instantBytes()];
  const numbers = Buffer.from(valuesJson(values), "latin1");
  let place = 1;
  let [createdFrom, createdTo] = [0, 0];
  for (let i = 0; i < steps.length; i++) {
    put(i === 0 ? begin : head);
    at = writeStep(target, at, steps[i]!);
    put(valueName);
    for (let digit = numbers[place]!; digit !== COMMA && digit !== CLOSE; digit = numbers[++place]!)
      target[at++] = digit;
    place += 1;
    // Most points were received together with the one before.
    if (i > 0 && createdUs[i] === createdUs[i - 1]) {
      target.copyWithin(at, createdFrom, createdTo);
      at += createdTo - createdFrom;
    } else {
      createdFrom = at;
      put(createdName);
      at = writeCreated(target, at, createdUs[i]!);
      createdTo = at;
    }
    const timestamp = timestampsUs[i];
    if (timestamp !== undefined && !Number.isNaN(timestamp)) {
      put(timestampName);
      at = writeSent(target, at, timestamp);
    }
    put(end);
  }
  return at;
}

/** Writes a finite number as JSON.stringify does. Returns where it ends. Steps are nearly always small whole numbers, which are faster to write by hand. */
function writeStep(target: FastBuffer, at: number, number: number): number {
  if ((number | 0) !== number || number < 0) return at + target.latin1Write(String(number), at);
  let digits = 1;
  for (let bound = 10; number >= bound; bound *= 10) digits += 1;
  let rest = number;
  for (let place = at + digits - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  return at + digits;
}

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
function instantBytes(): WriteInstant {
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
