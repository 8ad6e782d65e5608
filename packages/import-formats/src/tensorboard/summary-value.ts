import { doubleOf, doublesOf, eachField, textOf } from "../bytes/wire-fields.ts";
import { readTensor, type Tensor } from "./tensor.ts";

/** A `Summary.Value` of tensorboard/compat/proto/summary.proto, with the fields read here. */
export type SummaryValue = {
  readonly tag: string;
  /** Whose data it is: `scalars`, `histograms`, … Writers say it with the first value of a tag. */
  readonly plugin: string;
  /** The plugin's own part of the metadata. */
  readonly pluginData: Buffer;
  readonly data: SummaryData;
};

/** The data of a value. */
export type SummaryData =
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "histogram"; readonly edges: readonly number[]; readonly counts: readonly number[] }
  | { readonly type: "image"; readonly bytes: Buffer }
  | { readonly type: "audio"; readonly bytes: Buffer; readonly mimeType: string }
  | { readonly type: "tensor"; readonly tensor: Tensor | undefined }
  /** None, as of hyperparameters, which are metadata alone. */
  | { readonly type: "none" };

/** Reads a value; undefined if its bytes are damaged. */
export function readSummaryValue(message: Buffer): SummaryValue | undefined {
  let [tag, plugin] = ["", ""];
  let pluginData: Buffer = Buffer.alloc(0);
  let data: SummaryData = { type: "none" };
  const whole = eachField(message, (field) => {
    const { number, wire, bytes } = field;
    if (number === 2 && wire === 5) data = { type: "scalar", value: doubleOf(field) };
    else if (wire !== 2) return;
    else if (number === 1) tag = textOf(field);
    else if (number === 4) data = { type: "image", bytes: readMedia(bytes).bytes };
    else if (number === 5) data = readHistogram(bytes);
    else if (number === 6) data = { type: "audio", ...readMedia(bytes) };
    else if (number === 8) data = { type: "tensor", tensor: readTensor(bytes) };
    else if (number === 9) {
      eachField(bytes, (part) => {
        if (part.number !== 1 || part.wire !== 2) return;
        eachField(part.bytes, (inner) => {
          if (inner.number === 1 && inner.wire === 2) plugin = textOf(inner);
          else if (inner.number === 2 && inner.wire === 2) pluginData = inner.bytes;
        });
      });
    }
  });
  return whole ? { tag, plugin, pluginData, data } : undefined;
}

/** Reads the encoded bytes of an `Image` or an `Audio`, and the type that only the latter names. */
function readMedia(message: Buffer): { bytes: Buffer; mimeType: string } {
  let bytes: Buffer = Buffer.alloc(0);
  let mimeType = "audio/wav";
  eachField(message, (field) => {
    if (field.number === 4 && field.wire === 2) bytes = field.bytes;
    else if (field.number === 5 && field.wire === 2) mimeType = textOf(field);
  });
  return { bytes, mimeType };
}

/**
 * Reads a `HistogramProto`. Its outer limits may be ±DBL_MAX: as TensorBoard does, empty buckets at both ends are left out, and lowest and highest value are the
 * outer edges (tensorboard/data_compat.py).
 */
function readHistogram(message: Buffer): SummaryData {
  let [min, max] = [0, 0];
  const limits: number[] = [];
  const counts: number[] = [];
  eachField(message, (field) => {
    if (field.number === 1) min = doubleOf(field);
    else if (field.number === 2) max = doubleOf(field);
    else if (field.number === 6) for (const limit of doublesOf(field)) limits.push(limit);
    else if (field.number === 7) for (const count of doublesOf(field)) counts.push(count);
  });
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  if (first < 0) return { type: "histogram", edges: [], counts: [] };
  const edges = [min, ...limits.slice(first, last), max];
  return { type: "histogram", edges, counts: counts.slice(first, last + 1) };
}
