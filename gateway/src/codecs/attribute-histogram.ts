import { badRequest } from "@tidemark/errors";
import { isRawNumber, readOptionalDocument, toNumber, type Fields } from "./fields.ts";

const COUNTS_MAX = 1024;
/** Most bytes of a histogram as JSON. */
export const HISTOGRAM_BYTES_MAX = 65_536;
const METADATA_BYTES_MAX = 16_384;

/**
 * Checks the value of a histogram: `bins` and `counts` are lists of numbers, not empty, at most 1,024
 * counts of at least 0, and as many bins as counts (one bin each) or one more (their edges);
 * `metadata` is an object of at most 16 KiB, if there is one.
 * @throws bad_request
 */
export function checkHistogram(value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw badRequest("value of a histogram must be an object", "value");
  }
  const fields = value as Fields;
  const bins = readNumbers(fields, "bins");
  const counts = readNumbers(fields, "counts");
  if (counts.length > COUNTS_MAX) throw badRequest(`counts must have at most ${COUNTS_MAX} items`, "value");
  if (counts.some((count) => count < 0)) throw badRequest("counts must not be negative", "value");
  if (bins.length !== counts.length && bins.length !== counts.length + 1) {
    throw badRequest("bins must have as many items as counts, or one more", "value");
  }
  readOptionalDocument(fields, "metadata", { unstorable: "replace", bytesMax: METADATA_BYTES_MAX });
}

function readNumbers(fields: Fields, name: string): number[] {
  const list = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!Array.isArray(list) || list.length === 0) throw badRequest(`${name} must be a list of numbers`, "value");
  return list.map((item: unknown) => {
    const number = toNumber(item);
    if (number === undefined) throw badRequest(`${name} must hold finite numbers only`, "value");
    return number;
  });
}
