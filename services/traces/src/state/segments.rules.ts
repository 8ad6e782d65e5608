import {
  createByteWriter,
  createTreeWriter,
  pack,
  type ByteWriter,
  type SpanRecord,
  newSpanRecord,
} from "@tidemark/codecs/spans";
import { compareIds } from "../fold/span-ids.rules.ts";
import type { SpanTable } from "../fold/span-table.rules.ts";

/** A segment as it is stored. */
export type EncodedSegment = {
  readonly tree: Uint8Array;
  readonly payloads: Uint8Array;
  /** Logical bytes: of the tree, and of the payloads before they were packed. */
  readonly bytes: number;
};

/** How large segments get: a page of spans may need one payload of each segment that it reads. */
type SegmentBounds = { readonly spansMax: number; readonly payloadBytesMax: number };

/** For a request: its records stay together, up to a bound for large payloads. */
export const APPENDED: SegmentBounds = { spansMax: Number.POSITIVE_INFINITY, payloadBytesMax: 256 * 1024 };

/** Collects records with their payloads into segments. */
type SegmentsWriter = {
  /** Adds a record with the payload that `write` writes; the record receives the number of those bytes. Returns its place. */
  add(record: SpanRecord, write: (to: ByteWriter) => void): { readonly segment: number; readonly place: number };
  /** Returns the segments, in the order of the records. */
  done(): EncodedSegment[];
};

/** Creates a writer; segments are counted from 0. */
export function createSegmentsWriter({ spansMax, payloadBytesMax }: SegmentBounds): SegmentsWriter {
  const segments: EncodedSegment[] = [];
  let tree = createTreeWriter();
  let payloads = createByteWriter(4096);
  const end = (): void => {
    if (tree.count === 0) return;
    const columns = tree.done();
    const bytes = columns.length + payloads.size();
    segments.push({ tree: columns, payloads: pack(payloads.done()), bytes });
    tree = createTreeWriter();
    payloads = createByteWriter(4096);
  };
  return {
    add(record, write) {
      if (tree.count >= spansMax || payloads.size() >= payloadBytesMax) end();
      const before = payloads.size();
      write(payloads);
      record.payloadBytes = payloads.size() - before;
      const place = tree.count;
      tree.add(record);
      return { segment: segments.length, place };
    },
    done() {
      end();
      return segments;
    },
  };
}

/** So that a page of children reads one or two segments. */
const COMPACTED: SegmentBounds = { spansMax: 512, payloadBytesMax: 256 * 1024 };

/** A trace whose segments after the first one are at least this share of its bytes is worth rewriting. */
const TAIL_SHARE = 0.2;
/** A tail of this many segments is always worth it: each costs a look-up. */
const TAIL_SEGMENTS = 64;

/** Returns whether segments of these sizes, in the order of arrival, are worth being rewritten. The first of them may be compacted ones. */
export function isWorthRewriting(bytes: readonly number[], compacted: number): boolean {
  if (bytes.length < 2) return false;
  const tail = bytes.slice(compacted);
  const all = bytes.reduce((sum, size) => sum + size, 0);
  return tail.length >= TAIL_SEGMENTS || tail.reduce((sum, size) => sum + size, 0) >= TAIL_SHARE * all;
}

/** Spans that are sorted, or merged, at a time. */
const SORTED_TOGETHER = 8192;

/** Returns all spans in the order in which pages show them: by parent, then by start, then by id. `next` is called between steps. */
async function spansInPageOrder({ ids, columns }: SpanTable, next: () => Promise<unknown>): Promise<Uint32Array> {
  const { parentHigh, parentLow, start } = columns;
  const compare = (a: number, b: number): number =>
    parentHigh[a]! - parentHigh[b]! || parentLow[a]! - parentLow[b]! || start[a]! - start[b]! || compareIds(ids, a, b);
  const { count } = ids;
  let sorted = Uint32Array.from({ length: count }, (_, span) => span);
  for (let from = 0; from < count; from += SORTED_TOGETHER) {
    sorted.subarray(from, from + SORTED_TOGETHER).sort(compare);
    await next();
  }
  for (let width = SORTED_TOGETHER; width < count; width *= 2) {
    const merged = new Uint32Array(count);
    for (let left = 0, at = 0; left < count; left += 2 * width) {
      const middle = Math.min(left + width, count);
      const end = Math.min(middle + width, count);
      for (let l = left, r = middle; at < end; at++) {
        merged[at] = sorted[r === end || (l < middle && compare(sorted[l]!, sorted[r]!) <= 0) ? l++ : r++]!;
        if (at % SORTED_TOGETHER === 0) await next();
      }
    }
    sorted = merged;
  }
  return sorted;
}

/** Writes all spans of a trace into segments, in the order of pages, with the bytes of their payloads. `next` is called between steps, so that other work has its turn. */
export async function rewriteSegments(
  table: SpanTable,
  payloadOf: (span: number) => Uint8Array,
  next: () => Promise<unknown>,
): Promise<EncodedSegment[]> {
  const writer = createSegmentsWriter(COMPACTED);
  const record = newSpanRecord();
  let sinceTurn = 0;
  for (const span of await spansInPageOrder(table, next)) {
    table.read(span, record);
    writer.add(record, (to) => to.raw(payloadOf(span)));
    sinceTurn += 1;
    if (sinceTurn === COMPACTED.spansMax) {
      sinceTurn = 0;
      await next();
    }
  }
  return writer.done();
}
