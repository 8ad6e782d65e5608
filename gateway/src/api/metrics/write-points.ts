import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";

/** Most bytes of a point without its key: two numbers of 25, two instants of 30, and the names around them. */
const POINT_BYTES_MAX = 180;

/** `write` for this one encoding. Looking the encoding up takes as long as a short write. */
type FastBuffer = Buffer & { latin1Write(text: string, at: number): number };

const ZERO = "0".charCodeAt(0);
const valueName = Buffer.from(',"value":');

/** Returns a bound of the bytes that {@link writePoints} writes. */
export function pointsBytesMax(key: string, { steps }: PointColumns, before = ""): number {
  // Escaped, a character of the key has at most six bytes.
  return steps.length * (POINT_BYTES_MAX + 6 * key.length + before.length);
}

/**
 * Writes the points of one key as JSON objects, comma between them, into `bytes` from byte `from`, and returns where they end: `key`, `step`, `value`,
 * `created_at`, and `timestamp` where the client sent one. Bytes, because all but the numbers is the same in most points and copied as one piece; an
 * object per point costs several times as much, and a text that grows by pieces more than twice. Members that stand before the key, in ASCII and each
 * with its comma, are the same in all points.
 */
export function writePoints(bytes: Buffer, from: number, key: string, points: PointColumns, before = ""): number {
  const target = bytes as FastBuffer;
  let at = from;
  const { steps, values, createdUs, timestampsUs } = points;
  const head = `{${before}"key":${JSON.stringify(key)},"step":`;
  const begin = Buffer.from(head);
  const next = Buffer.from(`,${head}`);
  const received = writeInstants();
  const sent = writeInstants();
  let receivedUs = Number.NaN;
  let end = "";
  /** The end of a point and the begin of the next, once two points were received at one time, as most share theirs with many. */
  let between: Buffer | null = null;
  let isOpen = false;
  for (let i = 0; i < steps.length; i++) {
    const joint = i === 0 ? begin : isOpen ? between! : next;
    target.set(joint, at);
    at = writeNumber(target, at + joint.length, steps[i]!);
    target.set(valueName, at);
    at = writeNumber(target, at + valueName.length, values[i]!);
    if (createdUs[i] !== receivedUs) {
      receivedUs = createdUs[i]!;
      end = `,"created_at":"${received(receivedUs)}"`;
      between = null;
    } else between ??= Buffer.from(`${end}},${head}`);
    const timestamp = timestampsUs[i];
    const isTimed = timestamp !== undefined && !Number.isNaN(timestamp);
    isOpen = !isTimed && between !== null;
    if (!isOpen) at += target.latin1Write(isTimed ? `${end},"timestamp":"${sent(timestamp)}"}` : `${end}}`, at);
  }
  if (isOpen) at += target.latin1Write(`${end}}`, at);
  return at;
}

/** Writes a finite number as JSON.stringify does. Returns where it ends. */
export function writeNumber(bytes: Buffer, at: number, number: number): number {
  const target = bytes as FastBuffer;
  // Steps are nearly always small whole numbers, which are faster to write by hand.
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

/**
 * Returns a writer of instants: microseconds since the Unix epoch as RFC 3339 in UTC, without trailing zeros.
 * Neighbors in a column are often equal or of one second, so the writer remembers the latest.
 */
export function writeInstants(): (micros: number) => string {
  let latest = Number.NaN;
  let text = "";
  let latestSecond = Number.NaN;
  let whole = "";
  return (micros) => {
    if (micros === latest) return text;
    const second = Math.floor(micros / SECOND_US);
    if (second !== latestSecond) {
      whole = new Date(second * 1000).toISOString().slice(0, -".000Z".length);
      latestSecond = second;
    }
    const fraction = micros - second * SECOND_US;
    text = fraction === 0 ? `${whole}Z` : `${whole}.${decimals(fraction)}Z`;
    latest = micros;
    return text;
  };
}

function decimals(fractionUs: number): string {
  const digits = String(fractionUs).padStart(6, "0");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
