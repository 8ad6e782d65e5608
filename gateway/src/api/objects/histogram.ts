import { badRequest } from "@tidemark/errors";
import { HISTOGRAM_COUNTS_MAX, OBJECT_DOCUMENT_BYTES_MAX } from "@tidemark/limits";
import type { Schema } from "../../route.ts";
import { freeObject } from "../fields/document.ts";
import { isObject, optional, present, readField, type Fields } from "../fields/field.ts";
import { toNumber } from "../fields/number.ts";
import { numberSchema } from "../replies.ts";

const metadata = optional(freeObject({ unstorable: "replace", bytesMax: OBJECT_DOCUMENT_BYTES_MAX }));

/** The value of a histogram, of an attribute or an object. */
export const histogramSchema: Schema = {
  type: "object",
  required: ["bins", "counts"],
  properties: {
    bins: { type: "array", minItems: 1, maxItems: HISTOGRAM_COUNTS_MAX + 1, items: numberSchema },
    counts: { type: "array", minItems: 1, maxItems: HISTOGRAM_COUNTS_MAX, items: { type: "number", minimum: 0 } },
    metadata: metadata.schema,
  },
  description:
    "`bins` has as many items as `counts` (one for each bin), or one more (their edges). At most 65,536 bytes.",
};

/** Checks the value of a histogram; see `histogramSchema`. @throws bad_request */
export function checkHistogram(value: unknown): void {
  if (!isObject(value)) throw badRequest("value of a histogram must be an object", "value");
  const bins = readNumbers(value, "bins", HISTOGRAM_COUNTS_MAX + 1);
  const counts = readNumbers(value, "counts", HISTOGRAM_COUNTS_MAX);
  if (counts.some((count) => count < 0)) throw badRequest("counts must not be negative", "value");
  if (bins.length !== counts.length && bins.length !== counts.length + 1) {
    throw badRequest("bins must have as many items as counts, or one more", "value");
  }
  readField(metadata, value, "metadata");
}

function readNumbers(fields: Fields, name: string, itemsMax: number): number[] {
  const list = present(fields, name);
  if (!Array.isArray(list) || list.length === 0) throw badRequest(`${name} must be a list of numbers`, "value");
  if (list.length > itemsMax) throw badRequest(`${name} must have at most ${itemsMax} items`, "value");
  return list.map((item: unknown) => {
    const number = toNumber(item);
    if (number === undefined) throw badRequest(`${name} must hold finite numbers only`, "value");
    return number;
  });
}
