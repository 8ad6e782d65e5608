import { createByteWriter, createTreeWriter, pack, type ByteWriter, type SpanRecord } from "@tidemark/codecs/spans";

/** A segment as it is stored. */
export type EncodedSegment = {
  readonly tree: Uint8Array;
  readonly payloads: Uint8Array;
  /** Logical bytes: of the tree, and of the payloads before they were packed. */
  readonly bytes: number;
};

/** How large segments get: a page of spans may need one payload of each segment that it reads. */
export type SegmentBounds = { readonly spansMax: number; readonly payloadBytesMax: number };

/** For a request: its records stay together, up to a bound for large payloads. */
export const APPENDED: SegmentBounds = { spansMax: Number.POSITIVE_INFINITY, payloadBytesMax: 256 * 1024 };

/** Collects records with their payloads into segments. */
export type SegmentsWriter = {
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
