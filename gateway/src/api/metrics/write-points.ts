import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";
import { numbersJson } from "../../http/json.ts";
import { instantBytes } from "./write-instants.ts";

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
  const numbers = Buffer.from(numbersJson(values), "latin1");
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
