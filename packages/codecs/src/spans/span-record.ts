import type { ByteReader, ByteWriter } from "../bytes.ts";

/** A sequence where there is none. */
export const NONE = -1;

/**
 * The data of one event about a span, or of several events of the span together, without its payload. Times are microseconds since the Unix epoch.
 * NaN means that a number is absent. An id is two halves of 32 bits; both 0 mean none.
 *
 * Fields that keep their last value say by which event: `parentSeq` and so on are the sequences of the events that named the values, `NONE` where
 * there is no value. For a single event they are its own sequence.
 */
export type SpanRecord = {
  idHigh: number;
  idLow: number;
  /** The sequence of the event that provided the other fields and the payload. */
  seq: number;
  parentHigh: number;
  parentLow: number;
  parentSeq: number;
  /** The earliest start that an event named. */
  startUs: number;
  endUs: number;
  endSeq: number;
  durationMs: number;
  durationSeq: number;
  step: number;
  stepSeq: number;
  rank: number;
  rankSeq: number;
  /** Numbers of the enumerations of `tidemark.traces.v1`. */
  kind: number;
  status: number;
  redaction: number;
  hasPreviews: boolean;
  isTruncated: boolean;
  /** The input or the output can be seen. */
  hasContent: boolean;
  name: string;
  threadId: string;
  rolloutId: string;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** Metrics that summaries keep, by key. */
  rewards: readonly (readonly [key: string, value: number])[];
  /** Bytes of the payload before compression. */
  payloadBytes: number;
};

/** Returns a record of nothing, to be filled. */
export function newSpanRecord(): SpanRecord {
  return {
    idHigh: 0,
    idLow: 0,
    seq: 0,
    parentHigh: 0,
    parentLow: 0,
    parentSeq: NONE,
    startUs: 0,
    endUs: Number.NaN,
    endSeq: NONE,
    durationMs: Number.NaN,
    durationSeq: NONE,
    step: Number.NaN,
    stepSeq: NONE,
    rank: Number.NaN,
    rankSeq: NONE,
    kind: 0,
    status: 0,
    redaction: 0,
    hasPreviews: false,
    isTruncated: false,
    hasContent: false,
    name: "",
    threadId: "",
    rolloutId: "",
    inputTokens: Number.NaN,
    outputTokens: Number.NaN,
    costUsd: Number.NaN,
    rewards: [],
    payloadBytes: 0,
  };
}

/** The parts of a span not needed to list or fold it: documents and texts, as they were sent. */
export type SpanPayload = {
  /** JSON; empty means the empty document. */
  readonly attributesJson: Uint8Array;
  readonly metricsJson: Uint8Array;
  readonly linksJson: Uint8Array;
  readonly errorType: string;
  readonly inputPreview: string;
  readonly outputPreview: string;
  readonly errorPreview: string;
};

const PARTS = 7;

/** Appends a payload. */
export function writePayload(to: ByteWriter, payload: SpanPayload): void {
  to.bytes(payload.attributesJson);
  to.bytes(payload.metricsJson);
  to.bytes(payload.linksJson);
  to.text(payload.errorType);
  to.text(payload.inputPreview);
  to.text(payload.outputPreview);
  to.text(payload.errorPreview);
}

/** Reads the next payload. Its documents are views. @throws SpanCodecError */
export function readPayload(from: ByteReader): SpanPayload {
  return {
    attributesJson: from.bytes(),
    metricsJson: from.bytes(),
    linksJson: from.bytes(),
    errorType: from.text(),
    inputPreview: from.text(),
    outputPreview: from.text(),
    errorPreview: from.text(),
  };
}

/** Passes over the next payload. @throws SpanCodecError */
export function skipPayload(from: ByteReader): void {
  for (let part = 0; part < PARTS; part++) from.bytes();
}
