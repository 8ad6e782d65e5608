import { codecError } from "./codec-error.ts";
import type { LogColumns } from "./log-columns.ts";
import type { VarintReader, VarintWriter } from "./varint.ts";

/*
 * Lines that came with one request share its time, and their ids are neighbours. A block therefore lists the requests (first id and time,
 * each as the difference from the request before) and says per line only which one it belongs to and where in it the line stood, both as
 * the difference from what a stream without restarts would have: the same request and the next place, which are zeros.
 */

/** Ids of a request lie between two multiples of this. */
export const REQUEST_IDS = 64;

type Arrivals = Pick<LogColumns, "ids" | "createdUs">;

/** Writes ids and times of arrival. */
export function writeArrivals(out: VarintWriter, { ids, createdUs }: Arrivals): void {
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
  firstIds.forEach((id, i) => out.signed((id - (firstIds[i - 1] ?? 0)) / REQUEST_IDS));
  times.forEach((time, i) => out.signed(time - (times[i - 1] ?? 0)));
  if (firstIds.length > 1) for (let i = 0; i < count; i++) out.signed(requestOf[i]! - (requestOf[i - 1] ?? 0));
  for (let i = 0; i < count; i++) {
    out.signed((ids[i]! % REQUEST_IDS) - expectedPlace(ids, i, requestOf[i] === requestOf[i - 1]));
  }
}

/** Fills `arrivals` with what {@link writeArrivals} wrote; throws a LogCodecError for what it did not. */
export function readArrivals(input: VarintReader, { ids, createdUs }: Arrivals): void {
  const count = ids.length;
  const requests = input.unsigned();
  if (requests > count) throw codecError("the log block has more requests than lines");
  const firstIds = readSums(input, requests);
  const times = readSums(input, requests);
  const requestOf = requests > 1 ? readSums(input, count) : new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const request = requestOf[i]!;
    const place = input.signed() + expectedPlace(ids, i, i > 0 && request === requestOf[i - 1]);
    const firstId = firstIds[request];
    if (firstId === undefined || place < 0 || place >= REQUEST_IDS) {
      throw codecError("a line of the log block has an impossible place");
    }
    ids[i] = firstId * REQUEST_IDS + place;
    createdUs[i] = times[request]!;
  }
}

function expectedPlace(ids: Float64Array, i: number, sameRequest: boolean): number {
  return sameRequest ? (ids[i - 1]! % REQUEST_IDS) + 1 : 0;
}

function readSums(input: VarintReader, count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let i = 0, sum = 0; i < count; i++) sums[i] = sum += input.signed();
  return sums;
}
