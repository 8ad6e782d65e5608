/**
 * Readers of request fields. Each takes the fields (a parsed body or a query), the name of one of them, and its bounds;
 * it returns the value or throws `bad_request` with a text for the caller and the field's name. A field that is `null`
 * counts as absent, unknown fields are never looked at (API specification, Errors; field rules).
 */
export { withFault } from "./fields/fault.ts";
export { readDocument, readOptionalDocument, writeDocument } from "./fields/document.ts";
export { readOptionalInstant } from "./fields/instant.ts";
export { readInteger, readNumber, readOptionalInteger, readOptionalStep, readStep, toNumber } from "./fields/number.ts";
export {
  present,
  readList,
  readOptionalBoolean,
  readOptionalEnum,
  readRequiredEnum,
  type Fields,
} from "./fields/present.ts";
export { readLimit, readOffset, readQueryBoolean, readQueryInteger, readQueryNumber } from "./fields/query.ts";
export { isRawNumber, rawNumber } from "./fields/raw-number.ts";
export {
  canonicalUuid,
  readOptionalText,
  readOptionalUuid,
  readText,
  readTextList,
  readUuid,
  readUuidList,
  requireText,
} from "./fields/text.ts";
