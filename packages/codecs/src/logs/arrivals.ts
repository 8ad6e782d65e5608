import { codecError } from "../bytes/codec-error.ts";
import { type ByteReader } from "../bytes/byte-reader.ts";
import { type ByteWriter } from "../bytes/byte-writer.ts";
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
