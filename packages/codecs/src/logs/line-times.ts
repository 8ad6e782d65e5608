import { codecError, type ByteReader, type ByteWriter } from "../bytes.ts";
import type { LogColumns } from "./log-columns.ts";

/*
 * Lines of one request share its time of arrival, and their ids are neighbors. So a block lists the requests (first id and time, each as the
 * difference from the request before) and stores for each line only its request and its place in it, both as the difference from what a
 * stream without restarts would have: the same request and the next place, which are zeros.
 */

/** The ids of a request lie between two neighboring multiples of this. */
export const REQUEST_IDS = 64;

type Arrivals = Pick<LogColumns, "ids" | "createdUs">;

/** Writes the ids and the times of arrival. */
export function writeArrivals(out: ByteWriter, { ids, createdUs }: Arrivals): void {
  const count = ids.length;
  const requestOf = new Uint32Array(count);
  const firstIds: number[] = [];
  const times: number[] = [];
  const known = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const firstId = ids[i]! - (ids[i]! % REQUEST_IDS);
    let request = known.get(firstId);
    if (request === undefined || times[request] !== createdUs[i]) {
      request = firstIds.length;
      firstIds.push(firstId);
      times.push(createdUs[i]!);
      known.set(firstId, request);
    }
    requestOf[i] = request;
  }

  out.unsigned(firstIds.length);
  for (let i = 0, before = 0; i < firstIds.length; before = firstIds[i++]!)
    out.signed((firstIds[i]! - before) / REQUEST_IDS);
  for (let i = 0, before = 0; i < times.length; before = times[i++]!) out.signed(times[i]! - before);
  if (firstIds.length > 1)
    for (let i = 0, before = 0; i < count; before = requestOf[i++]!) out.signed(requestOf[i]! - before);
  for (let i = 0; i < count; i++) {
    const sameRequest = i > 0 && requestOf[i] === requestOf[i - 1];
    out.signed((ids[i]! % REQUEST_IDS) - expectedPlace(ids, i, sameRequest));
  }
}

/** Reads what {@link writeArrivals} wrote into `ids` and `createdUs`. Throws a CodecError for anything else. */
export function readArrivals(input: ByteReader, { ids, createdUs }: Arrivals): void {
  const count = ids.length;
  const requests = input.unsigned();
  if (requests > count) throw codecError("the log block has more requests than lines");
  const firstIds = readSums(input, requests);
  const times = readSums(input, requests);
  // With a single request, as in a landing segment, nothing is stored per line.
  const requestOf = requests > 1 ? readSums(input, count) : undefined;
  let before: number | undefined;
  for (let i = 0; i < count; i++) {
    const request = requestOf === undefined ? 0 : requestOf[i]!;
    const place = input.signed() + expectedPlace(ids, i, request === before);
    const firstId = firstIds[request];
    if (firstId === undefined || place < 0 || place >= REQUEST_IDS) {
      throw codecError("a line of the log block has an impossible place");
    }
    ids[i] = firstId * REQUEST_IDS + place;
    createdUs[i] = times[request]!;
    before = request;
  }
}

function expectedPlace(ids: Float64Array, i: number, sameRequest: boolean): number {
  return sameRequest ? (ids[i - 1]! % REQUEST_IDS) + 1 : 0;
}

function readSums(input: ByteReader, count: number): number[] {
  const sums: number[] = [];
  for (let i = 0, sum = 0; i < count; i++) sums.push((sum += input.signed()));
  return sums;
}

/*
 * Client times are stored as differences from the time before, in the largest unit that divides all times of the block. One number per line:
 * 0 for no time; 1 if an absolute time follows (seconds, then microseconds); from 2 on a difference with its sign in the lowest bit.
 */

const UNITS = [1_000_000, 1000, 1] as const;
const NONE = 0;
const ABSOLUTE = 1;
const FIRST_DIFFERENCE = 2;
/** Seconds whose difference in microseconds, doubled for its sign, is still a safe integer. */
const JUMP_SECONDS_MAX = 4_000_000_000;
const SECOND_US = 1_000_000;
/** The years 1 to 9999. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;

type Times = Pick<LogColumns, "sentSeconds" | "sentMicros">;

/** Writes the client times of a block. */
export function writeTimes(out: ByteWriter, { sentSeconds, sentMicros }: Times): void {
  const unitCode = UNITS.findIndex((unit) => areMultiples(sentMicros, unit));
  const unit = UNITS[unitCode]!;
  out.unsigned(unitCode);
  let seconds = 0;
  let micros = 0;
  for (let i = 0; i < sentSeconds.length; i++) {
    const nextSeconds = sentSeconds[i]!;
    if (Number.isNaN(nextSeconds)) {
      out.unsigned(NONE);
      continue;
    }
    const nextMicros = sentMicros[i]!;
    const jump = nextSeconds - seconds;
    if (Math.abs(jump) <= JUMP_SECONDS_MAX) {
      const difference = (jump * SECOND_US + (nextMicros - micros)) / unit;
      out.unsigned(FIRST_DIFFERENCE + (difference < 0 ? -2 * difference - 1 : 2 * difference));
    } else {
      out.unsigned(ABSOLUTE);
      out.signed(nextSeconds);
      out.unsigned(nextMicros);
    }
    seconds = nextSeconds;
    micros = nextMicros;
  }
}

function areMultiples(numbers: Uint32Array, unit: number): boolean {
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! % unit !== 0) return false;
  return true;
}

/** Reads what {@link writeTimes} wrote into `sentSeconds` and `sentMicros`. Throws a CodecError for anything else. */
export function readTimes(input: ByteReader, { sentSeconds, sentMicros }: Times): void {
  const unit = UNITS[input.unsigned()];
  if (unit === undefined) throw codecError("the log block has an unknown unit of time");
  let seconds = 0;
  let micros = 0;
  for (let i = 0; i < sentSeconds.length; i++) {
    const code = input.unsigned();
    if (code === NONE) {
      sentSeconds[i] = Number.NaN;
      continue;
    }
    if (code === ABSOLUTE) {
      seconds = input.signed();
      micros = input.unsigned();
    } else {
      const signed = code - FIRST_DIFFERENCE;
      const difference = (signed % 2 === 0 ? signed / 2 : -(signed + 1) / 2) * unit;
      const whole = Math.floor(difference / SECOND_US);
      micros += difference - whole * SECOND_US;
      seconds += whole;
      if (micros >= SECOND_US) {
        micros -= SECOND_US;
        seconds += 1;
      }
    }
    if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX && micros < SECOND_US)) {
      throw codecError("a time of the log block is out of range");
    }
    sentSeconds[i] = seconds;
    sentMicros[i] = micros;
  }
}
