import type { ByteReader } from "../bytes/byte-reader.ts";
import type { ByteWriter } from "../bytes/byte-writer.ts";

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
